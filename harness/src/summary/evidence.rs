//! What a reader needs to understand a red cell: a block a scenario, and one for a reason that many share.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Style, colour, cut};
use crate::catalogue::{Catalogue, chapter};
use crate::features::FEATURES;
use crate::record::{Run, ScenarioLine};
use crate::verdict::Verdict;

/// A reason that more scenarios share is told once.
const ALIKE: usize = 20;

/// The evidence of all that broke or was not proven.
pub fn blocks(run: &Run, lines: &[ScenarioLine], catalogue: &Catalogue, style: Style) -> String {
    let mut reasons: BTreeMap<(Verdict, &str), Vec<&ScenarioLine>> = BTreeMap::new();
    let red: Vec<&ScenarioLine> = lines.iter().filter(|l| l.verdict.breaks() || l.verdict.unproven()).collect();
    for line in &red {
        reasons.entry((line.verdict, &line.why)).or_default().push(line);
    }
    let mut out = String::new();
    for line in red {
        let block = match reasons.get(&(line.verdict, line.why.as_str())).map(Vec::as_slice) {
            Some(alike) if is_told_once(alike) && std::ptr::eq(alike[0], line) => shared(run, alike, catalogue, style),
            Some(alike) if is_told_once(alike) => continue,
            _ => evidence(run, line, catalogue, style),
        };
        let _ = write!(out, "\n{block}");
    }
    out
}

/// What is blocked has no evidence but its reason.
fn is_told_once(alike: &[&ScenarioLine]) -> bool {
    let most = if alike.iter().all(|line| line.verdict == Verdict::Blocked) { 1 } else { ALIKE };
    alike.len() > most
}

/// One block for all that share a reason.
fn shared(run: &Run, alike: &[&ScenarioLine], catalogue: &Catalogue, style: Style) -> String {
    let first = alike[0];
    let mut chapters: BTreeMap<&str, usize> = BTreeMap::new();
    for line in alike {
        *chapters.entry(chapter(&line.id)).or_insert(0) += 1;
    }
    let chapters: Vec<String> = chapters.iter().map(|(chapter, count)| format!("{chapter} {count}")).collect();
    let head = format!("{}  {} scenarios, for one reason", first.verdict.word(), alike.len());
    let mut out = String::new();
    let _ = writeln!(out, "  {}  ({})", style.paint(colour(first.verdict), &head), chapters.join(", "));
    if first.verdict == Verdict::Blocked {
        let _ = writeln!(out, "      {}\n      again   {}", first.why, again(run, first));
    } else {
        let _ = write!(out, "      the first of them:\n{}", evidence(run, first, catalogue, style));
    }
    out
}

/// The evidence of a scenario, and how to see it again.
fn evidence(run: &Run, line: &ScenarioLine, catalogue: &Catalogue, style: Style) -> String {
    let mut out = String::new();
    let head = format!("{}  {}/{}", line.verdict.word(), line.id, line.title);
    let _ = writeln!(out, "  {}  {}:{}", style.paint(colour(line.verdict), &head), line.file, line.line);
    let _ = writeln!(out, "      {}", line.why);
    if let Some(words) = catalogue.get(&line.id).map(|g| g.words.as_str()).filter(|w| !w.is_empty()) {
        let _ = writeln!(out, "      the documentation: \"{words}\"");
    }
    for finding in &line.findings {
        let _ =
            writeln!(out, "      found   {}: {}", if finding.held { "as it should" } else { "not so" }, finding.seen);
    }
    for control in &line.controls {
        let shown = if control.shown { "works" } else { "showed nothing" };
        let _ = writeln!(out, "      control {:?}, {shown}: {}", control.kind, control.seen);
    }
    for launch in &line.launches {
        let argv = launch.argv.join(" ");
        let _ = writeln!(out, "      launch  exit {:?} after {} ms: {}", launch.exit, launch.ms, cut(&argv, 300));
        for probe in launch.probe.iter().take(3) {
            let _ = writeln!(out, "      probe   {}", cut(&probe.to_string(), 300));
        }
        if !launch.stderr.is_empty() {
            let _ = writeln!(out, "      stderr  {}", cut(&launch.stderr, 300));
        }
    }
    let _ = writeln!(out, "      again   {}", again(run, line));
    out
}

/// The command that runs a scenario again.
pub fn again(run: &Run, line: &ScenarioLine) -> String {
    let target = if line.file.starts_with(FEATURES) { "conformance" } else { "e2e-agents" };
    format!("make {target} ARGS='--driver {} --id \"{}\" -v'", run.driver, line.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::{line, run};

    fn shown(lines: &[ScenarioLine]) -> String {
        let catalogue = Catalogue::parse("| FS-06 | L | must | a | b |\n| NS-01 | L | must | a | b |\n").unwrap();
        blocks(&run("x"), lines, &catalogue, Style { colour: false })
    }

    fn alike(count: usize, verdict: Verdict) -> Vec<ScenarioLine> {
        (0..count).map(|n| line(["FS-06", "NS-01"][n % 2], &format!("case-{n}"), verdict)).collect()
    }

    #[test]
    fn a_driver_that_is_blocked_is_told_in_one_block() {
        let mut lines = alike(1500, Verdict::Blocked);
        lines.push(line("FS-06", "other", Verdict::Fails));
        insta::assert_snapshot!(shown(&lines), @r#"

          blocked  1500 scenarios, for one reason  (FS 750, NS 750)
              blocked seen
              again   make e2e-agents ARGS='--driver x --id "FS-06/case-0" -v'

          fails  FS-06/other  f:1
              fails seen
              the documentation: "b"
              again   make e2e-agents ARGS='--driver x --id "FS-06/other" -v'
        "#);
    }

    #[test]
    fn a_reason_that_more_than_20_share_is_told_once() {
        let blocks = |count| shown(&alike(count, Verdict::Inconclusive)).matches("again  ").count();
        assert_eq!((blocks(20), blocks(21)), (20, 1));
        assert!(shown(&alike(21, Verdict::Inconclusive)).contains("21 scenarios, for one reason  (FS 11, NS 10)"));
    }
}
