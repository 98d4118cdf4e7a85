//! The summary of a run: for the terminal, and as Markdown for the report. Both are rendered from the record's lines.

mod evidence;
mod markdown;

pub use evidence::again;
pub use markdown::markdown;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::catalogue::{self, Catalogue, Guarantee};
use crate::features::FIXTURE;
use crate::record::{Run, ScenarioLine, exit_code, unused};
use crate::text::line;
use crate::verdict::Verdict;

/// Colours, where they are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// Colour only on a terminal, and never where NO_COLOR is set (no-color.org).
    pub fn of_stdout() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        Self { colour: wanted && std::io::IsTerminal::is_terminal(&std::io::stdout()) }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The order in which verdicts matter: a guarantee has the first that one of its scenarios has.
pub const WORST_FIRST: [Verdict; 11] = [
    Verdict::Error,
    Verdict::Timeout,
    Verdict::Fails,
    Verdict::UnexpectedPass,
    Verdict::Inconclusive,
    Verdict::Blocked,
    Verdict::ExpectedFailure,
    Verdict::Moot,
    Verdict::Holds,
    Verdict::NotClaimed,
    Verdict::NotApplicable,
];

/// One guarantee in a run: its scenarios by verdict.
#[derive(Debug)]
pub struct Row<'a> {
    /// The guarantee.
    pub guarantee: &'a Guarantee,
    /// Number of scenarios by verdict, those tagged `@extra` left out.
    pub verdicts: BTreeMap<Verdict, usize>,
    /// The same for those tagged `@extra`.
    pub extras: BTreeMap<Verdict, usize>,
    /// Whether it was judged on look-alikes of the platform it is for, not on that platform.
    pub on_fixtures: bool,
}

impl Row<'_> {
    /// The guarantee in words, and where it was judged if not on its platform.
    pub fn text(&self) -> String {
        let text = &self.guarantee.text;
        if self.on_fixtures { format!("on fixtures, not on its platform: {text}") } else { text.clone() }
    }

    /// The verdict on the guarantee: the worst of its scenarios, of those that the driver could be asked.
    pub fn verdict(&self) -> Verdict {
        let verdicts = if self.verdicts.is_empty() { &self.extras } else { &self.verdicts };
        WORST_FIRST.into_iter().find(|v| verdicts.contains_key(v)).unwrap_or(Verdict::Error)
    }
}

/// The guarantees of a run, in order of the catalogue.
pub fn rows<'a>(lines: &[ScenarioLine], catalogue: &'a Catalogue) -> Vec<Row<'a>> {
    let row = |guarantee: &'a Guarantee| {
        let mut row = Row { guarantee, verdicts: BTreeMap::new(), extras: BTreeMap::new(), on_fixtures: false };
        for line in lines.iter().filter(|l| l.id == guarantee.id) {
            row.on_fixtures |= line.tags.iter().any(|t| t == FIXTURE);
            let counts = if line.is_extra() { &mut row.extras } else { &mut row.verdicts };
            *counts.entry(line.verdict).or_insert(0) += 1;
        }
        row
    };
    catalogue.iter().map(row).filter(|r| !r.verdicts.is_empty() || !r.extras.is_empty()).collect()
}

