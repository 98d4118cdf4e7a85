//! The secret variables of a step: what the store keeps for it, and what may not stand beside it. Values leave here for the
//! step's environment alone.

use std::path::Path;

use crate::outcome::{Reason, Refusal};
use crate::settings::inject::Injected;
use crate::settings::{FILE, Mode, Settings, Step, effective, inject};
use crate::store::name::{OfStep, to_set};
use crate::store::{Fault, Secret, Store};

/// A variable of a step and its value.
pub type Variable = (String, Secret);

/// Those of one step, opened.
///
/// # Errors
/// When the store cannot be used, or a variable has a value from elsewhere as well.
pub fn of_step(factory: &Path, settings: &Settings, name: &str, step: &Step) -> Result<Vec<Variable>, Refusal> {
    let kept = kept(factory, settings, name, step)?;
    // Without a home there is no store, and nothing in it.
    let Ok(store) = Store::own() else { return Ok(Vec::new()) };
    kept.into_iter().map(|variable| open(&store, factory, name, variable)).collect()
}

/// The names of those of one step; none is read.
///
/// # Errors
/// As [`of_step`].
pub fn kept(factory: &Path, settings: &Settings, name: &str, step: &Step) -> Result<Vec<String>, Refusal> {
    let Ok(store) = Store::own() else { return Ok(Vec::new()) };
    let kept = store.of_step(factory, name).map_err(|e| Refusal::new(Reason::SecretStore, e))?;
    alone(settings, name, step, &kept)?;
    Ok(kept)
}

/// Whether the keys that a step gets injected are in the store; none is read. A step whose key is missing would only fail at its
/// provider, later and with less said.
///
/// # Errors
/// Names the first that is missing.
pub fn all_there(settings: &Settings, name: &str, step: &Step) -> Result<(), Refusal> {
    for one in inject::of(settings, step).unwrap_or_default() {
        let store = Store::own().map_err(|e| Refusal::new(Reason::SecretStore, e))?;
        if !store.has(&one.secret) {
            let detail = format!("steps.{name}: {}", not_there(&one));
            return Err(Refusal { fix: Some(to_set(&one.secret)), ..Refusal::new(Reason::NoSecret, detail) });
        }
    }
    Ok(())
}

/// Those injected keys that are not in the store, as far as there is one; none is read.
pub fn missing(injected: Vec<Injected>) -> Vec<Injected> {
    let is_there = |one: &Injected| Store::own().is_ok_and(|store| store.has(&one.secret));
    injected.into_iter().filter(|one| !is_there(one)).collect()
}

/// That an injected key is missing, in words.
pub fn not_there(one: &Injected) -> String {
    format!("inject {}: no secret {} in the store", one.name, one.secret)
}

/// The first of these variables that has a value from the settings too: it cannot be told which of the two is meant.
///
/// # Errors
/// Says which to remove.
pub fn alone(settings: &Settings, name: &str, step: &Step, kept: &[String]) -> Result<(), Refusal> {
    let injected = match effective::of(settings, step).mode {
        Mode::Off => Vec::new(),
        Mode::Required => inject::of(settings, step).unwrap_or_default(),
    };
    for variable in kept {
        let key = format!("steps.{name}.env.{variable}");
        let refused =
            |what: String, fix: String| Err(Refusal { fix: Some(fix), ..Refusal::new(Reason::BadSettings, what) });
        if step.env.contains_key(variable) {
            let what = format!("{key}: it stands in {} as well", settings.file.display());
            return refused(what, format!("take it out of {FILE}, or take the secret away: kusaw config unset {key}"));
        }
        if let Some(one) = injected.iter().find(|one| [&one.key_env, &one.base_url_env].contains(&variable)) {
            let what = format!("{key}: inject {} of the step sets {variable} as well", one.name);
            let fix = match *variable == one.key_env {
                true => {
                    format!("kusaw config unset {key}; what stays outside is: {}", to_set(&one.secret))
                }
                false => format!("kusaw config unset {key}"),
            };
            return refused(what, fix);
        }
    }
    Ok(())
}

fn open(store: &Store, factory: &Path, step: &str, variable: String) -> Result<Variable, Refusal> {
    let value = store.get(&OfStep { step, variable: &variable }.kept(factory)).map_err(|fault| Refusal {
        fix: match fault {
            Fault::Damaged(_) | Fault::Missing(_) => Some(to_set(&OfStep { step, variable: &variable }.to_string())),
            _ => None,
        },
        ..Refusal::new(Reason::SecretStore, fault)
    })?;
    Ok((variable, value))
}
