//! The mount plan: what bubblewrap is told, as a pure function of the reach and a few facts of the host.
//! A whitelist: nothing is visible because it was forgotten. Every mount costs launch time; an ordinary
//! attempt has at most 20.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::reach::{Connect, Reach};

/// Facts of the host that the plan depends on; read by `host`.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// `/bin`, `/lib`, ..: links into /usr, to be made again.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// The same as folders, where /usr is not merged.
    pub folders: Vec<PathBuf>,
    /// The prepared /etc.
    pub etc: PathBuf,
    /// An empty folder, to lay over what must not be seen.
    pub empty: PathBuf,
    /// Folders below /usr that hold other people's sources.
    pub hidden: Vec<PathBuf>,
    /// As root: parts of /proc that are made read-only or unreadable, as OCI runtimes do.
    pub proc_read_only: Vec<PathBuf>,
    /// See above.
    pub proc_masked: Vec<PathBuf>,
}

/// The arguments for `--args`, in an order that matters: namespaces, system, private places, the attempt,
/// pins, and last of all the read-only remounts.
pub fn arguments(reach: &Reach, host: &Host) -> Vec<OsString> {
    let mut plan = Plan::default();
    plan.namespaces(&reach.connect);
    plan.system(host);
    plan.attempt(reach);
    plan.words(&["--tmpfs", "/dev/shm"]);
    plan.words(&["--remount-ro", "/dev"]);
    plan.words(&["--remount-ro", "/"]);
    plan.0
}

#[derive(Default)]
struct Plan(Vec<OsString>);

