//! `junit.xml`: a run as test runners and CI know it. A suite a guarantee, a test a case, keyed by both.
//!
//! Pure. Nothing that was not proven is a success there: what was not asked is skipped, and says why.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::record::{Run, ScenarioLine, unused};
use crate::summary;
use crate::text::xml;
use crate::verdict::Verdict;

/// The file, from the run and its scenarios, which are in order of the guarantees.
///
/// # Errors
/// When the serializer refuses it.
pub fn render(run: &Run, lines: &[ScenarioLine]) -> Result<String, String> {
    let mut report = Report::new(format!("conformance {}", xml(&run.driver)));
    report.set_time(time(lines.iter().map(|l| l.ms).sum()));
    for of_guarantee in lines.chunk_by(|a, b| a.id == b.id) {
        let mut suite = TestSuite::new(xml(&of_guarantee[0].id));
        suite.set_time(time(of_guarantee.iter().map(|l| l.ms).sum()));
        let version = run.driver_version.clone().unwrap_or_default();
        let facts = [("driver", &run.driver), ("driver_version", &version), ("harness", &run.harness)];
        let host = ["os", "kernel", "backend"].into_iter().filter_map(|name| Some((name, run.host.get(name)?)));
        let facts = facts.into_iter().chain(host);
        suite.add_properties(facts.map(|(name, value)| Property::new(xml(name), xml(value))));
        suite.add_test_cases(of_guarantee.iter().map(test));
        report.add_test_suite(suite);
    }
    let unused = unused(run, lines);
    if !unused.is_empty() {
        let mut suite = TestSuite::new("expect");
        suite.add_test_cases(unused.into_iter().map(not_used));
        report.add_test_suite(suite);
    }
    report.to_string().map_err(|e| format!("junit.xml: {e}"))
}

fn test(line: &ScenarioLine) -> TestCase {
    let why = xml(&line.why);
    let mut status = match line.verdict {
        Verdict::Holds | Verdict::ExpectedFailure => TestCaseStatus::success(),
        Verdict::Fails | Verdict::UnexpectedPass => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Blocked | Verdict::Inconclusive | Verdict::Error | Verdict::Timeout => {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
        Verdict::NotClaimed | Verdict::NotApplicable | Verdict::Moot => TestCaseStatus::skipped(),
    };
    let message = if line.verdict.breaks() || line.verdict.unproven() {
        why.clone()
    } else {
        format!("{}: {why}", line.verdict.word())
    };
    status.set_message(message).set_type(line.verdict.word());
    let mut test = TestCase::new(xml(&line.case), status);
    test.set_classname(xml(&line.id)).set_time(time(line.ms));
    for (name, value) in [("file", line.file.clone()), ("line", line.line.to_string())] {
        test.extra.insert(name.into(), xml(&value).into());
    }
    if line.verdict == Verdict::ExpectedFailure {
        test.set_system_out(format!("expected-failure: {why}"));
    }
    test
}

/// A declared deviation that declares nothing breaks the run, so it fails here too.
fn not_used(entry: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(xml(&summary::not_used(entry))).set_type("unused");
    let mut test = TestCase::new(xml(entry), status);
    test.set_classname("expect");
    test
}

fn time(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::{line, run};

    fn rendered(lines: &[ScenarioLine]) -> Report {
        Report::deserialize_from_str(&render(&run("x"), lines).unwrap()).unwrap()
    }

    #[test]
    fn each_verdict_is_what_test_runners_take_it_for() {
        let verdicts = [
            (Verdict::Holds, "success"),
            (Verdict::ExpectedFailure, "success"),
            (Verdict::Fails, "failure"),
            (Verdict::UnexpectedPass, "failure"),
            (Verdict::Error, "error"),
            (Verdict::Timeout, "error"),
            (Verdict::Blocked, "error"),
            (Verdict::Inconclusive, "error"),
            (Verdict::NotClaimed, "skipped"),
            (Verdict::NotApplicable, "skipped"),
            (Verdict::Moot, "skipped"),
        ];
        let report = rendered(&verdicts.map(|(verdict, _)| line("FS-06", verdict.word(), verdict)));
        let suite = &report.test_suites[0];
        for (test, (verdict, expected)) in suite.test_cases.iter().zip(verdicts) {
            let (seen, message) = match &test.status {
                TestCaseStatus::Success { .. } => ("success", None),
                TestCaseStatus::Skipped { message, .. } => ("skipped", message.as_ref()),
                TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, message, .. } => {
                    ("failure", message.as_ref())
                }
                TestCaseStatus::NonSuccess { message, .. } => ("error", message.as_ref()),
            };
            assert_eq!((test.name.as_str(), seen), (verdict.word(), expected));
            assert!(expected == "success" || message.is_some_and(|m| m.as_str().contains("seen")), "{verdict:?}");
        }
        assert_eq!((suite.name.as_str(), suite.tests, suite.errors, suite.failures), ("FS-06", 11, 4, 2));
    }

    #[test]
    fn a_suite_a_guarantee_keyed_by_id_and_case() {
        let cases = [("FS-06", "a"), ("FS-06", "b"), ("FS-07", "a")];
        let report = rendered(&cases.map(|(id, case)| line(id, case, Verdict::Holds)));
        let keys = report.test_suites.iter().flat_map(|suite| &suite.test_cases);
        let keys: Vec<_> = keys.map(|t| (t.classname.as_ref().unwrap().as_str(), t.name.as_str())).collect();
        assert_eq!(keys, cases);
    }

    #[test]
    fn a_deviation_that_nothing_uses_is_a_failure() {
        let run = Run { expect: vec!["FS-07/a".into()], ..run("x") };
        let lines = [line("FS-06", "a", Verdict::Holds)];
        let report = Report::deserialize_from_str(&render(&run, &lines).unwrap()).unwrap();
        let suite = report.test_suites.last().unwrap();
        assert_eq!((suite.name.as_str(), suite.tests, suite.failures), ("expect", 1, 1));
        assert_eq!(suite.test_cases[0].name.as_str(), "FS-07/a");
    }

    #[test]
    fn whatever_was_printed_the_file_is_xml() {
        let mut odd = line("FS-06", "a<b>&\"\u{1}", Verdict::Fails);
        odd.why = "\u{0}\u{b}\u{1b}[31mred\u{1b}[0m \u{fffe}\u{ffff} ]]> <x a='b'>\u{85}\u{7f}\n\tend".into();
        let text = render(&run("x"), std::slice::from_ref(&odd)).unwrap();
        // Char of XML 1.0, 2.2.
        let is_char = |c: char| matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{fffd}' | '\u{10000}'..);
        assert_eq!(text.chars().find(|c| !is_char(*c)), None);
        let report = Report::deserialize_from_str(&text).unwrap();
        let test = &report.test_suites[0].test_cases[0];
        assert_eq!(test.name.as_str(), "a<b>&\"\\u{1}");
        let TestCaseStatus::NonSuccess { message, .. } = &test.status else { panic!("{test:?}") };
        let message = message.as_ref().unwrap().as_str();
        assert!(message.contains("\\u{1b}[31mred") && message.contains("]]> <x a='b'>"), "{message}");
    }
}
