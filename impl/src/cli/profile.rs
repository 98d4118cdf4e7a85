//! `kusaw sandbox profile STEP`: what would be executed for a step on this machine, from the plan that a launch makes. Nothing is
//! started, and values of variables are not shown.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::attempt::profile::{self, ATTEMPT, PRIVATE, Profile};
use crate::outcome::{Exit, Reason, Refusal};
use crate::stderr::printable;

/// Whose sandbox is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Platform {
    /// bubblewrap, on Linux and WSL2.
    Linux,
    /// Seatbelt.
    Macos,
}

#[derive(Serialize)]
struct Report {
    step: String,
    mode: &'static str,
    why: String,
    network: &'static str,
    /// Listened on inside, for the proxy and what is leased.
    ports: Vec<u16>,
    /// What is executed; none without a sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    argv: Vec<String>,
    /// What it reads from the descriptor of its --args: an option with its operands each.
    options: Vec<Vec<String>>,
    /// What the stage inside executes then.
    step_argv: Vec<String>,
    cwd: PathBuf,
    /// Names alone.
    variables: Vec<String>,
}

/// Prints it.
pub fn profile(factory: &Path, step: &str, platform: Platform, json: bool) -> Result<Exit, Refusal> {
    if platform == Platform::Macos {
        let fix = "leave --platform out, on Linux or WSL2".to_string();
        let refusal = Refusal::new(Reason::NotImplemented, "there is no profile for macOS yet in this version");
        return Err(Refusal { fix: Some(fix), ..refusal });
    }
    let report = report(step, profile::profile(factory, step)?);
    let text = match json {
        true => serde_json::to_string_pretty(&report).unwrap_or_default() + "\n",
        false => text(&report),
    };
    // A reader that has gone away has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(Exit::Fine)
}

fn report(step: &str, profile: Profile) -> Report {
    let word = |word: &OsString| word.to_string_lossy().into_owned();
    let (network, ports) = profile.network();
    let (program, argv, arguments) = match &profile.sandboxed {
        Some((_, planned)) => (Some(planned.program.clone()), planned.argv.clone(), planned.arguments.as_slice()),
        None => (None, Vec::new(), [].as_slice()),
    };
    let mut options: Vec<Vec<String>> = Vec::new();
    for argument in arguments.iter().map(word) {
        match options.last_mut().filter(|_| !argument.starts_with("--")) {
            Some(option) => option.push(argument),
            None => options.push(vec![argument]),
        }
    }
    Report {
        step: step.into(),
        mode: profile.mode.word(),
        network,
        ports,
        program,
        argv,
        options,
        step_argv: profile.argv.iter().map(word).collect(),
        cwd: profile.cwd.clone(),
        variables: profile.variables(),
        why: profile.why,
    }
}

fn text(report: &Report) -> String {
    let Report { step, mode, why, network, ports, cwd, .. } = report;
    let words = |words: &[String]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let mut out = format!("# {step}: {mode} ({why})\n");
    // Writing to a string cannot fail.
    if let Some(program) = &report.program {
        let _ = writeln!(out, "# {ATTEMPT} and {PRIVATE} stand for names that each attempt has of its own");
        let _ = writeln!(out, "{}  # {}", words(&report.argv), program.display());
        let _ = writeln!(out, "# read from descriptor 10");
        for option in &report.options {
            let about = about(option).map_or(String::new(), |about| format!("  # {about}"));
            let _ = writeln!(out, "  {}{about}", words(option));
        }
        let _ = writeln!(out, "# the stage inside, which has these from a socket, never by argv");
    }
    let _ = writeln!(
        out,
        "network    {network}{}",
        ports.iter().map(|port| format!(" 127.0.0.1:{port}")).collect::<String>()
    );
    let _ = writeln!(out, "cwd        {}", quoted(&cwd.to_string_lossy()));
    let _ = writeln!(
        out,
        "variables  {}",
        if report.program.is_some() {
            report.variables.join(" ")
        } else {
            "those of the caller, and env: of the step".into()
        }
    );
    let _ = writeln!(out, "step       {}", words(&report.step_argv));
    out
}

/// As a shell would take it, on one line.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let shown = printable(word, 4_000);
    if !shown.is_empty() && shown.chars().all(is_plain) { shown } else { format!("'{}'", shown.replace('\'', "'\\''")) }
}

/// What an option is for, where that is not said by its operands.
fn about(option: &[String]) -> Option<&'static str> {
    let [name, operands @ ..] = option else { return None };
    let to = operands.last().map_or("", String::as_str);
    Some(match (name.as_str(), to) {
        ("--unshare-user", _) => "no privilege of the user's, none over the host's namespaces",
        ("--unshare-pid", _) => "host processes are neither seen nor signalled",
        ("--unshare-ipc", _) => "no shared memory or queues of the host",
        ("--unshare-net", _) => "loopback only; the proxy listens there",
        ("--cap-drop", _) => "no capability, in the namespace either",
        ("--new-session", _) => "no key can be pushed into the caller's terminal",
        ("--die-with-parent", _) => "everything dies with kusaw",
        ("--as-pid-1", _) => "the stage is pid 1 and reaps",
        (_, "/usr") => "the system's programs",
        (_, "/etc") => "a prepared copy of what programs need of it",
        (_, "/tmp") => "the private temp folder",
        ("--tmpfs", "/dev/shm") => "its own shared memory",
        ("--remount-ro", "/dev") => "nothing can be made in it",
        ("--remount-ro", "/") => "a write elsewhere fails visibly",
        (_, to) if operands.iter().any(|from| from.ends_with(&format!("{PRIVATE}/home"))) && !to.is_empty() => {
            "the private, empty home"
        }
        (_, to) if to.starts_with("/run/kusaw/objects/") => "real objects, borrowed read-only",
        (_, to) if to.ends_with(&format!("/attempts/{ATTEMPT}")) => "the attempt's records, read-only",
        (_, to) if to.ends_with(&format!("/attempts/{ATTEMPT}/artifacts")) => "what the step keeps",
        ("--ro-bind", to) if to.ends_with("/.git") && to.contains(ATTEMPT) => "the worktree's pointer, pinned",
        (_, to) if to.contains(&format!("/attempts/{ATTEMPT}/worktrees/")) => "a worktree",
        (_, _) if operands.iter().any(|from| from.ends_with("/git") && from.contains(ATTEMPT)) => {
            "the private store in place of the git folder"
        }
        (_, _) if operands.iter().any(|from| from.contains("/pinned/")) => "a control file of git, read-only copy",
        _ => return None,
    })
}
