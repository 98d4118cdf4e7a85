//! The verdict on one scenario: a pure function of what was claimed, what was seen, and what the control showed.
//!
//! It must never say `holds` without a control that worked and a probe that ran to its end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the suite says about one scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The guarantee held, and its control showed that the danger is real.
    Holds,
    /// The guarantee did not hold.
    Fails,
    /// Fails, as the manifest declares.
    ExpectedFailure,
    /// Declared to fail, but holds: the declaration is stale, which breaks the run.
    UnexpectedPass,
    /// The implementation does not claim it; what was seen is recorded.
    NotClaimed,
    /// The guarantee is for another platform.
    NotApplicable,
    /// The host itself refuses the control, and a read-only fact proves why.
    Moot,
    /// This host cannot run the sandbox, or a needed part is missing.
    Blocked,
    /// The control failed without a known fact, or the probe did not finish.
    Inconclusive,
    /// The harness or a step definition broke.
    Error,
    /// The scenario did not end within its bound.
    Timeout,
}

impl Verdict {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::ExpectedFailure => "expected-failure",
            Self::UnexpectedPass => "unexpected-pass",
            Self::NotClaimed => "not-claimed",
            Self::NotApplicable => "not-applicable",
            Self::Moot => "moot",
            Self::Blocked => "blocked",
            Self::Inconclusive => "inconclusive",
            Self::Error => "error",
            Self::Timeout => "timeout",
        }
    }

    /// Whether the run must end with exit code 1.
    pub fn breaks(self) -> bool {
        matches!(self, Self::Fails | Self::UnexpectedPass | Self::Error | Self::Timeout)
    }

    /// Whether the run must end with exit code 3: nothing was proven either way.
    pub fn unproven(self) -> bool {
        matches!(self, Self::Blocked | Self::Inconclusive)
    }
}

/// How a control was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ControlKind {
    /// The same probe without any sandbox.
    Bare,
    /// The same sandbox with exactly one guard removed.
    Weakened,
    /// The violation planted by the harness, which must notice it.
    Planted,
}

/// One control and what it showed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Control {
    /// How it was made.
    pub kind: ControlKind,
    /// Whether it showed that the danger is real and the probe can see it.
    pub shown: bool,
    /// What was seen, for a reader.
    pub seen: String,
    /// A read-only fact of the host that explains why the control could not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moot: Option<String>,
}

/// One judgement of a `Then` step.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Whether what the step says was so.
    pub held: bool,
    /// Whether a violation stands even if the probe did not finish: a secret that arrived has arrived.
    pub certain: bool,
    /// What was seen, for a reader.
    pub seen: String,
}

/// How far the scenario got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Course {
    /// All its steps were done.
    #[default]
    Complete,
    /// A step broke, or none is defined for its words.
    Broken(String),
    /// A launch did not end within its bound.
    TimedOut(String),
    /// It was not asked: the reason why.
    NotAsked(Verdict, String),
}

/// What the verdict is made of.
#[derive(Clone, Debug, Default)]
pub struct Facts<'a> {
    /// Whether the manifest claims the guarantee (and, for an `@extra` scenario, extras).
    pub claimed: bool,
    /// Why it does not claim this case of it, where it says so.
    pub left_out: Option<&'a str>,
    /// What the manifest declares instead of `holds`, and why.
    pub expected: Option<(Verdict, &'a str)>,
    /// How far the scenario got.
    pub course: Course,
    /// Why a probe's report is not whole, if it is not.
    pub unfinished: Option<&'a str>,
    /// What the `Then` steps found.
    pub findings: &'a [Finding],
    /// What the controls showed.
    pub controls: &'a [Control],
}

/// The verdict and the sentence that explains it.
pub fn judge(facts: &Facts<'_>) -> (Verdict, String) {
    let (seen, why) = see(facts);
    let claimed = facts.claimed && facts.left_out.is_none();
    let proves_nothing = matches!(seen, Verdict::Timeout | Verdict::Inconclusive);
    match facts.expected {
        _ if !claimed && (proves_nothing || matches!(seen, Verdict::Holds | Verdict::Fails)) => {
            let left_out = facts.left_out.map(|why| format!(" ({why})")).unwrap_or_default();
            (Verdict::NotClaimed, format!("{SEEN}{}; {why}{left_out}", seen.word()))
        }
        Some((expected, reason)) if seen == expected => (Verdict::ExpectedFailure, format!("{reason}; seen: {why}")),
        Some((_, reason)) if seen == Verdict::Holds => {
            (Verdict::UnexpectedPass, format!("declared: {reason}; seen: {why}"))
        }
        _ => (seen, why),
    }
}

/// What was seen of a scenario that is not claimed, by the sentence that explains its verdict; none where it could not be asked.
pub fn seen_unclaimed(why: &str) -> Option<&str> {
    why.strip_prefix(SEEN)?.split_once(';').map(|(word, _)| word)
}

const SEEN: &str = "seen: ";

