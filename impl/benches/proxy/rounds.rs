//! What is done with each proxy: all of them in turn, round by round, so that what else the machine does meets all alike.

use std::collections::BTreeMap;
use std::io;
use std::thread::sleep;

use crate::event;
use crate::ground::Ground;
use crate::order::{By, Done, Order, Origin, Service};
use crate::proxies::{KUSAW, Proxy};
use crate::report::median;
use crate::running::{Running, SETTLE};

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub rounds: usize,
    /// In a turn, over one stream or many.
    pub bytes: u64,
    /// Of a turn that is as long for everybody.
    pub millis: u64,
    pub pings: usize,
    /// Held at the same time.
    pub idle: [usize; 2],
    /// Distinct blocked hosts; the memory is looked at before, between and after.
    pub names: [usize; 3],
}

impl Sizes {
    fn to_warm(self) -> Sizes {
        Sizes { bytes: self.bytes / 8, millis: self.millis / 4, pings: self.pings / 10, ..self }
    }
}

/// Streams of a turn with many.
pub const STREAMS: usize = 64;

/// One turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    Down,
    Up,
    ManyDown,
    ManyUp,
    Connect,
    Get,
    Refused,
    Ping,
    /// To a stream of events.
    Hear(By),
    /// To the provider.
    Post,
}

const TURNS: [Turn; 12] = [
    Turn::Down,
    Turn::Up,
    Turn::ManyDown,
    Turn::ManyUp,
    Turn::Connect,
    Turn::Get,
    Turn::Refused,
    Turn::Ping,
    Turn::Hear(By::Tunnel),
    Turn::Hear(By::Request),
    Turn::Hear(By::Injection),
    Turn::Post,
];

pub const BULK: [(Turn, &str); 4] = [
    (Turn::Down, "down, 1 stream"),
    (Turn::Up, "up, 1 stream"),
    (Turn::ManyDown, "down, 64 streams"),
    (Turn::ManyUp, "up, 64 streams"),
];

/// What came of it.
pub struct Sample {
    pub done: Done,
    /// Seconds of the proxy's CPU.
    cpu: f64,
    /// MiB of memory that the proxy holds more than before.
    pub grown: f64,
}

impl Sample {
    /// Units in a second.
    pub fn rate(&self) -> f64 {
        self.done.units / self.done.seconds
    }

    /// Seconds of CPU for a unit.
    pub fn cpu(&self) -> f64 {
        self.cpu / self.done.units
    }
}

/// Open tunnels without traffic.
pub struct Idle {
    /// More MiB for 1,000 of them.
    pub memory: f64,
    /// More descriptors for one; none where the system does not tell.
    pub descriptors: Option<f64>,
}

/// A proxy and all that came of it.
pub struct Row {
    pub proxy: Proxy,
    /// One a round.
    pub samples: BTreeMap<Turn, Vec<Option<Sample>>>,
    /// As many as sizes of it.
    pub idle: Vec<Option<Idle>>,
    /// MiB after so many distinct blocked hosts; of kusaw alone.
    pub names: Vec<f64>,
    /// What it could not do here.
    pub failed: Vec<String>,
}

/// All of it; what another proxy cannot do is noted, what kusaw's cannot do is an error.
pub fn measure(ground: &Ground, origin: &Origin, proxies: Vec<Proxy>, sizes: &Sizes) -> io::Result<Vec<Row>> {
    let new = |proxy| Row { proxy, samples: BTreeMap::new(), idle: Vec::new(), names: Vec::new(), failed: Vec::new() };
    let mut rows: Vec<Row> = proxies.into_iter().map(new).collect();
    let mut running = Vec::new();
    for row in &mut rows {
        let started = if row.proxy.is_here() { Some(row.proxy.start(ground, origin)) } else { None };
        running.push(started.and_then(|started| row.or_note("start", started).transpose()).transpose()?);
    }
    for round in 0..=sizes.rounds {
        for turn in TURNS {
            for (row, running) in rows.iter_mut().zip(&mut running) {
                if !row.proxy.takes(turn) {
                    continue;
                }
                // The first round only warms.
                let sizes = if round == 0 { &sizes.to_warm() } else { sizes };
                let sample = take_turn(row, running, turn, sizes)?;
                if sample.is_none() && running.is_some() {
                    let again = row.proxy.start(ground, origin);
                    *running = row.or_note("start again", again)?;
                }
                if round > 0 {
                    row.samples.entry(turn).or_default().push(sample);
                }
            }
        }
    }
    drop(running);
    for row in rows.iter_mut().filter(|row| row.proxy.is_proxy()) {
        for tunnels in sizes.idle {
            let idle = idle(ground, origin, &row.proxy, tunnels);
            let idle = row.or_note(&format!("{tunnels} idle tunnels"), idle)?;
            row.idle.push(idle);
        }
        if row.proxy.name == KUSAW {
            row.names = names(row.proxy.start(ground, origin)?, sizes)?;
        }
    }
    Ok(rows)
}

