//! What a run with a fault in force says about the suite: a pure function of its scenarios.

use serde::{Deserialize, Serialize};

use super::fault::Fault;
use crate::record::ScenarioLine;
use crate::verdict::Verdict;

/// Scenarios that say that a sandbox works at all; those of other chapters than a fault's must hold while it is in force.
pub const SOUND: [&str; 4] = [
    "FS-01/can-create-a-file",
    "NS-10/a-step-that-ends-with-37-ends-with-37",
    "EGR-01/an-allowed-host-is-reached-by-connect-on-port-443",
    "GIT-01/a-commit-is-on-the-worktree-s-branch-afterwards-with-network-open",
];

/// What came of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A scenario of the guarantee noticed.
    Caught,
    /// None did: a scenario is missing, or what was broken is not needed.
    Missed,
    /// It breaks more than its guarantee, or nothing ran.
    Spoilt,
}

/// A fault and what came of it: a line of `saboteurs.ndjson`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Row {
    /// The fault's name.
    pub fault: String,
    /// Its chapter.
    pub chapter: String,
    /// The guarantee.
    pub breaks: String,
    /// What is wrong.
    pub how: String,
    /// What came of it.
    pub state: State,
    /// The scenarios of the guarantee that noticed, in the order of the feature.
    pub by: Vec<String>,
    /// Why it is spoilt, or what the guarantee's scenarios said instead.
    pub why: String,
    /// Scenarios of the guarantee that ran.
    pub scenarios: usize,
    /// Milliseconds.
    pub ms: u64,
    /// SHA-256 of the fault, as it was then.
    pub digest: String,
}

/// Why a run left no record.
#[derive(Clone, Debug)]
pub struct NoRecord {
    /// The sentence.
    pub why: String,
    /// It did not end, and was ended by force.
    pub late: bool,
}

impl From<String> for NoRecord {
    fn from(why: String) -> Self {
        Self { why, late: false }
    }
}

/// Stands for a scenario where the run as a whole did not end, and `seen` names that.
const NEVER: &str = "the run did not end";

/// The sound scenarios for a fault.
pub fn sound(fault: &Fault) -> impl Iterator<Item = &str> {
    let of =
        |name: &str| chapter(name) == chapter(&fault.breaks) || fault.also.iter().any(|also| also == chapter(name));
    SOUND.into_iter().filter(move |name| !of(name))
}

fn chapter(id: &str) -> &str {
    id.split('-').next().unwrap_or(id)
}

/// Scenarios that say nothing is wrong, or nothing can be said here.
fn is_sound(line: &ScenarioLine) -> bool {
    matches!(line.verdict, Verdict::Holds | Verdict::Moot | Verdict::NotApplicable)
}

/// What does not hold, each with its verdict.
pub fn not_sound(lines: &[ScenarioLine]) -> Vec<String> {
    let not = lines.iter().filter(|line| !is_sound(line));
    not.map(|line| format!("{}/{} {}: {}", line.id, line.case, line.verdict.word(), line.why)).collect()
}

