//! What an agent needs of the user's home: its login, settings and sessions. It is judged like an entry of `allow_write`, and
//! stricter: nobody wrote its path into the settings, so where a link of it leads can be nobody's intent.

use std::collections::BTreeSet;
use std::path::PathBuf;

use kusaw_enter::place::Identity;

use super::danger::{self, Danger};
use super::decide::Allowed;
use super::entry::{Entry, Kind};
use super::facts::{Alone, Asked, Facts};
use super::guard::Guard;
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
        match facts.alone(one) {
            Err(refused) => return refuse(refused.reason, &refused.why),
            // A file is read and replaced outside, wherever a step has made it lead: that a folder with it is shown does not help.
            Ok(Alone::Loose(place, outer)) if one.is_file_of_state() => {
                let why = format!("{} lies in {}, which a step can write", place.display(), outer.display());
                return refuse(Reason::StepWritablePath, &format!("{why}: it can become a link"));
            }
            Ok(_) => {}
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

/// Programs that lie in it are shown read-only: they run outside as well. One that is not there could be made. So that nobody puts
/// another folder in the place of one on the way to them, those are mounts as well: a mount cannot be renamed (rename(2), EBUSY).
pub fn keep_programs(allowed: &mut Allowed, asked: &[Asked], facts: &Facts) -> Result<(), Refusal> {
    let ends = asked.iter().filter_map(|one| Some((one, &one.walk.end.as_ref().ok()?.path)));
    for (one, end) in ends.filter(|(_, end)| allowed.write.contains(end)).collect::<Vec<_>>() {
        let refuse = |detail: String, fix: String| {
            let detail = one_line(&format!("{}: {detail}", one.entry.key));
            Err(Refusal { fix: Some(one_line(&fix)), ..Refusal::new(Reason::ProtectedPath, detail) })
        };
        let mut kept = BTreeSet::new();
        for Guard { place, what, .. } in facts.guards.iter().filter(|guard| guard.program) {
            if place == end || !place.starts_with(end) {
                continue;
            }
            if !place.exists() && !place.is_symlink() {
                let detail = format!("PATH names {}, where a step could put programs", place.display());
                return refuse(detail, format!("take {} out of PATH, or make it", place.display()));
            }
            // Nothing can be mounted at a link; its folder is kept.
            let keep = if place.is_symlink() { place.parent().unwrap_or(place) } else { place };
            if keep == end {
                let detail = format!("{} is {what}, and a step could replace it", place.display());
                return refuse(detail, "let PATH name the folder that the link leads to".into());
            }
            kept.insert(keep.to_path_buf());
        }
        // A folder comes before what is in it.
        let mut outermost: Vec<&PathBuf> = Vec::new();
        for place in &kept {
            if !outermost.iter().any(|outer| place.starts_with(outer)) {
                outermost.push(place);
            }
        }
        for place in outermost {
            let way = place.ancestors().skip(1).take_while(|above| above != end);
            for (place, can_write) in way.map(|above| (above, true)).chain([(place.as_path(), false)]) {
                let Some(End { is, .. }) = walk(place).end.ok().filter(|end| end.path == place) else {
                    let detail = format!("{} is not where it was", place.display());
                    return refuse(detail, "run the step again".into());
                };
                let mounts = if can_write { &mut allowed.write } else { &mut allowed.read };
                if !mounts.iter().any(|mount| mount == place) {
                    mounts.push(place.into());
                    allowed.identities.push((place.into(), is));
                }
            }
        }
    }
    Ok(())
}
