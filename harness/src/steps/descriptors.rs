//! Given and Then: the descriptors that a step has from its caller, and what it can do through them.

use cucumber::{given, then};

use super::StepResult;
use super::environment::detail;
use crate::launch::Launch;
use crate::launch::stdio::Files;
use crate::plan::Action;
use crate::scene::Scene;
use crate::verdict::ControlKind;

#[given("the caller has a key and the home open as descriptors")]
fn inherits(scene: &mut Scene) {
    scene.plan.caller.inherits = true;
}

#[then("there is no descriptor above 2")]
fn no_descriptor(scene: &mut Scene) -> StepResult {
    let (above, seen) = descriptors(scene.last()?);
    scene.found(above == Some(0), seen);
    Ok(())
}

#[then("bare, there is a descriptor above 2")]
async fn bare_descriptor(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let (above, seen) = descriptors(&bare);
    scene.control(ControlKind::Bare, above.is_some_and(|n| n > 0), format!("bare: {seen}"));
    Ok(())
}

/// How many descriptors above 2 a probe saw; none if it did not tell.
fn descriptors(launch: &Launch) -> (Option<usize>, String) {
    let seen = detail(launch, "descriptors", "descriptors");
    let numbers: Option<Vec<i64>> = seen.as_array().map(|all| all.iter().filter_map(|d| d["fd"].as_i64()).collect());
    let above = numbers.as_ref().map(|n| n.iter().filter(|n| **n > 2).count());
    (above, format!("descriptors {numbers:?}"))
}

#[given("the caller's input, output and errors are files")]
fn files(scene: &mut Scene) {
    scene.plan.caller.files = true;
}

#[then("the caller's files are as they were but for what was said")]
fn unharmed(scene: &mut Scene) -> StepResult {
    let harm = of(scene.last()?)?.harm();
    let seen = harm.clone().unwrap_or_else(|| format!("unharmed; {}", scene.launches[0].report.summary()));
    scene.found_certain(harm.is_none(), seen);
    Ok(())
}

#[then("bare, the same probe does them harm")]
async fn bare_harms(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let harm = of(&bare)?.harm();
    let shown = harm.is_some() && bare.unfinished().is_none();
    let seen = format!("bare: {harm:?}; {}", bare.report.summary());
    scene.control(ControlKind::Bare, shown, seen);
    Ok(())
}

#[then(regex = r#"^the file of its (output|errors) holds "(.+)"$"#)]
fn said(scene: &mut Scene, stream: String, words: String) -> StepResult {
    let words = scene.expand_text(&words)?;
    let launch = scene.last()?;
    let text = if stream == "output" { &launch.stdout } else { &launch.stderr };
    let (held, seen) = (holds(text, &words), crate::text::line(text, 200));
    scene.found(held, format!("{stream}: {seen}"));
    scene.asked.push(words);
    Ok(())
}

#[then("planted, in the files of an attempt that did nothing none of it stands")]
async fn planted_nothing(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(|plan| plan.action = Action::Run(vec!["/bin/true".to_owned()])).await?;
    let output = launch.output();
    let none = !scene.asked.is_empty() && scene.asked.iter().all(|words| !output.contains(words));
    scene.control(ControlKind::Planted, none && launch.exit == Some(0), format!("planted: {output:?}"));
    Ok(())
}

fn holds(text: &[u8], words: &str) -> bool {
    String::from_utf8_lossy(text).lines().any(|line| line == words)
}

fn of(launch: &Launch) -> Result<&Files, String> {
    launch.files.as_ref().ok_or_else(|| "the caller's descriptors were pipes".to_owned())
}
