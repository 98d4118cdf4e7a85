//! The box: a sandbox around one git that reads what a step wrote. It has no network, no process beside it, and nothing to
//! write; what comes out is its stdout. A git that hostile objects have taken over can do no more there than lie.
#![allow(unsafe_code)]

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::code::{Code, Fault};
use crate::backend::bubblewrap;
use crate::git::command::{ENVIRONMENT, SETTINGS};
use crate::process::path;

/// Folders that a merged /usr turns into links.
const USUAL: &[&str] = &["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// For one git, in bytes: its heap (files that it maps are not counted).
const HEAP: u64 = 1 << 30;

/// For a file that a git in the box writes, in bytes: what it says on stderr.
const FILE: u64 = 16 << 20;

/// For one git, in seconds of CPU.
const CPU: u64 = 120;

/// Descriptors that are marked one by one.
const MOST_OPEN: u64 = 1 << 20;

/// Where the git folder is inside.
pub const GIT: &str = "/git";

/// Where the real objects are inside; a number follows.
const REAL: &str = "/real";

/// What the box shows.
#[derive(Debug)]
pub struct Shown<'a> {
    /// Our own git folder, with empty places for the parts.
    pub git: &'a Path,
    /// Parts of the step's, by their names in there.
    pub parts: Vec<(PathBuf, &'static str)>,
    /// The real object folders.
    pub objects: &'a [PathBuf],
}

impl Shown<'_> {
    /// git in the box, ready to be started: it ends with this process, and with the calling thread, once it stands.
    ///
    /// # Errors
    /// When bwrap or git is not there.
    pub fn git(&self, arguments: &[&str]) -> Result<Command, Fault> {
        let none = |what: String| Fault::new(Code::NoBox, what);
        let bwrap = bubblewrap::find().map_err(|refusal| none(refusal.to_string()))?;
        let git = inside().ok_or_else(|| none("no program git below /usr on PATH".into()))?;
        let mut bwrap = Command::new(bwrap);
        bwrap.args(["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]);
        bwrap.args(["--unshare-cgroup-try", "--die-with-parent", "--as-pid-1", "--new-session", "--cap-drop", "ALL"]);
        bwrap.args(["--ro-bind", "/usr", "/usr"]);
        for name in USUAL {
            match fs::symlink_metadata(name) {
                Ok(meta) if meta.is_symlink() => {
                    if let Ok(target) = fs::read_link(name) {
                        bwrap.arg("--symlink").arg(target).arg(name);
                    }
                }
                Ok(meta) if meta.is_dir() => drop(bwrap.args(["--ro-bind", name, name])),
                _ => {}
            }
        }
        bwrap.args(["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]);
        bwrap.args(["--dev-bind", "/dev/null", "/dev/null"]).arg("--ro-bind").arg(self.git).arg(GIT);
        for (from, name) in &self.parts {
            bwrap.arg("--ro-bind").arg(from).arg(Path::new(GIT).join(name));
        }
        for (number, from) in self.objects.iter().enumerate() {
            bwrap.arg("--ro-bind").arg(from).arg(format!("{REAL}/{number}"));
        }
        bwrap.args(["--tmpfs", "/tmp", "--remount-ro", "/", "--chdir", "/tmp", "--"]).arg(git);
        bwrap.args(SETTINGS.iter().flat_map(|setting| ["-c", setting])).args(["--git-dir", GIT]).args(arguments);
        let real: Vec<String> = (0..self.objects.len()).map(|number| format!("{REAL}/{number}")).collect();
        bwrap.env_clear().envs(ENVIRONMENT.iter().copied()).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", real.join(":"));
        limit(&mut bwrap, FILE);
        close_all(&mut bwrap);
        Ok(bwrap)
    }
}

/// Bounds what a git that reads a step's objects can use up, inside and outside: `file` bytes for each file that it writes. Of a
/// kusaw that is killed it ends by itself, at the latest when it writes into a pipe that nobody reads. No death signal: a
/// bubblewrap that dies of one while it makes its namespaces leaves its child waiting for ever (seen; containers/bubblewrap 633).
pub fn limit(command: &mut Command, file: u64) {
    let limit = move || -> io::Result<()> {
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        let bounds = [(Resource::RLIMIT_DATA, HEAP), (Resource::RLIMIT_FSIZE, file), (Resource::RLIMIT_CPU, CPU)];
        for (resource, most) in bounds {
            let (_, hard) = getrlimit(resource)?;
            setrlimit(resource, most.min(hard), most.min(hard))?;
        }
        Ok(())
    };
    // SAFETY: runs between fork and exec and only makes system calls.
    unsafe { command.pre_exec(limit) };
}

/// Every descriptor but stdio ends at the exec: kusaw's lock is one of the real git folder, and would lead out of the box.
fn close_all(command: &mut Command) {
    let close = || {
        // SAFETY: plain numbers; the descriptors are only marked, so whoever owns one in this child still has it.
        let marked = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
        if marked != 0 {
            // Before Linux 5.11, one by one.
            let (open, _) = getrlimit(Resource::RLIMIT_NOFILE)?;
            for fd in 3..open.min(MOST_OPEN) as libc::c_int {
                // SAFETY: plain numbers; one that is not open is an error without effect.
                unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
            }
        }
        Ok(())
    };
    // SAFETY: runs between fork and exec and only makes system calls.
    unsafe { command.pre_exec(close) };
}

/// git at the path that it has inside: only /usr is there.
fn inside() -> Option<PathBuf> {
    let found = path::find("git")?.canonicalize().ok()?;
    found.starts_with("/usr").then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Read;
    use std::process::Stdio;

    use nix::fcntl::{FcntlArg, fcntl};

    #[test]
    fn no_descriptor_but_stdio_goes_along() {
        // A high one: `ls` opens the list itself as the lowest that is free.
        let high = fcntl(File::open("/").unwrap(), FcntlArg::F_DUPFD(700)).unwrap();
        let number = high.to_string();
        let names = |close: bool| {
            let mut list = Command::new("/bin/ls");
            list.arg("/proc/self/fd");
            if close {
                close_all(&mut list);
            }
            String::from_utf8(list.output().unwrap().stdout).unwrap()
        };
        assert!(names(false).lines().any(|name| name == number));
        assert!(!names(true).lines().any(|name| name == number), "{}", names(true));
        nix::unistd::close(high).unwrap();
    }

    #[test]
    fn git_in_the_box_sees_what_is_shown_and_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        ["git/objects", "git/refs", "real"].iter().for_each(|name| fs::create_dir_all(at(name)).unwrap());
        fs::write(at("git/HEAD"), "ref: refs/heads/none\n").unwrap();
        fs::write(at("secret"), "x").unwrap();
        let objects = [at("real")];
        let shown = Shown { git: &at("git"), parts: Vec::new(), objects: &objects };
        let run = |arguments: &[&str]| shown.git(arguments).unwrap().output().unwrap();
        assert!(run(&["hash-object", "/git/HEAD"]).status.success());
        for hidden in [at("secret").to_str().unwrap(), "/etc/passwd", "/proc/self/status"] {
            assert!(!run(&["hash-object", hidden]).status.success(), "{hidden}");
        }
        assert!(!run(&["hash-object", "-w", "/git/HEAD"]).status.success());
        assert!(!run(&["init", "-q", "/x"]).status.success());
    }

    /// What a process has of a file in /proc.
    fn proc(pid: u32, name: &str) -> String {
        fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap()
    }

    fn field<'a>(status: &'a str, name: &str) -> &'a str {
        status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap().trim()
    }

    /// A git that hostile objects have taken over, looked at from outside: what each option of bubblewrap takes from it.
    #[test]
    fn a_program_in_the_box_is_alone_and_can_write_nothing_that_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        ["git/refs", "git/objects", "refs", "real"].iter().for_each(|name| fs::create_dir_all(at(name)).unwrap());
        fs::write(at("git/HEAD"), "ref: refs/heads/none\n").unwrap();
        let objects = [at("real")];
        let shown = Shown { git: &at("git"), parts: vec![(at("refs"), "refs")], objects: &objects };
        let mut git = shown.git(&["-c", "alias.x=!echo up; read end; :", "x"]).unwrap();
        let mut bwrap = git.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let _waits_for = bwrap.stdin.take(); // wait() would close it, and the program end by itself
        let mut up = [0; 3];
        bwrap.stdout.take().unwrap().read_exact(&mut up).unwrap();
        let child =
            |of: u32| proc(of, &format!("task/{of}/children")).split(' ').next().unwrap().parse::<u32>().unwrap();
        let git = child(bwrap.id());

        assert_eq!(proc(git, "comm").trim(), "git", "no program of ours beside it");
        let status = proc(git, "status");
        assert!(field(&status, "NSpid").ends_with("\t1"), "{status}");
        for set in ["CapEff", "CapPrm", "CapBnd"] {
            assert_eq!(field(&status, set), "0000000000000000", "{set}");
        }
        for name in ["user", "pid", "ipc", "uts", "net", "cgroup", "mnt"] {
            let of = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/{name}")).unwrap();
            assert_ne!(of(&git.to_string()), of("self"), "{name}");
        }
        let stat = proc(git, "stat");
        let session = stat.rsplit(')').next().unwrap().split_whitespace().nth(3).unwrap().parse::<u32>().unwrap();
        assert_ne!(Some(session), nix::unistd::getsid(None).ok().map(|own| own.as_raw().unsigned_abs()));
        let mounts = proc(git, "mountinfo");
        let mut writable: Vec<_> = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()).collect();
        writable.retain(|words| !words[5].split(',').any(|option| option == "ro"));
        let writable: Vec<_> = writable.iter().map(|words| words[4]).collect();
        assert_eq!(writable, ["/dev/null", "/tmp"]);
        assert_eq!(fs::read_link(format!("/proc/{git}/cwd")).unwrap(), Path::new("/tmp"));

        bwrap.kill().unwrap();
        bwrap.wait().unwrap();
        let gone = || fs::read_to_string(format!("/proc/{git}/comm")).map_or(true, |name| name.trim() != "git");
        for _ in 0..500 {
            if gone() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("it outlives its bubblewrap by 10 s");
    }
}
