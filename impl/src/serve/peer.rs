//! Who is at the other end of a connection: told by the kernel, not by the peer (unix(7), SO_PEERCRED). A step has the same
//! user as its factory; that it is in a PID namespace of its own tells it apart, should it ever get hold of the socket.

use std::io;
use std::os::fd::AsFd;

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::geteuid;

/// Refuses a peer that is another user.
///
/// # Errors
/// Says which.
pub fn is_same_user(stream: &impl AsFd) -> io::Result<i32> {
    let peer = getsockopt(stream, PeerCredentials)?;
    let own = geteuid().as_raw();
    if peer.uid() != own {
        return Err(io::Error::other(format!("the other side is user {}, and not {own}", peer.uid())));
    }
    Ok(peer.pid())
}

/// Refuses a peer that is another user, or in a PID namespace below or beside this process's.
///
/// # Errors
/// Says which.
pub fn is_ours(stream: &impl AsFd) -> io::Result<()> {
    let pid = is_same_user(stream)?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    if is_beside_us(&status) { Ok(()) } else { Err(io::Error::other(format!("process {pid} is inside a sandbox"))) }
}

/// proc_pid_status(5): NSpid has a number for the PID namespace of this /proc, and one more for each below it that the
/// process is in.
fn is_beside_us(status: &str) -> bool {
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    numbers.is_some_and(|numbers| numbers.split_whitespace().count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_further_in_is_not_ours() {
        assert!(is_beside_us("Name:\tx\nNSpid:\t7\nNSpgid:\t7\n"));
        assert!(!is_beside_us("Name:\tx\nNSpid:\t7\t2\nNSpgid:\t7\t2\n"));
        assert!(!is_beside_us("Name:\tx\n"));
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        is_ours(&one).unwrap();
    }
}
