//! Where the bench runs: a home, a temp folder, factories and programs of its own, and an ordinary user. Started as root it
//! makes itself a mount namespace in which that user has a name and a home, as users have; nothing of the host is changed.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};

/// The user where root starts the bench; nobody's number.
const USER: u32 = 42042;

/// Other sandboxes, as that user sees them.
const PEERS: &str = "/home/peers";

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
    pub fn make(kusaw: &Path) -> io::Result<Ground> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("launch-{}", std::process::id()));
        let is_root = nix::unistd::geteuid().is_root();
        let mut ground =
            Ground { home: folder.join("home/user"), tmp: folder.join("tmp"), user: is_root.then_some(USER), folder };
        fs::create_dir_all(&ground.tmp)?;
        fs::create_dir_all(ground.home.join("bin"))?;
        for program in ["kusaw", "kusaw-enter"] {
            fs::copy(kusaw.with_file_name(program), ground.home.join("bin").join(program))?;
        }
        if is_root {
            ground.enter_own_namespace()?;
        }
        Ok(ground)
    }

    /// The folder at /home and /tmp, the user in passwd and group, and other sandboxes where the user can read them.
    fn enter_own_namespace(&mut self) -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWNS)
            .map_err(|e| io::Error::other(format!("no mount namespace ({e}): start it as an ordinary user")))?;
        let none = None::<&str>;
        mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
        let bind = |from: &Path, to: &str| mount(Some(from), to, none, MsFlags::MS_BIND, none);
        for (file, row) in
            [("passwd", format!("user:x:{USER}:{USER}::/home/user:/bin/sh")), ("group", format!("user:x:{USER}:"))]
        {
            let (of_host, own) = (Path::new("/etc").join(file), self.folder.join(file));
            fs::write(&own, fs::read_to_string(&of_host)? + &row + "\n")?;
            bind(&own, &format!("/etc/{file}"))?;
        }
        fs::set_permissions(&self.tmp, Permissions::from_mode(0o1777))?;
        let peers = peers();
        let inside = self.folder.join("home/peers");
        fs::create_dir_all(&inside)?;
        bind(&self.folder.join("home"), "/home")?;
        if peers.is_dir() {
            bind(&peers, PEERS)?;
        }
        bind(&self.tmp, "/tmp")?;
        (self.home, self.tmp) = ("/home/user".into(), "/tmp".into());
        Ok(())
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
        if self.user.is_some() {
            let _ = umount2(PEERS, MntFlags::MNT_DETACH); // a mount point of this namespace cannot be removed
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/peers")
}

fn give(at: &Path, user: u32) -> io::Result<()> {
    chown(at, Some(user), Some(user))?;
    if !at.symlink_metadata()?.is_dir() {
        return Ok(());
    }
    fs::read_dir(at)?.try_for_each(|entry| give(&entry?.path(), user))
}
