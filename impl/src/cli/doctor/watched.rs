//! Addresses of this machine that nothing inside may reach directly: loopback, and those that lead here by a route. On each this
//! process listens for the token that the probe inside says where it gets through; whoever else comes by says nothing of it.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::egress::own;

/// For a connection to this machine itself, and for its token.
const PATIENCE: Duration = Duration::from_secs(2);

/// Addresses besides loopback, at most.
const ROUTED: usize = 4;

/// Connections that are looked at, at most.
const ARRIVED: usize = 16;

/// What only the probe knows.
pub fn token() -> String {
    let part = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", part(), part())
}

/// One of them.
#[derive(Debug)]
pub struct Watched {
    /// Where it is.
    pub address: SocketAddr,
    listener: TcpListener,
}

impl Watched {
    /// Loopback, and this machine's other addresses as far as it reaches them itself.
    ///
    /// # Errors
    /// Where loopback cannot be listened on.
    pub fn all(token: &str) -> io::Result<Vec<Watched>> {
        let mut all = vec![Watched::at(Ipv4Addr::LOCALHOST.into(), token)?];
        all.extend(routed().into_iter().filter_map(|address| Watched::at(address, token).ok()).take(ROUTED));
        Ok(all)
    }

    /// The control is part of it: from outside the same connection comes about.
    fn at(address: IpAddr, token: &str) -> io::Result<Watched> {
        let listener = TcpListener::bind((address, 0))?;
        listener.set_nonblocking(true)?;
        let watched = Watched { address: listener.local_addr()?, listener };
        knock(watched.address, token)?;
        if watched.heard(token) { Ok(watched) } else { Err(io::ErrorKind::ConnectionRefused.into()) }
    }

    /// Whether somebody has come who knows the token.
    pub fn heard(&self, token: &str) -> bool {
        let arrived = (0..ARRIVED).map_while(|_| self.listener.accept().ok());
        arrived.map(|(stream, _)| said(stream, token.len())).any(|said| said.is_ok_and(|said| said == token.as_bytes()))
    }
}

/// Connects and says the token.
pub fn knock(address: SocketAddr, token: &str) -> io::Result<()> {
    TcpStream::connect_timeout(&address, PATIENCE)?.write_all(token.as_bytes())
}

fn said(mut stream: TcpStream, length: usize) -> io::Result<Vec<u8>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut said = vec![0; length];
    stream.read_exact(&mut said)?;
    Ok(said)
}

/// This machine's addresses but loopback and those that are of one link only; none where they cannot be read.
fn routed() -> Vec<IpAddr> {
    let mut found = own::addresses().unwrap_or_default();
    found.retain(|ip| match ip {
        IpAddr::V4(v4) => !v4.is_loopback() && !v4.is_link_local(),
        IpAddr::V6(v6) => !v6.is_loopback() && !v6.is_unicast_link_local(),
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_counts_as_arrived() {
        let token = token();
        let watched = Watched::at(Ipv4Addr::LOCALHOST.into(), &token).unwrap();
        assert!(!watched.heard(&token), "the control is over");
        knock(watched.address, &"x".repeat(token.len())).unwrap();
        drop(TcpStream::connect(watched.address).unwrap());
        assert!(!watched.heard(&token));
        knock(watched.address, &token).unwrap();
        assert!(watched.heard(&token));
        assert_ne!(super::token(), token);
    }

    #[test]
    fn each_address_is_one_that_this_machine_reaches() {
        let all = Watched::all(&token()).unwrap();
        assert!(all[0].address.ip().is_loopback());
        assert!(all[1..].iter().all(|one| routed().contains(&one.address.ip())), "{all:?}");
        assert_eq!(all.len() > 1, !routed().is_empty(), "{all:?}");
    }
}
