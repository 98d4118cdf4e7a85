//! What is launched: every row of the tables, and what it is compared with.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::ground::{DISK as ON_DISK, Ground, give, on_path};
use crate::measure::{Sample, reap_the_rest};
use crate::plan;
use crate::repos;

/// One row.
pub struct Program {
    pub name: &'static str,
    pub table: Table,
    /// None: it cannot be launched here, and `note` says why.
    pub command: Option<Command>,
    /// Else its version.
    pub note: String,
    /// The row that it costs more than, by the difference that is shown.
    pub more_than: Option<&'static str>,
    pub exit_code: i32,
    /// Launched once in so many rounds: slow ones are launched less often.
    pub every: usize,
    /// Its step writes a line when it starts, and one when it ends.
    pub marked: bool,
    /// Run after each launch; not measured.
    pub tidy: Option<Command>,
    /// Mounts inside.
    pub mounts: Option<usize>,
    /// One a round.
    pub samples: Vec<Option<Sample>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Launch,
    Parts,
    Repos,
    Larger,
}

pub const TRUE: &str = "`true`";
pub const WHITELIST: &str = "bubblewrap, a whitelist by hand";
pub const OWN: &str = "bubblewrap, kusaw's own plan";
pub const OPEN: &str = "**kusaw**";
pub const CODEX: &str = "codex";
pub const SRT: &str = "srt";
const OWN_NET: &str = "bubblewrap, kusaw's own plan with a network namespace";
const ALLOWLIST: &str = "**kusaw**, allowlist mode";
const REPO: &str = "**kusaw**, with a worktree of a small repository";
const BARE: &str = "bubblewrap: user and mount namespaces";
const NAMESPACES: &str = "and PID, IPC, UTS, cgroup namespaces";
const PROC: &str = "and /proc";
const DEV: &str = "and /dev";
const VERSION: &str = "`kusaw --version`: a process that starts and ends";
const OFF: &str = "`kusaw run` with `sandbox: off`: settings, attempt folder, records";

const DISK: &str = "**kusaw**, factory and temp folder on a disk";

/// Entries of `allow_read`; more than 300 are refused, and cost as much as that takes.
const ENTRIES: [(usize, &str); 5] = [
    (10, "10 entries in `allow_read`"),
    (100, "100"),
    (300, "300"),
    (1_000, "1,000 (refused)"),
    (5_000, "5,000 (refused)"),
];

/// Files of a tree that a step may write.
const FILES: usize = 300_000;

