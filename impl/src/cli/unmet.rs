//! What `validate` tells of the settings beside paths and hosts: what a launch would refuse because it is not there (a secret, a
//! repository), steps that run without a sandbox although the factory has one (W2), and settings without effect (W5).

use std::collections::BTreeSet;
use std::path::Path;

use crate::finding::Finding;
use crate::git::{key, worktree};
use crate::outcome::Reason;
use crate::provider;
use crate::reach;
use crate::secrets;
use crate::settings::{Inject, Mode, Repo, Sandbox, Settings, Step, attempts, effective, inject};
use crate::store::name::to_set;
use crate::warning::Warning;

/// What a launch would refuse; `factory` is a real path. Secrets are looked for by name and not read.
pub fn errors(factory: &Path, settings: &Settings) -> Vec<Finding> {
    let repos = repos(factory, settings).into_iter().chain(signers(factory, settings));
    repos.chain(agents(settings)).chain(keys(settings)).collect()
}

/// What is not as it seems to be.
pub fn warnings(settings: &Settings) -> Vec<Finding> {
    let of_step = |(name, step): (&String, &Step)| {
        let key = format!("steps.{name}");
        without_sandbox(settings, &key, step).into_iter().chain(no_agent(&key, step)).collect::<Vec<_>>()
    };
    settings.steps.iter().flat_map(of_step).collect()
}

/// Repositories that no worktree could be made of.
fn repos(factory: &Path, settings: &Settings) -> Vec<Finding> {
    let home = reach::own_home();
    let of_repo = |(name, repo): (&String, &Repo)| {
        let written = &repo.path.value;
        let (what, fix) = if written.starts_with('~') && home.is_none() {
            ("HOME is not set".into(), worktree::SET_HOME.into())
        } else {
            let place = worktree::place(written, factory, home.as_deref());
            let lacks = worktree::is_ready(&place).err()?;
            (lacks.to_string(), lacks.fix(name, &place))
        };
        let (code, key, path) = (Reason::WorktreeFailed.code(), format!("repos.{name}.path"), written.clone());
        Some(Finding { code, key, path, what, fix, ..Finding::default() })
    };
    settings.repos.iter().filter_map(of_repo).collect()
}

/// Keys that nobody could sign with what a sandboxed step commits, each once.
fn signers(factory: &Path, settings: &Settings) -> Vec<Finding> {
    let sandboxed = settings.steps.values().filter(|step| attempts::any_sandboxed(settings, step));
    let active: BTreeSet<&str> = sandboxed.flat_map(|step| &step.repos).map(|name| name.value.as_str()).collect();
    let of_repo = |name: &str| {
        let sign = settings.repos.get(name)?.sign.as_ref()?;
        let refusal = key::check(&worktree::place(&sign.value, factory, reach::own_home().as_deref())).err()?;
        let (code, key, fix) = (refusal.reason.code(), format!("repos.{name}.sign"), refusal.fix().to_string());
        Some(Finding { code, key, what: refusal.detail, fix, ..Finding::default() })
    };
    active.into_iter().filter_map(of_repo).collect()
}

/// Agents that would not be found.
fn agents(settings: &Settings) -> Vec<Finding> {
    let of_step = |(name, step): (&String, &Step)| {
        let known = provider::of(step).filter(|known| provider::installed(known).is_none())?;
        let (code, key) = (Reason::NotFound.code(), format!("steps.{name}.provider"));
        Some(Finding { code, key, what: known.not_on_path(), fix: known.to_install(), ..Finding::default() })
    };
    settings.steps.iter().filter(|(_, step)| attempts::any_sandboxed(settings, step)).filter_map(of_step).collect()
}

/// Keys that are injected and not in the store, each once.
fn keys(settings: &Settings) -> Vec<Finding> {
    let (mut told, mut findings) = (BTreeSet::new(), Vec::new());
    for (name, step) in settings.steps.iter().filter(|(_, step)| attempts::any_sandboxed(settings, step)) {
        for one in secrets::missing(inject::of(settings, step).unwrap_or_default()) {
            if told.insert(one.secret.clone()) {
                let (code, key, fix) = (Reason::NoSecret.code(), format!("steps.{name}"), to_set(&one.secret));
                findings.push(Finding { code, key, what: secrets::not_there(&one), fix, ..Finding::default() });
            }
        }
    }
    findings
}

