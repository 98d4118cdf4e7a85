//! The report over several runs: guarantees × implementations, as one HTML page and as Markdown.
//!
//! ```text
//! records ─▶ model (pure: columns, chapters, cells) ─┬▶ html: page.html.j2, page.css
//!              └ evidence, within bounds              └▶ markdown: matrix.md
//! ```
//! A record that is not whole never spoils the report of the others: it stands there with its reason. What is shown of others
//! is cut and escaped, and what the bounds leave out is counted.

mod column;
mod evidence;
mod html;
mod markdown;
mod model;

use std::fs;
use std::path::Path;

use crate::catalogue::Catalogue;
use crate::driver::Kind;
use crate::record::Record;

pub use model::is_peer;

/// A run to report: the name to use where its record is not whole, and the record.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name of the folder or file.
    pub name: String,
    /// The record, or why there is none.
    pub record: Result<Record, String>,
}

impl Source {
    /// Reads the record of a run: the file, or the folder that a run wrote it into.
    pub fn read(path: &Path) -> Self {
        let folder = if path.is_file() { path.parent().unwrap_or(path) } else { path };
        let name = folder.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let record = Record::read(path).map_err(|e| without_place(&e, &folder.display().to_string(), &name));
        Self { name, record }
    }

    /// Brings runs into the order of a matrix: whole factories, sandboxes of others, the rest; each by name.
    pub fn sort(sources: &mut [Self]) {
        sources.sort_by_key(|source| {
            let run = source.record.as_ref().ok().map(|record| &record.run);
            let rank = run.map_or(3, |run| match run.driver_kind {
                Kind::Factory => 0,
                Kind::Sandbox if is_peer(run) => 1,
                Kind::Sandbox => 2,
            });
            (rank, source.name.clone())
        });
    }
}

/// An error of a record without the folder that it begins with: where that lies here is of no use to who reads the report
/// elsewhere.
fn without_place(error: &str, folder: &str, name: &str) -> String {
    match error.strip_prefix(folder.trim_end_matches('/')) {
        Some(rest) if rest.len() < error.len() => {
            rest.strip_prefix('/').map_or_else(|| format!("{name}{rest}"), str::to_owned)
        }
        _ => error.to_owned(),
    }
}

/// Both renderings of a report.
#[derive(Clone, Debug)]
pub struct Report {
    /// The page: everything in one file.
    pub html: String,
    /// The matrix, with what each implementation does beyond or short of its claims.
    pub markdown: String,
}

impl Report {
    /// Renders runs; `now` is the time to put on it (RFC 3339).
    ///
    /// # Errors
    /// When the template is broken.
    pub fn of(sources: &[Source], catalogue: &Catalogue, now: &str) -> Result<Self, String> {
        let html = html::page(sources, catalogue, now)?;
        let markdown = markdown::matrix(&model::Page::of(sources, catalogue, now, &evidence::NONE));
        Ok(Self { html, markdown })
    }

    /// Writes `index.html` and `matrix.md` into a folder.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), String> {
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for (name, text) in [("index.html", &self.html), ("matrix.md", &self.markdown)] {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_record_lies_is_not_told() {
        let told = |folder: &str| without_place(&format!("{folder}run.ndjson: line 2: a/b is empty"), folder, "x");
        for folder in ["", "/", "./", "srv/x/"] {
            assert_eq!(
                told(folder),
                format!("{}run.ndjson: line 2: a/b is empty", if folder == "/" { "/" } else { "" })
            );
        }
        assert_eq!(without_place("srv/x: No such file", "srv/x", "x"), "x: No such file");
    }

    #[test]
    fn a_file_in_the_folder_where_one_stands_keeps_its_reason() {
        let source = Source::read(Path::new("Cargo.toml")); // a file, and no record
        let told = source.record.unwrap_err();
        assert!(source.name == "Cargo.toml" && told.starts_with("Cargo.toml: line 1: not a record ("), "{told}");
    }
}
