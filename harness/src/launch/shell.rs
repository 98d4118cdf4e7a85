//! Shell commands: they tell that they began and ended, so that one that never ran is not taken for one that found nothing.
//!
//! They tell it with a sum that only a shell has done: whoever prints the words of the command has not run it.

use std::hash::{BuildHasher, RandomState};

use super::Launch;

/// The shell of shell commands.
pub const SHELL: &str = "/bin/sh";
const BEGAN: &str = "kusaw-shell: began";
const ENDED: &str = "kusaw-shell: ended";

/// The argv of a shell command that tells that it began and, unless it is killed, that it ended.
pub fn shell(command: &str) -> Vec<String> {
    let random = RandomState::new().hash_one(command);
    let (one, other) = (random % 9_000 + 1_000, random >> 32 & 0xfff);
    let text = format!(
        "echo \"{BEGAN} $(({one} * {other}))\"\n(\n{command}\n)\ncode=$?\necho \"{ENDED} $(({one} + {other}))\"\nexit $code"
    );
    [SHELL, "-c", &text].map(str::to_owned).to_vec()
}

/// Why a shell command proves nothing, if so. It came to its end if it says so, or if a probe in it did.
pub fn unfinished(launch: &Launch) -> Option<String> {
    let told = launch.command.last().and_then(|text| sums(text));
    let (began, ended) = told.map_or((false, false), |sums| told_in(&String::from_utf8_lossy(&launch.stdout), sums));
    (!began || !(ended || launch.report.ended))
        .then(|| format!("the command did not tell that it began and ended; exit {:?}", launch.exit))
}

/// What a command of [`shell`] tells at its beginning and at its end.
fn sums(text: &str) -> Option<(u64, u64)> {
    let (_, rest) = text.split_once("$((")?;
    let (one, other) = rest.split_once("))")?.0.split_once(" * ")?;
    let (one, other): (u64, u64) = (one.parse().ok()?, other.parse().ok()?);
    Some((one * other, one + other))
}

/// Whether it told that it began, and that it ended: behind an output without an end of its last line, too.
fn told_in(output: &str, (began, ended): (u64, u64)) -> (bool, bool) {
    let (began, ended) = (format!("{BEGAN} {began}"), format!("{ENDED} {ended}"));
    (output.lines().any(|line| line == began), output.lines().any(|line| line.ends_with(&ended)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_command_do_not_tell_its_sums() {
        let text = shell("true").remove(2);
        let (began, ended) = sums(&text).unwrap();
        assert!(!text.contains(&format!("{BEGAN} {began}")) && !text.contains(&format!("{ENDED} {ended}")));
        let told = std::process::Command::new(SHELL).args(["-c", &text]).output().unwrap().stdout;
        assert_eq!(String::from_utf8(told).unwrap(), format!("{BEGAN} {began}\n{ENDED} {ended}\n"));
    }

    #[test]
    fn a_command_may_print_no_last_line_feed() {
        let told = |text: &str| told_in(text, (6, 5));
        assert_eq!(told(&format!("{BEGAN} 6\nrefused{ENDED} 5\n")), (true, true));
        assert_eq!(told(&format!("{BEGAN} 6\nrefused")), (true, false));
        assert_eq!(told(&format!("{ENDED} 5\n")), (false, true));
    }
}
