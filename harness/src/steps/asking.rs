//! Given: the settings and the host a scenario asks for.

use cucumber::{gherkin, given, then, when};
use serde_json::{Value, json};

use super::StepResult;
use crate::driver::part::Part;
use crate::lab::fault::Fault;
use crate::lab::home;
use crate::plan::{Action, OTHER, Repo};
use crate::scene::Scene;
use crate::verdict::{Course, Verdict};

#[given("a sandboxed step")]
fn sandboxed(scene: &mut Scene) {
    scene.plan.block().insert("mode".into(), json!("required"));
}

#[given("a factory that never sets sandbox")]
fn never_sets(scene: &mut Scene) {
    scene.plan.sandbox = None;
    scene.plan.watched = true;
}

#[given("the starts of the sandbox program are watched")]
fn watched(scene: &mut Scene) {
    scene.plan.watched = true;
}

#[given(regex = r"^the network is (\w+)$")]
fn network_is(scene: &mut Scene, network: String) {
    scene.plan.block().insert("network".into(), json!(network));
}

#[given(regex = r#"^the host "([^"]+)" is allowed$"#)]
fn allowed(scene: &mut Scene, host: String) -> StepResult {
    let host = scene.expand_text(&host)?;
    scene.plan.allow(&host);
    Ok(())
}

#[given("no host is allowed")]
fn none_allowed(scene: &mut Scene) {
    scene.plan.egress().insert("allow".into(), json!([]));
}

#[given("the sandbox settings")]
fn block(scene: &mut Scene, step: &gherkin::Step) -> StepResult {
    let text = step.docstring.as_deref().ok_or("no settings are written there")?;
    scene.plan.sandbox = Some(value(text)?);
    Ok(())
}

#[given("the sandbox settings are written as")]
fn block_text(scene: &mut Scene, step: &gherkin::Step) -> StepResult {
    scene.plan.sandbox_text = Some(step.docstring.clone().ok_or("no settings are written there")?);
    Ok(())
}

#[given(regex = r#"^a step whose sandbox is "(.*)"$"#)]
fn step_sandbox(scene: &mut Scene, text: String) -> StepResult {
    scene.plan.step_sandbox = if text == "unset" { None } else { Some(value(&text)?) };
    Ok(())
}

#[given(regex = r#"^the step's sandbox is written as "(.*)"$"#)]
fn step_sandbox_text(scene: &mut Scene, text: String) {
    scene.plan.step_sandbox_text = Some(text);
}

#[given(regex = r#"^its active repos have the sandbox "(.*)"$"#)]
fn repos(scene: &mut Scene, words: String) {
    let values: Vec<&str> = if words == "none" { Vec::new() } else { words.split('+').collect() };
    let names = home::REPOSITORY_NAMES;
    let repo =
        |(name, value): (&&str, &str)| -> Repo { ((*name).to_owned(), (value != "unset").then(|| value.to_owned())) };
    scene.plan.repos = names.iter().zip(values).map(repo).collect();
}

/// It stands under `repos:` of the factory, and the step does not name it.
#[given(regex = r#"^a repo that the step does not have says "(\w+)"$"#)]
fn inactive_repo(scene: &mut Scene, word: String) -> StepResult {
    let active: Vec<String> = scene.plan.repos.iter().map(|(name, _)| name.clone()).collect();
    let free = home::REPOSITORY_NAMES.iter().find(|name| active.iter().all(|active| active != *name));
    let free = (*free.ok_or("all repos of the lab are active")?).to_owned();
    scene.plan.step_keys.insert("repos".into(), json!(active));
    scene.plan.repos.push((free, (word != "unset").then_some(word)));
    Ok(())
}

#[given(regex = r#"^the factory's sandbox mode is "(\w+)"$"#)]
fn factory_mode(scene: &mut Scene, mode: String) {
    match mode.as_str() {
        "any" => scene.modes = ["off", "required"].into_iter().map(|m| Some(m.to_owned())).chain([None]).collect(),
        "unset" => {
            scene.plan.block().remove("mode");
        }
        word => {
            scene.plan.block().insert("mode".into(), json!(word));
        }
    }
}

#[given(regex = r#"^the step is run by the provider "([\w-]+)" with the prompt "(.*)"$"#)]
fn run_by(scene: &mut Scene, provider: String, prompt: String) -> StepResult {
    scene.plan.action = Action::Provider(provider, scene.expand_text(&prompt)?);
    Ok(())
}

#[given(regex = r#"^the step's setting "(\w+)" is "(.*)"$"#)]
fn step_key(scene: &mut Scene, key: String, text: String) -> StepResult {
    let value = value(&scene.expand_text(&text)?)?;
    scene.plan.step_keys.insert(key, value);
    Ok(())
}

/// A word a blank, or what stands between single quotes.
#[given(regex = r#"^the step runs "(.+)"$"#)]
fn step_runs(scene: &mut Scene, words: String) {
    scene.plan.action = Action::Run(argv(&words));
}