/// None where it cannot.
fn take_turn(row: &mut Row, running: &mut Option<Running>, turn: Turn, sizes: &Sizes) -> io::Result<Option<Sample>> {
    let Some(at_work) = running else { return Ok(None) };
    sleep(SETTLE);
    row.or_note(&format!("{turn:?}"), act(at_work, turn, sizes))
}

fn act(running: &mut Running, turn: Turn, sizes: &Sizes) -> io::Result<Sample> {
    let (bytes, millis) = (sizes.bytes, sizes.millis);
    let (open, order) = match turn {
        Turn::Down => (Some((Service::Source, 1)), Order::Move { up: false, bytes }),
        Turn::Up => (Some((Service::Sink, 1)), Order::Move { up: true, bytes }),
        Turn::ManyDown => (Some((Service::Source, STREAMS)), Order::Move { up: false, bytes }),
        Turn::ManyUp => (Some((Service::Sink, STREAMS)), Order::Move { up: true, bytes }),
        Turn::Ping => (Some((Service::Echo, 1)), Order::Ping { count: sizes.pings }),
        Turn::Connect => (None, Order::Connect { millis }),
        Turn::Get => (None, Order::Get { millis }),
        Turn::Refused => (None, Order::Refused { millis }),
        Turn::Hear(by) => {
            running.order(Order::Listen { by, streams: event::STREAMS })?;
            (None, Order::Hear { millis })
        }
        Turn::Post => (None, Order::Post { millis }),
    };
    if let Some((to, count)) = open {
        running.order(Order::Open { to, count })?;
        sleep(SETTLE);
    }
    let before = running.memory()?;
    let (done, cpu) = running.order(order)?;
    let grown = running.memory()? - before;
    running.order(Order::Close)?;
    Ok(Sample { done, cpu, grown })
}

/// So many tunnels, each after its first byte, on proxies that did nothing before but one.
fn idle(ground: &Ground, origin: &Origin, proxy: &Proxy, tunnels: usize) -> io::Result<Idle> {
    let each = proxy.each.unwrap_or(tunnels).min(tunnels);
    let mut all = (0..tunnels / each).map(|_| proxy.start(ground, origin)).collect::<io::Result<Vec<_>>>()?;
    let open = |all: &mut Vec<Running>, count| {
        all.iter_mut().try_for_each(|one| one.order(Order::Open { to: Service::Echo, count }).map(drop))
    };
    let held = |all: &[Running]| -> io::Result<(f64, Option<usize>)> {
        sleep(SETTLE * 10);
        let memory = all.iter().map(Running::memory).sum::<io::Result<f64>>()?;
        Ok((memory, all.iter().map(Running::descriptors).sum()))
    };
    open(&mut all, 1)?;
    let before = held(&all)?;
    open(&mut all, each)?;
    let after = held(&all)?;
    let opened = (each * all.len()) as f64;
    let descriptors = after.1.zip(before.1).map(|(after, before)| (after as f64 - before as f64) / opened);
    Ok(Idle { memory: (after.0 - before.0) / opened * 1000.0, descriptors })
}

fn names(mut running: Running, sizes: &Sizes) -> io::Result<Vec<f64>> {
    let mut from = 0;
    let mut memory = Vec::new();
    for to in sizes.names {
        running.order(Order::Names { from, to })?;
        memory.push(running.memory()?);
        from = to;
    }
    Ok(memory)
}

impl Row {
    fn or_note<T>(&mut self, what: &str, result: io::Result<T>) -> io::Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(e) if self.proxy.is_other() => {
                let failed = format!("{}, {what}: {e}", self.proxy.name);
                if !self.failed.contains(&failed) {
                    self.failed.push(failed);
                }
                Ok(None)
            }
            Err(e) => Err(io::Error::other(format!("{}, {what}: {e}", self.proxy.name))),
        }
    }

    /// The median of what a turn's samples say.
    pub fn of(&self, turn: Turn, what: impl Fn(&Sample) -> f64) -> Option<f64> {
        median(self.samples.get(&turn)?.iter().flatten().map(what))
    }

    /// The median over the rounds that both did, of what `what` makes of the two.
    pub fn paired(&self, other: &Row, turn: Turn, what: impl Fn(&Sample, &Sample) -> f64) -> Option<f64> {
        let (ours, theirs) = (self.samples.get(&turn)?, other.samples.get(&turn)?);
        let pairs = ours.iter().zip(theirs).filter_map(|(a, b)| a.as_ref().zip(b.as_ref()));
        median(pairs.map(|(a, b)| what(a, b)))
    }
}
