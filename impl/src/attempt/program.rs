//! What a step executes: its own program, an agent or a built-in step, and what of the host that needs to be visible.

use std::ffi::OsString;
use std::path::Path;

use super::Attempt;
use crate::allow;
use crate::builtin;
use crate::outcome::{Reason, Refusal};
use crate::provider::{self, Installed, Provider, arguments};

/// Why an agent's arguments cannot be used.
enum Unusable {
    File(Refusal),
    Argument(arguments::Wrong),
}

impl From<arguments::Wrong> for Unusable {
    fn from(wrong: arguments::Wrong) -> Unusable {
        Unusable::Argument(wrong)
    }
}

impl Attempt<'_> {
    /// The step's argv in the folder where it starts, and what its program needs.
    pub(super) fn argv(&self, cwd: &Path, wrapped: bool) -> Result<(Vec<OsString>, Installed), Refusal> {
        if let Some(builtin) = self.step.uses.as_ref().and_then(|name| builtin::find(&name.value)) {
            let detail = || {
                format!("steps.{}.uses: {}: none of {} in {}", self.name, builtin.name, builtin.files(), cwd.display())
            };
            let argv = builtin.argv(cwd).ok_or_else(|| Refusal::new(Reason::NothingFits, detail()))?;
            return Ok((argv.iter().map(OsString::from).collect(), Installed::default()));
        }
        let Some(provider) = provider::of(self.step) else {
            return Ok((self.step.run.iter().flatten().map(OsString::from).collect(), Installed::default()));
        };
        let prompt = self.prompt.as_deref().unwrap_or_default();
        let args = match wrapped {
            true => self.wrapped_args(provider, cwd)?,
            false => self.step.args.clone(),
        };
        let mut argv: Vec<OsString> = provider.argv(args, prompt).into_iter().map(OsString::from).collect();
        if !wrapped {
            return Ok((argv, Installed::default()));
        }
        let installed = installed(provider)?;
        argv[0] = installed.program.clone().into();
        Ok((argv, installed))
    }

    /// Before anything is made or executed outside: whether the agent that is to run it is there at all.
    pub(super) fn has_agent(&self) -> Result<(), Refusal> {
        provider::of(self.step).map_or(Ok(()), |provider| installed(provider).map(drop))
    }

    /// The agent's own sandbox is off in ours.
    fn wrapped_args(&self, provider: &Provider, cwd: &Path) -> Result<Vec<String>, Refusal> {
        let key = format!("steps.{}.args", self.name);
        let read =
            |name: &str| allow::named::text(self.factory, self.settings, &key, name, cwd).map_err(Unusable::File);
        arguments::wrapped(provider.own_sandbox, &self.step.args, read).map_err(|unusable| match unusable {
            Unusable::File(refusal) => refusal,
            Unusable::Argument(wrong) => Refusal::new(Reason::BadSettings, format!("{key}: {wrong}")),
        })
    }
}

fn installed(provider: &Provider) -> Result<Installed, Refusal> {
    provider::installed(provider).ok_or_else(|| Refusal {
        fix: Some(provider.to_install()),
        ..Refusal::new(Reason::NotFound, provider.not_on_path())
    })
}
