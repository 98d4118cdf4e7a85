//! What an agent needs of the user's home: its login, settings and sessions. It is judged like an entry of `allow_write`, and
//! stricter: nobody wrote its path into the settings, so where a link of it leads can be nobody's intent.

use std::path::{Path, PathBuf};

use kusaw_enter::place::Identity;

use super::danger::{self, Danger};
use super::decide::Allowed;
use super::entry::{Entry, Kind};
use super::facts::{Asked, Facts};
use super::inner;
use super::walk::{End, What, walk};
use crate::outcome::{Reason, Refusal};
use crate::stderr::{self, one_line};

/// A file of an agent's state that is replaced as a whole, by another of its name: no mount can be replaced so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFile {
    /// As the agent names it.
    pub named: PathBuf,
    /// Its real path.
    pub real: PathBuf,
    /// Which one.
    pub is: Identity,
}

/// Where the links in its folders lead, as entries that may be written. One that leads nowhere is left out, as it is outside.
pub fn linked(state: &[Entry]) -> Result<Vec<Entry>, Refusal> {
    let mut linked = Vec::new();
    for entry in state {
        let Ok(End { path, what: What::Folder, .. }) = walk(entry.written.as_ref()).end else { continue };
        let inner = inner::of(&path).map_err(|e| {
            Refusal::new(Reason::SetupFailed, format!("{}: which links are followed in {path:?}: {e}", entry.key))
        })?;
        for (link, target) in inner.later {
            stderr::warn(format!(
                "{}: {link:?} leads to {target:?} and is not followed: it came after the first sandboxed attempt, and a step may have made it (fix: name {target:?} in allow_read or allow_write, or remove {:?} if you have made all links there)",
                entry.key, inner.record,
            ));
        }
        let there = inner.targets.into_iter().filter(|target| target.exists());
        linked.extend(there.map(|target| Entry {
            key: entry.key.clone(),
            kind: Kind::Write,
            written: target.to_string_lossy().into_owned(),
        }));
    }
    Ok(linked)
}

/// Whether all of it, and what its links lead to, can be shown.
pub fn check(asked: &[Asked], facts: &Facts, dangers: &[Danger]) -> Result<(), Refusal> {
    asked.iter().try_for_each(|one| {
        let refuse = |reason, why: &str| {
            let fix = format!("let {} be, or lead to, a place of the agent's own", one.entry.written);
            let detail = one_line(&format!("{}: {:?}: {why}", one.entry.key, one.entry.written));
            Err(Refusal { fix: Some(one_line(&fix)), ..Refusal::new(reason, detail) })
        };
        if let Err(refused) = facts.alone(one) {
            return refuse(refused.reason, &refused.why);
        }
        match &one.walk.end {
            Ok(end) if !matches!(end.what, What::Folder | What::File) => {
                refuse(Reason::UnmountablePath, "it is neither a folder nor a file")
            }
            Ok(end) => danger::of_state(&end.path, dangers)
                .map_or(Ok(()), |what| refuse(Reason::ProtectedPath, &format!("{}: it {what}", end.path.display()))),
            Err(_) => Ok(()),
        }
    })
}

/// Programs that lie in it are shown read-only: they run outside as well. One that is not there could be made.
pub fn keep_programs(allowed: &mut Allowed, asked: &[Asked], facts: &Facts) -> Result<(), Refusal> {
    let ends = asked.iter().filter_map(|one| Some((one, &one.walk.end.as_ref().ok()?.path)));
    for (one, end) in ends.filter(|(_, end)| allowed.write.contains(end)).collect::<Vec<_>>() {
        let inner = |place: &&Path| *place != end && place.starts_with(end);
        for place in facts.guards.iter().filter(|guard| guard.program).map(|guard| guard.place.as_path()).filter(inner)
        {
            if !place.exists() {
                let detail =
                    format!("{}: PATH names {}, where a step could put programs", one.entry.key, place.display());
                let fix = format!("take {} out of PATH, or make it", place.display());
                return Err(Refusal {
                    fix: Some(one_line(&fix)),
                    ..Refusal::new(Reason::ProtectedPath, one_line(&detail))
                });
            }
            if !place.is_symlink() && !allowed.read.iter().any(|read| read == place) {
                allowed.read.push(place.into());
            }
        }
    }
    Ok(())
}
