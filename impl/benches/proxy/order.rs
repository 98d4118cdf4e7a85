//! What the bench tells a client to do, and what the client answers: one line of JSON each.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum Order {
    /// Opens so many connections to a service of the origin, and keeps them.
    Open { to: Service, count: usize },
    /// Moves so many bytes over the open connections, each its share, all at once.
    Move { up: bool, bytes: u64 },
    /// One byte there and back over one open connection, so many times.
    Ping { count: usize },
    /// Closes what is open.
    Close,
    /// For so long, each of the clients in turn: connects, has one byte echoed, closes.
    Connect { millis: u64 },
    /// Requests over a connection that is kept.
    Get { millis: u64 },
    /// A CONNECT to a blocked host, each on a connection of its own.
    Refused { millis: u64 },
    /// Has so many streams of events begin, and keeps them.
    Listen { by: By, streams: usize },
    /// Hears them for so long.
    Hear { millis: u64 },
    /// A POST of 1 KiB to the provider, over a connection that is kept.
    Post { millis: u64 },
    /// One request to each of these blocked hosts: they have numbers.
    Names { from: usize, to: usize },
}

/// What the client did, without what it had to prepare.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Done {
    /// GiB, connections, requests or events.
    pub units: f64,
    pub seconds: f64,
    /// Of streams: the rate of the slowest : that of the mean. Of round trips and of events: the median and the 99th percentile in µs.
    pub spread: Vec<f64>,
}

/// What an origin does with a connection. Sizes are eight bytes, the most significant first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Service {
    /// Sends back what comes.
    Echo,
    /// Is told a size and sends so much.
    Source,
    /// Is told a size, takes so much, and says so with one byte.
    Sink,
    /// Answers requests with 1 KiB.
    Web,
    /// A provider without TLS.
    Plain,
    /// A provider.
    Secure,
}

/// How a client asks for a stream of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum By {
    /// In a tunnel.
    Tunnel,
    /// With a request in absolute-form.
    Request,
    /// At the local address that a key is injected behind.
    Injection,
}

/// Where the services answer.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Origin(pub [SocketAddr; 6]);

impl Origin {
    pub fn of(&self, service: Service) -> SocketAddr {
        self.0[service as usize]
    }
}
