//! Run states, step outcomes, reason codes and exit codes: the enumerations that documentation and
//! `outcome.json` are made from. A reason never exists without a fix, and a code is never reused.

mod end;
mod exit;
mod state;

use std::time::SystemTime;

use nix::sys::signal::Signal;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use end::End;
pub use exit::{Exit, RunExit};
pub use state::{RunState, StepOutcome};

/// The time as the records write it: RFC 3339, UTC, milliseconds.
pub fn timestamp(at: SystemTime) -> String {
    humantime::format_rfc3339_millis(at).to_string()
}

macro_rules! reasons {
    ($($name:ident $code:literal $meaning:literal $fix:literal,)*) => {
        /// Why an attempt was refused, or its step killed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Reason { $(#[doc = $meaning] $name,)* }

        impl Reason {
            /// Every reason, in the order of the documentation.
            pub const ALL: &'static [Reason] = &[$(Reason::$name,)*];

            /// The stable code in records and messages.
            pub fn code(self) -> &'static str {
                match self { $(Reason::$name => $code,)* }
            }

            /// What it means, in one line.
            pub fn meaning(self) -> &'static str {
                match self { $(Reason::$name => $meaning,)* }
            }

            /// What the user can do about it.
            pub fn fix(self) -> &'static str {
                match self { $(Reason::$name => $fix,)* }
            }
        }
    };
}

reasons! {
    BadSettings "bad-settings" "The settings cannot be read or contradict themselves."
        "correct kusaw.yaml at the place named",
    UnknownStep "unknown-step" "No step of this name is in the settings."
        "name a step that stands under steps: in kusaw.yaml",
    AttemptExists "attempt-exists" "An attempt of this id has a folder already."
        "choose another --attempt id, or leave it out",
    NotImplemented "not-implemented" "The settings ask for what this version cannot do yet."
        "remove the setting, or use a version that has it",
    NotSupported "not-supported" "The step requires a capability that is not there."
        "set what it needs, or take it out of the step's requires:",
    NothingFits "nothing-fits" "The worktree has none of the files that the built-in step goes by."
        "name the command itself: run: [PROGRAM, ARGUMENT, ..] in place of uses:",
    NoBwrap "no-bwrap" "The sandbox program bwrap is not on PATH."
        "install bubblewrap (Debian, Ubuntu: apt install bubblewrap)",
    BwrapFailed "bwrap-failed" "bubblewrap ended before the sandbox stood."
        "see bubblewrap's message above; `kusaw sandbox check` repeats it",
    BwrapTimeout "bwrap-timeout" "The sandbox did not stand within the start deadline."
        "look for a hanging mount or a very busy machine; KUSAW_START_TIMEOUT=SECONDS waits longer",
    UsernsLimit "userns-limit" "A limit forbids another user namespace."
        "raise user.max_user_namespaces (and the net and mnt ones) with sysctl, or leave the sandbox around kusaw",
    UsernsDenied "userns-denied" "This place may not create user namespaces."
        "in a container: --security-opt seccomp=unconfined --security-opt systempaths=unconfined; else allow unprivileged user namespaces",
    ApparmorUserns "apparmor-userns" "AppArmor restricts unprivileged user namespaces."
        "install an AppArmor profile for bwrap with `userns,` or set kernel.apparmor_restrict_unprivileged_userns=0",
    ProcMasked "proc-masked" "The container masks parts of /proc, so a new one cannot be mounted."
        "in a container: --security-opt systempaths=unconfined",
    ContainerSeccomp "container-seccomp" "The container's filter forbids what a sandbox needs."
        "in a container: --security-opt seccomp=unconfined",
    SetuidBwrap "setuid-bwrap" "bwrap is installed setuid, which does not work here."
        "remove the setuid bit (chmod u-s) and allow unprivileged user namespaces",
    BwrapTooOld "bwrap-too-old" "This bwrap does not know an option that is needed."
        "install bubblewrap 0.8 or newer",
    TooManyMounts "too-many-mounts" "The step needs more mounts than bubblewrap takes."
        "name folders instead of single files",
    UnresolvedPath "unresolved-path" "An allowed path leads nowhere: nothing is granted by its name alone."
        "name a path that is there and can be reached, or remove the entry",
    ProtectedPath "protected-path" "An allowed path is, holds or lies in a place that no step may have."
        "name a folder that has nothing to do with the place named",
    StepWritablePath "step-writable-path" "An allowed path lies in a place that a step can write: it can become a link to anything."
        "name the outer folder itself",
    UnmountablePath "unmountable-path" "An allowed path is of a kind or in a place that cannot be shown inside."
        "name a file or folder elsewhere",
    PathChanged "path-changed" "What an allowed path leads to was exchanged during the launch: something else would have been shown."
        "find out who exchanges it (a step of another factory that may write there?), and name a folder that nobody exchanges",
    TooManyPaths "too-many-paths" "allow_read and allow_write come to more mounts than a launch can have in reasonable time."
        "name folders that hold many of the paths; what lies in one needs no entry of its own",
    StageMissing "stage-missing" "kusaw-enter is not beside kusaw, or is no program."
        "install kusaw and kusaw-enter into the same folder",
    ProxyFailed "proxy-failed" "The egress proxy could not be started."
        "raise the limits on open files and processes (ulimit -n, ulimit -u)",
    ServeRefused "serve-refused" "`kusaw serve` hosts this factory's proxy and did not take the attempt."
        "end that `kusaw serve` and start it again, with this version of kusaw and as this user",
    ServeFull "serve-full" "`kusaw serve` has no open files left for another attempt."
        "wait until another attempt has ended, or start that `kusaw serve` again with a higher limit (ulimit -n)",
    ServeRunning "serve-running" "Another `kusaw serve` hosts this factory's proxy already."
        "use that one (`kusaw service status`), or end it first",
    ServeFailed "serve-failed" "`kusaw serve` could not listen in the factory's folder."
        "see the message above",
    ProxyLost "proxy-lost" "`kusaw serve`, which hosted the attempt's proxy, has ended: the step was killed."
        "start `kusaw serve` again, and the attempt under another id",
    SecretStore "secret-store" "The secret store, or the key that opens it, cannot be used."
        "see the message above; the store and keys folders must be yours alone (chmod -R go= FOLDER)",
    NoSecret "no-secret" "The settings name a secret that is not in the store."
        "kusaw config set NAME --secret",
    NoPrompt "no-prompt" "The step has no prompt in the settings, and none was given."
        "write prompt: into the step, or run it at a terminal: with $VISUAL or $EDITOR, or typed, ended by Ctrl-D",
    SetupCommand "setup-command" "A setup command of the step failed: the step was not executed."
        "see what the command said above; it runs in the step's first worktree, outside the sandbox",
    CannotSign "cannot-sign" "What the step commits is to be signed, and there is nothing to sign it with."
        "see the message above; `sign:` of the repo names a public key that an ssh-agent holds (ssh-add), or that lies beside its private one",
    WorktreeFailed "worktree-failed" "The worktree could not be made."
        "check that the repository exists, has a commit, and that git is installed",
    GitFolder "git-folder" "The private store that stands for the git folder could not be made."
        "see the message above; check that the repository is whole (git fsck)",
    AttemptFolder "attempt-folder" "The attempt folder could not be made or written."
        "check permissions and free space of the factory folder",
    SetupFailed "setup-failed" "Something the launch needs could not be set up."
        "see the message above",
    Interrupted "interrupted" "A signal asked kusaw to end before the step was executed."
        "start the attempt again, under another id",
    CannotExecute "cannot-execute" "The step's program is there but cannot be executed."
        "make it executable, and name a program for this machine",
    NotFound "not-found" "The step's program was not found where the step runs."
        "name a program that is on PATH inside, or in the worktree",
}

