//! What makes a `Reach` real on this system. Linux and WSL2: bubblewrap. A backend either starts the step
//! inside its sandbox or refuses with a typed reason; it must never start it any other way.

pub mod bubblewrap;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use crate::outcome::Refusal;
use crate::process::signals::Signals;
use crate::process::stdio::Stdio;
use crate::reach::Reach;
use crate::secrets::Variable;

/// One launch: what to execute, and what it can reach.
pub struct Launch<'a> {
    /// Program and arguments.
    pub argv: &'a [OsString],
    /// Where it starts, inside.
    pub cwd: &'a Path,
    /// What it can reach.
    pub reach: &'a Reach,
    /// Variables it gets besides, in place of others: apart from the reach, which may be shown.
    pub secrets: &'a [Variable],
    /// Its stdin, stdout and stderr.
    pub stdio: Stdio,
    /// Passed on to it; one that asks before it is executed ends the launch.
    pub signals: &'a Signals,
    /// The longest it may take, from the sandbox's start on; then everything inside is killed.
    pub most: Option<Duration>,
    /// What is left to do before the step starts and can be done while the sandbox is made.
    pub meanwhile: &'a mut dyn FnMut() -> Result<(), Refusal>,
    /// The sandbox stands. Gets the listening descriptors, one for each port of the reach, or two where the kernel has IPv6
    /// (127.0.0.1, then ::1), and the process that has made the sandbox. The step is only executed after this has come back
    /// without a refusal, and killed when the descriptor that it may have given can be read.
    pub ready: &'a mut dyn FnMut(Vec<OwnedFd>, i32) -> Result<Option<OwnedFd>, Refusal>,
}
