//! What a figure is to be, and whether it is.

use super::table;

/// A figure and its limit.
pub struct Target {
    pub what: String,
    /// None where a program that it needs is not there, or failed.
    pub figure: Option<f64>,
    pub limit: Limit,
    pub unit: &'static str,
    /// Wall time against others moves with what else runs: only told, no gate.
    pub only_told: bool,
}

#[derive(Debug, Clone, Copy)]
#[allow(dead_code, reason = "a bench need not have both")]
pub enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Limit {
    fn holds(self, figure: f64) -> bool {
        match self {
            Limit::AtMost(limit) => figure <= limit,
            Limit::AtLeast(limit) => figure >= limit,
        }
    }
}

impl Target {
    pub fn new(what: impl Into<String>, figure: Option<f64>, limit: Limit, unit: &'static str) -> Target {
        Target { what: what.into(), figure, limit, unit, only_told: false }
    }

    /// What was not measured passes, and the page says so.
    pub fn is_met(&self) -> bool {
        self.only_told || self.figure.is_none_or(|figure| self.limit.holds(figure))
    }

    /// All of them as a table.
    pub fn table(targets: &[Target]) -> String {
        let line = |target: &Target| {
            let unit = target.unit;
            let figure = target.figure.map_or("not measured".into(), |f| format!("{f:.2}{unit}"));
            let limit = match target.limit {
                Limit::AtMost(limit) => format!("at most {limit}{unit}"),
                Limit::AtLeast(limit) => format!("at least {limit}{unit}"),
            };
            let verdict = match target.figure {
                None => "-",
                Some(figure) if target.limit.holds(figure) => "met",
                Some(_) if target.only_told => "missed (no gate)",
                Some(_) => "**missed**",
            };
            vec![target.what.clone(), figure, limit, verdict.into()]
        };
        table(&["what", "figure", "target", ""], targets.iter().map(line))
    }
}
