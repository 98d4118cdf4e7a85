//! `kusaw run STEP`: one attempt, or one for each repo. Stdio is the step's; kusaw itself speaks on stderr only when it refuses.

use std::path::Path;

use crate::attempt;

/// Runs the step; the value is the exit code.
pub fn run(factory: &Path, step: &str, attempt: Option<&str>) -> i32 {
    attempt::run(factory, step, attempt, &super::report).unwrap_or_else(|refusal| super::report(&refusal))
}
