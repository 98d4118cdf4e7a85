//! The words of records, and the list in which the factory says that they all are.

use cucumber::{given, then};
use regex::Regex;

use super::StepResult;
use crate::launch::Launch;
use crate::observe;
use crate::plan::Action;
use crate::scene::{Refusal, Scene};
use crate::verdict::ControlKind;

/// How it ends is what is judged.
#[given(regex = r#"^the step does "(.+)"$"#)]
fn does(scene: &mut Scene, command: String) {
    scene.plan.action = Action::Run(command.split(' ').map(str::to_owned).collect());
    scene.refusal = Refusal::Marked;
}

#[then("every word of its record stands in the list")]
fn in_list(scene: &mut Scene) -> StepResult {
    let words = of_record(scene)?;
    let list = list(scene)?;
    let lacking: Vec<&String> = words.iter().filter(|word| !has(list, word)).collect();
    let seen = format!("exit {:?}; the record: {words:?}; not in the list: {lacking:?}", scene.last()?.exit);
    scene.found(!words.is_empty() && lacking.is_empty(), seen);
    Ok(())
}

#[then("planted, a word that no record has is not in the list")]
fn planted(scene: &mut Scene) -> StepResult {
    let words: Vec<String> = of_record(scene)?.iter().map(|word| format!("{word}-of-nobody")).collect();
    let list = list(scene)?;
    let shown = !words.is_empty() && words.iter().all(|word| !has(list, word));
    scene.control(ControlKind::Planted, shown, format!("planted: {words:?}"));
    Ok(())
}

fn of_record(scene: &Scene) -> Result<Vec<String>, String> {
    let outcome = Scene::context()?.manifest.observe.outcome.as_ref().ok_or("it has no outcome")?;
    observe::words(outcome, scene.last()?)
}

fn list(scene: &Scene) -> Result<&Launch, String> {
    scene.answers.first().map(|(_, said)| said).ok_or_else(|| "the list was not asked for".to_owned())
}

/// Whether a word has a place of its own in it: at the beginning of a line, or among others behind a title, with commas. That
/// what explains other words has it too says nothing.
fn has(list: &Launch, word: &str) -> bool {
    let word = regex::escape(word);
    let place = format!(r"(?m)^[\s|*`-]*{word}($|[^\w-])|^[^:\n]+: ([\w-]+, )*{word}(, [\w-]+)*$");
    list.exit == Some(0) && Regex::new(&place).is_ok_and(|place| place.is_match(&list.output()))
}
