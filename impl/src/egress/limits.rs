//! Every limit and time-out of the proxy in one place, and what is shared by all attempts of a process: places for
//! connections, the pace at which new ones are taken, and the network behind. A limit that is hit ends one connection, never
//! the proxy.
#![forbid(unsafe_code)]

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit};
use tokio::sync::Semaphore;

use super::dial::{Network, System};

/// The numbers. A test, or a measurement, shrinks or stretches them; nothing else does.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a request's head, and of an answer's.
    pub head: usize,
    /// Headers of one request.
    pub headers: usize,
    /// Bytes of the target in a request line.
    pub target: usize,
    /// For a whole request head.
    pub head_read: Duration,
    /// Between two requests of one connection.
    pub keep_alive: Duration,
    /// For one look-up.
    pub dns: Duration,
    /// Look-ups at a time.
    pub lookups: usize,
    /// Addresses of one answer that are tried.
    pub answers: usize,
    /// For one address.
    pub connect: Duration,
    /// For all addresses of a host.
    pub connect_all: Duration,
    /// Before the next address is tried beside the first (RFC 8305).
    pub stagger: Duration,
    /// Bytes a client may send behind its CONNECT before the 200.
    pub early: usize,
    /// For a ClientHello, from its first byte.
    pub hello: Duration,
    /// A tunnel without a byte either way.
    pub idle: Duration,
    /// The same once one side has ended.
    pub half_closed: Duration,
    /// Before the kernel asks whether the peer is still there.
    pub probe: Duration,
    /// Until an origin's answer to a plain request begins.
    pub first_byte: Duration,
    /// Interim answers (1xx) to one request.
    pub interim: usize,
    /// Connections of one attempt.
    pub connections: usize,
    /// Connections of all attempts of a process; each may take two descriptors.
    pub process: usize,
    /// Descriptors kept for look-ups, logs and the rest of the process.
    pub reserve: u64,
    /// New connections of one attempt a second: above what any client needs, below what would starve other attempts.
    pub rate: u32,
    /// New connections at once before the rate is felt.
    pub burst: u32,
    /// For what is under way when an attempt ends.
    pub drain: Duration,
    /// Bytes of the body of a request that a key is added to; streamed, never held.
    pub inject_body: u64,
    /// Such a request, or its answer, without a byte either way: models think silently. Nothing bounds how long it flows.
    pub inject_idle: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head: 64 << 10,
            headers: 100,
            target: 8 << 10,
            head_read: Duration::from_secs(10),
            keep_alive: Duration::from_secs(60),
            dns: Duration::from_secs(5),
            lookups: 32,
            answers: 16,
            connect: Duration::from_secs(10),
            connect_all: Duration::from_secs(30),
            stagger: Duration::from_millis(250),
            early: 64 << 10,
            hello: Duration::from_secs(5),
            idle: Duration::from_secs(30 * 60),
            half_closed: Duration::from_secs(5 * 60),
            probe: Duration::from_secs(60),
            first_byte: Duration::from_secs(5 * 60),
            interim: 16,
            connections: 512,
            process: 4_096,
            reserve: 64,
            rate: 10_000,
            burst: 1_000,
            drain: Duration::from_secs(2),
            inject_body: 64 << 20,
            inject_idle: Duration::from_secs(10 * 60),
        }
    }
}

/// What all attempts of a process share.
#[derive(Debug)]
pub struct Shared {
    /// The numbers.
    pub limits: Limits,
    /// Free places for connections.
    pub places: Arc<Semaphore>,
    /// Free places for look-ups: a thread each.
    pub lookups: Semaphore,
    /// Looks up and connects.
    pub network: Arc<dyn Network>,
}

/// What the attempts of this process share: made once, when the number of open files it may have has been raised.
pub fn process() -> Arc<Shared> {
    static PROCESS: OnceLock<Arc<Shared>> = OnceLock::new();
    let descriptors = || getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft);
    PROCESS.get_or_init(|| Arc::new(Shared::new(Limits::default(), descriptors()))).clone()
}

impl Shared {
    /// Of a process that may have so many open files.
    pub fn new(limits: Limits, descriptors: u64) -> Shared {
        Shared::over(limits, descriptors, Arc::new(System))
    }

    /// The same over another network than the system's.
    pub fn over(limits: Limits, descriptors: u64, network: Arc<dyn Network>) -> Shared {
        let affordable = usize::try_from(descriptors.saturating_sub(limits.reserve) / 2).unwrap_or(usize::MAX);
        // One at least: too few descriptors at all were refused when the proxy started.
        let places = limits.process.min(affordable).max(1);
        // Where there are few, no attempt takes them all.
        let limits = Limits { connections: limits.connections.min((places / 4).max(1)), ..limits };
        let lookups = Semaphore::new(limits.lookups);
        Shared { limits, places: Arc::new(Semaphore::new(places)), lookups, network }
    }
}

/// How fast an attempt may open connections: a bucket of tokens. Going over it is waiting, never an error.
#[derive(Debug)]
pub struct Pace {
    rate: f64,
    burst: f64,
    tokens: f64,
    at: Instant,
}

impl Pace {
    /// A full bucket.
    pub fn new(limits: &Limits, now: Instant) -> Pace {
        let burst = f64::from(limits.burst);
        Pace { rate: f64::from(limits.rate.max(1)), burst, tokens: burst, at: now }
    }

    /// Takes a token; the value is how long to wait before it is used.
    pub fn take(&mut self, now: Instant) -> Duration {
        let gained = now.saturating_duration_since(self.at).as_secs_f64() * self.rate;
        self.tokens = (self.tokens + gained).min(self.burst) - 1.0;
        self.at = now;
        Duration::from_secs_f64((-self.tokens / self.rate).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_and_then_the_rate_is_kept() {
        let start = Instant::now();
        let mut pace = Pace::new(&Limits { rate: 200, burst: 400, ..Limits::default() }, start);
        assert!((0..400).all(|_| pace.take(start).is_zero()));
        let waits: Vec<_> = (0..200).map(|_| pace.take(start)).collect();
        assert!(waits.is_sorted() && waits[0] > Duration::ZERO);
        assert_eq!(waits[199].as_millis(), 1_000, "the 200th over the burst waits a second");
        assert!(pace.take(start + Duration::from_secs(10)).is_zero(), "rest fills the bucket");
    }

    #[test]
    fn places_follow_the_descriptors_there_are() {
        let places = |descriptors| Shared::new(Limits::default(), descriptors).places.available_permits();
        assert_eq!((places(20_000), places(1_024), places(64)), (4_096, 480, 1));
    }
}
