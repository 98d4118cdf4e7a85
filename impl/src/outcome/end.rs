//! How a step that was executed ended: a code or a signal of its own, or kusaw's decision.

use super::{Reason, RunExit, StepOutcome};

/// How a step that was executed ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// kusaw killed it, with its sandbox.
    Stopped(Reason),
}

impl End {
    /// The raw wait status, read as wait(2) says.
    pub fn from_status(status: i32) -> End {
        if libc::WIFSIGNALED(status) {
            End::Signalled(libc::WTERMSIG(status))
        } else {
            End::Exited(libc::WEXITSTATUS(status))
        }
    }

    /// The exit code of `kusaw run`.
    pub fn exit_code(self) -> i32 {
        match self {
            End::Exited(code) => RunExit::Step(code).code(),
            End::Signalled(signal) => RunExit::Signal(signal).code(),
            End::Stopped(_) => RunExit::Signal(libc::SIGKILL).code(),
        }
    }

    /// The signal, if one ended it.
    pub fn signal(self) -> Option<i32> {
        match self {
            End::Exited(_) => None,
            End::Signalled(signal) => Some(signal),
            End::Stopped(_) => Some(libc::SIGKILL),
        }
    }

    /// Why kusaw killed it, if it did.
    pub fn reason(self) -> Option<Reason> {
        match self {
            End::Stopped(reason) => Some(reason),
            _ => None,
        }
    }

    /// The outcome to record.
    pub fn outcome(self) -> StepOutcome {
        match self {
            End::Exited(0) => StepOutcome::Succeeded,
            End::Exited(_) => StepOutcome::Failed,
            End::Signalled(_) | End::Stopped(_) => StepOutcome::Killed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_becomes_a_code() {
        assert_eq!(End::from_status(7 << 8).exit_code(), 7);
        assert_eq!(End::from_status(15).exit_code(), 143);
        assert_eq!(End::from_status(0x80 | 11).exit_code(), 139);
        assert_eq!(End::from_status(9).outcome(), StepOutcome::Killed);
    }
}
