//! What a bench is asked for and what it tells: a part of docs/performance.md with its targets, printed, written and, as a
//! gate, judged.

mod table;
mod target;

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, exit};
use std::thread::available_parallelism;

pub use table::table;
pub use target::{Limit, Target};

use crate::ground::Ground;

/// Options that every bench takes, so that one command line goes to all.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// What takes long as well.
    pub all: bool,
    /// A look whether it works: figures that mean little.
    pub quick: bool,
}

/// A part of the page; its first line is its headline.
pub struct Part {
    pub text: String,
    pub targets: Vec<Target>,
}

/// Runs a bench with the program KUSAW as the command line asks, prints its part, and ends: exit code 0; past a target and
/// asked to be a gate, 1; when it cannot be measured, 2.
pub fn run(bench: impl FnOnce(&Path, Asked) -> io::Result<Part>) -> ! {
    let mut given: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect(); // cargo's own
    let mut is_given = |option: &str| {
        let before = given.len();
        given.retain(|a| a != option);
        given.len() < before
    };
    let (gate, write) = (is_given("--gate"), is_given("--write"));
    let asked = Asked { all: is_given("--all"), quick: is_given("--quick") };
    if let Some(unknown) = given.first() {
        eprintln!(
            "bench: {unknown}? There are: --gate (exit code 1 past a target), --write (docs/performance.md), --all, --quick"
        );
        exit(2);
    }
    let Some(kusaw) = std::env::var_os("KUSAW") else {
        eprintln!("bench: KUSAW is not set; run `make bench`");
        exit(2);
    };
    match bench(Path::new(&kusaw), asked) {
        Ok(part) => {
            println!("{}", part.text);
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/performance.md");
            if write && let Err(e) = write_part(&file, &part.text) {
                eprintln!("bench: {}: {e}", file.display());
                exit(2);
            }
            exit(i32::from(gate && !part.targets.iter().all(Target::is_met)));
        }
        Err(e) => {
            eprintln!("bench: {e}");
            exit(2);
        }
    }
}

/// In place of the part with the same headline, or behind all others.
fn write_part(file: &Path, text: &str) -> io::Result<()> {
    let page = fs::read_to_string(file)?;
    let headline = text.lines().next().unwrap_or_default();
    let mut parts: Vec<String> = Vec::new();
    for line in page.lines() {
        match parts.last_mut() {
            Some(part) if !line.starts_with("# ") => *part += &format!("{line}\n"),
            _ => parts.push(format!("{line}\n")),
        }
    }
    match parts.iter_mut().find(|part| part.lines().next() == Some(headline)) {
        Some(part) => *part = text.to_owned(),
        None => parts.push(text.to_owned()),
    }
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
    fs::write(file, parts.join("\n\n") + "\n")
}

/// The median; nothing of nothing.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Of this machine, as far as it matters; `version` says which program's.
pub fn facts(ground: &Ground, version: (&str, &mut Command)) -> io::Result<String> {
    let said = |command: &mut Command| {
        let out = command.output().map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
        out.map_or("unknown".into(), |text| text.split_whitespace().last().unwrap_or("unknown").to_owned())
    };
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let kernel: String = kernel.trim().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let load = fs::read_to_string("/proc/loadavg")?;
    let load = load.split(' ').next().unwrap_or_default();
    let who =
        if ground.user.is_some() { "An ordinary user, although root started it." } else { "The user who started it." };
    // proc_pid_stat(5): the policy is field 41; what follows the name in parentheses begins with the third.
    let stat = fs::read_to_string("/proc/self/stat")?;
    let policy = stat.rsplit(')').next().and_then(|fields| fields.split_whitespace().nth(41 - 3));
    let ahead = if policy.is_some_and(|p| p != "0") { " With real-time priority (chrt), past other work." } else { "" };
    let disk = |folder: &Path| said(Command::new("stat").args(["-f", "-c", "%T"]).arg(folder));
    Ok(format!(
        "Linux {kernel}, {} {}, {} cores, home on {}, temp folder on {}, load {load} at the end, {}.\n{who}{ahead}\n",
        version.0,
        said(version.1),
        available_parallelism()?,
        disk(&ground.home),
        disk(&ground.tmp),
        said(Command::new("date").args(["-u", "+%Y-%m-%d"])),
    ))
}
