//! What a report shows, as plain values: columns, chapters, rows, cells. Pure; the templates only print it.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Source;
use super::column::Column;
use super::evidence::{Bounds, Evidence};
use crate::catalogue::{Catalogue, Guarantee, Kind, chapter};
use crate::driver::identity::is_of_others;
use crate::record::{Record, Run, ScenarioLine};
use crate::summary::{self, Row, WORST_FIRST};
use crate::text::line;
use crate::verdict::{Verdict, seen_unclaimed};

/// A whole report.
#[derive(Debug, Serialize)]
pub struct Page {
    /// When it was made.
    pub now: String,
    /// The runs whose records are whole.
    pub columns: Vec<Column>,
    /// The others.
    pub missing: Vec<Missing>,
    /// Facts of the runs: name, and a value a column.
    pub facts: Vec<Fact>,
    /// The chapters that have rows.
    pub chapters: Vec<Chapter>,
    /// Kinds of guarantees.
    pub kinds: Vec<&'static str>,
    /// The verdicts that occur, worst first.
    pub verdicts: Vec<Word>,
    /// Number of rows.
    pub rows: usize,
    /// Number of scenarios.
    pub scenarios: usize,
    /// Width of the guarantees' column, in per cent.
    pub width: usize,
    /// How much of the evidence is shown.
    pub bounds: Bounds,
}

/// A run without a record.
#[derive(Debug, Serialize)]
pub struct Missing {
    /// Its folder.
    pub name: String,
    /// Why there is none.
    pub reason: String,
}

/// A fact of the runs.
#[derive(Debug, Serialize)]
pub struct Fact {
    /// Its name.
    pub name: String,
    /// The value, where it is the same in all runs that have it.
    pub same: Option<String>,
    /// A value a column.
    pub values: Vec<String>,
}

/// A verdict with its mark.
#[derive(Debug, Serialize)]
pub struct Word {
    /// The mark in a cell.
    pub mark: &'static str,
    /// The word.
    pub word: &'static str,
    /// What it means.
    pub means: &'static str,
}

/// A chapter.
#[derive(Debug, Serialize)]
pub struct Chapter {
    /// The letters of its ids.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its guarantees.
    pub rows: Vec<Line>,
    /// The verdicts in it.
    pub verdicts: BTreeSet<&'static str>,
    /// The kinds in it.
    pub kinds: BTreeSet<&'static str>,
}

/// A guarantee over all columns.
#[derive(Debug, Serialize)]
pub struct Line {
    /// Its id.
    pub id: String,
    /// What it binds.
    pub kind: &'static str,
    /// In words.
    pub text: String,
    /// The documentation's words.
    pub words: String,
    /// The verdicts in it.
    pub verdicts: BTreeSet<&'static str>,
    /// A cell a column.
    pub cells: Vec<Option<Cell>>,
}

/// A guarantee in one run.
#[derive(Debug, Serialize)]
pub struct Cell {
    /// The column's key.
    pub key: String,
    /// The column's name.
    pub name: String,
    /// The verdict.
    pub verdict: &'static str,
    /// Its mark, and what was seen where it is not claimed.
    pub mark: String,
    /// "3 of 4 scenarios hold", for the ear.
    pub label: String,
    /// The same, short.
    pub count: String,
    /// What was seen of it where it is not claimed: `beyond` or `short`.
    pub unclaimed: Option<&'static str>,
    /// What stands behind it.
    pub evidence: Evidence,
}

impl Page {
    /// The report of runs.
    pub fn of(sources: &[Source], catalogue: &Catalogue, now: &str, bounds: &Bounds) -> Self {
        let whole: Vec<(&Source, &Record)> =
            sources.iter().filter_map(|s| Some((s, s.record.as_ref().ok()?))).collect();
        let missing = |s: &Source| {
            let reason = s.record.as_ref().err()?;
            Some(Missing { name: shown(&s.name, 60), reason: shown(reason, 600) })
        };
        let mut columns = Column::all(&whole, catalogue);
        let rows: Vec<Vec<Row<'_>>> = whole.iter().map(|(_, r)| summary::rows(&r.scenarios, catalogue)).collect();
        let mut chapters: Vec<Chapter> = Vec::new();
        for guarantee in catalogue.iter() {
            let cells: Vec<Option<Cell>> = (whole.iter().zip(&rows).zip(&columns))
                .map(|(((_, record), rows), column)| Cell::of(record, column, rows, guarantee, bounds))
                .collect();
            if cells.iter().any(Option::is_some) {
                let title = catalogue.chapters().find(|(id, _)| *id == guarantee.chapter()).map_or("", |(_, t)| t);
                Chapter::add(&mut chapters, title, Line::of(guarantee, cells));
            }
        }
        for (at, column) in columns.iter_mut().enumerate() {
            let cells =
                chapters.iter().flat_map(|c| &c.rows).filter_map(|row| Some((row, row.cells.get(at)?.as_ref()?)));
            column.note(cells);
        }
        let occurring: BTreeSet<&str> = chapters.iter().flat_map(|c| c.verdicts.iter().copied()).collect();
        Self {
            now: now.to_owned(),
            facts: super::column::facts(&whole),
            missing: sources.iter().filter_map(missing).collect(),
            columns,
            rows: chapters.iter().map(|c| c.rows.len()).sum(),
            scenarios: whole.iter().map(|(_, r)| r.scenarios.len()).sum(),
            chapters,
            width: 100usize.saturating_sub(9 * whole.len()).clamp(28, 50),
            kinds: Kind::ALL.map(Kind::word).to_vec(),
            verdicts: WORST_FIRST.into_iter().filter(|v| occurring.contains(v.word())).map(word).collect(),
            bounds: bounds.clone(),
        }
    }
}

