//! A real ssh-agent of the user, that holds a key: what is signed with it was signed by whoever reached it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{HOME, Lab};
use crate::launch::environment;

/// For it to listen.
const READY: Duration = Duration::from_secs(10);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// Who signs, in a list of allowed signers.
const SIGNER: &str = "dev@devbox.example";

/// An agent; it ends with the scenario.
#[derive(Debug)]
pub struct Agent {
    process: Child,
    folder: PathBuf,
    key: String,
}

impl Agent {
    /// Starts one that holds a new key.
    ///
    /// # Errors
    /// When a program of OpenSSH is not there or fails.
    pub fn start(nonce: &str) -> io::Result<Self> {
        let folder = Path::new(HOME).join(".agents").join(nonce);
        fs::create_dir_all(&folder)?;
        let (key, socket) = (folder.join("key"), folder.join("socket"));
        run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-C", SIGNER, "-f", &key.display().to_string()], None)?;
        let mut agent = Command::new(program("ssh-agent")?);
        agent.args(["-D", "-a"]).arg(&socket).env_clear().envs(environment::plain());
        let process = agent.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let public = fs::read_to_string(key.with_extension("pub"))?;
        let agent = Self { process, folder, key: public.trim().to_owned() };
        let began = Instant::now();
        while !socket.exists() {
            if began.elapsed() > READY {
                return Err(io::Error::other("ssh-agent does not listen"));
            }
            std::thread::sleep(LOOK);
        }
        run("ssh-add", &["-q", &key.display().to_string()], Some(&socket))?;
        fs::rename(key, agent.put_away())?;
        fs::write(agent.allowed(), format!("{SIGNER} namespaces=\"git\" {public}"))?;
        Ok(agent)
    }

    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// The public key, as a line.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Its file.
    pub fn public(&self) -> PathBuf {
        self.folder.join("key.pub")
    }

    /// The list that says whose signatures are good: ssh-keygen(1), ALLOWED SIGNERS.
    pub fn allowed(&self) -> PathBuf {
        self.folder.join("allowed")
    }

    /// It gets its key back.
    ///
    /// # Errors
    /// When it cannot be told.
    pub fn recall(&self) -> io::Result<()> {
        run("ssh-add", &["-q", &self.put_away().display().to_string()], Some(&self.socket()))
    }

    /// Where the private key lies, and whoever looks for it beside the public one does not find it.
    fn put_away(&self) -> PathBuf {
        self.folder.join("put-away")
    }

    /// It forgets its key, and goes on.
    ///
    /// # Errors
    /// When it cannot be told.
    pub fn forget(&self) -> io::Result<()> {
        run("ssh-add", &["-q", "-D"], Some(&self.socket()))
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // One that has ended by itself needs no signal; the folder goes with the lab at the latest.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn run(name: &str, arguments: &[&str], socket: Option<&Path>) -> io::Result<()> {
    let mut command = Command::new(program(name)?);
    command.args(arguments).env_clear().envs(environment::plain()).stdin(Stdio::null());
    command.envs(socket.map(|socket| ("SSH_AUTH_SOCK", socket)));
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("{name}: {}", String::from_utf8_lossy(&output.stderr))))
}

fn program(name: &str) -> io::Result<PathBuf> {
    Lab::which(name).ok_or_else(|| io::Error::other(format!("{name} is not on PATH; `make setup` installs it")))
}
