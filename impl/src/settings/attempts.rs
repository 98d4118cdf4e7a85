//! The attempts that one run of a step comes to: with `per_repo: true` one for each of its repos, each a step of its own that
//! has this repo and no other. Whatever is decided by the active repos is decided for each by itself.

use std::borrow::Cow;

use super::{Mode, Settings, Step, effective};

/// Each attempt as a step; the step itself where it does not say `per_repo: true`.
pub fn of(step: &Step) -> Vec<Cow<'_, Step>> {
    if !step.is_per_repo() {
        return vec![Cow::Borrowed(step)];
    }
    step.repos.iter().map(|repo| Cow::Owned(Step { repos: vec![repo.clone()], ..step.clone() })).collect()
}

/// Whether any attempt of a step is sandboxed.
pub fn any_sandboxed(settings: &Settings, step: &Step) -> bool {
    of(step).iter().any(|attempt| effective::of(settings, attempt).mode == Mode::Required)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_one_repo_and_a_mode_of_its_own() {
        let text = "sandbox: {mode: required}\nrepos: {a: {path: /a, sandbox: off}, b: {path: /b}}\n\
                    steps: {s: {run: [x], repos: [b, a], per_repo: true}}";
        let settings = crate::settings::read("k".as_ref(), text.as_bytes()).unwrap();
        let each = of(&settings.steps["s"]);
        let seen = each.iter().map(|one| (one.repos[0].value.as_str(), effective::of(&settings, one).mode));
        assert_eq!(seen.collect::<Vec<_>>(), [("b", Mode::Required), ("a", Mode::Off)]);
        assert!(any_sandboxed(&settings, &settings.steps["s"]));
        let whole = crate::settings::read("k".as_ref(), text.replace("true", "false").as_bytes()).unwrap();
        assert_eq!(of(&whole.steps["s"]).len(), 1);
    }
}
