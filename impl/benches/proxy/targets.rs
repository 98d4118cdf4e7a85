//! What the figures are to be.

use crate::event::STREAMS as STREAMS_OF_EVENTS;
use crate::order::By;
use crate::page::{Page, thousands};
use crate::proxies::{INJECTING, KUSAW, NGINX, SQUID, SRT};
use crate::report::Limit::{AtLeast, AtMost};
use crate::report::Target;
use crate::rounds::{BULK, Turn};

/// MiB: less than a hundredth of what 90,000 names and their places in a set take.
const FLAT: f64 = 1.0;

impl Page {
    /// All of them.
    pub fn targets(&self) -> Vec<Target> {
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
            Target::new("median round trip more than direct", self.added(KUSAW, Turn::Ping, 0), AtMost(25.0), " µs"),
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
        for (by, how) in [(By::Tunnel, "in a tunnel"), (By::Request, "absolute-form"), (By::Injection, "injecting")] {
            let row = if by == By::Injection { INJECTING } else { KUSAW };
            let late = self.added(row, Turn::Hear(by), 1).map(|late| late / 1e3);
            let what = format!("99 of 100 events more than direct, {how}");
            targets.push(Target::new(what, late, AtMost(5.0), " ms"));
        }
        let injecting = self.row(INJECTING);
        let grown = injecting.and_then(|row| row.of(Turn::Hear(By::Injection), |s| s.grown));
        let posts = injecting.and_then(|row| row.paired(self.row(NGINX)?, Turn::Post, |a, b| a.rate() / b.rate()));
        targets.extend([
            Target::new(
                format!("memory that {STREAMS_OF_EVENTS} streams of events take while they flow"),
                grown,
                AtMost(FLAT),
                " MiB",
            ),
            Target::new("requests in a second with a key added, kusaw : nginx", posts, AtLeast(0.5), ""),
        ]);
        targets
    }
}
