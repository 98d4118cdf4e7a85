//! What `sandbox check` says of the two guards that the kernel may lack: the filter of system calls, without which nothing is
//! launched, and Landlock, without which the rest stands.

use kusaw_enter::landlock::{self, SCOPES};
use nix::errno::Errno;
use serde::Serialize;

/// Whether one protects here.
#[derive(Serialize)]
pub struct Guard {
    protects: bool,
    /// Landlock's version in this kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    abi: Option<i32>,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// The filter, after a launch: one that could not apply it would have been refused.
pub fn filter(launched: bool) -> Guard {
    Guard { protects: launched, abi: None, why: (!launched).then(|| "there was no launch".into()) }
}

/// Landlock's scopes of signals and abstract sockets.
pub fn landlock() -> Guard {
    of_abi(landlock::abi())
}

fn of_abi(abi: Result<i32, Errno>) -> Guard {
    let why = match abi {
        Ok(abi) if abi >= SCOPES => None,
        Ok(abi) => Some(format!("the kernel's Landlock is of ABI {abi}; scopes came with {SCOPES}, in Linux 6.12")),
        Err(Errno::ENOSYS) => Some("the kernel is built without Landlock".into()),
        Err(Errno::EOPNOTSUPP) => Some("Landlock was not turned on at boot (lsm=landlock,..)".into()),
        Err(e) => Some(format!("the kernel does not say: {e}")),
    };
    Guard { protects: why.is_none(), abi: abi.ok(), why }
}

impl std::fmt::Display for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match (&self.why, self.abi) {
            (Some(why), _) => write!(f, "no: {why}"),
            (None, Some(abi)) => write!(f, "yes (ABI {abi})"),
            (None, None) => f.write_str("yes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_scopes_is_told_with_the_reason() {
        assert_eq!(of_abi(Ok(7)).to_string(), "yes (ABI 7)");
        for (abi, why) in [(Ok(5), "of ABI 5"), (Err(Errno::ENOSYS), "without"), (Err(Errno::EOPNOTSUPP), "boot")] {
            let guard = of_abi(abi);
            assert!(!guard.protects && guard.to_string().contains(why), "{guard}");
        }
    }
}
