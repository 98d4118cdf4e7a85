//! The client: a process of its own, for kusaw's proxy inside the sandbox. It carries out what it is told on stdin and answers
//! on stdout; it prepares before, so that the bench's marks enclose the work alone.

use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::event::{Listener, now};
use crate::order::{Done, Order, Origin, Service};
use crate::way::{Answer, Provider, Way, expect};

/// At the same time.
const CLIENTS: u64 = 16;

const CHUNK: usize = 256 << 10;

/// Bytes of a POST's body.
const POSTED: usize = 1 << 10;

/// To the end of stdin.
pub fn obey(origin: &str) -> io::Result<()> {
    let origin: Origin = serde_json::from_str(origin)?;
    let mut client = Client {
        origin,
        way: Way::of_environment()?,
        provider: Provider::of_environment(origin.of(Service::Plain))?,
        open: Vec::new(),
        heard: Vec::new(),
    };
    for line in io::stdin().lock().lines() {
        let done = client.carry_out(serde_json::from_str(&line?)?).map_err(|e| e.to_string());
        println!("{}", serde_json::to_string(&done)?);
    }
    Ok(())
}

struct Client {
    origin: Origin,
    way: Way,
    provider: Provider,
    open: Vec<TcpStream>,
    heard: Vec<Listener>,
}

impl Client {
    fn carry_out(&mut self, order: Order) -> io::Result<Done> {
        match order {
            Order::Open { to, count } => self.open(to, count),
            Order::Move { up, bytes } => self.shares(up, bytes),
            Order::Ping { count } => self.ping(count),
            Order::Close => {
                self.open.clear();
                self.heard.clear();
                Ok(Done::default())
            }
            Order::Connect { millis } => self.clients(millis, |client| {
                let mut stream = client.way.tunnel(client.origin.of(Service::Echo))?;
                echo(&mut stream)
            }),
            Order::Get { millis } => {
                let web = self.origin.of(Service::Web);
                let host = web.to_string();
                self.requests(millis, || self.way.for_requests(web), |stream| self.way.get(stream, &host))
            }
            Order::Post { millis } => {
                let body = "x".repeat(POSTED);
                self.requests(millis, || self.provider.open(), |stream| self.provider.post(stream, &body))
            }
            Order::Listen { by, streams } => {
                let begin = |_| self.way.events(by, &self.origin, &self.provider);
                self.heard = (0..streams).map(begin).collect::<io::Result<_>>()?;
                Ok(Done { units: streams as f64, ..Done::default() })
            }
            Order::Hear { millis } => self.hear(millis),
            Order::Refused { millis } => self.clients(millis, |client| client.way.refused("www.blocked.example:443")),
            Order::Names { from, to } => self.names(from, to),
        }
    }

    /// Each has exchanged a byte where the service does that.
    fn open(&mut self, to: Service, count: usize) -> io::Result<Done> {
        for _ in 0..count {
            let mut stream = self.way.tunnel(self.origin.of(to))?;
            if to == Service::Echo {
                echo(&mut stream)?;
            }
            self.open.push(stream);
        }
        Ok(Done { units: count as f64, ..Done::default() })
    }

    fn shares(&mut self, up: bool, bytes: u64) -> io::Result<Done> {
        let share = bytes / (self.open.len() as u64).max(1);
        let began = Instant::now();
        let times = thread::scope(|scope| {
            let streams = self.open.iter_mut().map(|stream| scope.spawn(move || move_share(stream, up, share)));
            let streams: Vec<_> = streams.collect();
            streams.into_iter().map(joined).collect::<io::Result<Vec<f64>>>()
        })?;
        let seconds = began.elapsed().as_secs_f64();
        let slowest = times.iter().copied().fold(0.0, f64::max);
        let mean = times.iter().map(|time| 1.0 / time).sum::<f64>() / times.len() as f64;
        let moved = share * times.len() as u64;
        Ok(Done { units: moved as f64 / f64::from(1 << 30), seconds, spread: vec![1.0 / slowest / mean] })
    }

