//! What raw bubblewrap is given: parts of a sandbox one after the other, a whitelist of many mounts, and kusaw's own plan.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::ground::Ground;

/// User and mount namespaces, with the host's files as they are.
pub const BARE: &[&str] =
    &["--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/", "/"];

/// The other namespaces that every sandbox has. With the PID namespace comes `--as-pid-1`: without it bubblewrap does not reap
/// its child, and a figure would leave out what the child has used.
pub const NAMESPACES: &[&str] =
    &["--unshare-pid", "--as-pid-1", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox"];

pub const PROC: &[&str] = &["--proc", "/proc"];
pub const DEV: &[&str] = &["--dev", "/dev"];

/// What programs need of /etc, each a mount where it exists. By trial: with these git, node, python and name resolution work.
const ETC: &[&str] = &[
    "passwd",
    "group",
    "nsswitch.conf",
    "hosts",
    "host.conf",
    "resolv.conf",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ssl",
    "ca-certificates",
    "alternatives",
    "localtime",
    "timezone",
    "locale.alias",
    "default/locale",
    "mime.types",
    "protocols",
    "services",
    "gai.conf",
    "login.defs",
    "terminfo",
    "profile",
    "bash.bashrc",
    "inputrc",
    "os-release",
];

/// A whitelist as one would write it for bubblewrap by hand, with the protection that kusaw's own plan gives: about 42 mounts.
pub fn whitelist(ground: &Ground) -> io::Result<Vec<OsString>> {
    let mut plan: Vec<OsString> = Vec::new();
    let mut words = |words: &[&OsStr]| plan.extend(words.iter().map(OsString::from));
    let namespaces = ["--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"];
    namespaces.iter().chain(NAMESPACES).for_each(|word| words(&[word.as_ref()]));
    let of = |path: &Path| path.as_os_str().to_owned();
    words(&["--ro-bind".as_ref(), "/usr".as_ref(), "/usr".as_ref()]);
    for name in ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].map(Path::new) {
        match fs::read_link(name) {
            Ok(target) => words(&["--symlink".as_ref(), &of(&target), &of(name)]),
            Err(_) if name.is_dir() => words(&["--ro-bind".as_ref(), &of(name), &of(name)]),
            Err(_) => {}
        }
    }
    for path in ETC.iter().map(|name| Path::new("/etc").join(name)) {
        if let Ok(real) = fs::canonicalize(&path) {
            words(&["--ro-bind".as_ref(), &of(&real), &of(&path)]);
        }
    }
    words(&["--proc".as_ref(), "/proc".as_ref(), "--dev".as_ref(), "/dev".as_ref()]);
    for private in [Path::new("/tmp"), Path::new("/run"), &ground.home] {
        words(&["--tmpfs".as_ref(), &of(private)]);
    }
    for (how, name) in [("--ro-bind", "by-hand"), ("--bind", "by-hand/artifacts"), ("--bind", "by-hand/tmp")] {
        let folder = ground.home.join(name);
        fs::create_dir_all(&folder)?;
        words(&[how.as_ref(), &of(&folder), &of(&folder)]);
    }
    words(&["--tmpfs".as_ref(), "/dev/shm".as_ref()]);
    for covered in [&ground.home, Path::new("/dev"), Path::new("/run"), Path::new("/")] {
        words(&["--remount-ro".as_ref(), &of(covered)]);
    }
    Ok(plan)
}

/// kusaw's plan for a launch: a program that is called bwrap, and is first on PATH, copies what it is given. The private temp
/// folder, which is gone by then, is replaced by one that stays.
pub fn of_kusaw(ground: &Ground, factory: &str, settings: &str) -> io::Result<Vec<OsString>> {
    let folder = ground.home.join("recorder");
    let (program, copy) = (folder.join("bwrap"), folder.join(factory));
    fs::create_dir_all(&folder)?;
    fs::write(&program, format!("#!/bin/sh\nexec /bin/cat /proc/self/fd/$2 > {}\n", copy.display()))?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    let replayed = ground.home.join("replayed");
    ["tmp", "home"].iter().try_for_each(|part| fs::create_dir_all(replayed.join(part)))?;
    let mut kusaw = ground.kusaw(factory, settings)?;
    ground.hand_over()?;
    let status = kusaw.env("PATH", [folder.as_os_str(), "/usr/bin:/bin".as_ref()].join(OsStr::new(":"))).status()?;
    let bytes = fs::read(&copy).map_err(|e| io::Error::other(format!("kusaw ({status}) did not start bwrap: {e}")))?;
    let temp = [ground.tmp.as_os_str().as_bytes(), b"/kusaw-"].concat();
    let word = |word: &[u8]| match word.strip_prefix(&temp[..]) {
        Some(rest) => {
            let below = rest.iter().position(|b| *b == b'/').map_or(&b""[..], |slash| &rest[slash + 1..]);
            replayed.join(OsStr::from_bytes(below)).into_os_string()
        }
        None => OsString::from_vec(word.to_vec()),
    };
    Ok(bytes.strip_suffix(b"\0").unwrap_or(&bytes).split(|b| *b == 0).map(word).collect())
}
