//! `kusaw config`: secrets, which do not stand in kusaw.yaml. By one word they are for all factories of the user and go where
//! the settings name them (`inject`); by `steps.STEP.env.NAME` they are a variable of that step of this factory.

mod list;
mod value;

use std::path::{Path, PathBuf};

use crate::attempt;
use crate::outcome::{Exit, Reason, Refusal};
use crate::secrets;
use crate::settings::{self, Complaint, NAME, Settings, is_name};
use crate::store::Store;
use crate::store::name::{OfStep, to_set};
pub use list::list;

/// Keeps a value.
///
/// # Errors
/// Says why it is not kept.
pub fn set(given: Option<PathBuf>, key: &str, secret: bool) -> Result<Exit, Refusal> {
    match secret {
        true => keep(given, key),
        false => Err(Refusal {
            fix: Some(format!("a setting: edit {}; a secret: {}", file(given).display(), to_set(key))),
            ..Refusal::new(
                Reason::NotImplemented,
                format!("{key}: only secrets are set by a command, so that comments stay"),
            )
        }),
    }
}

fn keep(given: Option<PathBuf>, key: &str) -> Result<Exit, Refusal> {
    let name = match Key::parse(key)? {
        Key::Word(word) => word.to_owned(),
        Key::OfStep(one) => {
            let (factory, settings) = attempt::load(&super::factory(given)?)?;
            let step = settings.steps.get(one.step).ok_or_else(|| no_step(&settings, one.step))?;
            secrets::alone(&settings, one.step, step, &[one.variable.to_owned()]).map_err(|refusal| {
                // Nothing is kept yet, so there is nothing to take away.
                let fix = format!("take the other away first, then: {}", to_set(key));
                Refusal { fix: Some(fix), ..refusal }
            })?;
            one.kept(&factory)
        }
    };
    let value = value::of(key)?;
    store()?.set(&name, &value).map_err(|e| Refusal::new(Reason::SecretStore, e))?;
    Ok(Exit::Fine)
}

/// Takes a secret away.
///
/// # Errors
/// When it is not there, or stays.
pub fn unset(given: Option<PathBuf>, key: &str) -> Result<Exit, Refusal> {
    let name = match Key::parse(key)? {
        Key::Word(word) => word.to_owned(),
        // The step may be gone from the settings, which may be wrong; the folder is what counts.
        Key::OfStep(one) => {
            let factory = super::factory(given)?;
            let unreadable = |e| Refusal::new(Reason::BadSettings, format!("{}: {e}", factory.display()));
            one.kept(&factory.canonicalize().map_err(unreadable)?)
        }
    };
    match store()?.unset(&name).map_err(|e| Refusal::new(Reason::SecretStore, e))? {
        true => Ok(Exit::Fine),
        false => Err(Refusal {
            fix: Some("kusaw config list".into()),
            ..Refusal::new(Reason::NoSecret, format!("no secret {key} in the store"))
        }),
    }
}

/// What stands behind `set` and `unset`.
enum Key<'a> {
    Word(&'a str),
    OfStep(OfStep<'a>),
}

impl<'a> Key<'a> {
    fn parse(key: &'a str) -> Result<Key<'a>, Refusal> {
        let bad = |what: &str, fix: String| Refusal { fix: Some(fix), ..Refusal::new(Reason::BadSettings, what) };
        let shown = crate::stderr::printable(key, 200);
        match key.split_once('.') {
            Some(("steps", rest)) => OfStep::parse(key).map(Key::OfStep).ok_or_else(|| {
                let (step, variable) = rest.rsplit_once('.').unwrap_or((rest, ""));
                let step = step.strip_suffix(".env").unwrap_or(step);
                let plain = variable.to_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                let near = format!("steps.{step}.env.{plain}");
                let rule = "a variable has 1 to 64 letters, digits and underscores, no digit first";
                let fix = match near != key && OfStep::parse(&near).is_some() {
                    true => format!("did you mean {near}? {rule}"),
                    false => format!("steps.STEP.env.NAME; {rule}"),
                };
                bad(&format!("{shown}: not a variable of a step"), fix)
            }),
            Some(("step", rest)) => {
                Err(bad(&format!("{shown}: not a name for a secret"), format!("did you mean steps.{rest}?")))
            }
            _ if is_name(key) => Ok(Key::Word(key)),
            _ => Err(bad(&format!("{shown}: not a name for a secret"), format!("{NAME}; or steps.STEP.env.NAME"))),
        }
    }
}

fn store() -> Result<Store, Refusal> {
    Store::own().map_err(|e| Refusal::new(Reason::SecretStore, e))
}

fn no_step(settings: &Settings, step: &str) -> Refusal {
    let known: Vec<&str> = settings.steps.keys().map(String::as_str).collect();
    let complaint = Complaint::new(&settings.file, "", (0, 0), "steps", format!("no step {step:?}; nothing is kept"));
    Refusal::new(Reason::UnknownStep, complaint.did_you_mean(step, &known))
}

/// The settings file that is meant, as far as one is.
fn file(given: Option<PathBuf>) -> PathBuf {
    super::factory(given).map_or_else(|_| Path::new(settings::FILE).into(), |factory| factory.join(settings::FILE))
}
