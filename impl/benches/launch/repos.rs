//! What a repo adds to an attempt: the same step with a worktree of a repository, and without a repo. The repositories, the
//! steps, and the disk that one attempt takes.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::ground::Ground;
use crate::programs::{Program, Table};

/// How many commits the steps make.
const COMMITS: [usize; 3] = [0, 1, 10];

/// What the others are compared with: the same commits, in a git folder that is given to the step whole.
pub const WITHOUT: [&str; 3] =
    ["without a repo, no commit", "without a repo, 1 commit elsewhere", "without a repo, 10 commits elsewhere"];
pub const SMALL: [&str; 3] = ["small repository, no commit", "small, 1 commit", "small, 10 commits"];
pub const LOOSE: [&str; 3] =
    ["large repository, loose refs, no commit", "large, loose, 1 commit", "large, loose, 10 commits"];
pub const PACKED: [&str; 3] =
    ["large repository, packed refs, no commit", "large, packed, 1 commit", "large, packed, 10 commits"];

/// Name in the settings, and the rows of its steps.
const REPOS: [(&str, [&str; 3]); 3] = [("small", SMALL), ("loose", LOOSE), ("packed", PACKED)];

/// Of a large one: each commit brings itself, a tree and a file, and changes one of these files.
const LARGE_COMMITS: usize = 16_667;
const LARGE_FILES: usize = 100;
const LARGE_REFS: usize = 20_000;

/// A step that waits for the end of its stdin after the last of [`COMMITS`].
const WAITS: &str = "wait";

/// What one attempt with the most commits takes, in KiB of blocks.
#[derive(Debug)]
pub struct Disk {
    pub repo: &'static str,
    /// The private store, while the step runs.
    pub store: u64,
    /// What came into the git folder, and how much of it is a pack with its index.
    pub git: u64,
    pub pack: u64,
    /// What the attempt's folder holds in the end, besides the worktree.
    pub attempt: u64,
}

/// Makes the repositories and the factory; called when all else is there, because they have many files.
pub fn rows(ground: &Ground) -> io::Result<Vec<Program>> {
    let factory = "repos";
    ground.kusaw(factory, &settings(ground))?;
    ground.hand_over()?;
    // As kusaw sets it: no second process after each commit.
    sh(ground, "git init -q --bare plain && git --git-dir=plain config maintenance.auto false")?;
    sh(ground, &format!("git init -q small && cd small && echo one > file && git add file && {COMMIT} one"))?;
    large(ground)?;
    sh(ground, "cp -r loose packed && git -C packed pack-refs --all")?;
    sh(ground, "touch small/.git/made loose/.git/made packed/.git/made")?;
    let row = |name, more_than, step: String, tidy: String| {
        let (command, tidy) = (run(ground, &step), shell(ground, &format!("rm -rf repos/attempts{tidy}")));
        Program { more_than, every: 4, marked: true, tidy: Some(tidy), ..Program::new(name, Table::Repos, command) }
    };
    let mut rows = Vec::new();
    for (commits, name) in COMMITS.iter().zip(WITHOUT) {
        rows.push(row(name, None, format!("none-{commits}"), String::new()));
    }
    for (repo, names) in REPOS {
        for ((commits, name), than) in COMMITS.iter().zip(names).zip(WITHOUT) {
            rows.push(row(name, Some(than), format!("{repo}-{commits}"), format!("; cd {repo}/.git; {FORGET}")));
        }
    }
    Ok(rows)
}

/// Takes an attempt out of a git folder, so that the next one finds it as it was made: git reads every pack and worktree.
const FORGET: &str =
    "rm -rf worktrees refs/heads/kusaw logs/refs/heads/kusaw; find objects/pack -type f -newer made -delete";

/// One attempt with each repository, looked at while its step runs and when it is over.
pub fn disk(ground: &Ground) -> io::Result<Vec<Disk>> {
    REPOS.iter().map(|(repo, _)| of_attempt(ground, repo)).collect()
}

