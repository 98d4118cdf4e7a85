//! The tables, as they are printed and as they stand in docs/performance.md, and the targets.

use std::fmt::Write;

use crate::measure::{Sample, paired};
use crate::programs::{CODEX, OPEN, OWN, Program, SRT, Table, WHITELIST};
use crate::report::{Limit, Part, Target, median, table};
use crate::repos::{Disk, LOOSE, PACKED, SMALL, WITHOUT};

pub struct Page {
    pub programs: Vec<Program>,
    pub disk: Vec<Disk>,
    /// What the figures hang on.
    pub facts: String,
    pub rounds: usize,
}

impl Page {
    pub fn part(&self) -> Part {
        let targets = self.targets();
        Part { text: self.text(&targets), targets }
    }

    fn text(&self, targets: &[Target]) -> String {
        let mut text = format!(
            "# What a launch costs\n\nWritten by `make bench ARGS=--write`; `ARGS=--gate` ends with 1 past a target. Compare the figures of \
             one run, not of two:\nratios, as medians of pairs in the same round.\n\n{}\nMedians of {} launches (a quarter of it where that \
             takes long), in turn, with a pause between them. CPU is that of the\nwhole process tree, also of what its parent does not \
             wait for. bubblewrap runs with `--as-pid-1`, without which it does\nnot wait for its child.\n",
            self.facts, self.rounds
        );
        let _ = write!(text, "\n## Targets\n{}", Target::table(targets));
        let _ = write!(text, "\n## Launch of `true`\n{}", self.launch_table());
        let _ = write!(text, "\n## What each part costs\n{}", self.parts_table(Table::Parts));
        let _ = write!(text, "\n## What a repo adds\n{ABOUT_REPOS}\n{}", self.repos_table());
        let _ = write!(text, "\nDisk for an attempt with 10 commits, in KiB of blocks:\n\n{}", self.disk_table());
        if self.programs.iter().any(|program| program.table == Table::Larger) {
            let _ = write!(text, "\n## Larger settings\n{}", self.parts_table(Table::Larger));
        }
        text
    }

    fn targets(&self) -> Vec<Target> {
        let of = |other: &str, what: &dyn Fn(f64, f64) -> f64, wall: bool| {
            let (ours, theirs) = (self.row(OPEN)?, self.row(other)?);
            paired(ours, theirs, |a, b| if wall { what(a.wall, b.wall) } else { what(a.cpu, b.cpu) })
        };
        let ratio: &dyn Fn(f64, f64) -> f64 = &|a, b| a / b;
        let target = |what: &str, figure, limit, unit| Target::new(what, figure, Limit::AtMost(limit), unit);
        vec![
            target("CPU of kusaw : bubblewrap with a whitelist by hand", of(WHITELIST, ratio, false), 1.2, ""),
            target("wall time of the same", of(WHITELIST, ratio, true), 1.2, ""),
            target("wall time of kusaw over bubblewrap with its own plan", of(OWN, &|a, b| a - b, true), 3.5, " ms"),
            target("CPU of kusaw : codex", of(CODEX, ratio, false), 0.2, ""),
            target("CPU of kusaw : srt", of(SRT, ratio, false), 0.05, ""),
            target("most wall time that a small repository adds", self.added(&[SMALL]), 60.0, " ms"),
            target("the same of a large one", self.added(&[LOOSE, PACKED]), 400.0, " ms"),
        ]
    }

    /// By the row of these that adds most.
    fn added(&self, to: &[[&str; 3]]) -> Option<f64> {
        let added = to
            .iter()
            .flat_map(|names| names.iter().zip(WITHOUT))
            .filter_map(|(name, without)| paired(self.row(name)?, self.row(without)?, |a, b| a.wall - b.wall));
        added.max_by(f64::total_cmp)
    }

    fn launch_table(&self) -> String {
        let yardstick = self.row(WHITELIST);
        let line = |row: &Program| {
            if row.command.is_none() {
                return vec![row.name.into(), row.note.clone()];
            }
            let ratio = |of: &dyn Fn(&Sample) -> f64| {
                let ratio = yardstick.and_then(|other| paired(row, other, |a, b| of(&a) / of(&b)));
                ratio.map_or(String::new(), |r| format!("{r:.2}"))
            };
            let mounts = row.mounts.map_or(String::new(), |n| n.to_string());
            let name = format!("{} {}", row.name, row.note).trim_end().to_owned();
            vec![name, cpu(row), wall(row), ratio(&|s| s.cpu), ratio(&|s| s.wall), mounts]
        };
        let rows = self.programs.iter().filter(|row| row.table == Table::Launch);
        table(&["", "CPU ms", "wall ms", "x whitelist, CPU", "wall", "mounts inside"], rows.map(line))
    }

    fn parts_table(&self, which: Table) -> String {
        let line = |row: &Program| {
            let other = row.more_than.and_then(|name| self.row(name));
            let more = |of: &dyn Fn(&Sample) -> f64| {
                let more = other.and_then(|other| paired(row, other, |a, b| of(&a) - of(&b)));
                more.map_or(String::new(), |ms| format!("{ms:+.2}"))
            };
            let than = row.more_than.unwrap_or_default().to_owned();
            vec![row.name.into(), cpu(row), wall(row), more(&|s| s.cpu), more(&|s| s.wall), than]
        };
        let rows = self.programs.iter().filter(|row| row.table == which);
        table(&["", "CPU ms", "wall ms", "more CPU", "more wall", "than"], rows.map(line))
    }

    fn repos_table(&self) -> String {
        let line = |row: &Program| {
            let other = row.more_than.and_then(|name| self.row(name));
            let more = |of: &dyn Fn(Sample) -> f64| {
                let more = other.and_then(|other| paired(row, other, |a, b| of(a) - of(b)));
                more.map_or(String::new(), |ms| format!("{ms:+.2}"))
            };
            let more =
                [more(&|s| s.cpu), more(&|s| s.wall), more(&|s| s.before), more(&|s| s.step()), more(&|s| s.after)];
            [row.name.into(), cpu(row), wall(row)].into_iter().chain(more).collect()
        };
        let rows = self.programs.iter().filter(|row| row.table == Table::Repos);
        let head = ["", "CPU ms", "wall ms", "more CPU", "more wall", "before the step", "during it", "after it"];
        table(&head, rows.map(line))
    }

    fn disk_table(&self) -> String {
        let line = |disk: &Disk| {
            let figures = [disk.store, disk.git, disk.pack, disk.attempt].map(|kib| kib.to_string());
            [disk.repo.to_owned()].into_iter().chain(figures).collect()
        };
        let head = [
            "repository",
            "private store, while the step runs",
            "stays in the git folder",
            "of it the pack",
            "in the attempt's folder",
        ];
        table(&head, self.disk.iter().map(line))
    }

    fn row(&self, name: &str) -> Option<&Program> {
        self.programs.iter().find(|row| row.name == name)
    }
}

const ABOUT_REPOS: &str = "
Worktree, private store and import: against the same step without a repo, whose commits go into a git folder that is given
to it whole. A small repository has one commit; a large one has 50,000 objects, 20,000 refs and 100 files. Each attempt
finds it as it was made; what attempts leave adds up: each later git reads their worktrees and packs, until `git gc` and
`git worktree remove`.
";

fn cpu(row: &Program) -> String {
    median(row.samples.iter().flatten().map(|s| s.cpu)).map_or(String::new(), |ms| format!("{ms:.2}"))
}

fn wall(row: &Program) -> String {
    median(row.samples.iter().flatten().map(|s| s.wall)).map_or(String::new(), |ms| format!("{ms:.2}"))
}
