//! A repository, a worktree of it and a private store, and git in there as a step has it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kusaw::git::import::{Code, Imported, Rejected, import};
use kusaw::git::record::Record;
use kusaw::git::store::Store;
use tempfile::TempDir;

pub struct Ground {
    _folder: TempDir,
    pub record: Record,
    pub store: Store,
}

impl Ground {
    pub fn new() -> Ground {
        Ground::of("sha1", "files")
    }

    pub fn of(format: &str, refs: &str) -> Ground {
        Ground::with(format, refs, |_| {})
    }

    /// `before` does something to the repository, or makes another in its place, before the worktree is made.
    pub fn with(format: &str, refs: &str, before: impl Fn(&Path)) -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let repo = root.join("repo");
        let (format_is, refs_are) = (format!("--object-format={format}"), format!("--ref-format={refs}"));
        let mut init = vec!["init", "-q", "-b", "main", &format_is, "repo"];
        // Git before 2.45 knows only one.
        init.extend((refs != "files").then_some(&refs_are[..]));
        git(&root, &init, b"");
        fs::create_dir(repo.join("dir")).unwrap();
        for (name, text) in [("file", "one\n"), ("dir/inner", "two\n"), ("same", "same\n")] {
            fs::write(repo.join(name), text).unwrap();
        }
        git(&repo, &["add", "-A"], b"");
        git(&repo, &["commit", "-q", "-m", "base"], b"");
        git(&repo, &["branch", "feat"], b"");
        git(&repo, &["tag", "v1"], b"");
        before(&repo);
        let base = git(&repo, &["rev-parse", "HEAD"], b"").trim().to_string();
        git(&repo, &["branch", "kusaw/a/main"], b"");
        let worktree = root.join("attempt/worktrees/repo");
        git(&repo, &["worktree", "add", "-q", worktree.to_str().unwrap(), "kusaw/a/main"], b"");
        let common = repo.join(".git");
        let record = Record {
            version: Record::VERSION,
            attempt: "a".into(),
            repo: "repo".into(),
            namespace: "refs/heads/kusaw/a/".into(),
            base,
            admin: common.join("worktrees/repo"),
            objects: vec![common.join("objects")],
            common,
            worktree,
            format: format.into(),
            refs: refs.into(),
            sign: None,
        };
        let store = Store::of(&root.join("attempt"), "repo");
        let ground = Ground { _folder: folder, record, store };
        ground.make_store();
        ground
    }

    fn make_store(&self) {
        let git = self.store.git();
        for name in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "logs"] {
            fs::create_dir_all(git.join(name)).unwrap();
        }
        fs::create_dir_all(self.store.pinned()).unwrap();
        copy(&self.record.admin, &self.store.admin());
        fs::write(git.join("objects/info/alternates"), "").unwrap();
        let refs = self.real(&["for-each-ref", "--format=%(objectname) %(refname)"]);
        let packed = format!("# pack-refs with: sorted \n{refs}");
        fs::write(self.store.pinned().join("packed-refs"), &packed).unwrap();
        // What lies over these inside, so that git works here as it does there.
        let (format, kept) = (&self.record.format, &self.record.refs);
        let config =
            format!("[core]\nrepositoryFormatVersion = 1\nbare = false\n[extensions]\nobjectFormat = {format}\n");
        if kept == "reftable" {
            fs::write(git.join("config"), format!("{config}refStorage = reftable\n")).unwrap();
            copy(&self.record.common.join("reftable"), &git.join("reftable"));
            fs::remove_dir_all(git.join("refs")).unwrap();
            copy(&self.record.common.join("refs"), &git.join("refs"));
            fs::write(git.join("HEAD"), "ref: refs/heads/.invalid\n").unwrap();
            self.step(&["symbolic-ref", "HEAD", &self.record.branch()]);
        } else {
            fs::write(git.join("config"), config).unwrap();
            fs::write(git.join("packed-refs"), &packed).unwrap();
            fs::write(git.join("HEAD"), format!("ref: {}\n", self.record.branch())).unwrap();
        }
    }

    /// git as the step has it.
    pub fn step(&self, arguments: &[&str]) -> String {
        self.step_with(arguments, b"")
    }

    pub fn step_with(&self, arguments: &[&str], input: &[u8]) -> String {
        said(self.in_step(arguments), input)
    }

    pub fn in_step(&self, arguments: &[&str]) -> Command {
        let mut git = command(&self.record.worktree, arguments);
        let real: Vec<&str> = self.record.objects.iter().map(|o| o.to_str().unwrap()).collect();
        git.env("GIT_DIR", self.store.git()).env("GIT_WORK_TREE", &self.record.worktree);
        git.env("GIT_INDEX_FILE", self.store.admin().join("index"));
        git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", real.join(":"));
        git
    }

    /// A file, committed by the step; the value is the commit.
    pub fn commit(&self, name: &str, text: &str) -> String {
        let file = self.record.worktree.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        self.step(&["add", "--", name]);
        self.step(&["commit", "-q", "-m", name]);
        self.tip()
    }

    pub fn tip(&self) -> String {
        self.step(&["rev-parse", "HEAD"]).trim().into()
    }

    /// A commit of this tree, made by hand and put on the own branch.
    pub fn commit_tree(&self, tree: &[u8]) -> String {
        let tree = self.object("tree", tree);
        self.commit_of(&tree)
    }

    pub fn commit_of(&self, tree: &str) -> String {
        let base = &self.record.base;
        let text = format!("tree {tree}\nparent {base}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n");
        let commit = self.object("commit", text.as_bytes());
        self.set_own(&commit);
        commit
    }

    pub fn object(&self, kind: &str, bytes: &[u8]) -> String {
        self.step_with(&["hash-object", "-t", kind, "-w", "--literally", "--stdin"], bytes).trim().into()
    }

    /// As a file: git would look at what it is.
    pub fn set_own(&self, id: &str) {
        self.set(&self.record.branch(), &format!("{id}\n"));
    }

    pub fn set(&self, name: &str, text: &str) {
        let file = self.store.git().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// git of the repository's user.
    pub fn real(&self, arguments: &[&str]) -> String {
        git(&self.record.common.join(".."), arguments, b"")
    }

    /// The user's git in the worktree.
    pub fn after(&self, arguments: &[&str]) -> String {
        git(&self.record.worktree, arguments, b"")
    }

    pub fn import(&self) -> Result<Imported, Rejected> {
        import(&self.store, &self.record, &|| false)
    }

    /// It is imported, and the repository is as sound as before.
    pub fn imported(&self) -> Imported {
        let imported = self.import().unwrap();
        assert_eq!(self.real(&["rev-parse", "kusaw/a/main"]).trim(), imported.tip);
        self.is_tidy();
        self.real(&["fsck", "--strict", "--no-dangling"]);
        imported
    }

    /// It is refused, and not a byte of the repository is another.
    pub fn refused(&self) -> (Code, String) {
        let before = all(&self.record.common);
        let rejected = self.import().unwrap_err();
        assert!(all(&self.record.common) == before, "the repository has changed");
        assert!(!rejected.detail.chars().any(char::is_control), "{:?}", rejected.detail);
        (rejected.code, rejected.detail)
    }

    pub fn is_tidy(&self) {
        assert!(!self.store.import().exists());
        for name in all(&self.record.common).keys() {
            let name = name.to_string_lossy();
            assert!(!name.ends_with(".lock") && !name.ends_with(".keep") && !name.ends_with(".kusaw"), "{name}");
        }
    }
}

/// Every file below a folder, with its contents.
pub fn all(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => found.extend(all(&entry.path())),
            kind if kind.is_file() => drop(found.insert(entry.path(), fs::read(entry.path()).unwrap())),
            _ => drop(found.insert(entry.path(), Vec::new())),
        }
    }
    found
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let at = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &at),
            false => drop(fs::copy(entry.path(), at).unwrap()),
        }
    }
}

pub fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    said(command(folder, arguments), input)
}

pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.current_dir(folder).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@b");
    }
    git
}

fn said(mut git: Command, input: &[u8]) -> String {
    let mut child = git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{git:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// An entry of a tree, in git's own form.
pub fn entry(mode: &str, name: impl AsRef<OsStr>, id: &str) -> Vec<u8> {
    let raw: Vec<u8> = (0..id.len()).step_by(2).map(|at| u8::from_str_radix(&id[at..at + 2], 16).unwrap()).collect();
    [mode.as_bytes(), b" ", name.as_ref().as_bytes(), b"\0", &raw].concat()
}