/// What came of a fault, given the scenarios of the run or why there are none.
pub fn row(fault: &Fault, scenarios: Result<Vec<ScenarioLine>, NoRecord>, ms: u64) -> Row {
    let (mut by, mut own) = (Vec::new(), 0);
    let (state, why) = match scenarios {
        Err(no) if no.late && fault.seen.contains(&Verdict::Timeout) => {
            by.push(format!("{}/{}", fault.breaks, NEVER));
            (State::Caught, no.why)
        }
        Err(no) => (State::Spoilt, no.why),
        Ok(lines) => {
            let (mut of_guarantee, others): (Vec<_>, Vec<_>) =
                lines.into_iter().partition(|line| line.id == fault.breaks);
            of_guarantee.sort_by_key(|line| line.line);
            own = of_guarantee.len();
            let notices = |line: &&ScenarioLine| line.verdict == Verdict::Fails || fault.seen.contains(&line.verdict);
            by = of_guarantee.iter().filter(notices).map(|line| format!("{}/{}", line.id, line.case)).collect();
            let spoilt = not_sound(&others);
            let missing = sound(fault).count() != others.len();
            match () {
                () if !spoilt.is_empty() => (State::Spoilt, spoilt.join("; ")),
                () if missing => (State::Spoilt, "sound scenarios are missing".to_owned()),
                () if by.is_empty() => (State::Missed, not_sound(&of_guarantee).join("; ")),
                () => (State::Caught, String::new()),
            }
        }
    };
    let (name, chapter) = (fault.name.clone(), fault.chapter.clone());
    let (breaks, how) = (fault.breaks.clone(), fault.how.trim().to_owned());
    Row { fault: name, chapter, breaks, how, state, by, why, scenarios: own, ms, digest: fault.digest() }
}

impl Row {
    /// The line on the terminal.
    pub fn line(&self) -> String {
        let word = match self.state {
            State::Caught => "caught",
            State::Missed => "MISSED",
            State::Spoilt => "SPOILT",
        };
        let seconds = self.ms / 1000;
        let by = match (&self.by[..], self.state) {
            (_, State::Spoilt) => crate::text::line(self.why.as_bytes(), 600),
            ([], _) => format!("none of {} scenarios. {}", self.scenarios, crate::text::line(self.why.as_bytes(), 400)),
            ([first, rest @ ..], _) => format!("{first} and {} of {} scenarios", rest.len(), self.scenarios),
        };
        format!("  {word}  {:<36} {:<7} {seconds:>3} s  {by}\n", self.fault, self.breaks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Case;

    fn fault(more: &str) -> Fault {
        serde_yaml::from_str(&format!("{{name: x, breaks: SEC-07, how: y{more}}}")).unwrap()
    }

    fn line(name: &str, verdict: Verdict) -> ScenarioLine {
        let (id, case) = name.split_once('/').unwrap();
        let case = Case { id: id.to_owned(), case: case.to_owned(), ..Case::default() };
        ScenarioLine::new(&case, verdict, "why".to_owned())
    }

    fn judged(fault: &Fault, own: &[Verdict], other: Verdict) -> State {
        let own = own.iter().map(|verdict| line("SEC-07/a", *verdict));
        let lines = own.chain(SOUND.map(|name| line(name, other))).collect();
        row(fault, Ok(lines), 1).state
    }

    #[test]
    fn only_a_failure_of_the_guarantee_is_a_catch() {
        use Verdict::{Fails, Holds, Inconclusive, Timeout};
        let plain = fault("");
        assert_eq!(judged(&plain, &[Holds, Fails], Holds), State::Caught);
        assert_eq!(judged(&plain, &[Holds], Holds), State::Missed);
        for verdict in [Timeout, Inconclusive, Verdict::Error] {
            assert_eq!(judged(&plain, &[verdict], Holds), State::Missed);
        }
        assert_eq!(judged(&fault(", seen: [timeout]"), &[Timeout], Holds), State::Caught);
        assert_eq!(judged(&plain, &[Fails], Fails), State::Spoilt);
        assert_eq!(judged(&plain, &[Fails], Timeout), State::Spoilt);
    }

    #[test]
    fn what_did_not_run_is_spoilt() {
        assert_eq!(row(&fault(""), Err("no record".to_owned().into()), 1).state, State::Spoilt);
        let late = || Err(NoRecord { why: "late".to_owned(), late: true });
        assert_eq!(row(&fault(""), late(), 1).state, State::Spoilt);
        assert_eq!(row(&fault(", seen: [timeout]"), late(), 1).state, State::Caught);
        assert_eq!(row(&fault(""), Ok(vec![line("SEC-07/a", Verdict::Fails)]), 1).state, State::Spoilt);
    }
}
