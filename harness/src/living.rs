//! The processes that live in the lab, as the engine sees them: those of every PID namespace below its own, whatever a
//! sandbox shows inside. A zombie does not live.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// Its number in the lab.
    pub pid: i32,
    /// Its parent's.
    pub parent: i32,
    /// Its session; 0 where the leader lives outside the lab.
    pub session: i32,
    /// When it began, in ticks since the host did: with the number it names a process for ever.
    began: u64,
    /// Its argv, with blanks between the words.
    pub words: String,
}

/// Those that lived at a moment.
#[derive(Clone, Debug)]
pub struct Census(BTreeSet<(i32, u64)>);

impl Census {
    /// Those that live now.
    pub fn now() -> Self {
        Self(all().map(|process| (process.pid, process.began)).collect())
    }

    /// Those that live now and did not then, below this process or without a parent: what the lab's own processes start is
    /// not meant.
    pub fn newcomers(&self) -> Vec<Process> {
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        let mut new: Vec<Process> = all().filter(|process| !self.0.contains(&(process.pid, process.began))).collect();
        let numbers: BTreeSet<i32> = new.iter().map(|process| process.pid).chain([1, own]).collect();
        new.retain(|process| numbers.contains(&process.parent));
        new
    }
}

/// All that live.
pub fn all() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?))
}

/// Those with a mark in their argv, which children that execute nothing inherit.
pub fn marked(mark: &str) -> Vec<Process> {
    all().filter(|process| process.words.contains(mark)).collect()
}

/// A process, those with the mark, and all below them.
pub fn family(head: i32, mark: &str) -> Vec<Process> {
    let (mut rest, mut family): (Vec<Process>, Vec<Process>) = (all().collect(), Vec::new());
    let mut known = BTreeSet::new();
    loop {
        let belongs = |p: &Process| p.pid == head || p.words.contains(mark) || known.contains(&p.parent);
        let (more, others): (Vec<Process>, Vec<Process>) = rest.into_iter().partition(belongs);
        if more.is_empty() {
            return family;
        }
        known.extend(more.iter().map(|process| process.pid));
        family.extend(more);
        rest = others;
    }
}

/// Those below a process that have a mark in their argv.
pub fn below(head: i32, mark: &str) -> Vec<Process> {
    let (mut rest, mut found): (Vec<Process>, Vec<Process>) = (all().collect(), Vec::new());
    let mut known = BTreeSet::from([head]);
    loop {
        let (more, others): (Vec<Process>, Vec<Process>) = rest.into_iter().partition(|p| known.contains(&p.parent));
        if more.is_empty() {
            found.retain(|process| process.words.contains(mark));
            return found;
        }
        known.extend(more.iter().map(|process| process.pid));
        found.extend(more);
        rest = others;
    }
}

/// Those of a family that still live.
pub fn still(family: &[Process]) -> Vec<Process> {
    let known: BTreeSet<(i32, u64)> = family.iter().map(|process| (process.pid, process.began)).collect();
    all().filter(|process| known.contains(&(process.pid, process.began))).collect()
}

/// Looks until there is none, no longer than the bound; those that are left.
pub async fn gone(look: impl Fn() -> Vec<Process>, bound: Duration) -> Vec<Process> {
    let began = Instant::now();
    loop {
        let left = look();
        if left.is_empty() || began.elapsed() > bound {
            return left;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Ends them, each by its number.
pub fn end(processes: &[Process]) {
    for process in processes {
        // Between the look and now it may have ended, but in that time no number comes round again.
        let _ = kill(Pid::from_raw(process.pid), Signal::SIGKILL);
    }
}

/// What they are, for a reader.
pub fn told(processes: &[Process]) -> String {
    let one = |process: &Process| format!("{} {}", process.pid, crate::text::line(process.words.as_bytes(), 60));
    let told: Vec<String> = processes.iter().take(4).map(one).collect();
    let more = processes.len().saturating_sub(told.len());
    if more == 0 { told.join(", ") } else { format!("{}, and {more} more", told.join(", ")) }
}

/// proc(5): the state and the numbers stand behind the name, which may hold anything.
fn read(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let [state, parent, _group, session, ..] = fields.as_slice() else { return None };
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).replace('\0', " ").trim().to_owned();
    let lives = !matches!(*state, "Z" | "X");
    let (parent, session, began) = (parent.parse().ok()?, session.parse().ok()?, fields.get(19)?.parse().ok()?);
    lives.then_some(Process { pid, parent, session, began, words })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newcomer_is_seen_until_it_has_ended() {
        let before = Census::now();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let seen = || before.newcomers().into_iter().filter(|process| process.pid == pid).collect::<Vec<_>>();
        assert_eq!(seen().len(), 1);
        end(&seen());
        child.wait().unwrap();
        assert_eq!(seen(), []);
    }
}
