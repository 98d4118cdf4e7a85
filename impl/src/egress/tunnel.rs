//! A tunnel that has been granted. The first bytes a client sends are looked at, never waited for and never changed: a TLS
//! ClientHello for another host than the granted one ends the tunnel before a byte of it has left. Nothing after that is read.

use std::io;

use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use super::head::Via;
use super::host::Host;
use super::policy::Denial;
use super::proxy::Attempt;
use super::relay::{Meter, pump};
use super::sni::{self, Hello};

/// Two connections that belong together.
#[derive(Debug)]
pub struct Tunnel {
    /// The step's side.
    pub client: TcpStream,
    /// The origin's side.
    pub upstream: TcpStream,
    /// What the client has sent already.
    pub early: Vec<u8>,
    /// The only name that a ClientHello may carry; `None` = it is not looked at.
    pub named: Option<(Host, u16)>,
}

impl Tunnel {
    /// Relays until both sides have ended, one has failed, or the attempt has ended and what was under way is through.
    pub async fn run(mut self, attempt: &Attempt, mut ended: watch::Receiver<()>) {
        let whole = self.relay(attempt, &mut ended).await;
        if whole.is_err() {
            // Neither side may take what it has got for all there was.
            let _ = self.client.set_zero_linger();
            let _ = self.upstream.set_zero_linger();
        }
    }

    async fn relay(&mut self, attempt: &Attempt, ended: &mut watch::Receiver<()>) -> io::Result<()> {
        let Tunnel { client, upstream, early, named } = self;
        let limits = &attempt.shared.limits;
        let (client_in, mut client_out) = client.split();
        let (upstream_in, mut upstream_out) = upstream.split();
        let (meter, (sent, mut all_sent)) = (Meter::default(), watch::channel(false));
        let up = async {
            let first = First { client: &client_in, upstream: &mut upstream_out, meter: &meter, attempt };
            first.pass(std::mem::take(early), named.as_ref()).await?;
            pump(&client_in, &mut upstream_out, &meter, limits).await?;
            sent.send_replace(true);
            Ok::<_, io::Error>(())
        };
        let down = pump(&upstream_in, &mut client_out, &meter, limits);
        let over = async {
            let _ = ended.changed().await;
            // Nobody is left to read an answer: what the step has sent still gets through, for a short while.
            timeout(limits.drain, all_sent.wait_for(|sent| *sent)).await.is_ok_and(|sent| sent.is_ok())
        };
        tokio::select! {
            through = async { tokio::try_join!(up, down) } => through.map(drop),
            sent = over => if sent { Ok(()) } else { Err(io::ErrorKind::ConnectionAborted.into()) },
        }
    }
}

struct First<'a, 'b> {
    client: &'a ReadHalf<'b>,
    upstream: &'a mut WriteHalf<'b>,
    meter: &'a Meter,
    attempt: &'a Attempt,
}

impl First<'_, '_> {
    async fn pass(self, mut bytes: Vec<u8>, named: Option<&(Host, u16)>) -> io::Result<()> {
        let limits = &self.attempt.shared.limits;
        if let Some((host, port)) = named {
            let mut until = (!bytes.is_empty()).then(|| Instant::now() + limits.hello);
            let mut scratch = Vec::new();
            loop {
                let refused = match sni::read(&bytes, &mut scratch) {
                    Hello::NeedMore => {
                        let more = match until {
                            None => self.more(&mut bytes).await?,
                            // A client that has begun says the rest at once.
                            Some(until) => timeout_at(until, self.more(&mut bytes)).await.unwrap_or(Ok(0))?,
                        };
                        until.get_or_insert_with(|| Instant::now() + limits.hello);
                        match (more, bytes.is_empty()) {
                            (0, true) => return Ok(()),
                            (0, false) => None,
                            _ => continue,
                        }
                    }
                    Hello::NotTls | Hello::NoName => break,
                    Hello::Name(name) => match std::str::from_utf8(name).ok().and_then(|n| Host::parse(n).ok()) {
                        // A client that knows its target by address only.
                        Some(Host::Address(_)) => break,
                        Some(name) if name == *host => break,
                        other => other,
                    },
                    Hello::Unreadable => None,
                };
                match refused {
                    Some(name) => self.attempt.log.blocked(&name, *port, Via::Sni, Denial::SniMismatch),
                    None => self.attempt.log.malformed(Via::Sni, Denial::SniMismatch),
                }
                return Err(io::ErrorKind::PermissionDenied.into());
            }
        }
        match bytes.is_empty() {
            true => Ok(()),
            false => self.meter.carry(self.upstream, &bytes, limits).await,
        }
    }

    async fn more(&self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let limits = &self.attempt.shared.limits;
        loop {
            self.meter.watch(limits, self.client.readable()).await?;
            // Only now: a tunnel whose client says nothing costs nothing.
            bytes.reserve(sni::MOST);
            match self.client.try_read_buf(bytes) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}