/// Attempts that run free in a factory that says something of a sandbox, other than that there is none.
fn without_sandbox(settings: &Settings, key: &str, step: &Step) -> Vec<Finding> {
    if !has_sandbox(settings) {
        return Vec::new();
    }
    let told = |attempt: &Step| {
        let effective = effective::of(settings, attempt);
        let keys = inject::of(settings, attempt).unwrap_or_default();
        let repo = attempt.repos.first().filter(|_| step.is_per_repo());
        let of_repo = repo.map(|repo| format!("repo {}: ", repo.value)).unwrap_or_default();
        let besides = if keys.is_empty() { "" } else { ", and no key is injected" };
        let (key, what) = (key.into(), format!("{of_repo}it runs without a sandbox: {}{besides}", effective.why));
        let fix = "set sandbox: required for it if that is not meant".into();
        (effective.mode == Mode::Off).then(|| Finding {
            code: Warning::Opens.code(),
            key,
            what,
            fix,
            ..Finding::default()
        })
    };
    attempts::of(step).iter().filter_map(|attempt| told(attempt)).collect()
}

/// Whether anything in the settings asks for a sandbox, or says what one is to allow.
fn has_sandbox(settings: &Settings) -> bool {
    let asks = |block: &Sandbox| {
        let Sandbox { mode, network, allow_read, allow_write, egress } = block;
        let says =
            network.is_some() || egress.sni.is_some() || egress.provider_hosts.is_some() || !egress.inject.is_none();
        *mode == Some(Mode::Required)
            || says
            || !(allow_read.is_empty() && allow_write.is_empty() && egress.allow.is_empty())
    };
    let any_step = settings
        .steps
        .values()
        .any(|step| step.block().is_some_and(asks) || effective::step_says(step) == Some(Mode::Required));
    asks(&settings.sandbox) || any_step || settings.repos.values().any(|repo| repo.sandbox == Some(Mode::Required))
}

/// The word `provider` in the block of a step that no agent runs.
fn no_agent(key: &str, step: &Step) -> Option<Finding> {
    let says = step.block().is_some_and(|block| matches!(block.egress.inject, Inject::Provider));
    (says && provider::of(step).is_none()).then(|| Finding {
        code: Warning::NoEffect.code(),
        key: format!("{key}.sandbox.egress.inject"),
        what: "no key is injected: provider means what the step's agent takes, and no agent runs this step".into(),
        fix: "list the entries, or remove it".into(),
        ..Finding::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(yaml: &str) -> String {
        let settings = crate::settings::read("k".as_ref(), yaml.as_bytes()).unwrap();
        warnings(&settings).iter().map(|finding| format!("{finding}\n")).collect()
    }

    #[test]
    fn a_step_without_a_sandbox_is_told_where_there_is_one() {
        assert_eq!(told("steps: {s: {run: [x]}}"), "");
        assert_eq!(told("sandbox: {mode: off}\nsteps: {s: {run: [x]}}"), "");
        assert_eq!(told("sandbox: {mode: required}\nsteps: {s: {run: [x]}}"), "");
        insta::assert_snapshot!(told("sandbox: {network: allowlist}\nsteps: {s: {run: [x]}}"), @r"
        W2 steps.s: it runs without a sandbox: sandbox.mode is not set: off is the default (fix: set sandbox: required for it if that is not meant)
        ");
        let per_repo = "repos: {a: {path: /a, sandbox: off}, b: {path: /b, sandbox: required}}\n\
                        steps: {s: {run: [x], repos: [a, b], per_repo: true}}";
        insta::assert_snapshot!(told(per_repo), @r"
        W2 steps.s: repo a: it runs without a sandbox: all active repos say off (fix: set sandbox: required for it if that is not meant)
        ");
    }

    #[test]
    fn settings_without_effect_are_told() {
        let entry = "{name: a, upstream: 'https://a.example', base_url_env: U, key_env: K}";
        let off = format!("sandbox: {{mode: off, egress: {{inject: [{entry}]}}}}\nsteps: {{s: {{run: [x]}}}}");
        assert!(told(&off).contains("and no key is injected"));
        let block = "{mode: required, network: allowlist, egress: {inject: provider}}";
        assert!(
            told(&format!("steps: {{s: {{run: [x], sandbox: {block}}}}}"))
                .starts_with("W5 steps.s.sandbox.egress.inject: ")
        );
        assert_eq!(told(&format!("steps: {{s: {{provider: claude-code, prompt: x, sandbox: {block}}}}}")), "");
    }
}
