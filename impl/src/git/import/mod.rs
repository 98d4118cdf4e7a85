//! After the attempt: the step's commits are taken out of its private store, checked, and put on the attempt's own branch.

use super::record::Record;
use super::store::Store;

pub struct Imported {
    pub tip: String,
    pub branches: Vec<(String, String)>,
    pub left: Vec<String>,
    pub quarantined: Vec<String>,
}

pub struct Rejected {
    pub code: Code,
    pub detail: String,
    pub quarantined: Vec<String>,
}

#[derive(Clone, Copy)]
pub enum Code {
    Stub,
}

impl Rejected {
    pub fn locked(_: &std::path::Path, _: &std::io::Error) -> Rejected {
        Rejected { code: Code::Stub, detail: String::new(), quarantined: Vec::new() }
    }
}

impl Code {
    pub fn is_final(self) -> bool {
        true
    }
    pub fn code(self) -> &'static str {
        "stub"
    }
    pub fn fix(self) -> &'static str {
        "stub"
    }
}

pub fn import(_store: &Store, record: &Record) -> Result<Imported, Rejected> {
    Ok(Imported { tip: record.base.clone(), branches: Vec::new(), left: Vec::new(), quarantined: Vec::new() })
}
