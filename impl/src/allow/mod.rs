//! `allow_read` and `allow_write`: from the entries of the settings to what an attempt can reach besides, or to a typed
//! refusal. An entry opens the real place it leads to and nothing beside it, as written; some places no entry can open.

mod danger;
mod decide;
mod entry;
mod facts;
mod finding;
mod guard;
mod host;
mod inner;
mod look;
pub mod named;
mod protected;
mod shown;
mod state;
pub mod walk;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::attempt;
use crate::finding::Finding;
use crate::outcome::Refusal;
use crate::reach;
use crate::settings::{Settings, Step, attempts};
use crate::stderr;

pub use decide::Allowed;
use decide::Verdict;
use entry::Entry;
use facts::Asked;
use host::Ways;
use look::Look;
pub use state::StateFile;

/// What the entries of one attempt of `step` come to; `factory` is a real path. What is dangerous, but granted as written,
/// comes as warnings.
pub fn of_attempt(
    factory: &Path,
    settings: &Settings,
    name: &str,
    step: &Step,
) -> Result<(Allowed, Vec<Finding>), Refusal> {
    let mut entries = entry::of_attempt(settings, name, step);
    let written = entries.len();
    let state = entry::of_state(name, step)?;
    entries.extend(state::linked(&state)?);
    entries.extend(state);
    if entries.is_empty() {
        return Ok(Default::default());
    }
    let mut ways = Ways::new(factory);
    let mut look = Look::at_launch();
    let facts = ways.facts(settings, &mut look);
    let asked = ways.ask(entries);
    let (of_settings, of_state) = asked.split_at(written);
    let dangers = danger::all(factory, settings, &facts);
    state::check(of_state, &facts, &dangers)?;
    let mut allowed = decide::allowed(&asked, &facts)?;
    state::keep_programs(&mut allowed, of_state, &facts)?;
    host::provide(&allowed.hide)?;
    if let Some(home) = reach::own_home().filter(|_| allowed.home_is_open) {
        allowed.links.extend(walk::walk(&home).links);
        // bubblewrap makes a link once only.
        allowed.links.sort();
        allowed.links.dedup();
    }
    let mounted: HashSet<&PathBuf> = allowed.read.iter().chain(&allowed.write).collect();
    let is_mounted = |one: &&Asked| one.walk.end.as_ref().is_ok_and(|end| mounted.contains(&end.path));
    let warned = of_settings.iter().filter(is_mounted);
    let warnings = warned.filter_map(|one| danger::warning(one, &dangers, Some(&mut look))).collect();
    Ok((allowed, warnings))
}

/// Whether a step of `factory` can write in `folder`: an attempt's, one that its settings allow, or, when they cannot be read,
/// any.
pub fn a_step_can_write(factory: &Path, folder: &Path) -> bool {
    let of_settings = || {
        let (factory, settings) = attempt::load(factory).ok()?;
        Some(
            Ways::new(&factory)
                .facts(&settings, &mut Look::at_launch())
                .writable
                .iter()
                .any(|place| folder.starts_with(place)),
        )
    };
    folder.starts_with(factory.join("attempts")) || of_settings().unwrap_or(true)
}

/// What is to be said about the entries of all steps that are sandboxed: refusals of a launch, then warnings.
pub fn findings(factory: &Path, settings: &Settings) -> (Vec<Finding>, Vec<Finding>) {
    let mut ways = Ways::new(factory);
    let mut look = Look::to_validate();
    let facts = ways.facts(settings, &mut look);
    let dangers = danger::all(factory, settings, &facts);
    let (mut errors, mut warnings, mut seen) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut judge = |ways: &mut Ways, key: String, entries: Vec<Entry>| {
        let asked = ways.ask(entries);
        let verdicts = decide::judge(&asked, &facts);
        let mounts = verdicts.iter().filter(|verdict| matches!(verdict, Ok(Verdict::Mount(_)))).count();
        if let Err(refusal) = decide::few_enough(mounts) {
            let (code, fix) = (refusal.reason.code(), refusal.fix().to_string());
            errors.insert(Finding { code, key, what: refusal.detail, fix, ..Finding::default() });
        }
        for (one, verdict) in asked.iter().zip(verdicts) {
            let look = verdict.is_ok().then_some(&mut look);
            errors.extend(verdict.err().map(|r| finding::finding(r.reason.code(), &one.entry, r.why, &r.fix)));
            if facts.loose(&one.walk).is_none() && seen.insert(one.entry.clone()) {
                warnings.extend(danger::warning(one, &dangers, look));
            }
        }
    };
    let sandboxed = || settings.steps.iter().filter(|(_, step)| attempts::any_sandboxed(settings, step));
    for (name, step) in sandboxed() {
        judge(&mut ways, format!("steps.{name}.sandbox"), entry::of_attempt(settings, name, step));
    }
    for (name, step) in sandboxed() {
        let checked = entry::of_state(name, step).and_then(|state| state::check(&ways.ask(state), &facts, &dangers));
        errors.extend(checked.err().map(|refusal| finding::of_state(name, &refusal)));
    }
    if look.stopped {
        stderr::say("too much to look at: not all sockets, checkouts and factories in what is allowed were found");
    }
    (errors.into_iter().collect(), warnings.into_iter().collect())
}
