//! The matrix as Markdown: guarantees × implementations, then what each does beyond or short of its claims.

use std::fmt::Write as _;

use super::column::{Column, Unkept};
use super::model::{Cell, Page};
use crate::text::markdown as text;

/// The page `matrix.md`.
pub fn matrix(page: &Page) -> String {
    let mut out = String::from("# What each sandbox keeps from a coding agent\n\n");
    let (rows, columns) = (page.rows, page.columns.len());
    let _ = writeln!(
        out,
        "{rows} guarantees × {columns} implementations, {} scenarios. Made {} by `conformance report`{}.\n",
        page.scenarios,
        day(&page.now),
        platform(page)
    );
    overview(&mut out, page);
    out.push_str("\n## Guarantees\n\nA cell has the verdict on the guarantee, and how many of its scenarios hold of those that could be asked.\n\n");
    for word in &page.verdicts {
        let _ = writeln!(out, "- {} {}: {}", word.mark, word.word, word.means);
    }
    for chapter in &page.chapters {
        let _ = writeln!(out, "\n### {}: {}\n", chapter.id, text(&chapter.title));
        let names: Vec<String> = page.columns.iter().map(|c| text(&c.name)).collect();
        let _ = writeln!(out, "| guarantee | kind | {} |\n|---|---|{}", names.join(" | "), "---|".repeat(columns));
        for row in &chapter.rows {
            let cells: Vec<String> = row.cells.iter().map(|cell| cell.as_ref().map_or(String::new(), mark)).collect();
            let _ = writeln!(out, "| **{}** {} | {} | {} |", row.id, text(&row.text), row.kind, cells.join(" | "));
        }
    }
    out.push_str("\n## About each implementation\n");
    page.columns.iter().for_each(|column| about(&mut out, column));
    out
}

fn overview(out: &mut String, page: &Page) {
    for missing in &page.missing {
        let _ = writeln!(out, "**{}: no record.** {}\n", text(&missing.name), text(&missing.reason));
    }
    let Some(first) = page.columns.first() else { return };
    let words: Vec<&str> = first.tallies.iter().map(|t| t.word).collect();
    let _ = writeln!(out, "| implementation | version | guarantees that hold | {} |", words.join(" | "));
    let _ = writeln!(out, "|---|---|---|{}", "---:|".repeat(words.len()));
    for column in &page.columns {
        let counts: Vec<String> = column.tallies.iter().map(|t| t.count.to_string()).collect();
        let (name, version) = (text(&column.name), text(&column.version));
        let _ = writeln!(out, "| {name} | {version} | {} | {} |", score(column), counts.join(" | "));
    }
}

fn about(out: &mut String, column: &Column) {
    let homepage =
        column.homepage.as_deref().map(|url| format!(" <{}>", url.replace(['<', '>', ' '], ""))).unwrap_or_default();
    let words = format!("{}{homepage}", text(&column.about));
    let _ = writeln!(out, "\n### {}\n\n{}", text(&column.name), words.trim_start());
    if let Some(reason) = &column.blocked {
        let _ = writeln!(out, "\nNot run: {}.", text(reason));
        return;
    }
    let _ = writeln!(out, "\n{} hold.", score(column));
    if !column.unkept.is_empty() {
        out.push_str("\nClaimed, and not shown to hold:\n\n");
        column.unkept.iter().for_each(|claim| unkept(out, claim));
    }
    for (title, ids) in [("Holds beyond its claims", &column.beyond), ("Not claimed, and does not hold", &column.short)]
    {
        if !ids.is_empty() {
            let _ = writeln!(out, "\n{title}: {}.", ids.join(", "));
        }
    }
}

fn unkept(out: &mut String, claim: &Unkept) {
    const SHOWN: usize = 4;
    let reasons: Vec<String> = claim.reasons.iter().take(SHOWN).map(|reason| text(reason)).collect();
    let more = claim.reasons.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let _ = writeln!(out, "- {} {} {}: {}{more}", claim.mark, claim.id, claim.verdict, reasons.join("; "));
}

fn score(column: &Column) -> String {
    if column.blocked.is_some() {
        return "not run".to_owned();
    }
    let what = if column.peer { "it claims" } else { "musts" };
    format!("{} of {} {what}", column.hold, column.of)
}

fn mark(cell: &Cell) -> String {
    format!("{} {}", cell.mark, cell.count).trim_end().to_owned()
}

/// What the runs have in common. Of the kernel only its version: its build names a machine, and this page is checked in.
fn platform(page: &Page) -> String {
    let fact = |name: &str| page.facts.iter().find(|f| f.name == name)?.same.as_deref();
    let kernel = fact("kernel").map(|k| k.split('.').take(2).collect::<Vec<_>>().join("."));
    let words =
        [fact("os").map(str::to_owned), kernel, fact("arch").map(str::to_owned), fact("backend").map(str::to_owned)];
    words
        .into_iter()
        .flatten()
        .fold(String::new(), |out, word| format!("{out}{} {}", if out.is_empty() { "," } else { "" }, text(&word)))
}

fn day(time: &str) -> &str {
    time.split('T').next().unwrap_or(time)
}
