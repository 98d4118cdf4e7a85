//! `per_repo: true`: one attempt for each repo of a step, one after the other, each with its own folder, sandbox and outcome.
//! The settings of all are looked at before the first is run. From then on each stands for itself: that one fails keeps no
//! other from running, only a signal that asks kusaw to end does.

use std::path::Path;
use std::time::SystemTime;

use super::Attempt;
use super::folder::{bad_id, own_id};
use crate::outcome::{Reason, Refusal, timestamp};
use crate::process::signals;
use crate::settings::{NAME, Settings, attempts, is_name};

/// Runs them, all with the prompt that was asked for; the value is the exit code of the first that did not end with 0.
pub fn run(
    factory: &Path,
    settings: &Settings,
    name: &str,
    asked: Option<&str>,
    id: Option<&str>,
    report: &dyn Fn(&Refusal) -> i32,
) -> Result<i32, Refusal> {
    let steps = settings.steps.get(name).map(attempts::of).unwrap_or_default();
    let ids = ids(id, steps.iter().flat_map(|step| step.repos.iter().map(|repo| repo.value.as_str())))?;
    let mut begun = Vec::new();
    for (step, id) in steps.iter().zip(&ids) {
        match Attempt::begin(factory, settings, name, step, asked, Some(id)) {
            Ok(attempt) => begun.push(attempt),
            Err(refusal) => return Err(none_is_run(begun, refusal)),
        }
    }
    if let Some(refusal) = begun.iter().find_map(|attempt| attempt.admitted().err()) {
        return Err(none_is_run(begun, refusal));
    }
    let mut codes = Vec::new();
    for attempt in begun {
        codes.push(match signals::has_asked() {
            None => attempt.run().unwrap_or_else(|refusal| report(&refusal)),
            Some(signal) => report(&none_is_run(vec![attempt], Refusal::interrupted(signal))),
        });
    }
    Ok(codes.into_iter().find(|code| *code != 0).unwrap_or(0))
}

/// Each attempt's id: that of the run, and the repo's name.
fn ids<'a>(id: Option<&str>, repos: impl Iterator<Item = &'a str>) -> Result<Vec<String>, Refusal> {
    let id = match id {
        Some(id) if is_name(id) => id.to_string(),
        Some(id) => return Err(bad_id(id)),
        None => own_id(),
    };
    let of_repo = |repo: &str| {
        let whole = format!("{id}-{repo}");
        match is_name(&whole) {
            true => Ok(whole),
            false => Err(Refusal {
                fix: Some(format!("a shorter --attempt ID, or a shorter name of the repo: together they are {NAME}")),
                ..Refusal::new(Reason::AttemptFolder, format!("{whole:?} is no attempt id"))
            }),
        }
    };
    repos.map(of_repo).collect()
}

/// The records of attempts that are not run, each with the reason.
fn none_is_run(begun: Vec<Attempt>, refusal: Refusal) -> Refusal {
    let result = Err(refusal.clone());
    for attempt in begun {
        attempt.end(&result, &[], timestamp(SystemTime::now()));
    }
    refusal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_the_run_and_the_repo() {
        assert_eq!(ids(Some("a1"), ["demo", "x.y"].into_iter()).unwrap(), ["a1-demo", "a1-x.y"]);
        assert!(is_name(&ids(None, ["demo"].into_iter()).unwrap()[0]));
        for (id, repo) in [("../x", "demo"), (&"x".repeat(60), "demo"), ("a", &"x".repeat(64))] {
            let refusal = ids(Some(id), [repo].into_iter()).unwrap_err();
            assert_eq!((refusal.reason, refusal.exit_code()), (Reason::AttemptFolder, 125), "{id} {repo}");
        }
    }
}
