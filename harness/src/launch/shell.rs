//! Shell commands: they tell that they began and ended, so that one that never ran is not taken for one that found nothing.

use super::Launch;

/// The shell of shell commands.
pub const SHELL: &str = "/bin/sh";
const BEGAN: &str = "kusaw-shell: began";
const ENDED: &str = "kusaw-shell: ended";

/// The argv of a shell command that tells that it began and, unless it is killed, that it ended.
pub fn shell(command: &str) -> Vec<String> {
    let text = format!("echo '{BEGAN}'\n(\n{command}\n)\ncode=$?\necho '{ENDED}'\nexit $code");
    [SHELL, "-c", &text].map(str::to_owned).to_vec()
}

/// Why a shell command proves nothing, if so. It came to its end if it says so, or if a probe in it did.
pub fn unfinished(launch: &Launch) -> Option<String> {
    let (began, ended) = told(&String::from_utf8_lossy(&launch.stdout));
    (!began || !(ended || launch.report.ended))
        .then(|| format!("the command did not tell that it began and ended; exit {:?}", launch.exit))
}

/// Whether it told that it began, and that it ended: behind an output without an end of its last line, too.
fn told(output: &str) -> (bool, bool) {
    (output.lines().any(|line| line == BEGAN), output.lines().any(|line| line.ends_with(ENDED)))
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn a_command_may_print_no_last_line_feed() {
        assert_eq!(told("kusaw-shell: began\nrefusedkusaw-shell: ended\n"), (true, true));
        assert_eq!(told("kusaw-shell: began\nrefused"), (true, false));
        assert_eq!(told("kusaw-shell: ended\n"), (false, true));
    }
}