/// All rows, in order.
pub fn all(ground: &Ground, larger: bool) -> io::Result<Vec<Program>> {
    let bwrap = on_path("bwrap").ok_or_else(|| io::Error::other("bwrap is not installed"))?;
    let open = "sandbox: {mode: required}";
    let allowlist = "sandbox: {mode: required, network: allowlist}";
    let plans = Plans {
        whitelist: plan::whitelist(ground)?,
        own: plan::of_kusaw(ground, "open", &settings(open))?,
        net: plan::of_kusaw(ground, "allowlist", &settings(allowlist))?,
    };
    let raw = |plan: &[OsString]| {
        let mut command = ground.command(&bwrap);
        command.args(plan).arg("--");
        command
    };
    let raw_true = |plan: &[OsString]| {
        let mut command = raw(plan);
        command.arg("/bin/true");
        command
    };
    let parts = |parts: &[&[&str]]| raw_true(&parts.concat().iter().map(OsString::from).collect::<Vec<_>>());
    let kusaw = |factory: &str, block: &str| ground.kusaw(factory, &settings(block));
    let mut version = ground.command(ground.home.join("bin/kusaw"));
    version.arg("--version");
    let repo = ground.kusaw("repo", &(settings_with(open, "repos: [demo], ") + "repos: {demo: {path: ../demo}}\n"))?;

    let row = |name, command| Program::new(name, Table::Launch, command);
    let part =
        |name, more_than, command| Program { more_than: Some(more_than), ..Program::new(name, Table::Parts, command) };
    let mut rows = vec![
        row(TRUE, ground.command("/bin/true")),
        row(WHITELIST, raw_true(&plans.whitelist)),
        row(OWN, raw_true(&plans.own)),
        row(OPEN, kusaw("open", open)?),
        row(OWN_NET, raw_true(&plans.net)),
        row(ALLOWLIST, kusaw("allowlist", allowlist)?),
        Program { every: 4, ..row(REPO, repo) },
        part(BARE, TRUE, parts(&[plan::BARE])),
        part(NAMESPACES, BARE, parts(&[plan::BARE, plan::NAMESPACES])),
        part(PROC, NAMESPACES, parts(&[plan::BARE, plan::NAMESPACES, plan::PROC])),
        part(DEV, PROC, parts(&[plan::BARE, plan::NAMESPACES, plan::PROC, plan::DEV])),
        part(OWN, DEV, raw_true(&plans.own)),
        part(OWN_NET, OWN, raw_true(&plans.net)),
        part(VERSION, TRUE, version),
        part(OFF, VERSION, kusaw("off", "sandbox: {mode: off}")?),
        part(OPEN, OWN, kusaw("open", open)?),
        part(ALLOWLIST, OWN_NET, kusaw("allowlist", allowlist)?),
    ];
    rows.extend(on_disk(ground, &settings(open))?.map(|command| part(DISK, OPEN, command)));

    rows.extend(peers(ground)?);
    if larger {
        rows.extend(larger_ones(ground)?);
    }
    repository(ground)?;
    rows.extend(repos::rows(ground)?);
    for (name, command) in [(WHITELIST, raw(&plans.whitelist)), (OWN, raw(&plans.own)), (OWN_NET, raw(&plans.net))] {
        let mut command = command;
        command.args(["wc", "-l", "/proc/self/mountinfo"]);
        count_mounts(&mut rows, name, &mut command)?;
    }
    for (name, factory) in [(OPEN, "open"), (ALLOWLIST, "allowlist"), (REPO, "repo")] {
        let mut command = ground.command(ground.home.join("bin/kusaw"));
        command.arg("--factory").arg(ground.home.join(factory)).args(["run", "mounts"]);
        count_mounts(&mut rows, name, &mut command)?;
    }
    Ok(rows)
}

struct Plans {
    whitelist: Vec<OsString>,
    own: Vec<OsString>,
    net: Vec<OsString>,
}

impl Program {
    pub fn new(name: &'static str, table: Table, command: Command) -> Program {
        let (command, note) = (Some(command), String::new());
        Program {
            name,
            table,
            command,
            note,
            more_than: None,
            exit_code: 0,
            every: 1,
            marked: false,
            tidy: None,
            mounts: None,
            samples: Vec::new(),
        }
    }
}

fn settings(block: &str) -> String {
    settings_with(block, "")
}

fn settings_with(block: &str, of_step: &str) -> String {
    let step = |name: &str, run: &str| format!("  {name}: {{{of_step}run: [{run}]}}\n");
    let mounts = step("mounts", "wc, -l, /proc/self/mountinfo");
    format!("{block}\nsteps:\n{}{mounts}", step("s", "/bin/true"))
}

/// A factory with all that kusaw makes on a disk; only where the home is not on one.
fn on_disk(ground: &Ground, settings: &str) -> io::Result<Option<Command>> {
    let Some(user) = ground.user else { return Ok(None) };
    let mut command = ground.kusaw("../disk/factory", settings)?;
    let tmp = Path::new(ON_DISK).join("tmp");
    fs::create_dir(&tmp)?;
    give(Path::new(ON_DISK), user)?;
    command.env("TMPDIR", tmp);
    Ok(Some(command))
}

/// One commit with one file.
fn repository(ground: &Ground) -> io::Result<()> {
    let folder = ground.home.join("demo");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("file"), "one\n")?;
    ground.hand_over()?;
    let script = "git init -q && git add file && git -c user.name=user -c user.email=user@example.com commit -q -m one";
    let made = ground.command("/bin/sh").args(["-c", script]).current_dir(&folder).status()?;
    if made.success() { Ok(()) } else { Err(io::Error::other(format!("git, for a small repository: {made}"))) }
}

