//! Whether an attempt is sandboxed, and why: a pure function with the documentation's four clauses in
//! their order. It must never come to `off` because there was nothing to look at.

use super::{Mode, Settings, Step, StepSandbox};

/// The effective value of one attempt and the clause that gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// Sandboxed or not.
    pub mode: Mode,
    /// The clause, in words for the record.
    pub why: String,
}

/// What a step says for itself: a word, or the mode of its block; a block without `mode` says nothing.
pub fn step_says(step: &Step) -> Option<Mode> {
    match step.sandbox.as_ref()? {
        StepSandbox::Word(mode) => Some(*mode),
        StepSandbox::Block(block) => block.mode,
    }
}

/// The value for `step` of `settings`; repos that are not declared were refused by `validate`.
pub fn of(settings: &Settings, step: &Step) -> Effective {
    let repos: Vec<_> = step
        .repos
        .iter()
        .map(|name| (name.value.as_str(), settings.repos.get(&name.value).and_then(|r| r.sandbox)))
        .collect();
    effective(step_says(step), &repos, settings.sandbox.mode)
}

/// The step's `sandbox` if set; else required if any active repo says required; else off if all those
/// repos say off; else `sandbox.mode`, which is off by default.
pub fn effective(step: Option<Mode>, repos: &[(&str, Option<Mode>)], mode: Option<Mode>) -> Effective {
    let says = |wanted: Mode| repos.iter().filter(move |(_, m)| *m == Some(wanted)).map(|(name, _)| *name);
    if let Some(mode) = step {
        return Effective { mode, why: format!("the step's sandbox says {}", mode.word()) };
    }
    if let Some(repo) = says(Mode::Required).next() {
        return Effective { mode: Mode::Required, why: format!("active repo {repo} says required") };
    }
    if !repos.is_empty() && says(Mode::Off).count() == repos.len() {
        return Effective { mode: Mode::Off, why: "all active repos say off".into() };
    }
    match mode {
        Some(mode) => Effective { mode, why: format!("sandbox.mode says {}", mode.word()) },
        None => Effective { mode: Mode::Off, why: "sandbox.mode is not set: off is the default".into() },
    }
}

impl Mode {
    /// The word of the settings.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Off => "off",
            Mode::Required => "required",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Option<Mode>; 3] = [None, Some(Mode::Off), Some(Mode::Required)];

    /// The documentation's sentence once more, written down the other way round: from a table of words.
    fn oracle(step: &str, repos: &str, mode: &str) -> Mode {
        let required = match (step, repos, mode) {
            ("required" | "block required", _, _) => true,
            ("off" | "block off", _, _) => false,
            (_, repos, _) if repos.contains('R') => true,
            (_, repos, _) if !repos.is_empty() && repos.chars().all(|c| c == 'O') => false,
            (_, _, mode) => mode == "required",
        };
        if required { Mode::Required } else { Mode::Off }
    }

    /// Every way to write it, through the real parser: 6 steps x 13 sets of repos x 3 modes = 234.
    #[test]
    fn all_combinations_agree_with_the_documentation() {
        let steps = ["", "off", "required", "block off", "block required", "block"];
        let sets = ["", "U", "O", "R", "UU", "OO", "RR", "OU", "UO", "OR", "RO", "UR", "RU"];
        let mut seen = 0;
        for step in steps {
            for set in sets {
                for mode in ["", "off", "required"] {
                    let settings = crate::settings::read("t".as_ref(), &yaml(step, set, mode)).unwrap();
                    let got = of(&settings, &settings.steps["s"]);
                    assert_eq!(got.mode, oracle(step, set, mode), "step {step:?}, repos {set:?}, mode {mode:?}");
                    assert!(!got.why.is_empty());
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, 234);
    }

    fn yaml(step: &str, set: &str, mode: &str) -> Vec<u8> {
        let mut out = String::new();
        if !mode.is_empty() {
            out += &format!("sandbox: {{mode: {mode}}}\n");
        }
        let mut names = Vec::new();
        let mut repos = String::new();
        for (i, says) in set.chars().enumerate() {
            let value = match says {
                'O' => ", sandbox: off",
                'R' => ", sandbox: required",
                _ => "",
            };
            repos += &format!("  r{i}: {{path: /r{i}{value}}}\n");
            names.push(format!("r{i}"));
        }
        if !repos.is_empty() {
            out += &format!("repos:\n{repos}");
        }
        out += &format!("steps:\n  s:\n    run: [\"true\"]\n    repos: [{}]\n", names.join(", "));
        out += &match step.split_once(' ') {
            Some((_, mode)) => format!("    sandbox: {{mode: {mode}}}\n"),
            None if step == "block" => "    sandbox: {network: allowlist}\n".into(),
            None if step.is_empty() => String::new(),
            None => format!("    sandbox: {step}\n"),
        };
        out.into_bytes()
    }

    #[test]
    fn the_reason_names_the_clause_that_decided() {
        let r = [("demo", Some(Mode::Required)), ("other", Some(Mode::Off))];
        assert_eq!(effective(None, &r, None).why, "active repo demo says required");
        assert_eq!(effective(Some(Mode::Off), &r, None).why, "the step's sandbox says off");
        assert_eq!(effective(None, &r[1..], Some(Mode::Required)).why, "all active repos say off");
        assert_eq!(effective(None, &[], Some(Mode::Required)).why, "sandbox.mode says required");
        assert!(MODES.iter().all(|m| effective(*m, &[], None).mode == m.unwrap_or(Mode::Off)));
    }
}
