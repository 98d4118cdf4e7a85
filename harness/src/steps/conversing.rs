//! When and Then: raw bytes that go to the proxy, and what it answers.

use cucumber::{gherkin, then, when};

use super::StepResult;
use crate::launch::Launch;
use crate::plan::Action;
use crate::probe::Line;
use crate::scene::Scene;
use crate::{raw, text};

/// Each part between lines of `---` is one write. Lines end with CR LF, unless a `\` ends them; escapes are the probe's.
#[when("the step sends the proxy")]
async fn sends(scene: &mut Scene, step: &gherkin::Step) -> StepResult {
    converse(scene, step, &["proxy"]).await
}

#[when("the step sends the proxy, and then no more")]
async fn sends_and_ends(scene: &mut Scene, step: &gherkin::Step) -> StepResult {
    converse(scene, step, &["--eof", "proxy"]).await
}

/// To the local address that a variable holds; `{authority}` and `{base}` are its parts.
#[when(regex = r#"^the step sends its "(\w+)"$"#)]
async fn sends_address(scene: &mut Scene, step: &gherkin::Step, variable: String) -> StepResult {
    converse(scene, step, &[&format!("url:{variable}")]).await
}

/// Whatever is judged afterwards, there must have been somebody to talk to.
async fn converse(scene: &mut Scene, step: &gherkin::Step, options: &[&str]) -> StepResult {
    let text = step.docstring.as_deref().ok_or("nothing to send is written there")?;
    let mut argv = scene.probe("converse")?;
    argv.extend(options.iter().map(|word| (*word).to_owned()));
    argv.extend(words(scene, text)?);
    scene.plan.action = Action::Run(argv);
    scene.run().await?;
    let Ok(launch) = scene.last() else { return Ok(()) }; // it was not asked
    let talked = launch.report.lines.first().is_some_and(|line| line.ok);
    let seen = launch.report.summary();
    scene.found(talked, seen);
    Ok(())
}

/// Writes in the words of the probe.
pub(super) fn words(scene: &Scene, text: &str) -> Result<Vec<String>, String> {
    Ok(raw::writes(&scene.expand_text(text)?)?.iter().map(|write| raw::word(write)).collect())
}

#[then(regex = r#"^it is answered with "([\d ]*)"$"#)]
#[then(regex = r#"^the proxy answers with "([\d ]*)"$"#)]
fn statuses(scene: &mut Scene, wanted: String) -> StepResult {
    let launch = scene.last()?;
    let statuses = statuses_of(launch);
    let seen = format!("answered {statuses:?}: {}", answers(launch));
    scene.found(statuses.join(" ") == wanted, seen);
    Ok(())
}

#[then("the proxy does not let it through")]
fn refused(scene: &mut Scene) -> StepResult {
    let launch = scene.last()?;
    let (statuses, seen) = (statuses_of(launch), answers(launch));
    let hung_up = launch.report.lines.iter().any(|line| line.detail["closed"] == true);
    scene.found_certain(!statuses.iter().any(|status| status.starts_with('2')), format!("{statuses:?}: {seen}"));
    scene.found(!statuses.is_empty() || hung_up, format!("answered {statuses:?}, hung up: {hung_up}"));
    Ok(())
}

#[then(regex = r#"^(an|no) answer has "(.+)"$"#)]
fn answer_has(scene: &mut Scene, which: String, words: String) -> StepResult {
    let words = scene.expand_text(&words)?;
    let launch = scene.last()?;
    let (heard, seen) = (heard(launch), answers(launch));
    let has = heard.iter().any(|answer| answer.contains(&words));
    let is_any = heard.iter().any(|answer| !answer.is_empty());
    scene.found(is_any && has == (which == "an"), format!("has {words:?}: {has}; {seen}"));
    Ok(())
}

fn statuses_of(launch: &Launch) -> Vec<String> {
    let lines = launch.report.lines.iter();
    lines.filter_map(|l| l.detail["statuses"].as_array()).flatten().map(ToString::to_string).collect()
}

/// What came back: of raw bytes with the probe's escapes, of a connection as text.
fn heard<'a>(launch: &'a Launch) -> Vec<&'a str> {
    let of = |l: &'a Line| -> Vec<&'a str> {
        let answers = l.detail["answers"].as_array().into_iter().flatten().filter_map(|answer| answer.as_str());
        answers.chain(l.detail["reply"].as_str()).collect()
    };
    launch.report.lines.iter().flat_map(of).collect()
}

/// What came back, short.
pub(super) fn answers(launch: &Launch) -> String {
    let detail = launch.report.lines.first().map(|l| l.detail.to_string()).unwrap_or_default();
    format!("{}; {}", launch.report.summary(), text::line(detail.as_bytes(), 300))
}
