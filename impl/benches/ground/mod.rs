//! Where a bench runs: a home, a temp folder, factories and programs of its own, and an ordinary user. Started as root it
//! makes itself a mount namespace in which that user has a name, as users have, and home and /tmp are in memory: what a disk
//! adds differs from one to the next, and on some with what was removed lately. Nothing of the host is changed.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

/// The user where root starts the bench; nobody's number.
const USER: u32 = 42042;

/// Other sandboxes, as that user sees them.
const PEERS: &str = "/home/peers";

/// A folder on the disk where `target` is, as that user sees it.
pub const DISK: &str = "/home/disk";

/// Removed when dropped.
pub struct Ground {
    folder: PathBuf,
    /// As the programs see them.
    pub home: PathBuf,
    pub tmp: PathBuf,
    /// None: whoever started the bench.
    pub user: Option<u32>,
}

impl Ground {
    /// Before any thread is started: they would stay outside.
    pub fn make(kusaw: &Path) -> io::Result<Ground> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let programs = ["kusaw", "kusaw-enter"].map(|name| (name, fs::read(kusaw.with_file_name(name))));
        let ground = if nix::unistd::geteuid().is_root() {
            enter_own_namespace(&folder)?;
            Ground { home: "/home/user".into(), tmp: "/tmp".into(), user: Some(USER), folder }
        } else {
            Ground { home: folder.join("home"), tmp: folder.join("tmp"), user: None, folder }
        };
        fs::create_dir_all(&ground.tmp)?;
        fs::create_dir_all(ground.home.join("bin"))?;
        for (name, bytes) in programs {
            let program = ground.home.join("bin").join(name);
            fs::write(&program, bytes?)?;
            fs::set_permissions(&program, Permissions::from_mode(0o755))?;
        }
        Ok(ground)
    }

    /// The program of another sandbox, where `ci/peers` or npm has put it.
    pub fn peer(&self, path: &str) -> Option<PathBuf> {
        let all = if self.user.is_some() { PEERS.into() } else { peers() };
        Some(all.join(path)).filter(|program| program.exists())
    }

    /// A command with a user's ordinary environment, and no more.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", &self.home).env("TMPDIR", &self.tmp).env("USER", "user").env("LANG", "C.UTF-8");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).current_dir(&self.home);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// A factory below the home whose step `s` runs `true`, and the command that runs it.
    pub fn kusaw(&self, factory: &str, settings: &str) -> io::Result<Command> {
        let folder = self.home.join(factory);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("kusaw.yaml"), settings)?;
        let mut command = self.command(self.home.join("bin/kusaw"));
        command.arg("--factory").arg(folder).args(["run", "s"]);
        Ok(command)
    }

    /// Gives all that was made here to the user; called before anything is started.
    pub fn hand_over(&self) -> io::Result<()> {
        self.user.map_or(Ok(()), |user| give(&self.home, user))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// In it are the user in passwd and group, /home and /tmp in memory, other sandboxes where the user can read them, and a
/// folder on the disk.
fn enter_own_namespace(folder: &Path) -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)
        .map_err(|e| io::Error::other(format!("no mount namespace ({e}): start it as an ordinary user")))?;
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
    let bind = |from: &Path, to: &str| mount(Some(from), to, none, MsFlags::MS_BIND, none);
    let rows = [("passwd", format!("user:x:{USER}:{USER}::/home/user:/bin/sh")), ("group", format!("user:x:{USER}:"))];
    for (file, row) in rows {
        let (of_host, own) = (Path::new("/etc").join(file), folder.join(file));
        fs::write(&own, fs::read_to_string(&of_host)? + &row + "\n")?;
        bind(&own, &format!("/etc/{file}"))?;
    }
    // Opened before anything is mounted over the way to them: the checkout may lie below /home or /tmp.
    let of_host = [(peers(), PEERS), (folder.to_owned(), DISK)];
    let opened: Vec<_> = of_host.into_iter().filter_map(|(at, to)| Some((File::open(at).ok()?, to))).collect();
    for place in ["/home", "/tmp"] {
        mount(Some("tmpfs"), place, Some("tmpfs"), MsFlags::empty(), none)?; // their mode is 1777
    }
    for (folder, to) in opened {
        fs::create_dir(to)?;
        bind(Path::new(&format!("/proc/self/fd/{}", folder.as_raw_fd())), to)?;
    }
    Ok(())
}

fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/peers")
}

/// Gives it, and all below it, to the user.
pub fn give(at: &Path, user: u32) -> io::Result<()> {
    chown(at, Some(user), Some(user))?;
    if !at.symlink_metadata()?.is_dir() {
        return Ok(());
    }
    fs::read_dir(at)?.try_for_each(|entry| give(&entry?.path(), user))
}

/// A program in the folders of PATH, or where servers are.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(name)).find(|program| program.is_file())
}
