//! From what went wrong to a typed reason. Pure. Of bubblewrap's last words only prefixes that several versions share
//! are matched, and what is not recognised stays `bwrap-failed` with the words shown.

use std::path::Path;

use nix::errno::Errno;

use crate::outcome::{Reason, Refusal};
use crate::stderr::printable;

/// Text that bubblewrap prints, and what it means; the first match counts.
const MESSAGES: &[(&str, Reason)] = &[
    ("nesting depth or /proc/sys/user/max_", Reason::UsernsLimit),
    ("unshare user ns: No space left", Reason::UsernsLimit),
    ("unshare user ns: Operation not permitted", Reason::UsernsDenied),
    ("No permissions to creat", Reason::UsernsDenied),
    ("setting up uid map: Permission denied", Reason::ApparmorUserns),
    ("loopback: Failed RTM_NEWADDR", Reason::ApparmorUserns),
    ("Can't mount proc on", Reason::ProcMasked),
    ("pivot_root: Operation not permitted", Reason::ContainerSeccomp),
    ("setuid use of bubblewrap is not supported", Reason::SetuidBwrap),
    ("cannot open /proc/sys/user/max_user_namespaces: Permission denied", Reason::SetuidBwrap),
    ("Unexpected capabilities but not setuid", Reason::SetuidBwrap),
    ("Exceeded maximum number of arguments", Reason::TooManyMounts),
    ("nknown option", Reason::BwrapTooOld),
    ("execvp /proc/self/fd/", Reason::StageMissing),
];

/// The refusal for a bubblewrap that ended, having said `words` on stderr.
pub fn classify(words: &str, how: &str) -> Refusal {
    let reason = MESSAGES.iter().find(|(text, _)| words.contains(text)).map_or(Reason::BwrapFailed, |(_, r)| *r);
    let shown = printable(words.trim(), 1_000);
    let said = if shown.is_empty() { "bwrap said nothing".to_string() } else { shown };
    Refusal::new(reason, format!("{said} ({how})"))
}

/// The refusal for a program that could not be executed inside; `on_host` is where it is outside.
pub fn not_executed(program: &str, errno: Errno, on_host: Option<&Path>) -> Refusal {
    let program = printable(program, 200);
    if errno != Errno::ENOENT {
        return Refusal::new(Reason::CannotExecute, format!("{program:?}: {}, inside the sandbox", errno.desc()));
    }
    let refusal = Refusal::new(Reason::NotFound, format!("{program:?}: no such file inside the sandbox"));
    let Some(file) = on_host else { return refusal };
    let fix = format!(
        "{} is not shown to the step, or what it is executed with is not (the program of its #! line, a loader): name \
         its folder in sandbox.allow_read, or install it for all users",
        printable(&file.to_string_lossy(), 1_000)
    );
    Refusal { fix: Some(fix), ..refusal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_executed_is_named_with_a_fix() {
        let refusal = not_executed("claude", Errno::ENOENT, None);
        assert_eq!(refusal.to_string(), "not-found: \"claude\": no such file inside the sandbox");
        assert!(refusal.fix().contains("PATH inside"));
        let refusal = not_executed("tool", Errno::ENOENT, Some("/home/dev/bin/tool".as_ref()));
        assert!(refusal.fix().contains("/home/dev/bin/tool") && refusal.fix().contains("allow_read"));
        let refusal = not_executed("./x", Errno::EACCES, None);
        assert_eq!(refusal.to_string(), "cannot-execute: \"./x\": Permission denied, inside the sandbox");
    }

    /// What releases 0.8 to 0.13 say, and the reason.
    const SAID: &[(&str, &str)] = &[
        (
            "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
            "userns-limit",
        ),
        ("bwrap: unshare user ns: No space left on device", "userns-limit"),
        ("bwrap: unshare user ns: Operation not permitted", "userns-denied"),
        ("bwrap: No permissions to create a new namespace, likely because the kernel does not allow", "userns-denied"),
        ("bwrap: setting up uid map: Permission denied", "apparmor-userns"),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "apparmor-userns"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "proc-masked"),
        ("bwrap: Can't mount proc on /proc: Operation not permitted", "proc-masked"),
        ("bwrap: pivot_root: Operation not permitted", "container-seccomp"),
        ("bwrap: setuid use of bubblewrap is not supported", "setuid-bwrap"),
        ("bwrap: cannot open /proc/sys/user/max_user_namespaces: Permission denied", "setuid-bwrap"),
        ("bwrap: Unexpected capabilities but not setuid, old file caps config?", "setuid-bwrap"),
        ("bwrap: Exceeded maximum number of arguments 9000", "too-many-mounts"),
        ("bwrap: Unknown option --as-pid-1", "bwrap-too-old"),
        ("bwrap: execvp /proc/self/fd/12: No such file or directory", "stage-missing"),
        ("bwrap: Can't find source path /x: No such file or directory", "bwrap-failed"),
        ("", "bwrap-failed"),
    ];

    #[test]
    fn known_words_have_their_reason() {
        for (words, reason) in SAID {
            assert_eq!(classify(words, "exit code 1").reason.code(), *reason, "{words}");
        }
        for (known, _) in MESSAGES {
            assert!(SAID.iter().any(|(words, _)| words.contains(known)), "nobody has said {known:?}");
        }
    }
}
