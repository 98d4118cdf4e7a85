//! One program that is started, and what came of it.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::rc::Rc;

use super::stdio::Files;
use super::{Launch, Launcher, Live, process};
use crate::caller::Caller;
use crate::driver::Templates;
use crate::lab::fault::Fault;
use crate::plan::Plan;
use crate::probe::Report;

/// What is started.
pub(super) struct Order<'a> {
    pub(super) argv: Vec<String>,
    pub(super) command: Vec<String>,
    pub(super) cwd: PathBuf,
    pub(super) environment: Vec<(String, String)>,
    pub(super) fault: Option<Fault>,
    pub(super) name: &'a str,
    pub(super) templates: Rc<Templates>,
    pub(super) factory: PathBuf,
    /// What the caller gives the process; none = nothing.
    pub(super) plan: Option<&'a Plan>,
    /// Told while it runs.
    pub(super) live: Option<&'a Live>,
}

impl Launcher<'_> {
    /// Starts it and waits for its end.
    ///
    /// # Errors
    /// When it cannot be prepared or started.
    pub(super) async fn start(&self, order: Order<'_>) -> Result<Launch, String> {
        let prepared = match &order.fault {
            Some(fault) => {
                let prepared = fault.prepare(self.lab.backend.as_deref(), order.name);
                Some(prepared.map_err(|e| format!("{fault:?}: {e}"))?)
            }
            None => None,
        };
        let backend = self.manifest.backend.as_deref().unwrap_or_default();
        let careful = Caller::default();
        let caller = order.plan.map_or(&careful, |plan| &plan.caller);
        let files = caller.files.then(|| Files::new(order.name)).transpose();
        let files = files.map_err(|e| format!("the caller's files: {e}"))?;
        let text = order.plan.map_or(b"".as_slice(), |plan| &plan.stdin);
        let input = process::Input { text, files: files.as_ref(), caller, live: order.live };
        let ended = process::run(&order.argv, &order.cwd, &order.environment, input, |command| {
            if let Some(prepared) = prepared {
                prepared.arrange(command, backend);
            }
        })
        .await;
        let ended = match ended {
            Err(e) if order.argv == order.command => process::Ended::unstarted(&e),
            ended => ended.map_err(|e| format!("{}: {e}", order.argv.join(" ")))?,
        };
        Ok(Launch {
            report: Report::find(&ended.stdout, &self.lab.key),
            argv: order.argv,
            env: order.environment.into_iter().map(|(name, _)| name).collect(),
            command: order.command,
            exit: ended.exit(),
            signal: ended.status.and_then(|status| status.signal()),
            timed_out: ended.status.is_none(),
            stdout: ended.stdout,
            stderr: ended.stderr,
            templates: order.templates,
            factory: order.factory,
            files,
            terminal: ended.terminal,
            took: ended.took,
        })
    }
}
