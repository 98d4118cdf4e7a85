//! Whether an attempt may begin: all that a launch is refused for before anything of it is made. A run, each of several attempts
//! (`per_repo`) and the plan of one (`sandbox profile`, the doctor) come through here, so that none of them says anything else.

use super::Attempt;
use super::repos;
use crate::allow::{self, Allowed};
use crate::backend::bubblewrap;
use crate::capability;
use crate::finding::Finding;
use crate::outcome::{Reason, Refusal};
use crate::provider::{self, Installed, Provider};
use crate::reach::{self, Connect};
use crate::secrets;
use crate::settings::Mode;

impl Attempt<'_> {
    /// What `allow_read` and `allow_write` of one that may begin come to, with a warning for each entry that opens more than it
    /// should. Secrets are looked for by name, and none is read.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub(super) fn admitted(&self) -> Result<(Allowed, Vec<Finding>), Refusal> {
        let is_required = self.effective.mode == Mode::Required;
        if is_required {
            secrets::all_there(self.settings, self.name, self.step)?;
        }
        self.has_capabilities()?;
        if let Connect::Allowed(grant) = self.connect()
            && is_required
        {
            reach::all_can_listen(&grant)?;
        }
        secrets::kept(self.factory, self.settings, self.name, self.step)?;
        if !is_required {
            return Ok(Default::default());
        }
        bubblewrap::installed()?;
        let allowed = allow::of_attempt(self.factory, self.settings, self.name, self.step)?;
        repos::can_sign(self.factory, self.settings, self.step)?;
        provider::of(self.step).map_or(Ok(()), |agent| installed(agent).map(drop))?;
        Ok(allowed)
    }

    /// What this version knows but cannot do is refused, never left out silently.
    fn has_capabilities(&self) -> Result<(), Refusal> {
        match capability::missing(self.settings, self.step) {
            None => Ok(()),
            Some(missing) => {
                let detail = format!("steps.{}.requires: {missing} is not_supported here", self.name);
                Err(Refusal { fix: Some(missing.fix().into()), ..Refusal::new(Reason::NotSupported, detail) })
            }
        }
    }
}

/// Where a step's agent is, which its sandbox must show.
///
/// # Errors
/// When it is not on PATH.
pub(super) fn installed(agent: &Provider) -> Result<Installed, Refusal> {
    provider::installed(agent)
        .ok_or_else(|| Refusal { fix: Some(agent.to_install()), ..Refusal::new(Reason::NotFound, agent.not_on_path()) })
}