fn argv(words: &str) -> Vec<String> {
    let parts = words.split('\'').enumerate().filter(|(_, part)| !part.trim().is_empty());
    let words = parts.flat_map(|(n, part)| match n % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    words.map(str::to_owned).collect()
}

#[given(regex = r#"^another step whose sandbox is "(.*)"$"#)]
fn another_step(scene: &mut Scene, text: String) -> StepResult {
    let other = json!({"run": ["/bin/true"], "sandbox": value(&text)?});
    scene.plan.others.insert(OTHER.to_owned(), other);
    Ok(())
}

#[given(regex = r#"^the step that is asked for is called "(.*)"$"#)]
fn asked(scene: &mut Scene, name: String) {
    scene.plan.asked = name;
}

#[given(regex = r"^bubblewrap is not on PATH$")]
fn backend_not_on_path(scene: &mut Scene) {
    scene.plan.fault = Some(Fault::BackendNotOnPath);
}

#[given(regex = r"^bubblewrap cannot be executed$")]
fn backend_not_executable(scene: &mut Scene) {
    scene.plan.fault = Some(Fault::BackendNotExecutable);
}

#[given(regex = r#"^bubblewrap does "(.*)"$"#)]
fn backend_does(scene: &mut Scene, script: String) {
    // In a feature the words of bubblewrap stand between single quotes, and some hold one themselves.
    let text = match script.split_once("echo '") {
        Some((before, rest)) => match rest.rsplit_once("' >&2") {
            Some((words, after)) => {
                format!("{before}echo '{}' >&2{after}", words.replace('\'', "'\\''"))
            }
            None => script,
        },
        None => script,
    };
    scene.plan.fault = Some(Fault::Backend(text));
}

#[given("user namespaces are off")]
fn no_user_namespaces(scene: &mut Scene) {
    scene.plan.fault = Some(Fault::NoUserNamespaces);
}

#[given("network namespaces are off")]
fn no_network_namespaces(scene: &mut Scene) {
    scene.plan.fault = Some(Fault::NoNetworkNamespaces);
}

#[given("a filter of system calls forbids user namespaces")]
fn filtered_namespaces(scene: &mut Scene) {
    scene.plan.fault = Some(Fault::FilteredNamespaces);
}

#[given("a filter of system calls forbids pivot_root")]
fn filtered_pivot_root(scene: &mut Scene) {
    scene.plan.fault = Some(Fault::FilteredPivotRoot);
}

#[given(regex = r#"^what is to be mounted at "(.+)" is missing$"#)]
fn missing_mount(scene: &mut Scene, path: String) -> StepResult {
    scene.plan.fault = Some(super::weakened::fault(scene, "missing", &path)?);
    Ok(())
}

#[given("/proc is masked")]
fn proc_masked(scene: &mut Scene) {
    scene.plan.fault = Some(Fault::ProcMasked);
}

#[given("TMPDIR is not there")]
fn no_temp(scene: &mut Scene) {
    scene.plan.fault = Some(Fault::NoTemp);
}

#[given("the program that it starts inside is missing")]
fn no_program_inside(scene: &mut Scene) -> StepResult {
    let manifest = &Scene::context()?.manifest;
    let own = manifest.program.as_deref().unwrap_or_default();
    let other = manifest.provide.iter().map(Part::name).find(|name| name != own);
    scene.plan.fault = Some(Fault::NoProgram(other.ok_or("the driver has one program only")?));
    Ok(())
}

#[given("the repository is broken")]
fn broken_repository(scene: &mut Scene) -> StepResult {
    let nonce = &scene.nonce;
    let break_it = || {
        home::provide_repositories(nonce)?;
        std::fs::write(home::repository_of(nonce, "demo").join(".git/HEAD"), "no such thing\n")
    };
    break_it().map_err(|e| format!("the repository of {nonce}: {e}"))
}

#[given("no program can listen")]
fn no_listen(scene: &mut Scene) {
    scene.plan.fault = Some(Fault::NoListen);
}

#[given(regex = r"^no more than (\d+) files can be open$")]
fn open_files(scene: &mut Scene, limit: u64) {
    scene.plan.fault = Some(Fault::OpenFiles(limit));
}

#[given(regex = r"^the settings file is (.*)$")]
fn settings_file(scene: &mut Scene, what: String) -> StepResult {
    let repository = |name: &str| home::repository_of(&scene.nonce, name).display().to_string();
    let good = crate::yaml::emit(&scene.plan.settings(repository));
    scene.plan.spoilt = Some(super::settings::spoilt(&what, &good)?);
    Ok(())
}

/// Stands in place of all steps of a scenario that the driver cannot be asked (`features::mark_not_asked`).
#[given(regex = r"^not asked, ([\w-]+): (.*)$")]
#[when(regex = r"^not asked, ([\w-]+): (.*)$")]
#[then(regex = r"^not asked, ([\w-]+): (.*)$")]
fn not_asked(scene: &mut Scene, verdict: String, why: String) {
    let verdict = match verdict.as_str() {
        "not-applicable" => Verdict::NotApplicable,
        "blocked" => Verdict::Blocked,
        "moot" => Verdict::Moot,
        _ => Verdict::NotClaimed,
    };
    scene.course = Course::NotAsked(verdict, why);
}

/// A value written in YAML.
fn value(text: &str) -> Result<Value, String> {
    let options = serde_yaml::options! { strict_booleans: true };
    serde_yaml::from_str_with_options(text, options).map_err(|e| format!("the feature's own YAML: {e}"))
}
