//! Addresses of this machine that nothing inside may reach directly: loopback, and those that lead here by a route. On
//! each this process listens for the token that the probe inside says where it gets through; whoever else comes by says
//! nothing of it.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::egress::own;

/// For a connection to this machine itself, and for its token; for all that came to an address at the end.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Addresses besides loopback, at most.
const ROUTED: usize = 4;

/// Connections that are looked at, at most: fewer than a listener's queue holds (128, of the standard library), so that
/// none is lost unseen.
const ARRIVED: usize = 100;

/// What nobody says by chance. It stands in the probe's arguments: who looks for it there can have P7 fail, not hold.
pub fn token() -> String {
    let part = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", part(), part())
}

/// Whether the token came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// It did not.
    Nothing,
    /// It did.
    Token,
    /// More connections than are looked at, or they cannot be taken: it may have been among them.
    Unclear,
}

/// One of them.
#[derive(Debug)]
pub struct Watched {
    /// Where it is.
    pub address: SocketAddr,
    listener: TcpListener,
}

impl Watched {
    /// Loopback, and this machine's other addresses as far as it reaches them itself; and what was left out of these,
    /// with why.
    ///
    /// # Errors
    /// Where loopback cannot be listened on.
    pub fn all(token: &str) -> io::Result<(Vec<Watched>, Vec<String>)> {
        let loopback = Watched::at(Ipv4Addr::LOCALHOST.into(), token)?;
        Ok(Watched::beside(loopback, own::addresses(), token))
    }

    fn beside(loopback: Watched, addresses: io::Result<Vec<IpAddr>>, token: &str) -> (Vec<Watched>, Vec<String>) {
        let (mut all, mut left_out) = (vec![loopback], Vec::new());
        match addresses {
            Err(e) => left_out.push(format!("this machine's addresses: {e}")),
            Ok(addresses) => {
                for address in addresses.into_iter().filter(is_routed) {
                    match Watched::at(address, token) {
                        _ if all.len() > ROUTED => left_out.push(format!("{address}: {ROUTED} others are enough")),
                        Ok(watched) => all.push(watched),
                        Err(e) => left_out.push(format!("{address}: {e}")),
                    }
                }
            }
        }
        (all, left_out)
    }

    /// The control is part of it: from outside the same connection comes about.
    fn at(address: IpAddr, token: &str) -> io::Result<Watched> {
        let listener = TcpListener::bind((address, 0))?;
        listener.set_nonblocking(true)?;
        let watched = Watched { address: listener.local_addr()?, listener };
        knock(watched.address, token)?;
        match watched.heard(token, Instant::now() + PATIENCE) {
            Heard::Token => Ok(watched),
            _ => Err(io::Error::other("what is said there does not arrive")),
        }
    }

    /// Whether somebody has come who knows the token. Each that came is looked at at least once, and those that say
    /// nothing or part of it until this time.
    pub fn heard(&self, token: &str, until: Instant) -> Heard {
        let (mut came, mut open) = (0, Vec::new());
        loop {
            loop {
                match self.listener.accept() {
                    Ok(_) if came == ARRIVED => return Heard::Unclear,
                    Ok((stream, _)) => open.push((stream, Vec::new())),
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                    Err(_) => return Heard::Unclear,
                }
                came += 1;
            }
            let mut heard = false;
            open.retain_mut(|(stream, said)| {
                let goes_on = goes_on(stream, said, token.len());
                heard |= said == token.as_bytes();
                goes_on
            });
            if heard {
                return Heard::Token;
            }
            if open.is_empty() || Instant::now() >= until {
                return Heard::Nothing;
            }
            sleep(Duration::from_millis(10));
        }
    }
}

/// Reads what is there, up to that length; whether more may come.
fn goes_on(stream: &mut TcpStream, said: &mut Vec<u8>, length: usize) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return false;
    }
    let read = stream.take((length - said.len()) as u64).read_to_end(said);
    read.is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock)
}

/// Connects and says the token.
pub fn knock(address: SocketAddr, token: &str) -> io::Result<()> {
    TcpStream::connect_timeout(&address, PATIENCE)?.write_all(token.as_bytes())
}

/// Of no use are loopback, which is watched anyway, and those that are of one link only.
fn is_routed(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !v4.is_loopback() && !v4.is_link_local(),
        IpAddr::V6(v6) => !v6.is_loopback() && !v6.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback(token: &str) -> Watched {
        Watched::at(Ipv4Addr::LOCALHOST.into(), token).unwrap()
    }

    #[test]
    fn only_the_token_counts_as_arrived() {
        let token = token();
        let watched = loopback(&token);
        let heard = || watched.heard(&token, Instant::now());
        assert_eq!(heard(), Heard::Nothing, "the control is over");
        knock(watched.address, &"x".repeat(token.len())).unwrap();
        knock(watched.address, &token[1..]).unwrap();
        drop(TcpStream::connect(watched.address).unwrap());
        assert_eq!(heard(), Heard::Nothing);
        knock(watched.address, &token).unwrap();
        assert_eq!(heard(), Heard::Token);
        assert_ne!(super::token(), token);
    }

    #[test]
    fn a_crowd_does_not_hide_the_token_and_a_larger_one_is_told() {
        let token = token();
        let watched = loopback(&token);
        let crowd = |n: usize| -> Vec<_> { (0..n).map(|_| TcpStream::connect(watched.address).unwrap()).collect() };
        let silent = crowd(ARRIVED - 1);
        knock(watched.address, &token).unwrap();
        assert_eq!(watched.heard(&token, Instant::now()), Heard::Token, "the last of them");
        drop(silent);
        let silent = crowd(ARRIVED);
        knock(watched.address, &token).unwrap();
        assert_eq!(watched.heard(&token, Instant::now() + PATIENCE), Heard::Unclear);
        drop(silent);
    }

    #[test]
    fn each_address_is_one_that_this_machine_reaches_and_the_others_are_told() {
        let token = token();
        let (all, left_out) = Watched::all(&token).unwrap();
        assert!(all[0].address.ip().is_loopback());
        let routed: Vec<_> = own::addresses().unwrap().into_iter().filter(is_routed).collect();
        assert!(all[1..].iter().all(|one| routed.contains(&one.address.ip())), "{all:?}");
        assert_eq!(all.len() - 1 + left_out.len(), routed.len(), "{all:?}, {left_out:?}");
        // An address of nobody's (RFC 5737), and none at all.
        let elsewhere = || Ok(vec!["192.0.2.7".parse().unwrap()]);
        let (all, left_out) = Watched::beside(loopback(&token), elsewhere(), &token);
        assert!(all.len() == 1 && left_out.len() == 1 && left_out[0].starts_with("192.0.2.7: "), "{left_out:?}");
        let (all, left_out) = Watched::beside(loopback(&token), Err(io::ErrorKind::PermissionDenied.into()), &token);
        assert!(all.len() == 1 && left_out == ["this machine's addresses: permission denied"], "{left_out:?}");
    }
}
