//! Every limit and time-out of the proxy in one place, and what is shared by all attempts of a process: places for
//! connections, the pace at which new ones are taken, and the network behind. A limit that is hit ends one connection, never
//! the proxy.
#![forbid(unsafe_code)]

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

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
    /// For one look-up, and before it for a place among them.
    pub dns: Duration,
    /// Look-ups of a process at a time: a thread each.
    pub lookups: usize,
    /// Look-ups of one attempt: a slow server for its names holds up nobody else's.
    pub lookups_each: usize,
    /// Attempts of a process whose keys are read at a time: a thread each.
    pub openings: usize,
    /// Addresses of one answer that are tried.
    pub answers: usize,
    /// Addresses of one host that are tried at a time.
    pub dials: usize,
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
    /// Places of a process, each for two descriptors: a connection has one, and one more for each address that is tried beside
    /// the first; an attempt has those for its listeners and records.
    pub process: usize,
    /// Descriptors kept for look-ups and the rest of the process.
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
            lookups_each: 8,
            openings: 4,
            answers: 16,
            dials: 3,
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
            process: 8_192,
            reserve: 48,
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
    /// Free places for descriptors, two in each.
    pub places: Arc<Semaphore>,
    /// Free places for look-ups.
    pub lookups: Arc<Semaphore>,
    /// Free places for attempts whose keys are read.
    pub openings: Arc<Semaphore>,
    /// Looks up and connects.
    pub network: Arc<dyn Network>,
}

/// The process has no descriptors left for an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "an attempt of {listeners} listeners needs about {needed} open files, and {left} are left of those this process may have"
)]
pub struct Full {
    listeners: usize,
    needed: usize,
    left: usize,
}

/// What an attempt has open besides its listeners: its two records, and the connection to whoever runs it.
const OF_AN_ATTEMPT: usize = 3;

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
        let places = limits.process.min(affordable);
        // Where there are few, no attempt takes them all.
        let limits = Limits { connections: limits.connections.min((places / 4).max(1)), ..limits };
        let [lookups, openings] = [limits.lookups, limits.openings].map(|most| Arc::new(Semaphore::new(most)));
        Shared { limits, places: Arc::new(Semaphore::new(places)), lookups, openings, network }
    }

    /// The places of an attempt with so many listeners, for as long as it has them.
    ///
    /// # Errors
    /// Where they, and one connection, are more than what is left.
    pub fn admit(&self, listeners: usize) -> Result<OwnedSemaphorePermit, Full> {
        let own = (listeners + OF_AN_ATTEMPT).div_ceil(2);
        let full = || Full { listeners, needed: 2 * (own + 1), left: 2 * self.places.available_permits() };
        let wanted = u32::try_from(own + 1).map_err(|_| full())?;
        let mut places = self.places.clone().try_acquire_many_owned(wanted).map_err(|_| full())?;
        drop(places.split(1));
        Ok(places)
    }
}

/// The places of one attempt among those of its process.
#[derive(Debug)]
pub struct Places {
    own: Arc<Semaphore>,
    all: Arc<Semaphore>,
}

/// One place, among the attempt's and among all: given back when it is dropped.
pub type Place = [OwnedSemaphorePermit; 2];

impl Places {
    /// So many, none of them taken.
    pub fn new(own: usize, all: &Arc<Semaphore>) -> Places {
        Places { own: Arc::new(Semaphore::new(own)), all: all.clone() }
    }

    /// One that is free now.
    pub fn free(&self) -> Option<Place> {
        let own = self.own.clone().try_acquire_owned().ok()?;
        Some([own, self.all.clone().try_acquire_owned().ok()?])
    }

    /// One, waited for; the attempt's first, so that it waits among the others with what it may have only.
    pub async fn next(&self) -> Option<Place> {
        let own = self.own.clone().acquire_owned().await.ok()?;
        Some([own, self.all.clone().acquire_owned().await.ok()?])
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
        assert_eq!((places(20_000), places(1_024), places(64)), (8_192, 488, 8));
    }

    #[test]
    fn an_attempt_takes_what_it_has_open_and_gives_it_back() {
        let shared = Shared::new(Limits::default(), 64);
        let first = shared.admit(2).unwrap();
        assert_eq!(shared.places.available_permits(), 5, "two listeners, two records, a connection to its run");
        let second = shared.admit(2).unwrap();
        let full = shared.admit(2).unwrap_err();
        assert_eq!(full, Full { listeners: 2, needed: 8, left: 4 });
        drop(first);
        assert_eq!(shared.places.available_permits(), 5);
        drop((shared.admit(2).unwrap(), second));
        assert_eq!((shared.places.available_permits(), shared.admit(126).unwrap_err().left), (8, 16));
    }
}
