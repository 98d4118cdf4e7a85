//! Services of the lab's host: agents, buses, engines, and a process that works among keys. Each listens on its socket and
//! answers a connection with a token, so that being reached is seen by whoever looks for tokens.

use std::fs;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net;
use std::path::Path;
use std::process::{Command, Stdio};

use tokio::io::AsyncWriteExt;
use tokio::net::UnixListener;

use super::{HOME, Lab, home};

const SOCKETS: &[&str] = &[
    "/run/user/42042/ssh-agent",
    "/run/user/42042/bus",
    "/run/user/42042/docker.sock",
    "/run/user/42042/wayland-0",
    "/run/user/42042/gnupg/S.gpg-agent",
    "/run/user/42042/gnupg/S.gpg-agent.ssh",
    "/run/user/42042/podman/podman.sock",
    "/run/user/42042/pulse/native",
    "/run/user/42042/systemd/private",
    "/run/user/42042/pipewire-0",
    "/run/user/42042/at-spi/bus_0",
    "/run/user/42042/vscode-ipc-1.sock",
    "/run/user/42042/libvirt/libvirt-sock",
    "/run/docker/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/libvirt/libvirt-sock",
    "/etc/lab/socket",
    "/tmp/ssh-lab/agent.1",
    "/tmp/tmux-42042/default",
    "/tmp/.X11-unix/X0",
    "~/.docker/run/docker.sock",
    "~/.gnupg/S.gpg-agent",
    super::windows::INTEROP,
];

/// Folders of the system that are the user's in the lab, for the sockets of services that run as root on a real host. A
/// mount that is read-only does not stop connect(2).
pub const FOLDERS: [&str; 4] = ["/run/docker", "/run/containerd", "/run/libvirt", "/etc/lab"];

/// A link as engines have it: where it stands, and to what.
pub const LINK: (&str, &str) = ("/run/docker.sock", "docker/docker.sock");

/// The name of a socket that is no file: whoever shares the network namespace can name it.
pub const ABSTRACT: &str = "lab-abstract";

/// Starts them in the runtime of the caller.
///
/// # Errors
/// When a socket cannot be bound, or the process not be started.
pub fn start() -> io::Result<()> {
    SOCKETS.iter().try_for_each(|socket| listen(Path::new(&Lab::expand(socket))))?;
    let listener = net::UnixListener::bind_addr(&net::SocketAddr::from_abstract_name(ABSTRACT)?)?;
    listener.set_nonblocking(true)?;
    answer(UnixListener::from_std(listener)?, home::token()?);
    process()
}

/// A process that works in the folder of keys, has one open, and a token in its environment and its argv. It ends with the
/// lab.
fn process() -> io::Result<()> {
    let folder = Path::new(HOME).join(".ssh");
    let key = fs::File::open(folder.join("id_ed25519"))?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "sleep 100000; :", "lab-service", "--token", &home::token()?]);
    command.env("LAB_TOKEN", home::token()?).current_dir(folder);
    command.stdin(key).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(drop)
}

/// Listens at a path until the runtime ends, and answers every connection with a token of its own.
///
/// # Errors
/// When the socket cannot be bound.
pub fn listen(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    answer(UnixListener::bind(path)?, home::token()?);
    Ok(())
}

/// How long a service that can open nothing more waits.
const FULL: std::time::Duration = std::time::Duration::from_millis(50);

fn answer(listener: UnixListener, token: String) {
    tokio::task::spawn(async move {
        loop {
            match listener.accept().await {
                // A client that goes away is its own affair.
                Ok((mut client, _)) => drop(client.write_all(token.as_bytes()).await),
                Err(_) => tokio::time::sleep(FULL).await, // too many files are open; a moment later there may be fewer
            }
        }
    });
}
