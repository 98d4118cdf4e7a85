//! The lab's root file system: a tmpfs with the host's /usr, a copy of its world-readable /etc, and private everything else.

use std::fs::{self, File, Permissions};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd;

use super::mounts::{bind, hardened, read_only, seal, tmpfs, tmpfs_set_user_id};
use super::programs::{BUBBLEWRAP, Folder, Program, SET_USER_ID};
use super::{DRIVER, DRIVER_BIN, DRIVER_SET_USER_ID, HOME, Lab, OTHER_BUBBLEWRAP, SUITE, Start, UID, USER};
use super::{installed, network, services, windows};

/// What the lab is built from; read on the real host, before it is entered.
#[derive(Clone, Debug)]
pub struct Supplies {
    /// Programs and files of the driver.
    pub programs: Vec<Program>,
    /// Set-user-ID programs of the system for the driver.
    pub set_user_id: Vec<Program>,
    /// Folders of the driver.
    pub folders: Vec<Folder>,
    /// Agents that lie ready, each shown as its own installer lays it down.
    pub agents: Vec<Folder>,
    /// What the suite itself runs: the probe, the saboteur.
    pub suite: Vec<Program>,
    /// Name of the driver's sandbox program, if it has one.
    pub backend: Option<String>,
    /// Another bubblewrap, to lie where the system's is: the program, its loader, its libraries. Empty = the system's.
    pub bubblewrap: Vec<Program>,
}

/// Files of /etc above this size are left out: none that a program needs to run is so large.
const ETC_FILE_LIMIT: u64 = 2 << 20;

/// A time zone that no other host has: LAB, five hours east, as tzfile(5) of one type and no transition, twice (RFC 8536).
const LOCALTIME: &str = concat!(
    "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\u{1}\0\0\0\u{4}\0\0FP\0\0LAB\0",
    "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\u{1}\0\0\0\u{4}\0\0FP\0\0LAB\0",
    "\nLAB-5\n"
);

/// Makes the root and enters it. Afterwards the host's own root is gone from this mount namespace.
pub fn enter(supplies: &Supplies, start: Start) -> io::Result<()> {
    unistd::sethostname("devbox")?;
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)?;
    let (folders, agents) = (open(&supplies.folders)?, open(&supplies.agents)?);
    let new = Path::new("/tmp"); // exists everywhere; the tmpfs over it is seen in this namespace only
    tmpfs(new, "mode=0755")?;
    system(new)?;
    etc(&new.join("etc"))?;
    devices(&new.join("dev"))?;
    places(new)?;
    install(supplies, new)?;
    if start == Start::Root {
        set_user_id(&supplies.set_user_id, new)?;
    }
    folders.iter().try_for_each(|(name, folder)| show(folder, &below(new, DRIVER).join(name)))?;
    agents.iter().try_for_each(|(name, folder)| show_agent(folder, name, new))?;
    mount(Some("proc"), &new.join("proc"), Some("proc"), hardened(), None::<&str>)?;
    let old = new.join("old");
    fs::create_dir(&old)?;
    unistd::pivot_root(new, &old)?;
    unistd::chdir("/")?;
    umount2("/old", MntFlags::MNT_DETACH)?;
    fs::remove_dir("/old")
}

fn system(new: &Path) -> io::Result<()> {
    for name in ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix", "gnu", "sys"] {
        let (host, here) = (Path::new("/").join(name), new.join(name));
        let Ok(kind) = fs::symlink_metadata(&host) else {
            continue;
        };
        if kind.is_symlink() {
            symlink(fs::read_link(&host)?, &here)?;
        } else {
            fs::create_dir(&here)?;
            bind(&host, &here)?;
            read_only(&here)?;
        }
    }
    fs::create_dir(new.join("proc"))
}