fn of_attempt(ground: &Ground, repo: &'static str) -> io::Result<Disk> {
    let id = format!("disk-{repo}");
    let (git, attempt) = (ground.home.join(repo).join(".git"), ground.home.join("repos/attempts").join(&id));
    let (all, packs) = (kib(&git)?, kib(&git.join("objects/pack"))?);
    let mut kusaw = run(ground, &format!("{repo}-{WAITS}"));
    let mut kusaw = kusaw.args(["--attempt", &id]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    // A line before the commits, and one after them; or an early end, which is found below.
    let mut lines = [0; 2];
    let _ = kusaw.stdout.take().map(|mut out| out.read_exact(&mut lines));
    let store = kib(&attempt.join("git"))?;
    drop(kusaw.stdin.take());
    let status = kusaw.wait()?;
    let commits = ["rev-list", "--count", &format!("HEAD..kusaw/{id}/main")];
    let commits =
        ground.command("git").arg("--git-dir").arg(&git).args(commits).stdout(Stdio::piped()).output()?.stdout;
    let commits = String::from_utf8_lossy(&commits).trim().to_owned();
    if !status.success() || commits != COMMITS[2].to_string() {
        return Err(io::Error::other(format!("an attempt with the repo {repo}: {status}, {commits} commits imported")));
    }
    Ok(Disk {
        repo,
        store,
        git: kib(&git)?.saturating_sub(all),
        pack: kib(&git.join("objects/pack"))?.saturating_sub(packs),
        attempt: kib(&attempt)?.saturating_sub(kib(&attempt.join("worktrees"))?),
    })
}

fn run(ground: &Ground, step: &str) -> Command {
    let mut command = ground.command(ground.home.join("bin/kusaw"));
    command.arg("--factory").arg(ground.home.join("repos")).args(["run", step]);
    command
}

const COMMIT: &str = "git -c user.name=user -c user.email=user@example.com commit -q -m";

/// A line when the step starts and one when it ends tell a reader outside when that is; each file is new in its repository.
fn settings(ground: &Ground) -> String {
    let plain = ground.home.join("plain");
    let plain = plain.display();
    let script = |commits: usize, more: &str| {
        let numbers: Vec<String> = (1..=commits).map(|n| n.to_string()).collect();
        let each = "echo $PWD > new$n; git add new$n; git commit -q -m $n";
        format!("[/bin/sh, -ec, 'echo; for n in {}; do {each}; done; echo{more}']", numbers.join(" "))
    };
    let mut text = format!("sandbox: {{mode: required, allow_write: [{plain}]}}\nrepos:\n");
    REPOS.iter().for_each(|(repo, _)| text += &format!("  {repo}: {{path: ../{repo}}}\n"));
    text += "steps:\n";
    let who = ["AUTHOR", "COMMITTER"].map(|who| format!("GIT_{who}_NAME: user, GIT_{who}_EMAIL: user@example.com"));
    let env = format!("GIT_DIR: {plain}, GIT_WORK_TREE: ., {}", who.join(", "));
    for commits in COMMITS {
        text += &format!("  none-{commits}: {{env: {{{env}}}, run: {}}}\n", script(commits, ""));
        REPOS.iter().for_each(|(repo, _)| {
            text += &format!("  {repo}-{commits}: {{repos: [{repo}], run: {}}}\n", script(commits, ""));
        });
    }
    REPOS.iter().for_each(|(repo, _)| {
        text += &format!("  {repo}-{WAITS}: {{repos: [{repo}], run: {}}}\n", script(COMMITS[2], "; read end || :"));
    });
    text
}

/// In seconds, by git-fast-import(1); half of the refs are tags, half branches of a remote.
fn large(ground: &Ground) -> io::Result<()> {
    let mut stream = String::new();
    for n in 1..=LARGE_COMMITS {
        let time = 1_700_000_000 + n;
        stream +=
            &format!("commit refs/heads/main\nmark :{n}\ncommitter user <user@example.com> {time} +0000\ndata 2\nm\n");
        stream += &format!("M 100644 inline file{}\ndata {}\n{n}\n", n % LARGE_FILES, n.to_string().len());
    }
    for n in 0..LARGE_REFS {
        let name = if n % 2 == 0 { "tags/v" } else { "remotes/origin/b" };
        stream += &format!("reset refs/{name}{n}\nfrom :{}\n\n", n % LARGE_COMMITS + 1);
    }
    sh(ground, "git init -q -b main loose")?;
    let mut import = ground.command("git");
    let mut import = import.args(["-C", "loose", "fast-import", "--quiet"]).stdin(Stdio::piped()).spawn()?;
    import.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(stream.as_bytes()))?;
    let status = import.wait()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("git fast-import: {status}"))) }
}

fn shell(ground: &Ground, script: &str) -> Command {
    let mut command = ground.command("/bin/sh");
    command.args(["-c", script]);
    command
}

/// As the user, in the home.
fn sh(ground: &Ground, script: &str) -> io::Result<()> {
    let status = shell(ground, script).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{script}: {status}"))) }
}

/// The blocks of a folder and of all in it, in KiB; what goes away meanwhile counts nothing.
fn kib(folder: &Path) -> io::Result<u64> {
    fn blocks(at: &Path) -> io::Result<u64> {
        let meta = at.symlink_metadata()?;
        let inner = if meta.is_dir() { fs::read_dir(at)?.map(|entry| blocks(&entry?.path())).sum() } else { Ok(0) };
        inner.map(|inner: u64| inner + meta.blocks())
    }
    blocks(folder).map(|blocks| blocks / 2) // of 512 bytes: stat(2)
}
