//! Services of the lab's host: agents, buses, engines. Each listens on its socket and answers a connection with a token, so
//! that being reached is seen by whoever looks for tokens.

use std::fs;
use std::io;
use std::path::Path;

use tokio::io::AsyncWriteExt;
use tokio::net::UnixListener;

use super::{Lab, home};

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
    "/tmp/ssh-lab/agent.1",
    "/tmp/tmux-42042/default",
    "/tmp/.X11-unix/X0",
    "~/.docker/run/docker.sock",
    "~/.gnupg/S.gpg-agent",
    super::windows::INTEROP,
];

/// Starts them in the runtime of the caller.
pub fn start() -> io::Result<()> {
    SOCKETS.iter().try_for_each(|socket| listen(Path::new(&Lab::expand(socket))))
}

/// Listens at a path until the runtime ends, and answers every connection with a token of its own.
///
/// # Errors
/// When the socket cannot be bound.
pub fn listen(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let listener = UnixListener::bind(path)?;
    let answer = home::token()?;
    tokio::task::spawn(async move {
        loop {
            let Ok((mut client, _)) = listener.accept().await else { continue };
            // A client that goes away is its own affair.
            let _ = client.write_all(answer.as_bytes()).await;
        }
    });
    Ok(())
}