impl Chapter {
    fn add(chapters: &mut Vec<Self>, title: &str, line: Line) {
        let id = chapter(&line.id);
        if chapters.last().is_none_or(|c| c.id != id) {
            let (verdicts, kinds) = (BTreeSet::new(), BTreeSet::new());
            chapters.push(Self { id: id.to_owned(), title: title.to_owned(), rows: Vec::new(), verdicts, kinds });
        }
        if let Some(chapter) = chapters.last_mut() {
            chapter.verdicts.extend(&line.verdicts);
            chapter.kinds.insert(line.kind);
            chapter.rows.push(line);
        }
    }
}

impl Line {
    fn of(guarantee: &Guarantee, cells: Vec<Option<Cell>>) -> Self {
        Self {
            id: guarantee.id.clone(),
            kind: guarantee.kind.word(),
            text: plain(&guarantee.text),
            words: guarantee.words.clone(),
            verdicts: cells.iter().flatten().map(|c| c.verdict).collect(),
            cells,
        }
    }
}

impl Cell {
    fn of(record: &Record, column: &Column, rows: &[Row<'_>], guarantee: &Guarantee, bounds: &Bounds) -> Option<Self> {
        let row = rows.iter().find(|row| row.guarantee.id == guarantee.id)?;
        let lines: Vec<&ScenarioLine> = record.scenarios.iter().filter(|l| l.id == guarantee.id).collect();
        let verdict = row.verdict();
        // As the row's verdict does, a cell counts the scenarios beyond the row's words only where there are no others.
        let counting: Vec<&&ScenarioLine> = lines.iter().filter(|l| l.is_extra() == row.verdicts.is_empty()).collect();
        let seen: Vec<&str> = counting.iter().filter_map(|l| seen(l)).collect();
        let held = seen.iter().filter(|s| **s == Verdict::Holds.word()).count();
        let unclaimed = match () {
            () if verdict != Verdict::NotClaimed || seen.is_empty() => None,
            () if held == seen.len() => Some("beyond"),
            () if seen.contains(&Verdict::Fails.word()) => Some("short"),
            () => None,
        };
        let mark = match unclaimed {
            Some("beyond") => "○✓",
            Some(_) => "○✗",
            None => word(verdict).mark,
        };
        let (count, ear) = match seen.len() {
            0 => (String::new(), "none could be asked".to_owned()),
            asked => (format!("{held}/{asked}"), format!("{held} of {asked} hold")),
        };
        let fixtures = if row.on_fixtures { ", on fixtures, not on its platform" } else { "" };
        Some(Self {
            key: column.key.clone(),
            name: column.name.clone(),
            verdict: verdict.word(),
            mark: mark.to_owned(),
            label: format!("{}{fixtures}: {ear}", verdict.word()),
            count,
            unclaimed,
            evidence: Evidence::of(&record.run, &column.key, &lines, bounds),
        })
    }
}

/// What was seen of a scenario, whether or not it is claimed; none where it was not asked.
pub fn seen(line: &ScenarioLine) -> Option<&str> {
    match line.verdict {
        Verdict::NotClaimed => seen_unclaimed(&line.why),
        Verdict::NotApplicable | Verdict::Blocked | Verdict::Moot => None,
        verdict => Some(verdict.word()),
    }
}

/// Whether a run judged somebody else's implementation: its claims are documented elsewhere.
pub fn is_peer(run: &Run) -> bool {
    is_of_others(&run.homepage)
}

/// Text of others: on one line, cut, with what is not seen made visible.
pub fn shown(text: &str, limit: usize) -> String {
    line(text.as_bytes(), limit)
}

/// Markdown's links as their text.
fn plain(markdown: &str) -> String {
    let mut parts = markdown.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(open) = out.rfind('[') {
            out.remove(open);
        }
        out.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    out
}

/// A verdict, its mark, and what it means.
pub fn word(verdict: Verdict) -> Word {
    let (mark, means) = match verdict {
        Verdict::Holds => ("✓", "as claimed, and a control shows that the danger is real"),
        Verdict::Fails => ("✗", "claimed, and not so"),
        Verdict::ExpectedFailure => ("▽", "not so, as its manifest declares, with a reason"),
        Verdict::UnexpectedPass => ("‼", "declared to fail, and holds"),
        Verdict::NotClaimed => ("○", "not promised; ○✓ all of it holds, ○✗ some of it does not"),
        Verdict::NotApplicable => ("–", "a guarantee of another platform"),
        Verdict::Moot => ("∅", "this host itself refuses what the control does"),
        Verdict::Blocked => ("⊘", "this host lacks what is needed to run it"),
        Verdict::Inconclusive => ("?", "nothing was proven either way"),
        Verdict::Error => ("E", "the suite itself did not get through"),
        Verdict::Timeout => ("T", "it did not end within its bound"),
    };
    Word { mark, word: verdict.word(), means }
}
