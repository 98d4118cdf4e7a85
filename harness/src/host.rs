//! Facts of the host that explain a verdict: kernel, versions, and the knobs that make some hosts more permissive.
//!
//! Everything is only read.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sha2::{Digest, Sha256};

/// Knobs below /proc/sys and /sys.
const KNOBS: &[(&str, &str)] = &[
    ("legacy_tiocsti", "/proc/sys/dev/tty/legacy_tiocsti"),
    ("protected_symlinks", "/proc/sys/fs/protected_symlinks"),
    ("protected_hardlinks", "/proc/sys/fs/protected_hardlinks"),
    ("yama_ptrace_scope", "/proc/sys/kernel/yama/ptrace_scope"),
    ("apparmor_userns", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
    ("io_uring_disabled", "/proc/sys/kernel/io_uring_disabled"),
    ("max_user_namespaces", "/proc/sys/user/max_user_namespaces"),
];

/// The facts, by name; read on the real host, because namespaces have values of their own.
pub fn facts() -> BTreeMap<String, String> {
    let mut facts: BTreeMap<String, String> = BTreeMap::new();
    facts.insert("os".to_owned(), std::env::consts::OS.to_owned());
    facts.insert("arch".to_owned(), std::env::consts::ARCH.to_owned());
    if let Ok(name) = nix::sys::utsname::uname() {
        facts.insert("kernel".to_owned(), name.release().to_string_lossy().into_owned());
    }
    for (name, path) in KNOBS {
        let value = std::fs::read_to_string(path).map_or_else(|_| "absent".to_owned(), |v| v.trim().to_owned());
        facts.insert((*name).to_owned(), value);
    }
    facts.insert("landlock_abi".to_owned(), landlock_abi().to_string());
    facts.insert("cores".to_owned(), std::thread::available_parallelism().map_or(1, usize::from).to_string());
    facts
}

/// Why nobody can type into a terminal here by TIOCSTI, if so: ioctl_tty(2), Linux 6.2.
pub fn no_tiocsti() -> Option<String> {
    knob("legacy_tiocsti", |value| value == 0)
}

/// Why an ordinary program gets nothing by a user namespace of its own here, if so: user_namespaces(7), and Ubuntu's AppArmor.
pub fn no_user_namespaces() -> Option<String> {
    knob("max_user_namespaces", |value| value == 0).or_else(|| knob("apparmor_userns", |value| value == 1))
}

/// Why nobody traces another process here, whoever it is, if so: Yama's ptrace_scope.
pub fn no_tracing() -> Option<String> {
    knob("yama_ptrace_scope", |value| value >= 2)
}

/// Why programs get no ring of io_uring here, if so: Linux 6.6.
pub fn no_io_uring() -> Option<String> {
    knob("io_uring_disabled", |value| value >= 1)
}

/// A knob and its value, where the value is so.
fn knob(name: &str, is: impl Fn(u64) -> bool) -> Option<String> {
    let (_, path) = KNOBS.iter().find(|(known, _)| *known == name)?;
    let value = std::fs::read_to_string(path).ok()?.trim().parse().ok()?;
    is(value).then(|| format!("{path} is {value}"))
}

/// The ABI of Landlock, landlock_create_ruleset(2); 0 = not there.
#[allow(unsafe_code)]
pub fn landlock_abi() -> i64 {
    const VERSION: u32 = 1; // LANDLOCK_CREATE_RULESET_VERSION
    // SAFETY: with this flag and no attribute the call only returns a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) };
    abi.max(0)
}

/// The first line that a program prints. Whoever wrote it may be wrong: it is given 20 s, and of what it prints the first 200
/// characters are kept; one that takes longer has said nothing.
pub fn first_line(program: &Path, arguments: &[&str]) -> Option<String> {
    const PATIENCE: Duration = Duration::from_secs(20);
    const LONGEST: usize = 200;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().ok()?;
    let output = child.stdout.take()?;
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        // Four bytes a character at most, and blanks that come before it.
        let read = output.take(4 * LONGEST as u64 + 1024).read_to_end(&mut text);
        tell.send(read.map(|_| text)) // who does not wait any more does not need it
    });
    let text = told.recv_timeout(PATIENCE).ok().and_then(Result::ok).unwrap_or_default();
    // It has printed all that is wanted, or is ended with all that it started.
    if let Ok(group) = i32::try_from(child.id()) {
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), nix::sys::signal::Signal::SIGKILL);
    }
    let _ = child.wait();
    let text: String = String::from_utf8_lossy(&text).lines().next()?.trim().chars().take(LONGEST).collect();
    (!text.is_empty()).then_some(text)
}

/// SHA-256 of the probe as it was built, whichever run's key is in it, in hexadecimal.
pub fn digest_of_probe(path: &Path) -> Option<String> {
    let mut bytes = std::fs::read(path).ok()?;
    crate::seal::without_key(&mut bytes).ok()?;
    Some(sha256(&bytes))
}

/// SHA-256 of a file, in hexadecimal.
pub fn digest(path: &Path) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| sha256(&bytes))
}

/// SHA-256 of bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 over the names and contents of all regular files below a folder, that of
/// `find . -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum`.
pub fn digest_of_folder(path: &Path) -> Option<String> {
    let (mut folders, mut files) = (vec![path.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).ok()? {
            let entry = entry.ok()?;
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    let mut whole = Sha256::new();
    for file in files {
        let name = file.strip_prefix(path).ok()?.display();
        whole.update(format!("{}  {name}\n", digest(&file)?)); // as sha256sum(1) prints it
    }
    Some(whole.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The commit of the checkout at `root`.
pub fn commit(root: &Path) -> Option<String> {
    let root = root.display().to_string();
    let output = Command::new("git")
        .args(["-c", &format!("safe.directory={root}"), "-C", &root, "rev-parse", "HEAD"])
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
