//! The tables, as they are printed and as they stand in docs/performance.md, and the targets.

use std::fmt::Write;

use crate::event::{EVERY, STREAMS as STREAMS_OF_EVENTS};
use crate::order::By;
use crate::proxies::{DIRECT, KUSAW};
use crate::report::{Part, Target, table};
use crate::rounds::{BULK, Idle, Row, STREAMS, Sizes, Turn};

pub struct Page {
    pub rows: Vec<Row>,
    pub sizes: Sizes,
    /// What the figures hang on.
    pub facts: String,
}

impl Page {
    pub fn part(&self) -> Part {
        let targets = self.targets();
        let Sizes { rounds, bytes, millis, .. } = self.sizes;
        let mut text = format!(
            "# What the proxy costs\n\nWritten by `make bench ARGS=--write`, like the part above. Client and origin are the same for all \
             and share the\nmachine with the proxy. kusaw's is measured as it is used: its client is the step of a `kusaw run`, inside; the \
             others'\nruns outside. The origin listens on the host's loopback.\n\n{}\nMedians of {rounds} rounds, the proxies in turn; \
             {} MiB or {millis} ms a turn. CPU is that of the proxy's process from the\nclient's start of the work to its end; a launch is \
             not in it.\n",
            self.facts,
            bytes >> 20
        );
        let _ = write!(text, "\n## Targets of the proxy\n{}", Target::table(&targets));
        let _ = write!(text, "\n## A tunnel's bytes: seconds of CPU for a GiB\n{}", self.bulk_cpu());
        let _ = write!(text, "\n## A tunnel's bytes: GiB in a second, and x direct\n{}", self.bulk_wall());
        let _ = write!(text, "\n## Connections and requests, 16 clients\n{ABOUT_RATES}\n{}", self.rates());
        let _ = write!(text, "\n## One byte there and back in an open tunnel\n{}", self.pings());
        let _ = write!(
            text,
            "\n## Events of {STREAMS_OF_EVENTS} streams at once, each with one in {} ms\n{ABOUT_EVENTS}\n{}",
            EVERY.as_millis(),
            self.events()
        );
        let _ = write!(text, "\n## A provider whose key is added on the way\n{ABOUT_PROVIDER}\n{}", self.provider());
        let _ = write!(text, "\n## Idle tunnels\n{ABOUT_IDLE}\n{}", self.idle());
        let failed: String =
            self.rows.iter().flat_map(|row| &row.failed).map(|failed| format!("* {failed}\n")).collect();
        if !failed.is_empty() {
            let _ = write!(text, "\nNot measured here:\n{failed}");
        }
        let _ = write!(text, "\n{}", self.names());
        Part { text, targets }
    }

    fn bulk_cpu(&self) -> String {
        let line = |row: &Row| self.line(row, BULK.map(|(turn, _)| cell(row.of(turn, |s| s.cpu()), 2)).to_vec());
        table(&["", BULK[0].1, BULK[1].1, BULK[2].1, BULK[3].1], self.proxies().map(line))
    }

    fn bulk_wall(&self) -> String {
        let direct = self.row(DIRECT);
        let line = |row: &Row| {
            let wall = |(turn, _)| {
                let ratio = direct.and_then(|direct| row.paired(direct, turn, |a, b| a.rate() / b.rate()));
                let rate = row.of(turn, |s| s.rate());
                rate.zip(ratio).map_or(String::new(), |(rate, ratio)| format!("{rate:.2} ({ratio:.2})"))
            };
            let slowest = row.of(Turn::ManyDown, |s| s.done.spread.first().copied().unwrap_or_default());
            self.line(row, BULK.map(wall).into_iter().chain([cell(slowest, 2)]).collect())
        };
        let slowest = format!("slowest of {STREAMS} down : mean");
        table(&["", BULK[0].1, BULK[1].1, BULK[2].1, BULK[3].1, &slowest], self.forwarding().map(line))
    }

    fn rates(&self) -> String {
        let line = |row: &Row| {
            let cells = [Turn::Connect, Turn::Get, Turn::Refused].map(|turn| {
                let cpu = row.of(turn, |s| s.cpu() * 1e6).filter(|_| row.proxy.is_proxy());
                [cell(row.of(turn, |s| s.rate()), 0), cell(cpu, 0)]
            });
            self.line(row, cells.concat())
        };
        let head = ["", "tunnels / s", "CPU µs each", "requests / s", "CPU µs each", "refusals / s", "CPU µs each"];
        table(&head, self.forwarding().map(line))
    }

    fn pings(&self) -> String {
        let line = |row: &Row| self.line(row, self.times(row, Turn::Ping, 1));
        let head = ["", "median µs", "99 of 100 within", "more than direct", "99 of 100"];
        table(&head, self.forwarding().map(line))
    }

    fn events(&self) -> String {
        let line = |row: &Row| {
            let ways = [Turn::Hear(By::Tunnel), Turn::Hear(By::Request)];
            self.line(row, ways.map(|turn| self.times(row, turn, 0)).concat())
        };
        let head = |how| {
            [&format!("{how}: median µs"), "99 of 100 within", "more than direct", "99 of 100"].map(str::to_owned)
        };
        let head = [vec![String::new()], head("tunnel").to_vec(), head("absolute-form").to_vec()].concat();
        table(&head.iter().map(String::as_str).collect::<Vec<_>>(), self.forwarding().map(line))
    }

