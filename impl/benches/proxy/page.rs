//! The tables, as they are printed and as they stand in docs/performance.md, and the targets.

use std::fmt::Write;

use crate::proxies::{DIRECT, KUSAW, SQUID, SRT};
use crate::report::Limit::{AtLeast, AtMost};
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
        let _ = write!(text, "\n## Idle tunnels\n{ABOUT_IDLE}\n{}", self.idle());
        let failed: String =
            self.rows.iter().flat_map(|row| &row.failed).map(|failed| format!("* {failed}\n")).collect();
        if !failed.is_empty() {
            let _ = write!(text, "\nNot measured here:\n{failed}");
        }
        let _ = write!(text, "\n{}", self.names());
        Part { text, targets }
    }

    fn targets(&self) -> Vec<Target> {
        let cpu = |turn, of: &str| self.kusaw()?.paired(self.row(of)?, turn, |a, b| a.cpu() / b.cpu());
        let rate = |turn, of: &str| self.kusaw()?.paired(self.row(of)?, turn, |a, b| a.rate() / b.rate());
        let mut targets = Vec::new();
        for (of, limit) in [(SQUID, 1.0), (SRT, 0.5)] {
            let target =
                |(turn, how)| Target::new(format!("CPU of kusaw : {of}, {how}"), cpu(turn, of), AtMost(limit), "");
            targets.extend(BULK.map(target));
        }
        targets.extend(BULK.map(|(turn, how)| Target {
            only_told: true,
            ..Target::new(format!("rate of kusaw : squid, {how}"), rate(turn, SQUID), AtLeast(1.0), "")
        }));
        let connect = self.kusaw().and_then(|row| row.of(Turn::Connect, |s| s.cpu() * 1e6));
        let refused = self.kusaw().and_then(|row| {
            let rates = [row.of(Turn::Refused, |s| s.rate())?, row.of(Turn::Connect, |s| s.rate())?];
            Some(rates[0] / rates[1])
        });
        targets.extend([
            Target::new("tunnels in a second, kusaw : squid", rate(Turn::Connect, SQUID), AtLeast(1.0), ""),
            Target::new("CPU for a tunnel", connect, AtMost(150.0), " µs"),
            Target::new("plain requests in a second, kusaw : squid", rate(Turn::Get, SQUID), AtLeast(3.0), ""),
            Target::new("the same, kusaw : srt", rate(Turn::Get, SRT), AtLeast(10.0), ""),
            Target::new("refusals in a second : tunnels in a second", refused, AtLeast(1.0), ""),
            Target::new("median round trip more than direct", self.added(KUSAW, 0), AtMost(25.0), " µs"),
        ]);
        for (at, tunnels) in self.sizes.idle.into_iter().enumerate() {
            let idle = self.kusaw().and_then(|row| row.idle.get(at)?.as_ref());
            let what = format!("memory for 1,000 idle tunnels, of {}", thousands(tunnels));
            targets.push(Target::new(what, idle.map(|idle| idle.memory), AtMost(12.0), " MiB"));
            let what = format!("descriptors of an idle tunnel, of {}", thousands(tunnels));
            targets.push(Target::new(what, idle.and_then(|idle| idle.descriptors), AtMost(2.0), ""));
        }
        let grown = self.kusaw().and_then(|row| Some(row.names.get(2)? - row.names.get(1)?));
        let [_, between, last] = self.sizes.names.map(thousands);
        let what = format!("memory that {last} blocked hosts take more than {between}");
        targets.push(Target::new(what, grown, AtMost(FLAT), " MiB"));
        targets
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
        table(&["", BULK[0].1, BULK[1].1, BULK[2].1, BULK[3].1, &slowest], self.rows.iter().map(line))
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
        table(&head, self.rows.iter().map(line))
    }

    fn pings(&self) -> String {
        let line = |row: &Row| {
            let at = |n: usize| cell(row.of(Turn::Ping, |s| s.done.spread[n]), 1);
            let added = |n| cell(self.added(row.proxy.name, n), 1);
            self.line(row, vec![at(0), at(1), added(0), added(1)])
        };
        let head = ["", "median µs", "99 of 100 within", "more than direct", "99 of 100"];
        table(&head, self.rows.iter().map(line))
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

    /// Of a round trip, in µs.
    fn added(&self, to: &str, at: usize) -> Option<f64> {
        self.row(to)?.paired(self.row(DIRECT)?, Turn::Ping, |a, b| a.done.spread[at] - b.done.spread[at])
    }

    /// What is not here says so in its place.
    fn line(&self, row: &Row, cells: Vec<String>) -> Vec<String> {
        if !row.proxy.is_here() {
            return vec![row.proxy.name.into(), row.proxy.note.clone()];
        }
        let name = format!("{} {}", row.proxy.name, row.proxy.note).trim_end().to_owned();
        [name].into_iter().chain(cells).collect()
    }

    fn proxies(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.proxy.name != DIRECT)
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.proxy.name == name)
    }

    fn kusaw(&self) -> Option<&Row> {
        self.row(KUSAW)
    }
}

/// MiB: less than a hundredth of what 90,000 names and their places in a set take.
const FLAT: f64 = 1.0;

const ABOUT_RATES: &str = "
A tunnel: connect, CONNECT, 200, a byte there and back, close. A request: GET of 1 KiB on a connection that is kept where
the proxy keeps it. A refusal: connect, CONNECT to a blocked host, 403, close.
";

const ABOUT_IDLE: &str = "
Memory of the proxy's process (VmRSS) over that of the same process with one tunnel; each tunnel has moved a byte. An
attempt has at most 512 connections: kusaw's are shared out to attempts with 500 each, and the sum of all is shown.
";

fn cell(figure: Option<f64>, digits: usize) -> String {
    figure.map_or(String::new(), |figure| format!("{figure:.digits$}"))
}

fn thousands(n: usize) -> String {
    if n < 1_000 { n.to_string() } else { format!("{},{:03}", n / 1_000, n % 1_000) }
}
