//! From bubblewrap's last words to a typed reason. Pure; only prefixes that several versions share are
//! matched, and what is not recognised stays `bwrap-failed` with the words shown.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_have_their_reason() {
        for (words, reason) in [
            (
                "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
                "userns-limit",
            ),
            ("bwrap: unshare user ns: No space left on device", "userns-limit"),
            (
                "bwrap: No permissions to create a new namespace, likely because the kernel does not allow",
                "userns-denied",
            ),
            ("bwrap: setting up uid map: Permission denied", "apparmor-userns"),
            ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "apparmor-userns"),
            ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "proc-masked"),
            ("bwrap: Can't mount proc on /proc: Operation not permitted", "proc-masked"),
            ("bwrap: pivot_root: Operation not permitted", "container-seccomp"),
            ("bwrap: setuid use of bubblewrap is not supported", "setuid-bwrap"),
            ("bwrap: Exceeded maximum number of arguments 9000", "too-many-mounts"),
            ("bwrap: Unknown option --as-pid-1", "bwrap-too-old"),
            ("bwrap: Can't find source path /x: No such file or directory", "bwrap-failed"),
            ("", "bwrap-failed"),
        ] {
            assert_eq!(classify(words, "exit code 1").reason.code(), reason, "{words}");
        }
    }
}