/// A copy of what everybody may read, with the lab's own user, resolver and hosts.
fn etc(here: &Path) -> io::Result<()> {
    copy_readable(Path::new("/etc"), here)?;
    let own = [
        (
            "passwd",
            format!(
                "root:x:0:0:root:/root:/bin/sh\n{USER}:x:{UID}:{UID}:Dev:{HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
            ),
        ),
        ("group", format!("root:x:0:\n{USER}:x:{UID}:\nnogroup:x:65534:\n")),
        ("hosts", "127.0.0.1 localhost devbox\n::1 localhost\n".to_owned()),
        ("hostname", "devbox\n".to_owned()),
        ("resolv.conf", format!("nameserver {}\noptions timeout:2 attempts:1\n", network::DNS)),
        ("localtime", LOCALTIME.to_owned()),
        ("ssl/certs/devbox.pem", "-----BEGIN CERTIFICATE-----\nZGV2Ym94\n-----END CERTIFICATE-----\n".to_owned()),
        ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".to_owned()),
    ];
    for (name, text) in own {
        let path = here.join(name);
        fs::create_dir_all(path.parent().unwrap_or(here))?;
        let _ = fs::remove_file(&path); // may be a link of the host, such as resolv.conf -> /run/...
        fs::write(&path, text)?;
    }
    // A certificate of the user's, as an administrator may have put it there.
    symlink(format!("{HOME}/.netrc"), here.join("ssl/certs/dev.pem"))
}

fn copy_readable(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, target) = match entry {
            Ok(entry) => (entry.path(), to.join(entry.file_name())),
            Err(_) => continue,
        };
        let Ok(meta) = fs::symlink_metadata(&entry) else {
            continue;
        };
        let for_all = meta.mode() & 0o004 != 0;
        if meta.is_symlink() {
            symlink(fs::read_link(&entry)?, target)?;
        } else if meta.is_dir() && for_all && meta.mode() & 0o001 != 0 {
            copy_readable(&entry, &target)?;
        } else if meta.is_file() && for_all && meta.len() <= ETC_FILE_LIMIT {
            fs::copy(&entry, target)?;
        }
    }
    Ok(())
}

fn devices(dev: &Path) -> io::Result<()> {
    fs::create_dir(dev)?;
    tmpfs(dev, "mode=0755")?;
    for name in ["null", "zero", "full", "random", "urandom", "tty"] {
        let here = dev.join(name);
        fs::write(&here, "")?;
        bind(&Path::new("/dev").join(name), &here)?;
    }
    for (link, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("ptmx", "pts/ptmx"),
    ] {
        symlink(target, dev.join(link))?;
    }
    for name in ["pts", "shm"] {
        fs::create_dir(dev.join(name))?;
    }
    mount(
        Some("devpts"),
        &dev.join("pts"),
        Some("devpts"),
        MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC,
        Some("newinstance,ptmxmode=0666,mode=620"),
    )?;
    tmpfs(&dev.join("shm"), "mode=1777")
}

/// The private places, empty, with the modes a real host gives them.
fn places(new: &Path) -> io::Result<()> {
    for (name, mode) in [
        ("home", 0o755),
        ("root", 0o700),
        ("var", 0o755),
        ("var/tmp", 0o1777),
        ("var/lib", 0o755),
        ("mnt", 0o755),
        ("media", 0o755),
        ("srv", 0o755),
        ("opt", 0o755),
        ("run", 0o755),
        ("run/user", 0o755),
        ("tmp", 0o1777),
    ] {
        folder(&new.join(name), mode)?;
    }
    symlink("../run", new.join("var/run"))?;
    symlink(services::LINK.1, below(new, services::LINK.0))?;
    for own in super::OWN_FOLDERS.iter().chain(&windows::FOLDERS).chain(&services::FOLDERS) {
        let path = below(new, own);
        folder(&path, 0o700)?;
        give(&path)?;
    }
    for system in super::SYSTEM_FOLDERS {
        let path = below(new, system);
        // /usr is the host's and read-only: there a folder must be there already, as it is in any distribution.
        if path.is_dir() || fs::create_dir(&path).is_ok() {
            tmpfs(&path, "mode=0755")?;
            give(&path)?;
        }
    }
    Ok(())
}

fn install(supplies: &Supplies, new: &Path) -> io::Result<()> {
    for path in [DRIVER, DRIVER_BIN, SUITE] {
        folder(&below(new, path), 0o755)?;
    }
    give(&below(new, SUITE))?;
    supplies.suite.iter().try_for_each(|program| place(program, &below(new, SUITE)))?;
    supplies.programs.iter().try_for_each(|program| place(program, &below(new, DRIVER_BIN)))?;
    if supplies.bubblewrap.is_empty() { Ok(()) } else { other_bubblewrap(&supplies.bubblewrap, new) }
}

