//! Signs what is imported, once it has passed every check and before anything of it is in the repository: each new commit is made
//! anew, with the same bytes, its parents signed, and a signature of the user's key. A signature that a step has put there does
//! not stay. What was signed is written down first, so that a killed import finds its branches again: not every kind of key
//! signs the same bytes twice alike.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::code::{Code, Fault};
use super::objects::{self, Quarantine};
use super::refs::Wanted;
use super::run::{self, Watch};
use super::{batch, commit};
use crate::git::key;
use crate::git::record::Record;
use crate::git::store::Store;

/// Largest commit that is signed, in bytes.
const LARGEST: usize = 16 << 20;

/// What was signed, beside the store.
const FILE: &str = "signed.json";

/// What was signed, and what stands for what the step has made.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// So many commits.
    pub commits: usize,
    /// Of each branch: the id that the step made, and the one that is imported.
    tips: BTreeMap<String, String>,
}

impl Signed {
    /// The same branches at what was signed; nothing if one of them was not.
    pub fn of(&self, wanted: &Wanted) -> Option<Wanted> {
        let signed = |id: &String| self.tips.get(id).cloned();
        let branches = wanted.branches.iter().map(|(name, id)| Some((name.clone(), signed(id)?)));
        Some(Wanted {
            tip: signed(&wanted.tip)?,
            branches: branches.collect::<Option<_>>()?,
            left: wanted.left.clone(),
        })
    }

    /// What an import that was killed has signed, if it had come so far that the repository has it.
    ///
    /// # Errors
    /// As git says them.
    pub fn before(store: &Store, record: &Record, watch: &Watch) -> Result<Option<Signed>, Fault> {
        let read = || serde_json::from_slice(&fs::read(store.root.join(FILE)).ok()?).ok();
        let Some(signed): Option<Signed> = record.sign.as_ref().and_then(|_| read()) else { return Ok(None) };
        let ids = signed.tips.values().cloned().collect();
        Ok((objects::there(&ids, record, watch)? == ids).then_some(signed))
    }

    /// To the disk, in one step.
    fn write(&self, store: &Store) -> io::Result<()> {
        let aside = store.import().join(FILE);
        let mut file = File::create(&aside)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_all()?;
        fs::rename(&aside, store.root.join(FILE))?;
        File::open(&store.root)?.sync_all()
    }
}

/// Signs all new commits with `key`; the value is what was signed, written down, and the pack that holds it with all that it needs.
///
/// # Errors
/// When one cannot be signed: then none is imported.
pub fn all(
    quarantine: &Quarantine,
    wanted: &Wanted,
    (store, record): (&Store, &Record),
    key: &Path,
    watch: &Watch,
) -> Result<(Signed, Vec<PathBuf>), Fault> {
    let failed = Fault::failed("signing");
    let ids = oldest_first(quarantine, wanted.tips(), watch)?;
    let names: Vec<&[u8]> = ids.iter().map(String::as_bytes).collect();
    let mut made: HashMap<String, String> = HashMap::new();
    batch::each(quarantine, &names, LARGEST, watch, &mut |number, bytes| {
        let id = &ids[number];
        let bytes = bytes.ok_or_else(|| Fault::new(Code::ObjectsMissing, id))?;
        let payload = commit::unsigned(bytes, &made);
        let signature = sign(key, &payload, watch)?;
        let signed = commit::signed(&payload, commit::header(&record.format), &signature);
        made.insert(id.clone(), write(quarantine, &signed, watch)?);
        Ok(())
    })?;
    // One that the repository had already is somebody else's, and stays as it is.
    let stands = |id: &str| made.get(id).cloned().unwrap_or_else(|| id.to_string());
    let tips: BTreeMap<String, String> = wanted.tips().map(|id| (id.to_string(), stands(id))).collect();
    // Whatever way a commit has to name a parent: none comes along as the step made it.
    let signed: HashSet<&String> = made.values().collect();
    if let Some(id) = oldest_first(quarantine, tips.values(), watch)?.iter().find(|id| !signed.contains(id)) {
        return Err(Fault::new(Code::ObjectsBad, format!("{id} would come along without a signature")));
    }
    let packs = match made.is_empty() {
        true => Vec::new(),
        false => vec![pack(quarantine, &tips, &store.import().join("signed.pack"), watch)?],
    };
    let signed = Signed { commits: made.len(), tips };
    signed.write(store).map_err(failed)?;
    Ok((signed, packs))
}

/// The new commits in those ids, each after its parents.
fn oldest_first(
    quarantine: &Quarantine,
    tips: impl Iterator<Item = impl AsRef<str>>,
    watch: &Watch,
) -> Result<Vec<String>, Fault> {
    let git = quarantine.git().command(["rev-list", "--topo-order", "--reverse", "--stdin"]);
    let git = git.map_err(|said| Fault::new(Code::Failed, said))?;
    let revisions = quarantine.revisions(tips);
    let said = run::run(git, revisions.as_bytes(), Code::ObjectsMissing, "rev-list", watch)?;
    Ok(String::from_utf8_lossy(&said).lines().map(str::to_string).collect())
}

fn sign(key: &Path, payload: &[u8], watch: &Watch) -> Result<Vec<u8>, Fault> {
    let failed = |e: io::Error| Fault::new(Code::NotSigned, format!("{}: {e}", key.display()));
    let (made, mut said) = (tempfile::tempfile().map_err(failed)?, tempfile::tempfile().map_err(failed)?);
    let ends = (made.try_clone().map_err(failed)?, said.try_clone().map_err(failed)?);
    let mut signing = key::signing(key, run::file_of(payload).map_err(failed)?, ends.0, ends.1).map_err(failed)?;
    match run::end(&mut signing, watch, Ok(()))? {
        status if status.success() => key::signature(made).map_err(failed),
        status => Err(failed(io::Error::other(format!("{}: {status}: {}", key::PROGRAM, run::tail(&mut said))))),
    }
}

/// A commit into the quarantine; its id.
fn write(quarantine: &Quarantine, commit: &[u8], watch: &Watch) -> Result<String, Fault> {
    let git = quarantine.git().command(["hash-object", "-t", "commit", "-w", "--stdin"]);
    let git = git.map_err(|said| Fault::new(Code::Failed, said))?;
    let said = run::run(git, commit, Code::ObjectsBad, "hash-object", watch)?;
    Ok(String::from_utf8_lossy(&said).trim().to_string())
}

/// What the repository is to get: without the commits that were signed, which nobody would name there.
fn pack(quarantine: &Quarantine, tips: &BTreeMap<String, String>, to: &Path, watch: &Watch) -> Result<PathBuf, Fault> {
    let failed = Fault::failed(to.display());
    let packing = ["pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset", "--threads=1"];
    let git = quarantine.git().command(packing).map_err(|said| Fault::new(Code::Failed, said))?;
    let revisions = quarantine.revisions(tips.values());
    let mut file = File::create_new(to).map_err(&failed)?;
    run::stream(git, revisions.as_bytes(), Code::Failed, "pack-objects", watch, &mut |bytes| {
        file.write_all(bytes).map_err(&failed)
    })?;
    Ok(to.into())
}