/// Other sandboxes, as their own documentation says to start them; one that is not here is shown as such.
fn peers(ground: &Ground) -> io::Result<Vec<Program>> {
    let srt = ground.home.join("srt.json");
    let network = r#"{"allowedDomains": [], "deniedDomains": []}"#;
    let filesystem = format!(
        r#"{{"denyRead": ["{home}"], "allowRead": ["{home}/by-hand"], "allowWrite": ["{home}/by-hand"], "denyWrite": []}}"#,
        home = ground.home.display()
    );
    fs::write(&srt, format!(r#"{{"network": {network}, "filesystem": {filesystem}}}"#))?;
    ground.hand_over()?;
    let firejail = on_path("firejail");
    let srt = srt.display().to_string();
    let codex = "ci/peers codex";
    let all: [(&str, Option<PathBuf>, &str, &[&str]); 4] = [
        (
            "firejail without a profile",
            firejail.clone(),
            "your system's package",
            &["--quiet", "--noprofile", "/bin/true"],
        ),
        ("firejail with its default profile", firejail, "your system's package", &["--quiet", "/bin/true"]),
        (CODEX, ground.peer("codex/node_modules/.bin/codex"), codex, &["sandbox", "--", "/bin/true"]),
        (SRT, ground.peer("srt/node_modules/.bin/srt"), "ci/peers srt", &["--settings", &srt, "-c", "/bin/true"]),
    ];
    all.into_iter().map(|(name, program, from, arguments)| peer(ground, name, program, from, arguments)).collect()
}

/// One of them; it is tried first, so that it does not end the bench when it cannot be started here.
fn peer(
    ground: &Ground,
    name: &'static str,
    program: Option<PathBuf>,
    from: &str,
    arguments: &[&str],
) -> io::Result<Program> {
    let absent = |note| Program { command: None, note, ..Program::new(name, Table::Launch, Command::new(name)) };
    let Some(program) = program else { return Ok(absent(format!("not installed ({from})"))) };
    let version = ground.command(&program).arg("--version").stdout(Stdio::piped()).output()?;
    let version = String::from_utf8_lossy(&version.stdout).lines().next().unwrap_or_default().to_owned();
    let mut command = ground.command(program);
    command.args(arguments);
    let tried = command.stderr(Stdio::piped()).output()?;
    reap_the_rest(name)?;
    if !tried.status.success() {
        let said = String::from_utf8_lossy(&tried.stderr).lines().next().unwrap_or_default().replace('|', "/");
        return Ok(absent(format!("does not start here ({}): {said}", tried.status)));
    }
    command.stderr(Stdio::null());
    let note = version.split_whitespace().last().unwrap_or_default().to_owned();
    Ok(Program { every: 4, note, ..Program::new(name, Table::Launch, command) })
}

fn larger_ones(ground: &Ground) -> io::Result<Vec<Program>> {
    let row = |name, command| Program { more_than: Some(OPEN), every: 4, ..Program::new(name, Table::Larger, command) };
    let mut rows = Vec::new();
    for (count, name) in ENTRIES {
        let paths: Vec<PathBuf> = (0..count).map(|n| ground.home.join(format!("allowed/{n}"))).collect();
        paths.iter().try_for_each(fs::create_dir_all)?;
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let block = format!("sandbox: {{mode: required, allow_read: [{}]}}", paths.join(", "));
        let command = ground.kusaw(&format!("read{count}"), &settings(&block))?;
        rows.push(Program { exit_code: if count > 300 { 125 } else { 0 }, ..row(name, command) });
    }
    for (tree, name) in [("empty", "`allow_write` of an empty folder"), ("large", "of one with 300,000 files")] {
        let folder = ground.home.join(tree);
        fs::create_dir_all(&folder)?;
        let block = format!("sandbox: {{mode: required, allow_write: [{}]}}", folder.display());
        rows.push(row(name, ground.kusaw(&format!("write-{tree}"), &settings(&block))?));
    }
    for n in 0..FILES {
        let part = ground.home.join(format!("large/{}", n / 1_000));
        if n % 1_000 == 0 {
            fs::create_dir(&part)?;
        }
        fs::write(part.join(n.to_string()), "")?;
    }
    Ok(rows)
}

/// Runs what prints the number of mounts inside, for all rows of a name.
fn count_mounts(rows: &mut [Program], name: &str, command: &mut Command) -> io::Result<()> {
    let out = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
    let text = String::from_utf8_lossy(&out.stdout);
    let count = text.split_whitespace().next().and_then(|n| n.parse().ok());
    let count: usize = count.ok_or_else(|| io::Error::other(format!("{name}: mounts inside: {out:?}")))?;
    rows.iter_mut().filter(|row| row.name == name).for_each(|row| row.mounts = Some(count));
    Ok(())
}
