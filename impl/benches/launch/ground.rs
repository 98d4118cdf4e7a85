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

/// A folder in memory, as that user sees it.
const MEMORY: &str = "/home/memory";

/// Removed when dropped.
pub struct Ground {
    folder: PathBuf,
    /// As the programs see them.
    pub home: PathBuf,
    pub tmp: PathBuf,
    /// A folder in memory; where root starts the bench always, else where the login made one.
    memory: Option<PathBuf>,
    /// None: whoever started the bench.
    pub user: Option<u32>,
}

impl Ground {
    pub fn make(kusaw: &Path) -> io::Result<Ground> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("launch-{}", std::process::id()));
        let is_root = nix::unistd::geteuid().is_root();
        let mut ground = Ground {
            home: folder.join("home/user"),
            tmp: folder.join("tmp"),
            memory: std::env::var_os("XDG_RUNTIME_DIR")
                .map(|at| Path::new(&at).join(format!("launch-{}", std::process::id()))),
            user: is_root.then_some(USER),
            folder,
        };
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
        ["peers", "memory"].iter().try_for_each(|name| fs::create_dir(self.folder.join("home").join(name)))?;
        bind(&self.folder.join("home"), "/home")?;
        mount(Some("tmpfs"), MEMORY, Some("tmpfs"), MsFlags::empty(), none)?;
        if peers.is_dir() {
            bind(&peers, PEERS)?;
        }
        bind(&self.tmp, "/tmp")?;
        (self.home, self.tmp, self.memory) = ("/home/user".into(), "/tmp".into(), Some(MEMORY.into()));
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

    /// The same with all that kusaw makes in memory.
    pub fn in_memory(&self, settings: &str) -> io::Result<Option<Command>> {
        let Some(memory) = &self.memory else { return Ok(None) };
        fs::create_dir_all(memory.join("tmp"))?;
        fs::write(memory.join("kusaw.yaml"), settings)?;
        let mut command = self.command(self.home.join("bin/kusaw"));
        command.arg("--factory").arg(memory).args(["run", "s"]).env("TMPDIR", memory.join("tmp"));
        Ok(Some(command))
    }

    /// Gives all that was made here to the user; called before anything is started.
    pub fn hand_over(&self) -> io::Result<()> {
        let Some(user) = self.user else { return Ok(()) };
        [&self.home].into_iter().chain(&self.memory).try_for_each(|folder| give(folder, user))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if self.user.is_some() {
            // A mount point of this namespace cannot be removed.
            let _ = umount2(PEERS, MntFlags::MNT_DETACH).and(umount2(MEMORY, MntFlags::MNT_DETACH));
        }
        let _ = fs::remove_dir_all(&self.folder);
        self.memory.iter().for_each(|memory| drop(fs::remove_dir_all(memory)));
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