/// The one place of the lab where set-user-ID bits count: what a driver's package installs so. A user cannot make it, and
/// there is none where no driver asks for it.
fn set_user_id(programs: &[Program], new: &Path) -> io::Result<()> {
    if programs.is_empty() {
        return Ok(());
    }
    let here = below(new, DRIVER_SET_USER_ID);
    folder(&here, 0o755)?;
    tmpfs_set_user_id(&here)?;
    for program in programs {
        place(program, &here)?;
        fs::set_permissions(here.join(&program.name), Permissions::from_mode(SET_USER_ID | 0o755))?;
    }
    seal(&here)
}

/// Lays another bubblewrap over the system's file, whatever path leads there. With a loader of its own it starts through
/// that: the system's C library may be older than the one it was built for.
fn other_bubblewrap(programs: &[Program], new: &Path) -> io::Result<()> {
    let here = below(new, OTHER_BUBBLEWRAP);
    folder(&here, 0o755)?;
    programs.iter().try_for_each(|program| place(program, &here))?;
    let mut over = here.join(BUBBLEWRAP);
    if let Some(loader) = programs.iter().find(|program| program.name.starts_with("ld-linux")) {
        let text = format!(
            "#!/bin/sh\nexec {OTHER_BUBBLEWRAP}/{} --library-path {OTHER_BUBBLEWRAP} {OTHER_BUBBLEWRAP}/{BUBBLEWRAP} \"$@\"\n",
            loader.name
        );
        over = here.join("start");
        fs::write(&over, text)?;
        fs::set_permissions(&over, Permissions::from_mode(0o755))?;
    }
    let places = Lab::search_path();
    let own = places.split(':').map(|folder| below(new, folder).join(BUBBLEWRAP)).find(|path| path.is_file());
    let own = own.ok_or_else(|| io::Error::other("--bwrap: the system has no bwrap to lay it over; `make setup`"))?;
    bind(&over, &own)
}

/// Opens the folders before the new root covers them: the checkout may lie below /tmp. In this mount namespace, because a
/// mount of another one cannot be bound (mount(2), EINVAL).
fn open(folders: &[Folder]) -> io::Result<Vec<(&str, File)>> {
    let mut opened = Vec::new();
    for Folder { name, path } in folders {
        // Not the host's fault, and it says itself what helps: `namespaces::blocked` adds nothing to such an error.
        let told = |e| {
            let help = "let everybody enter it and the folders above it (chmod o+x), or put the checkout elsewhere";
            io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {e}: {help}", path.display()))
        };
        let file = File::open(path).map_err(told)?;
        opened.push((name.as_str(), file));
    }
    Ok(opened)
}

/// Shows an opened folder at a new place, read-only.
fn show(opened: &File, here: &Path) -> io::Result<()> {
    folder(here, 0o755)?;
    bind(Path::new(&format!("/proc/self/fd/{}", opened.as_raw_fd())), here)?;
    read_only(here)
}

/// Shows an agent in the home. The folders above belong to the user.
fn show_agent(opened: &File, name: &str, new: &Path) -> io::Result<()> {
    let (home, here) = (below(new, HOME), below(new, &installed::place(name).display().to_string()));
    let above = here.ancestors().skip(1).take_while(|folder| *folder != home).collect::<Vec<_>>();
    for folder in above.into_iter().rev().filter(|folder| !folder.is_dir()) {
        fs::create_dir(folder)?;
        give(folder)?;
    }
    show(opened, &here)
}

/// Copies a program, so that the checkout may lie where the lab's user cannot go.
fn place(program: &Program, folder: &Path) -> io::Result<()> {
    let path = folder.join(&program.name);
    let mut source = program.file.as_ref();
    source.seek(SeekFrom::Start(0))?;
    io::copy(&mut source, &mut File::create(&path)?)?;
    fs::set_permissions(&path, Permissions::from_mode(0o755))
}

fn folder(path: &Path, mode: u32) -> io::Result<()> {
    fs::create_dir(path)?;
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Gives a path to the lab's user. In a user namespace it already is the user's.
fn give(path: &Path) -> io::Result<()> {
    match std::os::unix::fs::chown(path, Some(UID), Some(UID)) {
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) => Ok(()), // UID is not mapped here: the unprivileged start
        other => other,
    }
}

fn below(new: &Path, absolute: &str) -> PathBuf {
    new.join(absolute.trim_start_matches('/'))
}