/// "k of n musts hold": of the must and cli rows that were run on the platform they are for.
pub fn headline(rows: &[Row<'_>]) -> (usize, usize) {
    let here = |r: &&Row<'_>| !r.on_fixtures && r.verdict() != Verdict::NotApplicable;
    let counting: Vec<&Row<'_>> = rows.iter().filter(|r| r.guarantee.kind.counts()).filter(here).collect();
    (counting.iter().filter(|r| r.verdict() == Verdict::Holds).count(), counting.len())
}

/// How many guarantees hold of those that the driver claims, of whatever kind they are.
pub fn claims(rows: &[Row<'_>]) -> (usize, usize) {
    let claimed = |r: &&Row<'_>| !matches!(r.verdict(), Verdict::NotClaimed | Verdict::NotApplicable);
    let claimed: Vec<Verdict> = rows.iter().filter(claimed).map(Row::verdict).collect();
    (claimed.iter().filter(|v| **v == Verdict::Holds).count(), claimed.len())
}

/// The summary for a terminal.
pub fn terminal(run: &Run, lines: &[ScenarioLine], catalogue: &Catalogue, seconds: f64, style: Style) -> String {
    let rows = rows(lines, catalogue);
    let mut out = String::new();
    let _ = writeln!(out, "\n{}\n", style.paint("1", &title(run)));
    let mut chapter = "";
    for row in &rows {
        if row.guarantee.chapter() != chapter {
            chapter = row.guarantee.chapter();
            let _ = writeln!(out, "  {}", style.paint("1", &chapter_line(chapter, lines)));
        }
        let word = style.paint(colour(row.verdict()), &format!("{:<16}", row.verdict().word()));
        let text = cut(&row.text(), 78);
        let _ = writeln!(out, "    {:<7} {word} {:>12}  {text}", row.guarantee.id, counts(row));
    }
    out.push_str(&evidence::blocks(run, lines, catalogue, style));
    for entry in unused(run, lines) {
        let _ = writeln!(out, "\n  {}  {}", style.paint("31", "unused"), not_used(entry));
    }
    let (hold, of) = headline(&rows);
    let code = match (exit_code(run, lines), of) {
        (0, 0) => "1", // nothing is wrong, and no must was proven
        (0, _) if hold == of => "1;32",
        _ => "1;31",
    };
    let headline = style.paint(code, &format!("{hold} of {of} musts hold"));
    let _ = writeln!(out, "\n{headline} · {} scenarios in {seconds:.1} s: {}", lines.len(), totals(lines));
    if let Some(told) = not_asked(run) {
        let _ = writeln!(out, "{told}");
    }
    out
}

/// A line that test runners understand. A declared deviation that nothing uses has failed, too.
pub fn closing_line(run: &Run, lines: &[ScenarioLine]) -> String {
    let red = lines.iter().filter(|l| l.verdict.breaks() || l.verdict.unproven()).count();
    let passed = lines.iter().filter(|l| matches!(l.verdict, Verdict::Holds | Verdict::ExpectedFailure)).count();
    let (failed, skipped) = (red + unused(run, lines).len(), lines.len() - passed - red);
    format!("{passed} passed, {failed} failed, {skipped} skipped")
}

fn title(run: &Run) -> String {
    let fact = |name: &str| run.host.get(name).map(String::as_str).unwrap_or("?");
    let share = match (run.shard, run.merged.len()) {
        (Some(shard), _) => format!(" · shard {shard}"),
        (None, 0) => String::new(),
        (None, shards) => format!(" · {shards} shards, merged"),
    };
    let title = format!(
        "{} · driver {}{} · {} {} · {} · started as {} · {} cores{share}",
        run.harness,
        run.driver,
        run.driver_version.as_deref().map(|v| format!(" ({v})")).unwrap_or_default(),
        fact("os"),
        fact("kernel"),
        fact("backend"),
        run.start,
        fact("cores"),
    );
    line(title.as_bytes(), 1000)
}

/// What was left out of what the driver does not claim, if something was.
fn not_asked(run: &Run) -> Option<String> {
    let unclaimed = run.unclaimed.filter(|unclaimed| unclaimed.left_out > 0)?;
    let (left_out, most) = (unclaimed.left_out, unclaimed.most);
    Some(format!("{left_out} scenarios were not asked, of what the driver does not claim (--unclaimed {most})"))
}

/// What is told of a declared deviation that nothing uses.
pub fn not_used(entry: &str) -> String {
    let entry = line(entry.as_bytes(), 300);
    format!("expect: {entry}: no scenario that could be asked falls under it; take it out of the manifest")
}

fn chapter_line(chapter: &str, lines: &[ScenarioLine]) -> String {
    let own = lines.iter().filter(|l| catalogue::chapter(&l.id) == chapter);
    let of: Vec<&ScenarioLine> = own.filter(|l| l.verdict != Verdict::NotApplicable).collect();
    let hold = of.iter().filter(|l| l.verdict == Verdict::Holds).count();
    format!("{chapter}  {hold} of {} scenarios hold", of.len())
}

fn counts(row: &Row<'_>) -> String {
    let sum = |v: &BTreeMap<Verdict, usize>| v.values().sum::<usize>();
    let hold = |v: &BTreeMap<Verdict, usize>| v.get(&Verdict::Holds).copied().unwrap_or(0);
    let mut text = format!("{}/{}", hold(&row.verdicts), sum(&row.verdicts));
    if !row.extras.is_empty() {
        let _ = write!(text, "+{}/{}", hold(&row.extras), sum(&row.extras));
    }
    text
}

fn totals(lines: &[ScenarioLine]) -> String {
    let mut totals: BTreeMap<Verdict, usize> = BTreeMap::new();
    for line in lines {
        *totals.entry(line.verdict).or_insert(0) += 1;
    }
    let told: Vec<String> = totals.iter().map(|(v, n)| format!("{n} {}", v.word())).collect();
    told.join(", ")
}

fn colour(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "32",
        v if v.breaks() => "31",
        v if v.unproven() => "33",
        _ => "2",
    }
}

fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Case;

    fn line(id: &str, verdict: Verdict, tags: &[&str]) -> ScenarioLine {
        let case = Case {
            id: id.into(),
            case: "c".into(),
            title: "t".into(),
            tags: tags.iter().map(|t| (*t).to_owned()).collect(),
            place: ("f".into(), 1),
        };
        ScenarioLine::new(&case, verdict, "why".into())
    }

    #[test]
    fn a_must_holds_only_if_all_its_scenarios_hold() {
        let catalogue = Catalogue::parse("| FS-06 | L | must | a | b |\n| FS-05 | L | extra | a |  |\n").unwrap();
        let both =
            [line("FS-06", Verdict::Holds, &[]), line("FS-06", Verdict::Moot, &[]), line("FS-05", Verdict::Fails, &[])];
        assert_eq!(headline(&rows(&both, &catalogue)), (0, 1));
        assert_eq!(headline(&rows(&both[..1], &catalogue)), (1, 1));
    }

    #[test]
    fn what_holds_on_fixtures_is_shown_and_not_counted() {
        let catalogue = Catalogue::parse("| SEC-05 | W | must | a | b |\n").unwrap();
        let lines = [line("SEC-05", Verdict::Holds, &["fixture"])];
        let rows = rows(&lines, &catalogue);
        assert_eq!((headline(&rows), rows[0].text().as_str()), ((0, 0), "on fixtures, not on its platform: a"));
    }

    #[test]
    fn a_deviation_that_nothing_uses_is_no_green_line() {
        let run = Run { expect: vec!["FS-06/other".into()], ..crate::record::tests::run("x") };
        let lines = [line("FS-06", Verdict::Holds, &[]), line("FS-05", Verdict::NotApplicable, &[])];
        assert_eq!(closing_line(&run, &lines), "1 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn an_extra_scenario_does_not_pull_a_must_down() {
        let catalogue = Catalogue::parse("| FS-06 | L | must | a | b |\n").unwrap();
        let lines = [line("FS-06", Verdict::Holds, &[]), line("FS-06", Verdict::NotClaimed, &["extra"])];
        assert_eq!(headline(&rows(&lines, &catalogue)), (1, 1));
    }
}
