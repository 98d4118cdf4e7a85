//! A throw-away factory for tests: its own home, temp folder and settings, and the program beside its stage.
#![allow(dead_code, missing_docs, reason = "each test file uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

use assert_cmd::assert::Assert;
use serde_json::Value;
use tempfile::TempDir;

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
        let git = |arguments: &[&str]| {
            let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
            let done = Command::new("git").args(identity).arg("-C").arg(&repo).args(arguments).status();
            assert!(done.unwrap().success());
        };
        fs::create_dir(&repo).unwrap();
        git(&["init", "-q"]);
        fs::write(repo.join("file"), "one\n").unwrap();
        git(&["add", "file"]);
        git(&["commit", "-q", "-m", "one"]);
        self
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kusaw"));
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("HOME", self.home()).env("TMPDIR", self.tmp());
        command.arg("--factory").arg(self.path());
        command
    }

    pub fn run(&self, step: &str) -> Assert {
        self.run_with(step, &[])
    }

    pub fn run_with(&self, step: &str, env: &[(&str, &str)]) -> Assert {
        let mut command = self.command();
        command.args(["run", step, "--attempt", "a"]).envs(env.iter().copied());
        assert_cmd::Command::from_std(command).assert()
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

/// `cargo test -p kusaw` alone does not build the stage: it belongs to another package. A user who cannot
/// write the target folder sets KUSAW_STAGE_IS_BUILT.
fn stage() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        if std::env::var_os("KUSAW_STAGE_IS_BUILT").is_some() {
            return;
        }
        let beside = Path::new(env!("CARGO_BIN_EXE_kusaw")).parent().unwrap();
        let target = beside.parent().unwrap();
        let profile = if beside.ends_with("release") { "release" } else { "dev" };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "-q", "-p", "kusaw-enter", "--profile", profile, "--target-dir"]).arg(target);
        assert!(cargo.status().unwrap().success());
    });
}