impl Reason {
    /// How `kusaw run` ends for it.
    pub fn exit(self) -> RunExit {
        match self {
            Reason::CannotExecute => RunExit::CannotExecute,
            Reason::NotFound => RunExit::NotFound,
            // The one that kills a step.
            Reason::ProxyLost => RunExit::Signal(libc::SIGKILL),
            _ => RunExit::Refused,
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Reason {
    /// A code of another version stands for what a `serve` that did not take an attempt means at least.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Reason, D::Error> {
        let code = String::deserialize(from)?;
        Ok(Reason::ALL.iter().copied().find(|known| known.code() == code).unwrap_or(Reason::ServeRefused))
    }
}

/// A refusal: nothing of the step was executed. `detail` says what and where, one or more lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {detail}")]
pub struct Refusal {
    /// The typed reason.
    pub reason: Reason,
    /// What and where.
    pub detail: String,
    /// Instead of the reason's general fix.
    pub fix: Option<String>,
    /// The signal that interrupted.
    pub signal: Option<i32>,
}

impl Refusal {
    /// A refusal with the reason's own fix.
    pub fn new(reason: Reason, detail: impl std::fmt::Display) -> Refusal {
        Refusal { reason, detail: detail.to_string(), fix: None, signal: None }
    }

    /// This signal came before the step was executed.
    pub fn interrupted(signal: i32) -> Refusal {
        let name = Signal::try_from(signal).map_or("a signal", Signal::as_str);
        Refusal { signal: Some(signal), ..Refusal::new(Reason::Interrupted, format!("{name} came during the launch")) }
    }

    /// The exit code of `kusaw run`: the reason's, or, as shells have it, 128 and the signal.
    pub fn exit_code(&self) -> i32 {
        self.signal.map_or(self.reason.exit(), RunExit::Signal).code()
    }

    /// The fix to show.
    pub fn fix(&self) -> &str {
        self.fix.as_deref().unwrap_or(self.reason.fix())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_every_reason_has_a_fix() {
        for (i, a) in Reason::ALL.iter().enumerate() {
            assert!(!a.fix().is_empty() && !a.meaning().is_empty());
            assert!(Reason::ALL[i + 1..].iter().all(|b| a.code() != b.code()), "{a} twice");
        }
    }
}
