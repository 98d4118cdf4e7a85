//! The mount plan: what bubblewrap is told, as a pure function of the reach and a few facts of the host.
//! A whitelist: nothing is visible because it was forgotten. Every mount costs launch time; an ordinary
//! attempt has at most 20, and 17 more for each repo (`git::view`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::places::{How, Place, places};
use crate::reach::{Connect, Reach, Shown};

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
    /// Of what the reach hides: what is no folder.
    pub files: Vec<PathBuf>,
    /// Folders below /usr that hold other people's sources.
    pub hidden: Vec<PathBuf>,
    /// As root: parts of /proc that are made read-only or unreadable, as OCI runtimes do.
    pub proc_read_only: Vec<PathBuf>,
    /// See above.
    pub proc_masked: Vec<PathBuf>,
}

/// The arguments for `--args`, in an order that matters: namespaces, system, private places, the attempt,
/// the parts of git folders, and last of all the read-only remounts.
pub fn arguments(reach: &Reach, host: &Host) -> Vec<OsString> {
    let mut plan = Plan::default();
    plan.namespaces(&reach.connect);
    plan.system(host);
    let places = places(reach, host);
    places.iter().for_each(|place| plan.place(place));
    plan.links(reach, host, &places);
    for Shown { from, to, write } in &reach.parts {
        plan.mount(if *write { "--bind" } else { "--ro-bind" }, from, to);
    }
    plan.words(&["--tmpfs", "/dev/shm"]);
    let covers = places.iter().filter(|place| place.how == How::Cover);
    covers.for_each(|place| plan.0.extend(["--remount-ro".into(), place.to.clone().into()]));
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
        self.mount("--ro-bind", &host.etc, Path::new("/etc"));
        self.words(&["--proc", "/proc", "--dev", "/dev", "--dir", "/run"]);
        host.proc_read_only.iter().for_each(|part| self.mount("--ro-bind", part, part));
        host.proc_masked.iter().for_each(|part| self.mount("--ro-bind", Path::new("/dev/null"), part));
    }

    fn place(&mut self, place: &Place) {
        match place.how {
            How::Read => self.mount("--ro-bind", &place.from, &place.to),
            How::Write => self.mount("--bind", &place.from, &place.to),
            // What is shown below it needs mount points, and gets them there rather than on the host.
            How::Cover => self.0.extend(["--tmpfs".into(), place.to.clone().into()]),
        }
    }

    /// The links of the host that lead to what is shown, where neither the host's own folders nor a mount is.
    fn links(&mut self, reach: &Reach, host: &Host, places: &[Place]) {
        let system = ["/usr", "/etc", "/proc", "/dev"].map(Path::new);
        let made = host.links.iter().map(|(name, _)| name).chain(&host.folders).map(PathBuf::as_path);
        let taken: Vec<&Path> = places.iter().map(|place| place.to.as_path()).chain(system).chain(made).collect();
        // An open home has its links already.
        let private = [Path::new("/tmp")].into_iter().chain((!reach.home_is_open).then_some(reach.home.as_path()));
        let private: Vec<&Path> = private.collect();
        for (name, target) in &reach.links {
            let is_free =
                |place: &Path| !place.starts_with(name) && (!name.starts_with(place) || private.contains(&place));
            if taken.iter().all(|place| is_free(place)) {
                self.mount("--symlink", target, name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::grant::Grant;
    use crate::reach::Temp;

    fn shown_as(from: &str, to: &str, write: bool) -> Shown {
        Shown { from: from.into(), to: to.into(), write }
    }

    fn reach() -> Reach {
        Reach {
            temp: Temp { root: "/tmp/kusaw-x".into() },
            home: "/home/dev".into(),
            read: vec!["/home/dev/f/attempts/a".into()],
            write: vec!["/home/dev/f/attempts/a/artifacts".into(), "/home/dev/f/attempts/a/worktrees/demo".into()],
            instead: vec![shown_as("/home/dev/f/attempts/a/git/demo/git", "/home/dev/demo/.git", true)],
            parts: vec![
                shown_as("/home/dev/demo/.git/objects", "/run/kusaw/objects/0", false),
                shown_as(
                    "/home/dev/f/attempts/a/worktrees/demo/.git",
                    "/home/dev/f/attempts/a/worktrees/demo/.git",
                    false,
                ),
            ],
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
        --bind /home/dev/f/attempts/a/git/demo/git /home/dev/demo/.git
        --ro-bind /home/dev/f/attempts/a /home/dev/f/attempts/a
        --bind /home/dev/f/attempts/a/artifacts /home/dev/f/attempts/a/artifacts
        --bind /home/dev/f/attempts/a/worktrees/demo /home/dev/f/attempts/a/worktrees/demo
        --ro-bind /home/dev/demo/.git/objects /run/kusaw/objects/0
        --ro-bind /home/dev/f/attempts/a/worktrees/demo/.git /home/dev/f/attempts/a/worktrees/demo/.git
        --tmpfs /dev/shm
        --remount-ro /dev
        --remount-ro /
        ");
    }

    #[test]
    fn allowlist_as_root_on_a_host_with_sources_below_usr() {
        let reach = Reach {
            connect: Connect::Allowed(Grant::default()),
            read: Vec::new(),
            write: Vec::new(),
            instead: Vec::new(),
            parts: Vec::new(),
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
        --ro-bind /home/dev/.cache/kusaw/etc-0 /etc
        --proc /proc
        --dev /dev
        --dir /run
        --ro-bind /proc/sys /proc/sys
        --ro-bind /dev/null /proc/kcore
        --bind /tmp/kusaw-x/tmp /tmp
        --bind /tmp/kusaw-x/home /home/dev
        --ro-bind /home/dev/.cache/kusaw/etc-0/empty /usr/local/src
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
        let without_repo = Reach { instead: Vec::new(), parts: Vec::new(), ..reach() };
        assert!(count(&without_repo) <= 20, "{}", count(&without_repo));
    }

    /// The lines about places, without the system's and the remounts of every plan.
    fn of_places(reach: &Reach, host: &Host) -> String {
        let shown = shown(reach, host);
        let lines = shown.lines().skip_while(|line| *line != "--dir /run").skip(1);
        lines.take_while(|line| *line != "--remount-ro /dev").map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn write_below_read_and_another_write() {
        let mut reach = reach();
        reach.read.push("/r".into());
        reach.write.extend(["/r/write".into(), "/w".into()]);
        insta::assert_snapshot!(of_places(&reach, &host()), @r"
        --bind /tmp/kusaw-x/tmp /tmp
        --ro-bind /r /r
        --bind /w /w
        --bind /tmp/kusaw-x/home /home/dev
        --bind /r/write /r/write
        --bind /home/dev/f/attempts/a/git/demo/git /home/dev/demo/.git
        --ro-bind /home/dev/f/attempts/a /home/dev/f/attempts/a
        --bind /home/dev/f/attempts/a/artifacts /home/dev/f/attempts/a/artifacts
        --bind /home/dev/f/attempts/a/worktrees/demo /home/dev/f/attempts/a/worktrees/demo
        --ro-bind /home/dev/demo/.git/objects /run/kusaw/objects/0
        --ro-bind /home/dev/f/attempts/a/worktrees/demo/.git /home/dev/f/attempts/a/worktrees/demo/.git
        --tmpfs /dev/shm
        ");
    }

    #[test]
    fn an_open_home_hides_the_store_and_keeps_the_attempt() {
        let mut reach =
            Reach { home_is_open: true, hide: vec!["/home/dev/.local/share/kusaw/store".into()], ..reach() };
        reach.read.push("/home/dev".into());
        insta::assert_snapshot!(of_places(&reach, &host()), @r"
        --bind /tmp/kusaw-x/tmp /tmp
        --ro-bind /home/dev /home/dev
        --bind /home/dev/f/attempts/a/git/demo/git /home/dev/demo/.git
        --ro-bind /home/dev/f/attempts/a /home/dev/f/attempts/a
        --bind /home/dev/f/attempts/a/artifacts /home/dev/f/attempts/a/artifacts
        --ro-bind /home/dev/.cache/kusaw/etc-0/empty /home/dev/.local/share/kusaw/store
        --bind /home/dev/f/attempts/a/worktrees/demo /home/dev/f/attempts/a/worktrees/demo
        --ro-bind /home/dev/demo/.git/objects /run/kusaw/objects/0
        --ro-bind /home/dev/f/attempts/a/worktrees/demo/.git /home/dev/f/attempts/a/worktrees/demo/.git
        --tmpfs /dev/shm
        ");
    }

    #[test]
    fn over_a_hidden_file_comes_one_that_cannot_be_opened() {
        let reach = Reach { hide: vec!["/vol/keys".into()], read: vec!["/vol".into()], ..reach() };
        let host = Host { files: vec!["/vol/keys".into()], ..host() };
        let places = of_places(&reach, &host);
        assert!(
            places.contains("--ro-bind /vol /vol\n") && places.contains("--ro-bind /dev/null /vol/keys\n"),
            "{places}"
        );
    }

    #[test]
    fn what_lies_in_a_hidden_place_gets_its_mount_point_inside() {
        let host = Host { hidden: vec!["/usr/src".into(), "/usr/local/src".into()], ..host() };
        let mut reach = reach();
        reach.read.extend(["/usr/src/linux".into(), "/usr/local".into()]);
        insta::assert_snapshot!(of_places(&reach, &host), @r"
        --bind /tmp/kusaw-x/tmp /tmp
        --bind /tmp/kusaw-x/home /home/dev
        --ro-bind /usr/local /usr/local
        --tmpfs /usr/src
        --ro-bind /usr/src/linux /usr/src/linux
        --bind /home/dev/f/attempts/a/git/demo/git /home/dev/demo/.git
        --ro-bind /home/dev/f/attempts/a /home/dev/f/attempts/a
        --bind /home/dev/f/attempts/a/artifacts /home/dev/f/attempts/a/artifacts
        --bind /home/dev/f/attempts/a/worktrees/demo /home/dev/f/attempts/a/worktrees/demo
        --ro-bind /home/dev/demo/.git/objects /run/kusaw/objects/0
        --ro-bind /home/dev/f/attempts/a/worktrees/demo/.git /home/dev/f/attempts/a/worktrees/demo/.git
        --tmpfs /dev/shm
        --remount-ro /usr/src
        ");
    }

    #[test]
    fn a_link_is_made_only_where_nothing_of_the_host_is() {
        let mut reach = reach();
        reach.read.extend(["/srv/data".into(), "/r".into()]);
        let host = Host { folders: vec!["/lib64".into()], ..host() };
        let names =
            ["/home/dev/data", "/tmp/l", "/data", "/bin", "/lib64/l", "/etc/l", "/usr/l", "/r/l", "/srv", "/home"];
        reach.links = names.map(|name| (name.into(), "/srv/data".into())).into();
        let links = of_places(&reach, &host);
        let links: Vec<&str> = links.lines().filter(|line| line.starts_with("--symlink")).collect();
        let made = ["/home/dev/data", "/tmp/l", "/data"].map(|name| format!("--symlink /srv/data {name}"));
        assert_eq!(links, made);
    }

    #[test]
    fn a_home_below_tmp_is_mounted_after_it() {
        let deep = Reach { home: "/tmp/lab/home".into(), ..reach() };
        let shown = shown(&deep, &host());
        assert!(shown.find("/tmp/kusaw-x/tmp /tmp").unwrap() < shown.find("/tmp/lab/home").unwrap());
    }
}
