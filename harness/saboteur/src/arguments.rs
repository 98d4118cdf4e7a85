//! What bubblewrap is told, taken apart: options with their operands, and the command.
//!
//! It must never guess: an option that is not known here is an error, because what follows it could not be told apart.

use std::ffi::{OsStr, OsString};

/// Options without an operand, of bubblewrap 0.8 to 0.13 (bwrap(1)).
const FLAGS: &[&str] = &[
    "--help",
    "--version",
    "--level-prefix",
    "--unshare-all",
    "--share-net",
    "--unshare-user",
    "--unshare-user-try",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup",
    "--unshare-cgroup-try",
    "--disable-userns",
    "--assert-userns-disabled",
    "--clearenv",
    "--new-session",
    "--die-with-parent",
    "--as-pid-1",
];
const ONE: &[&str] = &[
    "--args",
    "--argv0",
    "--userns",
    "--userns2",
    "--pidns",
    "--uid",
    "--gid",
    "--hostname",
    "--chdir",
    "--unsetenv",
    "--lock-file",
    "--sync-fd",
    "--remount-ro",
    "--overlay-src",
    "--tmp-overlay",
    "--ro-overlay",
    "--exec-label",
    "--file-label",
    "--proc",
    "--dev",
    "--tmpfs",
    "--mqueue",
    "--dir",
    "--seccomp",
    "--add-seccomp-fd",
    "--block-fd",
    "--userns-block-fd",
    "--info-fd",
    "--json-status-fd",
    "--cap-add",
    "--cap-drop",
    "--perms",
    "--size",
];
const TWO: &[&str] = &[
    "--setenv",
    "--bind",
    "--bind-try",
    "--dev-bind",
    "--dev-bind-try",
    "--ro-bind",
    "--ro-bind-try",
    "--bind-fd",
    "--ro-bind-fd",
    "--file",
    "--bind-data",
    "--ro-bind-data",
    "--symlink",
    "--chmod",
];
const THREE: &[&str] = &["--overlay"];

/// A start of bubblewrap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Each with its operands, in order.
    pub options: Vec<Vec<OsString>>,
    /// The command inside.
    pub command: Vec<OsString>,
}

impl Launch {
    /// Takes words apart; `read` gives the words behind an `--args FD`, which then stand in its place.
    pub fn parse(
        words: Vec<OsString>,
        read: &mut dyn FnMut(&OsStr) -> Result<Vec<OsString>, String>,
    ) -> Result<Launch, String> {
        let mut launch = Launch { options: Vec::new(), command: Vec::new() };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if word == "--" {
                launch.command.extend(words);
                break;
            }
            let Some(operands) = operands(&word) else {
                if word.as_encoded_bytes().starts_with(b"-") {
                    return Err(format!("{}: not an option of bubblewrap that is known here", word.display()));
                }
                launch.command.push(word);
                launch.command.extend(words);
                break;
            };
            let option: Vec<OsString> = std::iter::once(word).chain(words.by_ref().take(operands)).collect();
            if option.len() != operands + 1 {
                return Err(format!("{}: an operand is missing", option[0].display()));
            }
            if option[0] == "--args" {
                let inner = Launch::parse(read(&option[1])?, read)?;
                launch.options.extend(inner.options);
                launch.command = inner.command;
            } else {
                launch.options.push(option);
            }
        }
        Ok(launch)
    }

    /// The words again.
    pub fn words(self) -> impl Iterator<Item = OsString> {
        self.options.into_iter().flatten().chain([OsString::from("--")]).chain(self.command)
    }
}

fn operands(word: &OsStr) -> Option<usize> {
    [FLAGS, ONE, TWO, THREE].iter().position(|kind| kind.iter().any(|known| word == *known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn parse(text: &str) -> Result<Launch, String> {
        Launch::parse(words(text), &mut |fd| {
            assert_eq!(fd, "9");
            Ok(words("--ro-bind /usr /usr --proc /proc"))
        })
    }

    #[test]
    fn what_stands_behind_args_stands_in_its_place() {
        let launch = parse("--unshare-user --args 9 --chdir /w -- sh -c --bind").unwrap();
        let all = words("--unshare-user --ro-bind /usr /usr --proc /proc --chdir /w -- sh -c --bind");
        assert_eq!(launch.words().collect::<Vec<_>>(), all);
    }

    #[test]
    fn the_command_may_follow_without_dashes() {
        assert_eq!(parse("--unshare-all sh --bind").unwrap().command, words("sh --bind"));
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        assert!(parse("--brand-new x sh").unwrap_err().contains("--brand-new"));
        assert!(parse("--bind /a").unwrap_err().contains("operand"));
    }
}
