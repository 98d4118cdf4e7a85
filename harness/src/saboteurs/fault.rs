//! Faults as data: `harness/saboteur/faults/CHAPTER.yaml`. Each breaks one guarantee and leaves the rest as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gherkin::Feature;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::change::Changes;
use super::judge;
use crate::catalogue::Catalogue;
use crate::verdict::Verdict;

/// Where they are written down, below the checkout.
pub const FAULTS: &str = "harness/saboteur/faults";

/// Longest name: the room in a program that names the fault in force.
const LONGEST: usize = 64;

/// The smallest change that breaks one guarantee.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Its name, unique.
    pub name: String,
    /// The guarantee that it breaks: a scenario of it must notice.
    pub breaks: String,
    /// What is wrong then, in one sentence.
    pub how: String,
    /// Changes of the reference's source, made in a copy of it.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// A change of what bubblewrap is told.
    pub bubblewrap: Option<Changes>,
    /// Why nothing could notice it: it is not put in force, and shown with this reason.
    pub unnoticed: Option<String>,
    /// Verdicts beside `fails` that count as noticed; `how` says why.
    #[serde(default)]
    pub seen: Vec<Verdict>,
    /// Other chapters that cannot hold then, such as `GIT` where nothing can be written; `how` says why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The file's name without `.yaml`.
    #[serde(skip)]
    pub chapter: String,
    /// SHA-256 of the feature that must notice.
    #[serde(skip)]
    pub feature: String,
}

/// A change of one text.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The file, below the checkout; in impl/.
    pub file: PathBuf,
    /// A text that stands in it once. White space at the beginning of its lines does not count.
    pub find: String,
    /// What takes its place; the word FAULT is true where this fault is in force.
    pub instead: String,
}

impl Fault {
    /// SHA-256 of what it is and of the feature that must notice, in hexadecimal digits: a catch of other scenarios is none.
    pub fn digest(&self) -> String {
        crate::host::sha256(format!("{} {}", json!(self), self.feature).as_bytes())
    }

    /// Whether a word of the command line means it: its name, its chapter, or its guarantee.
    pub fn is_meant(&self, word: &str) -> bool {
        [&self.name, &self.chapter, &self.breaks].into_iter().any(|own| own == word)
    }
}

/// Reads all faults, chapter by chapter, in the order of the files' names.
///
/// # Errors
/// When a file cannot be read or parsed: which, and where in it.
pub fn read(root: &Path) -> Result<Vec<Fault>, String> {
    let folder = root.join(FAULTS);
    let told = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(told)? {
        paths.push(entry.map_err(told)?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    paths.sort();
    let features = digests(&crate::features::read(root)?);
    let mut faults = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut read: Vec<Fault> = serde_yaml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        let chapter = path.file_stem().unwrap_or_default().to_string_lossy();
        for fault in &mut read {
            chapter.as_ref().clone_into(&mut fault.chapter);
            fault.feature = features.get(&fault.breaks).cloned().unwrap_or_default();
        }
        faults.extend(read);
    }
    Ok(faults)
}

/// SHA-256 of the feature of each guarantee.
fn digests(features: &[Feature]) -> BTreeMap<String, String> {
    let mut digests = BTreeMap::new();
    for feature in features {
        let digest = crate::host::sha256(format!("{feature:?}").as_bytes());
        let tags = feature.rules.iter().flat_map(|rule| &rule.tags);
        digests.extend(tags.map(|tag| (tag.clone(), digest.clone())));
    }
    digests
}

/// What is wrong with them, whatever the source looks like.
pub fn wrong(faults: &[Fault], catalogue: &Catalogue) -> Vec<String> {
    let mut names = BTreeSet::new();
    let mut wrong = Vec::new();
    for fault in faults {
        let mut say = |what: &str| wrong.push(format!("{}.yaml: {}: {what}", fault.chapter, fault.name));
        let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if fault.name.is_empty() || fault.name.len() > LONGEST || !fault.name.chars().all(kebab) {
            say("a name is of lower-case letters, digits and dashes, at most 64");
        }
        if !names.insert(&fault.name) {
            say("the name is taken by another fault");
        }
        if catalogue.get(&fault.breaks).is_none() {
            say(&format!("breaks {}, which is not in features/guarantees.md", fault.breaks));
        }
        if fault.how.trim().is_empty() || fault.how.contains('\n') {
            say("`how` is one sentence");
        }
        if fault.edits.is_empty() && fault.bubblewrap.is_none() {
            say("it has edits, or a change for bubblewrap, or both");
        }
        if fault.unnoticed.as_ref().is_some_and(|why| why.trim().is_empty()) {
            say("`unnoticed` says why");
        }
        let seen = [Verdict::Timeout, Verdict::Inconclusive, Verdict::Error];
        if fault.seen.iter().any(|verdict| !seen.contains(verdict)) {
            say("`seen` is of timeout, inconclusive and error: what holds notices nothing");
        }
        if judge::sound(fault).next().is_none() {
            say("`also` leaves no scenario that must hold");
        }
        if let Some(what) = fault.bubblewrap.as_ref().and_then(Changes::wrong) {
            say(what);
        }
        if fault.edits.iter().any(|edit| !edit.file.starts_with("impl")) {
            say("edits are of files in impl/");
        }
        if !fault.edits.is_empty() && !fault.edits.iter().any(|edit| edit.instead.contains("FAULT")) {
            say("no edit asks for FAULT: it would always be in force");
        }
    }
    wrong
}
