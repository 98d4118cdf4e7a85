//! A throw-away factory for tests: its own home, temp folder and settings, and the program beside its stage.
#![allow(dead_code, missing_docs, unsafe_code, reason = "each test file uses a part")]

pub mod fault;
pub mod serve;
pub mod tty;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use assert_cmd::assert::Assert;
use nix::sys::signal::{SigHandler, Signal, signal};
use serde_json::Value;
use tempfile::TempDir;

/// What whoever runs the tests ignores, as nohup(1) and background jobs do, the program would ignore too.
pub fn heed(command: &mut Command) {
    let heed = || {
        for heeded in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT] {
            // SAFETY: no handler is replaced: the child has none, and becomes another program.
            unsafe { signal(heeded, SigHandler::SigDfl) }?;
        }
        Ok(())
    };
    // SAFETY: runs between fork and exec and only makes system calls.
    unsafe { command.pre_exec(heed) };
}

/// Nobody's.
const USER: u32 = 54321;

fn as_user(user: u32) -> Command {
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".into()]);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command
}

pub struct Factory {
    folder: TempDir,
}

impl Factory {
    pub fn new(settings: &str) -> Factory {
        stage();
        let folder = tempfile::tempdir().unwrap();
        for part in ["home", "tmp", "f"] {
            fs::create_dir(folder.path().join(part)).unwrap();
        }
        fs::write(folder.path().join("f/kusaw.yaml"), settings).unwrap();
        Factory { folder }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("f")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn tmp(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    pub fn attempt(&self) -> PathBuf {
        self.path().join("attempts/a")
    }

    /// A repository with one commit, as `repos: {demo: {path: ../demo}}`.
    pub fn repo(&self) -> &Self {
        self.repo_named("demo")
    }

    pub fn repo_named(&self, name: &str) -> &Self {
        let repo = self.folder.path().join(name);
        fs::create_dir(&repo).unwrap();
        self.git(name, &["init", "-q"]);
        self.commit(name, "file", "one\n")
    }

    /// A file in a repository, committed.
    pub fn commit(&self, name: &str, file: &str, text: &str) -> &Self {
        fs::write(self.folder.path().join(name).join(file), text).unwrap();
        self.git(name, &["add", "--chmod=+x", file]);
        self.git(name, &["commit", "-q", "-m", file]);
        self
    }

    /// What git says in a repository.
    pub fn git(&self, name: &str, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
        let mut git = Command::new("git");
        let done = git.args(identity).arg("-C").arg(self.folder.path().join(name)).args(arguments).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kusaw"));
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("HOME", self.home()).env("TMPDIR", self.tmp());
        // Not the terminal of whoever runs the tests: it would be the step's.
        command.arg("--factory").arg(self.path()).stdin(Stdio::null());
        heed(&mut command);
        command
    }

    /// By an ordinary user, also where the tests run as root: then from copies that the user can reach.
    pub fn command_of_a_user(&self) -> Command {
        if !nix::unistd::geteuid().is_root() {
            return self.command();
        }
        let bin = self.folder.path().join("bin");
        if !bin.exists() {
            fs::create_dir(&bin).unwrap();
            let own = Path::new(env!("CARGO_BIN_EXE_kusaw"));
            for program in [own, &own.with_file_name("kusaw-enter")] {
                fs::copy(program, bin.join(program.file_name().unwrap())).unwrap();
            }
            let owned = Command::new("chown").args(["-R", &USER.to_string()]).arg(self.folder.path()).status();
            assert!(owned.unwrap().success());
        }
        let mut command = as_user(USER);
        command.arg(bin.join("kusaw")).arg("--factory").arg(self.path()).stdin(Stdio::null());
        command.env("HOME", self.home()).env("TMPDIR", self.tmp());
        command
    }

    /// Another program by that user.
    pub fn program_of_a_user(&self, program: &str) -> Command {
        let mut command = if nix::unistd::geteuid().is_root() { as_user(USER) } else { Command::new("env") };
        command.arg(program).stdin(Stdio::null());
        command
    }

    pub fn run(&self, step: &str) -> Assert {
        self.run_with(step, &[])
    }

    pub fn run_with(&self, step: &str, env: &[(&str, &str)]) -> Assert {
        let mut command = self.command();
        command.args(["run", step, "--attempt", "a"]).envs(env.iter().copied());
        assert_cmd::Command::from_std(command).timeout(Duration::from_secs(120)).assert()
    }

    pub fn outcome(&self) -> Value {
        serde_json::from_slice(&fs::read(self.attempt().join("outcome.json")).unwrap()).unwrap()
    }

    pub fn lines(&self, record: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.attempt().join(record)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// A program `bwrap` of ours in a PATH of its own.
    pub fn fake_bwrap(&self, script: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let folder = self.folder.path().join("fake");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("bwrap"), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(folder.join("bwrap"), fs::Permissions::from_mode(0o755)).unwrap();
        format!("{}:/usr/bin:/bin", folder.display())
    }

    /// Nothing of a private temp folder is left.
    pub fn assert_no_temp(&self) {
        assert_eq!(fs::read_dir(self.tmp()).unwrap().count(), 0, "left in {}", self.tmp().display());
    }
}

/// One with data, keys and a store in its home, whose step `s` runs a script; `sandbox` is the rest of the factory's block.
pub fn factory(sandbox: &str, script: &str) -> Factory {
    let factory = Factory::new("");
    factory.repo();
    for folder in ["data/in", "data/out", ".ssh", ".local/share/kusaw/store", "secret"] {
        fs::create_dir_all(factory.home().join(folder)).unwrap();
    }
    for file in ["data/in/file", ".ssh/id", ".local/share/kusaw/store/token", "secret/file"] {
        fs::write(factory.home().join(file), format!("{file}\n")).unwrap();
    }
    settings(&factory, &format!("sandbox: {{mode: required, {sandbox}}}"), script);
    factory
}

pub fn settings(factory: &Factory, sandbox: &str, script: &str) {
    let quoted = serde_json::to_string(script).unwrap();
    let steps = format!("steps:\n  s:\n    repos: [demo]\n    run: [bash, -c, {quoted}]\n");
    let text = format!("{sandbox}\nrepos: {{demo: {{path: ../demo}}}}\n{steps}");
    fs::write(factory.path().join("kusaw.yaml"), text).unwrap();
}

/// Waits until something is so; a bound against hanging only.
pub fn wait_until(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(30), "it never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// `cargo test -p kusaw` alone does not build the stage: it belongs to another package.
fn stage() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let beside = Path::new(env!("CARGO_BIN_EXE_kusaw")).parent().unwrap();
        let target = beside.parent().unwrap();
        let profile = if beside.ends_with("release") { "release" } else { "dev" };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "-q", "-p", "kusaw-enter", "--profile", profile, "--target-dir"]).arg(target);
        assert!(cargo.status().unwrap().success());
    });
}