    fn provider(&self) -> String {
        let line = |row: &Row| {
            let events = Turn::Hear(By::Injection);
            let injects = |figure: Option<f64>| figure.filter(|_| row.proxy.injects);
            let rest = [
                cell(injects(row.of(events, |s| s.cpu() * 1e6)), 0),
                cell(injects(row.of(events, |s| s.grown)), 1),
                cell(row.of(Turn::Post, |s| s.rate()), 0),
                cell(row.of(Turn::Post, |s| s.cpu() * 1e6), 0),
            ];
            self.line(row, [self.times(row, events, 0), rest.to_vec()].concat())
        };
        let events = ["", "event: median µs", "99 of 100 within", "more than direct", "99 of 100", "CPU µs each"];
        let head = [&events[..], &["more MiB", "POSTs / s", "CPU µs each"]].concat();
        table(&head, self.rows.iter().filter(|row| row.proxy.injects || row.proxy.name == DIRECT).map(line))
    }

    /// Median and 99th percentile, and what direct does not take of them.
    fn times(&self, row: &Row, turn: Turn, digits: usize) -> Vec<String> {
        let at = |n: usize| cell(row.of(turn, |s| s.done.spread[n]), digits);
        let added = |n| cell(self.added(row.proxy.name, turn, n), digits);
        vec![at(0), at(1), added(0), added(1)]
    }

    fn idle(&self) -> String {
        let line = |row: &Row| {
            let cells = |idle: &Option<Idle>| {
                let idle = idle.as_ref();
                [cell(idle.map(|idle| idle.memory), 1), cell(idle.and_then(|idle| idle.descriptors), 2)]
            };
            self.line(row, row.idle.iter().flat_map(cells).collect())
        };
        let [few, many] = self.sizes.idle.map(thousands);
        let memory = [&few, &many].map(|tunnels| format!("MiB for 1,000, of {tunnels}"));
        let head = ["", &memory[0], "descriptors each", &memory[1], "descriptors each"];
        table(&head, self.proxies().map(line))
    }

    fn names(&self) -> String {
        let [first, between, last] = self.sizes.names.map(thousands);
        let Some([a, b, c]) = self.kusaw().map(|row| &row.names[..]) else { return String::new() };
        format!(
            "Requests to distinct blocked hosts, one each: kusaw's whole process holds {a:.1} MiB after {first} of them, {b:.1}\nafter \
             {between} and {c:.1} after {last}.\n"
        )
    }

    /// More than direct, in µs: of the median, or of the 99th percentile.
    pub fn added(&self, to: &str, turn: Turn, at: usize) -> Option<f64> {
        self.row(to)?.paired(self.row(DIRECT)?, turn, |a, b| a.done.spread[at] - b.done.spread[at])
    }

    /// What is not here says so in its place.
    fn line(&self, row: &Row, cells: Vec<String>) -> Vec<String> {
        if !row.proxy.is_here() {
            return vec![row.proxy.name.into(), row.proxy.note.clone()];
        }
        let name = format!("{} {}", row.proxy.name, row.proxy.note).trim_end().to_owned();
        [name].into_iter().chain(cells).collect()
    }

    fn forwarding(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.proxy.injects)
    }

    fn proxies(&self) -> impl Iterator<Item = &Row> {
        self.forwarding().filter(|row| row.proxy.name != DIRECT)
    }

    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.proxy.name == name)
    }

    pub fn kusaw(&self) -> Option<&Row> {
        self.row(KUSAW)
    }
}

const ABOUT_RATES: &str = "
A tunnel: connect, CONNECT, 200, a byte there and back, close. A request: GET of 1 KiB on a connection that is kept where
the proxy keeps it. A refusal: connect, CONNECT to a blocked host, 403, close.
";

const ABOUT_EVENTS: &str = "
From the origin's write of an event to the client's reading of it, by one clock. The streams are asked for in a tunnel and
with a plain request in absolute-form.
";

const ABOUT_PROVIDER: &str = "
The client speaks plainly to a local address, which adds the key and speaks TLS to the provider, with a connection for each
request; nginx does the same with one process, `proxy_pass` and its certificate check on. Events as above; direct is without
TLS, so that what is more than direct has the TLS in it. More MiB: memory of the process, from when the streams have begun
to when they end. A POST: 1 KiB there, 1 KiB back, on a connection that is kept, 16 clients.
";

const ABOUT_IDLE: &str = "
Memory of the proxy's process (VmRSS) over that of the same process with one tunnel; each tunnel has moved a byte. An
attempt has at most 512 connections: kusaw's are shared out to attempts with 500 each, and the sum of all is shown.
";

fn cell(figure: Option<f64>, digits: usize) -> String {
    figure.map_or(String::new(), |figure| format!("{figure:.digits$}"))
}

pub fn thousands(n: usize) -> String {
    if n < 1_000 { n.to_string() } else { format!("{},{:03}", n / 1_000, n % 1_000) }
}
