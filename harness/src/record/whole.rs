//! What a record says as a whole: deviations that were declared and that nothing used, and the exit code.

use super::{Run, ScenarioLine};
use crate::verdict::Verdict;

/// Declared deviations that declare nothing: no scenario that is claimed and that the driver can be asked falls under them (one
/// for another platform does). Only of a run of everything.
pub fn unused<'a>(run: &'a Run, lines: &[ScenarioLine]) -> Vec<&'a str> {
    if run.shard.is_some() || !run.selection.is_empty() {
        return Vec::new();
    }
    let asked = |line: &&ScenarioLine| line.verdict != Verdict::NotClaimed;
    let asked: Vec<(&str, String)> = lines.iter().filter(asked).map(|l| (l.id.as_str(), l.name())).collect();
    let of_case = |name: &String| run.expect.iter().any(|entry| entry == name);
    let uses = |entry: &str| asked.iter().any(|(id, name)| entry == name || (entry == *id && !of_case(name)));
    run.expect.iter().map(String::as_str).filter(|entry| !uses(entry)).collect()
}

/// The exit code of a run: 1 = something broke, or a declared deviation is not used; 3 = something was not proven, or all of it
/// is for another platform (a share of a run may be so); 0 = neither.
pub fn exit_code(run: &Run, lines: &[ScenarioLine]) -> u8 {
    let elsewhere = || run.shard.is_none() && lines.iter().all(|l| l.verdict == Verdict::NotApplicable);
    match () {
        () if lines.iter().any(|l| l.verdict.breaks()) || !unused(run, lines).is_empty() => 1,
        () if lines.iter().any(|l| l.verdict.unproven()) || elsewhere() => 3,
        () => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Shard;
    use crate::record::tests::{line, run};

    #[test]
    fn an_entry_that_nothing_uses_breaks_a_run_of_everything() {
        let mut run = run("x");
        run.expect = ["FS-06", "FS-07/a", "FS-08/b"].map(str::to_owned).to_vec();
        let lines = [
            line("FS-06", "a", Verdict::ExpectedFailure),
            line("FS-07", "a", Verdict::ExpectedFailure),
            line("FS-08", "b", Verdict::NotClaimed),
        ];
        assert_eq!((unused(&run, &lines), exit_code(&run, &lines)), (vec!["FS-08/b"], 1));
        run.selection = vec!["--id FS".into()];
        assert_eq!((unused(&run, &lines).len(), exit_code(&run, &lines)), (0, 0));
    }

    #[test]
    fn a_run_of_which_nothing_is_for_this_platform_proved_nothing() {
        let mut run = run("x");
        let mut lines = vec![line("FS-06", "a", Verdict::NotApplicable)];
        assert_eq!(exit_code(&run, &lines), 3);
        run.shard = Some(Shard { number: 1, of: 2 });
        assert_eq!(exit_code(&run, &lines), 0);
        run.shard = None;
        lines.push(line("FS-06", "b", Verdict::NotClaimed));
        assert_eq!(exit_code(&run, &lines), 0);
    }

    #[test]
    fn a_guarantee_whose_cases_are_all_declared_by_name_is_not_used() {
        let mut run = run("x");
        run.expect = ["FS-06", "FS-06/a"].map(str::to_owned).to_vec();
        let mut lines = vec![line("FS-06", "a", Verdict::ExpectedFailure)];
        assert_eq!(unused(&run, &lines), ["FS-06"]);
        lines.push(line("FS-06", "b", Verdict::Blocked)); // it would have been used
        assert_eq!((unused(&run, &lines).len(), exit_code(&run, &lines)), (0, 3));
    }
}