impl Plan {
    fn words(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn mount(&mut self, how: &str, from: &Path, to: &Path) {
        self.0.extend([how.into(), from.into(), to.into()]);
    }

    fn namespaces(&mut self, connect: &Connect) {
        self.words(&["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
        if let Connect::Allowed(_) = connect {
            self.words(&["--unshare-net"]);
        }
        self.words(&["--hostname", "sandbox", "--cap-drop", "ALL"]);
        self.words(&["--new-session", "--die-with-parent", "--as-pid-1"]);
    }

    fn system(&mut self, host: &Host) {
        self.mount("--ro-bind", Path::new("/usr"), Path::new("/usr"));
        host.links.iter().for_each(|(name, target)| self.mount("--symlink", target, name));
        host.folders.iter().for_each(|folder| self.mount("--ro-bind", folder, folder));
        host.hidden.iter().for_each(|folder| self.mount("--ro-bind", &host.empty, folder));
        self.mount("--ro-bind", &host.etc, Path::new("/etc"));
        self.words(&["--proc", "/proc", "--dev", "/dev", "--dir", "/run"]);
        host.proc_read_only.iter().for_each(|part| self.mount("--ro-bind", part, part));
        host.proc_masked.iter().for_each(|part| self.mount("--ro-bind", Path::new("/dev/null"), part));
    }

    /// Outer places before inner ones: a mount hides what was mounted below its place earlier.
    fn attempt(&mut self, reach: &Reach) {
        let mut mounts: Vec<(&str, PathBuf, PathBuf)> =
            vec![("--bind", reach.temp.slash_tmp(), "/tmp".into()), ("--bind", reach.temp.home(), reach.home.clone())];
        let same = |how, paths: &[PathBuf]| paths.iter().map(move |p| (how, p.clone(), p.clone())).collect::<Vec<_>>();
        mounts.extend(same("--ro-bind", &reach.read));
        mounts.extend(same("--bind", &reach.write));
        mounts.sort_by_key(|(_, _, to)| to.components().count());
        mounts.extend(same("--ro-bind", &reach.pins));
        mounts.iter().for_each(|(how, from, to)| self.mount(how, from, to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::Temp;

    fn reach() -> Reach {
        Reach {
            temp: Temp { root: "/tmp/kusaw-x".into() },
            home: "/home/dev".into(),
            read: vec!["/home/dev/f/attempts/a".into()],
            write: vec!["/home/dev/f/attempts/a/artifacts".into(), "/home/dev/f/attempts/a/worktrees/demo".into()],
            pins: vec!["/home/dev/f/attempts/a/worktrees/demo/.git".into()],
            ..Reach::default()
        }
    }

    fn host() -> Host {
        Host {
            links: vec![("/bin".into(), "usr/bin".into()), ("/lib".into(), "usr/lib".into())],
            etc: "/home/dev/.cache/kusaw/etc-0".into(),
            empty: "/home/dev/.cache/kusaw/etc-0/empty".into(),
            ..Host::default()
        }
    }

    fn shown(reach: &Reach, host: &Host) -> String {
        let words = arguments(reach, host).into_iter().map(|w| w.into_string().unwrap());
        let lines: String = words.map(|w| format!("{}{w}", if w.starts_with("--") { "\n" } else { " " })).collect();
        lines.trim_start().to_string()
    }

    #[test]
    fn one_repo_and_the_open_network() {
        insta::assert_snapshot!(shown(&reach(), &host()), @r"
        --unshare-user
        --unshare-pid
        --unshare-ipc
        --unshare-uts
        --unshare-cgroup-try
        --hostname sandbox
        --cap-drop ALL
        --new-session
        --die-with-parent
        --as-pid-1
        --ro-bind /usr /usr
        --symlink usr/bin /bin
        --symlink usr/lib /lib
        --ro-bind /home/dev/.cache/kusaw/etc-0 /etc
        --proc /proc
        --dev /dev
        --dir /run
        --bind /tmp/kusaw-x/tmp /tmp
        --bind /tmp/kusaw-x/home /home/dev
        --ro-bind /home/dev/f/attempts/a /home/dev/f/attempts/a
        --bind /home/dev/f/attempts/a/artifacts /home/dev/f/attempts/a/artifacts
        --bind /home/dev/f/attempts/a/worktrees/demo /home/dev/f/attempts/a/worktrees/demo
        --ro-bind /home/dev/f/attempts/a/worktrees/demo/.git /home/dev/f/attempts/a/worktrees/demo/.git
        --tmpfs /dev/shm
        --remount-ro /dev
        --remount-ro /
        ");
    }

    #[test]
    fn allowlist_as_root_on_a_host_with_sources_below_usr() {
        let reach = Reach {
            connect: Connect::Allowed(Vec::new()),
            read: Vec::new(),
            write: Vec::new(),
            pins: Vec::new(),
            ..reach()
        };
        let host = Host {
            folders: vec!["/lib64".into()],
            hidden: vec!["/usr/local/src".into()],
            proc_read_only: vec!["/proc/sys".into()],
            proc_masked: vec!["/proc/kcore".into()],
            ..host()
        };
        insta::assert_snapshot!(shown(&reach, &host), @r"
        --unshare-user
        --unshare-pid
        --unshare-ipc
        --unshare-uts
        --unshare-cgroup-try
        --unshare-net
        --hostname sandbox
        --cap-drop ALL
        --new-session
        --die-with-parent
        --as-pid-1
        --ro-bind /usr /usr
        --symlink usr/bin /bin
        --symlink usr/lib /lib
        --ro-bind /lib64 /lib64
        --ro-bind /home/dev/.cache/kusaw/etc-0/empty /usr/local/src
        --ro-bind /home/dev/.cache/kusaw/etc-0 /etc
        --proc /proc
        --dev /dev
        --dir /run
        --ro-bind /proc/sys /proc/sys
        --ro-bind /dev/null /proc/kcore
        --bind /tmp/kusaw-x/tmp /tmp
        --bind /tmp/kusaw-x/home /home/dev
        --tmpfs /dev/shm
        --remount-ro /dev
        --remount-ro /
        ");
    }

    /// bubblewrap itself mounts the root, six devices and devpts.
    #[test]
    fn an_ordinary_attempt_has_at_most_twenty_mounts() {
        let count = |reach: &Reach| {
            let kinds = ["--ro-bind", "--bind", "--proc", "--dev", "--tmpfs"];
            8 + arguments(reach, &host()).iter().filter(|w| kinds.iter().any(|k| w == k)).count()
        };
        assert!(count(&reach()) <= 20, "{}", count(&reach()));
    }

    #[test]
    fn a_home_below_tmp_is_mounted_after_it() {
        let deep = Reach { home: "/tmp/lab/home".into(), ..reach() };
        let shown = shown(&deep, &host());
        assert!(shown.find("/tmp/kusaw-x/tmp /tmp").unwrap() < shown.find("/tmp/lab/home").unwrap());
    }
}
