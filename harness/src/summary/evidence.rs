//! What a reader needs to understand a red cell: a block a scenario, and one for a reason that many share.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Style, colour};
use crate::catalogue::{Catalogue, chapter};
use crate::features::FEATURES;
use crate::record::{Run, ScenarioLine};
use crate::text;
use crate::verdict::Verdict;

/// A reason that more scenarios share is told once.
const ALIKE: usize = 20;

/// So many characters are shown of a reason or of what was found.
const WHOLE: usize = 2000;

/// So many are shown of what was printed.
const PART: usize = 300;

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
    let (head, chapters) = (style.paint(colour(first.verdict), &head), shown(&chapters.join(", "), WHOLE));
    let _ = writeln!(out, "  {head}  ({chapters})");
    if first.verdict == Verdict::Blocked {
        let (why, again) = (shown(&first.why, WHOLE), shown(&again(run, first), WHOLE));
        let _ = writeln!(out, "      {why}\n      again   {again}");
    } else {
        let _ = write!(out, "      the first of them:\n{}", evidence(run, first, catalogue, style));
    }
    out
}

/// The evidence of a scenario, and how to see it again.
fn evidence(run: &Run, line: &ScenarioLine, catalogue: &Catalogue, style: Style) -> String {
    let mut out = String::new();
    let head = format!("{}  {}", line.verdict.word(), shown(&format!("{}/{}", line.id, line.title), PART));
    let place = shown(&format!("{}:{}", line.file, line.line), PART);
    let _ = writeln!(out, "  {}  {place}", style.paint(colour(line.verdict), &head));
    let _ = writeln!(out, "      {}", shown(&line.why, WHOLE));
    if let Some(words) = catalogue.get(&line.id).map(|g| g.words.as_str()).filter(|w| !w.is_empty()) {
        let _ = writeln!(out, "      the documentation: \"{words}\"");
    }
    for finding in &line.findings {
        let held = if finding.held { "as it should" } else { "not so" };
        let _ = writeln!(out, "      found   {held}: {}", shown(&finding.seen, WHOLE));
    }
    for control in &line.controls {
        let works = if control.shown { "works" } else { "showed nothing" };
        let _ = writeln!(out, "      control {:?}, {works}: {}", control.kind, shown(&control.seen, WHOLE));
    }
    for launch in &line.launches {
        let argv = shown(&launch.argv.join(" "), PART);
        let _ = writeln!(out, "      launch  exit {:?} after {} ms: {argv}", launch.exit, launch.ms);
        for probe in launch.probe.iter().take(3) {
            let _ = writeln!(out, "      probe   {}", shown(&probe.to_string(), PART));
        }
        if !launch.stderr.is_empty() {
            let _ = writeln!(out, "      stderr  {}", shown(&launch.stderr, PART));
        }
    }
    let _ = writeln!(out, "      again   {}", shown(&again(run, line), WHOLE));
    out
}

/// Text of a record, which a sandbox or somebody else may have written.
fn shown(text: &str, limit: usize) -> String {
    text::line(text.as_bytes(), limit)
}

/// The command that runs a scenario again.
pub fn again(run: &Run, line: &ScenarioLine) -> String {
    let target = if line.file.starts_with(FEATURES) { "conformance" } else { "e2e-agents" };
    let driver = run.manifest.as_ref().map_or_else(|| run.driver.clone(), |path| format!("\"{}\"", path.display()));
    format!("make {target} ARGS='--driver {driver} --id \"{}\" -v'", line.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::LaunchLine;
    use crate::record::tests::{line, run};
    use crate::verdict::{Control, ControlKind, Finding};

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
    fn a_manifest_beside_the_checkout_is_named_by_its_path() {
        let run = Run { manifest: Some("/srv/my box.yaml".into()), ..run("x") };
        let again = again(&run, &line("FS-06", "other", Verdict::Fails));
        assert_eq!(again, r#"make e2e-agents ARGS='--driver "/srv/my box.yaml" --id "FS-06/other" -v'"#);
    }

    #[test]
    fn a_reason_that_more_than_20_share_is_told_once() {
        let blocks = |count| shown(&alike(count, Verdict::Inconclusive)).matches("again  ").count();
        assert_eq!((blocks(20), blocks(21)), (20, 1));
        assert!(shown(&alike(21, Verdict::Inconclusive)).contains("21 scenarios, for one reason  (FS 11, NS 10)"));
    }

    #[test]
    fn what_a_record_says_does_not_drive_the_terminal() {
        let escape = "\x1b[2J".to_owned();
        let mut line = line("FS-06", &escape, Verdict::Fails);
        (line.why, line.file) = (format!("one\ntwo {escape}"), escape.clone());
        line.findings = vec![Finding { held: false, certain: false, seen: escape.clone() }];
        line.controls = vec![Control { kind: ControlKind::Bare, shown: true, seen: escape.clone(), moot: None }];
        let (argv, env, probe) = (vec![escape.clone()], Vec::new(), vec![serde_json::json!("\u{9b}2J")]);
        line.launches = vec![LaunchLine { argv, env, exit: None, probe, stderr: escape, ms: 1 }];
        let told = shown(&[line]);
        assert!(told.contains("one / two \\u{1b}[2J") && told.contains("\\u{9b}"), "{told}");
        assert!(!told.contains(|c: char| c.is_control() && c != '\n'), "{told:?}");
    }
}
