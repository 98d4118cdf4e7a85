//! The prompt of a step that has none in the settings: its user is asked for it, outside of any sandbox and before anything of an
//! attempt is made. It is only ever taken from a terminal: what comes in by a pipe is for the step, and nobody's prompt.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, ExitStatus};

use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, read, tcgetpgrp};

use crate::outcome::{Reason, Refusal};
use crate::process::grace::Grace;
use crate::process::pidfd;
use crate::process::signals::{Signals, Taken};
use crate::stderr;

/// Most bytes of a prompt: as an argument, with its end, it has 128 KiB (execve(2), MAX_ARG_STRLEN).
const MOST: usize = (128 << 10) - 1;

/// Most bytes of a file that an editor leaves.
const FILE: u64 = 1 << 20;

/// What stands in the file at first, below an empty line.
const ABOUT: &str =
    "# What is the agent to do? Lines that begin with # are left out;\n# with no other line, nothing is run.\n";

/// Asks for it, with `$VISUAL` or `$EDITOR`, or line by line.
///
/// # Errors
/// When there is no terminal, when nothing is written there, and when a signal asks kusaw to end.
pub fn prompt(step: &str) -> Result<String, Refusal> {
    let none = |what: &dyn std::fmt::Display| Refusal::new(Reason::NoPrompt, format!("steps.{step}: {what}"));
    if !io::stdin().is_terminal() {
        return Err(none(&"no prompt: is there, and stdin is no terminal to ask at"));
    }
    let signals = Signals::take().map_err(|e| Refusal::new(Reason::SetupFailed, format!("signals: {e}")))?;
    let modes = Modes::keep();
    let written = match editor() {
        Some(editor) => edited(&editor, step, &signals),
        None => typed(step, &signals),
    };
    drop(modes);
    let text = match written.map_err(|e| none(&e))? {
        Written::Text(bytes) => String::from_utf8(bytes).map_err(|_| none(&"the prompt is not UTF-8 text"))?,
        Written::Ended(status) => return Err(none(&format!("the editor failed: {status}"))),
        Written::Asked(signal) => return Err(Refusal::interrupted(signal)),
    };
    match text.trim_start_matches('\n').trim_end() {
        "" => Err(none(&"the prompt is empty")),
        text if text.len() > MOST => Err(none(&format!("the prompt has {} bytes; {MOST} are allowed", text.len()))),
        text if text.contains('\0') => Err(none(&"the prompt holds a NUL byte")),
        text => Ok(text.to_string()),
    }
}

/// What came of asking.
enum Written {
    Text(Vec<u8>),
    /// The editor failed.
    Ended(ExitStatus),
    /// This signal asked kusaw to end.
    Asked(i32),
}

fn editor() -> Option<OsString> {
    ["VISUAL", "EDITOR"].iter().filter_map(std::env::var_os).find(|editor| !editor.is_empty())
}

/// The file lies in a folder that is this user's alone, and goes with it.
fn edited(editor: &OsStr, step: &str, signals: &Signals) -> io::Result<Written> {
    let folder = tempfile::Builder::new().prefix("kusaw-prompt-").tempdir()?;
    let file = folder.path().join("PROMPT");
    let mut begun = File::options().write(true).create_new(true).mode(0o600).open(&file)?;
    begun.write_all(format!("\n# The prompt of the step {step}.\n{ABOUT}").as_bytes())?;
    drop(begun);
    // As git has it: the variable may hold options, and is for the shell (git-var(1), GIT_EDITOR).
    let mut script = editor.to_os_string();
    script.push(" \"$@\"");
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script).arg(editor).arg(&file);
    if !(io::stdout().is_terminal() && io::stderr().is_terminal())
        && let Ok(screen) = File::options().read(true).write(true).open("/dev/tty")
    {
        command.stdout(screen.try_clone()?).stderr(screen);
    }
    let (status, asked) = wait(command.spawn()?, signals)?;
    if let Some(signal) = asked {
        return Ok(Written::Asked(signal));
    }
    if !status.success() {
        return Ok(Written::Ended(status));
    }
    let mut bytes = Vec::new();
    File::open(&file)?.take(FILE).read_to_end(&mut bytes)?;
    let kept = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#"));
    Ok(Written::Text(kept.flatten().copied().collect()))
}

/// Its end, and the signal that asked kusaw to end. What comes from the terminal the editor gets as well, and says by its own end
/// what it means.
fn wait(mut child: Child, signals: &Signals) -> io::Result<(ExitStatus, Option<i32>)> {
    let ended = pidfd::open(child.id() as i32)?;
    let (mut grace, mut asked, mut typed) = (Grace::default(), None, None);
    let mut heed = |signal: Taken, grace: &mut Grace| -> nix::Result<()> {
        let ends = signal.asks_to_end || signal.number == libc::SIGQUIT;
        match (ends, signal.from_terminal) {
            (false, _) => {}
            (true, true) => typed = Some(signal.number),
            (true, false) => {
                asked.get_or_insert(signal.number);
                grace.begin();
                let _ = kill(Pid::from_raw(child.id() as i32), Signal::try_from(signal.number)?);
            }
        }
        Ok(())
    };
    let mut is_over = false;
    while !is_over {
        match signals.wait([ended.as_fd()], &grace) {
            Ok([over]) => is_over = over,
            Err(e) if e.kind() == io::ErrorKind::TimedOut => {
                let _ = kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
                grace = Grace::default();
            }
            Err(e) => return Err(e),
        }
        while let Some(signal) = signals.next()? {
            heed(signal, &mut grace)?;
        }
    }
    let status = child.wait()?;
    Ok((status, asked.or(typed.filter(|_| !status.success()))))
}

/// Line by line, as the terminal gives them; what is typed later is the step's.
fn typed(step: &str, signals: &Signals) -> io::Result<Written> {
    stderr::say(format!(
        "what is the agent of the step {step} to do? Ctrl-D on a line of its own ends it, Ctrl-C gives up"
    ));
    let (stdin, mut text, mut line) = (io::stdin(), Vec::new(), [0; 4096]);
    loop {
        let [is_there] = signals.wait([stdin.as_fd()], &Grace::default())?;
        while let Some(signal) = signals.next()? {
            if signal.asks_to_end || signal.number == libc::SIGQUIT {
                return Ok(Written::Asked(signal.number));
            }
        }
        if is_there {
            match read(&stdin, &mut line)? {
                0 => return Ok(Written::Text(text)),
                count => text.extend(&line[..count]),
            }
        }
        if text.len() > MOST {
            return Ok(Written::Text(text));
        }
    }
}

/// The terminal's modes, which an editor that is killed does not give back.
struct Modes(Option<Termios>);

impl Modes {
    fn keep() -> Modes {
        Modes(tcgetattr(io::stdin()).ok())
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        // In the background it would stop us (tcsetattr(3), SIGTTOU), and the modes are another's there.
        let is_in_front = tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp());
        if let Some(modes) = self.0.as_ref().filter(|_| is_in_front) {
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, modes);
        }
    }
}