    fn ping(&mut self, count: usize) -> io::Result<Done> {
        let stream = self.open.first_mut().ok_or_else(|| io::Error::other("nothing is open"))?;
        let began = Instant::now();
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let sent = Instant::now();
            echo(stream)?;
            times.push(sent.elapsed().as_secs_f64() * 1e6);
        }
        let seconds = began.elapsed().as_secs_f64();
        Ok(Done { units: count as f64, seconds, spread: spread(times) })
    }

    /// Only what is sent meanwhile counts.
    fn hear(&mut self, millis: u64) -> io::Result<Done> {
        let (began, from) = (Instant::now(), now()?);
        let until = from + millis * 1_000_000;
        let times = thread::scope(|scope| {
            let all: Vec<_> = self.heard.iter_mut().map(|one| scope.spawn(move || one.hear(from, until))).collect();
            all.into_iter().map(joined).collect::<io::Result<Vec<Vec<f64>>>>()
        })?;
        let times = times.concat();
        if times.is_empty() {
            return Err(io::Error::other("no event came"));
        }
        Ok(Done { units: times.len() as f64, seconds: began.elapsed().as_secs_f64(), spread: spread(times) })
    }

    /// All clients do this, again and again.
    fn clients(&self, millis: u64, act: impl Fn(&Client) -> io::Result<()> + Sync) -> io::Result<Done> {
        self.all(millis, |until| {
            let mut count = 0;
            while Instant::now() < until {
                act(self)?;
                count += 1;
            }
            Ok(count)
        })
    }

    /// A proxy may close its connection after an answer, said before or not (tinyproxy does not); then there is a new one.
    fn requests(
        &self,
        millis: u64,
        open: impl Fn() -> io::Result<TcpStream> + Sync,
        ask: impl Fn(&mut TcpStream) -> io::Result<Answer> + Sync,
    ) -> io::Result<Done> {
        self.all(millis, |until| {
            let (mut stream, mut on_this, mut count) = (open()?, 0, 0);
            while Instant::now() < until {
                let closed = match ask(&mut stream) {
                    Ok(answer) => {
                        expect(answer.status, 200)?;
                        (on_this, count) = (on_this + 1, count + 1);
                        answer.closes
                    }
                    Err(e) if on_this > 0 && is_closed(&e) => true,
                    Err(e) => return Err(e),
                };
                if closed {
                    (stream, on_this) = (open()?, 0);
                }
            }
            Ok(count)
        })
    }

    fn all(&self, millis: u64, one: impl Fn(Instant) -> io::Result<u64> + Sync) -> io::Result<Done> {
        let began = Instant::now();
        let until = began + Duration::from_millis(millis);
        let (one, count) = (&one, AtomicU64::new(0));
        thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(move || one(until))).collect();
            clients.into_iter().try_for_each(|client| {
                count.fetch_add(joined(client)?, Ordering::Relaxed);
                Ok::<_, io::Error>(())
            })
        })?;
        let units = count.into_inner() as f64;
        Ok(Done { units, seconds: began.elapsed().as_secs_f64(), spread: Vec::new() })
    }

    fn names(&self, from: usize, to: usize) -> io::Result<Done> {
        let web = self.origin.of(Service::Web);
        let (began, mut stream) = (Instant::now(), self.way.for_requests(web)?);
        for n in from..to {
            let answer = self.way.get(&mut stream, &format!("h{n}.blocked.example"))?;
            expect(answer.status, 403)?;
            if answer.closes {
                stream = self.way.for_requests(web)?;
            }
        }
        Ok(Done { units: (to - from) as f64, seconds: began.elapsed().as_secs_f64(), spread: Vec::new() })
    }
}

/// The median and the 99th percentile of one at least.
fn spread(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times[times.len() * part / 100];
    vec![at(50), at(99)]
}

fn is_closed(e: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(e.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

fn joined<T>(thread: thread::ScopedJoinHandle<io::Result<T>>) -> io::Result<T> {
    thread.join().unwrap_or_else(|_| Err(io::Error::other("a client panicked")))
}

/// In seconds.
fn move_share(stream: &mut TcpStream, up: bool, share: u64) -> io::Result<f64> {
    let mut bytes = vec![7; CHUNK];
    let began = Instant::now();
    stream.write_all(&share.to_be_bytes())?;
    let mut left = share;
    while left > 0 {
        let n = left.min(CHUNK as u64) as usize;
        let n = if up { stream.write(&bytes[..n])? } else { stream.read(&mut bytes[..n])? };
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        left -= n as u64;
    }
    if up {
        stream.read_exact(&mut [0])?;
    }
    Ok(began.elapsed().as_secs_f64())
}

fn echo(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"x")?;
    stream.read_exact(&mut [0])
}