fn see(facts: &Facts<'_>) -> (Verdict, String) {
    // A secret that arrived has arrived, whatever became of the probe, the control or the clock.
    if let Some(violation) = facts.findings.iter().find(|f| !f.held && f.certain) {
        return (Verdict::Fails, violation.seen.clone());
    }
    match &facts.course {
        Course::Broken(why) => return (Verdict::Error, why.clone()),
        Course::TimedOut(why) => return (Verdict::Timeout, why.clone()),
        Course::NotAsked(verdict, why) => return (*verdict, why.clone()),
        Course::Complete => {}
    }
    if facts.findings.is_empty() {
        return (Verdict::Error, "no step judged anything".to_owned());
    }
    if facts.controls.is_empty() {
        return (Verdict::Error, "the scenario has no control".to_owned());
    }
    if let Some(control) = facts.controls.iter().find(|c| !c.shown) {
        return match &control.moot {
            Some(fact) => (Verdict::Moot, format!("{fact}; control: {}", control.seen)),
            None => (Verdict::Inconclusive, format!("the control showed nothing: {}", control.seen)),
        };
    }
    if let Some(why) = facts.unfinished {
        return (Verdict::Inconclusive, format!("the probe did not finish: {why}"));
    }
    if let Some(finding) = facts.findings.iter().find(|f| !f.held) {
        return (Verdict::Fails, finding.seen.clone());
    }
    let seen: Vec<&str> = facts.findings.iter().map(|f| f.seen.as_str()).collect();
    (Verdict::Holds, seen.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(held: bool) -> Finding {
        Finding { held, certain: false, seen: "seen".into() }
    }

    fn control(shown: bool, moot: Option<&str>) -> Control {
        Control { kind: ControlKind::Bare, shown, seen: "seen".into(), moot: moot.map(Into::into) }
    }

    fn verdict(claimed: bool, expected: bool, findings: &[Finding], controls: &[Control]) -> Verdict {
        let expected = expected.then_some((Verdict::Fails, "known"));
        judge(&Facts { claimed, expected, findings, controls, ..Facts::default() }).0
    }

    #[test]
    fn holds_needs_a_finding_and_a_control() {
        assert_eq!(verdict(true, false, &[finding(true)], &[control(true, None)]), Verdict::Holds);
        assert_eq!(verdict(true, false, &[], &[control(true, None)]), Verdict::Error);
        assert_eq!(verdict(true, false, &[finding(true)], &[]), Verdict::Error);
    }

    #[test]
    fn a_control_that_shows_nothing_is_never_green() {
        for held in [true, false] {
            assert_eq!(verdict(true, false, &[finding(held)], &[control(false, None)]), Verdict::Inconclusive);
            assert_eq!(verdict(true, false, &[finding(held)], &[control(false, Some("yama"))]), Verdict::Moot);
        }
    }

    #[test]
    fn claims_and_expectations_turn_what_was_seen() {
        let good = [control(true, None)];
        assert_eq!(verdict(true, false, &[finding(false)], &good), Verdict::Fails);
        assert_eq!(verdict(false, false, &[finding(false)], &good), Verdict::NotClaimed);
        assert_eq!(verdict(false, false, &[finding(true)], &good), Verdict::NotClaimed);
        let facts = Facts { findings: &[finding(false)], controls: &good, ..Facts::default() };
        assert_eq!(seen_unclaimed(&judge(&facts).1), Some("fails"));
        assert_eq!(seen_unclaimed("it cannot be asked: it has no serve"), None);
        assert_eq!(verdict(true, true, &[finding(false)], &good), Verdict::ExpectedFailure);
        assert_eq!(verdict(true, true, &[finding(true)], &good), Verdict::UnexpectedPass);
    }

    #[test]
    fn a_probe_that_did_not_finish_proves_nothing_but_a_leak() {
        let leak = Finding { certain: true, ..finding(false) };
        for (finding, expected) in
            [(finding(true), Verdict::Inconclusive), (finding(false), Verdict::Inconclusive), (leak, Verdict::Fails)]
        {
            let facts = Facts {
                claimed: true,
                unfinished: Some("no end line"),
                findings: &[finding],
                controls: &[control(true, None)],
                ..Facts::default()
            };
            assert_eq!(judge(&facts).0, expected);
        }
    }

    #[test]
    fn a_leak_outranks_a_control_that_showed_nothing_and_a_timeout() {
        let leak = [Finding { certain: true, ..finding(false) }];
        assert_eq!(verdict(true, false, &leak, &[control(false, None)]), Verdict::Fails);
        let course = Course::TimedOut("late".into());
        let facts = Facts { claimed: true, course, findings: &leak, ..Facts::default() };
        assert_eq!(judge(&facts).0, Verdict::Fails);
    }

    #[test]
    fn a_case_that_is_left_out_says_why_behind_what_was_seen() {
        let controls = [control(true, None)];
        let judged = |course: Course, held| {
            let findings = [finding(held)];
            let left_out = Some("it documents another");
            judge(&Facts {
                claimed: true,
                left_out,
                course,
                findings: &findings,
                controls: &controls,
                ..Facts::default()
            })
        };
        let (verdict, why) = judged(Course::Complete, false);
        assert_eq!((verdict, why.as_str()), (Verdict::NotClaimed, "seen: fails; seen (it documents another)"));
        assert_eq!(seen_unclaimed(&why), Some("fails"));
        let blocked = Course::NotAsked(Verdict::Blocked, "not installed".into());
        assert_eq!(judged(blocked, true), (Verdict::Blocked, "not installed".into()));
    }

    #[test]
    fn only_what_is_declared_is_expected() {
        let judged = |declared, shown| {
            let (findings, controls) = ([finding(false)], [control(shown, None)]);
            let expected = Some((declared, "known"));
            judge(&Facts { claimed: true, expected, findings: &findings, controls: &controls, ..Facts::default() }).0
        };
        assert_eq!(judged(Verdict::Inconclusive, false), Verdict::ExpectedFailure);
        assert_eq!(judged(Verdict::Fails, false), Verdict::Inconclusive);
        assert_eq!(judged(Verdict::Inconclusive, true), Verdict::Fails);
    }

    #[test]
    fn a_broken_step_is_an_error_even_if_nothing_is_claimed() {
        for claimed in [true, false] {
            let facts = Facts { claimed, course: Course::Broken("boom".into()), ..Facts::default() };
            assert_eq!(judge(&facts).0, Verdict::Error);
        }
    }
}
