//! The summary as Markdown: report.md, with a row a guarantee and a row a case.

use std::fmt::Write as _;

use super::{counts, headline, not_asked, not_used, rows, title, totals};
use crate::catalogue::Catalogue;
use crate::record::{Run, ScenarioLine, unused};
use crate::text;

/// The report as Markdown.
pub fn markdown(run: &Run, lines: &[ScenarioLine], catalogue: &Catalogue) -> String {
    let rows = rows(lines, catalogue);
    let (hold, of) = headline(&rows);
    let title = text::markdown(&text::line(title(run).as_bytes(), 1000));
    let mut out = format!("# {title}\n\n{hold} of {of} musts hold. {} scenarios: {}.\n\n", lines.len(), totals(lines));
    for told in unused(run, lines).into_iter().map(not_used).chain(not_asked(run)) {
        let _ = writeln!(out, "{}.\n", text::markdown(&told));
    }
    out.push_str("| guarantee | verdict | scenarios | in words |\n|---|---|---|---|\n");
    for row in &rows {
        let g = row.guarantee;
        let _ = writeln!(out, "| {} | {} | {} | {} |", g.id, row.verdict().word(), counts(row), row.text());
    }
    out.push_str("\n| case | verdict | what was seen | control |\n|---|---|---|---|\n");
    for line in lines {
        let control = line.controls.first().map(|c| c.seen.as_str()).unwrap_or_default();
        let cell = |text: &str| text::markdown(&text::line(text.as_bytes(), 160));
        let _ = writeln!(
            out,
            "| {}/{} | {} | {} | {} |",
            line.id,
            cell(&line.title),
            line.verdict.word(),
            cell(&line.why),
            cell(control)
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::{line, run};
    use crate::verdict::Verdict;

    #[test]
    fn a_case_is_one_row_whatever_was_printed() {
        let catalogue = Catalogue::parse("| FS-06 | L | must | a | b |\n").unwrap();
        let mut line = line("FS-06", "a", Verdict::Fails);
        line.why = "it said a \\| b\n| <!-- c \u{1b}[0m".into();
        let report = markdown(&run("x"), &[line], &catalogue);
        let row = r"| FS-06/a | fails | it said a \\\| b / \| &lt;!-- c \\u{1b}\[0m |  |";
        assert_eq!(report.lines().last(), Some(row));
    }
}
