//! Settings files in which one thing is wrong, at a place that is known, and what the factory says about it.

use cucumber::{given, then};

use super::StepResult;
use super::secrets::{secret, told};
use crate::launch::Launch;
use crate::plan::Spoilt;
use crate::scene::{Refusal, Scene};
use crate::verdict::ControlKind;

/// What a step of these files ends with.
const RAN: i32 = 37;

/// In place of it stands what is wrong, or right. `↵` is the end of a line, `RUN` what a step runs.
const PLACE: char = '@';

#[given(regex = r#"^the settings are "(.*)" with "(.*)" there$"#)]
fn settings(scene: &mut Scene, text: String, wrong: String) -> StepResult {
    if text.matches(PLACE).count() != 1 {
        return Err(format!("{PLACE} stands once in settings that are wrong"));
    }
    scene.words = text;
    scene.other_words = scene.expand_text(&wrong)?;
    scene.plan.spoilt = Some(file(&scene.words, &scene.other_words));
    scene.refusal = Refusal::Marked;
    Ok(())
}

#[then(regex = r#"^it says the file, the place, the line, the key "(.*)" and "(.*)"$"#)]
fn says(scene: &mut Scene, key: String, fix: String) -> StepResult {
    let (line, column) = place(&scene.words);
    says_all(scene, (line, column), &key, &fix)
}

/// Where the place is another one than that of what is wrong.
#[then(regex = r#"^it says the file, the place (\d+):(\d+), the line, the key "(.*)" and "(.*)"$"#)]
fn says_at(scene: &mut Scene, line: usize, column: usize, key: String, fix: String) -> StepResult {
    says_all(scene, (line, column), &key, &fix)
}

fn says_all(scene: &mut Scene, (line, column): (usize, usize), key: &str, fix: &str) -> StepResult {
    let manifest = &Scene::context()?.manifest;
    let path = manifest.settings_file.as_deref().ok_or("the driver does not read the documentation's YAML")?;
    let launch = scene.last()?;
    let place = format!("{}:{line}:{column}: ", launch.templates.render(path)?);
    let text = whole(&scene.words, &scene.other_words);
    let of_file = text.lines().nth(line - 1).unwrap_or_default().trim().to_owned();
    let said = launch.output();
    let lacks = |what: &&str| !said.contains(*what);
    let missing: Vec<&str> = [place.as_str(), &of_file, key, fix].into_iter().filter(lacks).collect();
    let (held, seen) = (missing.is_empty(), format!("missing: {missing:?}; {}", told(launch)));
    scene.found(held, seen);
    Ok(())
}

#[then(regex = r"^nothing was executed$")]
fn nothing(scene: &mut Scene) -> StepResult {
    let launch = scene.last()?;
    let (held, seen) = (launch.exit != Some(RAN), told(launch));
    scene.found_certain(held, seen);
    Ok(())
}

#[then(regex = r#"^it takes less than (\d+) seconds$"#)]
fn takes(scene: &mut Scene, seconds: u64) -> StepResult {
    let took = scene.last()?.took;
    scene.found(took.as_secs() < seconds, format!("it took {took:.1?}"));
    Ok(())
}

#[then(regex = r#"^planted, with "(.*)" there it is run$"#)]
async fn planted_right(scene: &mut Scene, right: String) -> StepResult {
    let launch = with(scene, &right).await?;
    scene.control(ControlKind::Planted, launch.exit == Some(RAN), format!("with {right:?}: {}", told(&launch)));
    Ok(())
}

/// The line is shown: but for the secret, which is therefore left out on purpose.
#[then(regex = r#"^planted, with "(.*)" there that is printed$"#)]
async fn planted_printed(scene: &mut Scene, other: String) -> StepResult {
    let launch = with(scene, &other).await?;
    let shown = launch.output().contains(&other) && secret(&launch).is_none();
    scene.control(ControlKind::Planted, shown, format!("with {other:?}: {}", told(&launch)));
    Ok(())
}

async fn with(scene: &mut Scene, words: &str) -> Result<Launch, String> {
    let spoilt = file(&scene.words, &scene.expand_text(words)?);
    scene.changed(|plan| plan.spoilt = Some(spoilt)).await
}

fn file(text: &str, words: &str) -> Spoilt {
    Spoilt::Bytes(whole(text, words).into_bytes())
}

fn whole(text: &str, words: &str) -> String {
    let lines = text.replace('↵', "\n").replace("RUN", "run: [sh, -c, exit 37]");
    lines.replace(PLACE, &words.replace('↵', "\n")) + "\n"
}

/// Line and column, from 1, of what is wrong.
fn place(text: &str) -> (usize, usize) {
    let whole = whole(text, &PLACE.to_string());
    let before: String = whole.chars().take_while(|c| *c != PLACE).collect();
    let line = before.matches('\n').count() + 1;
    (line, before.chars().rev().take_while(|c| *c != '\n').count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_that_of_what_is_wrong() {
        assert_eq!(place("a: 1↵größe: @"), (2, 8));
        assert_eq!(whole("s: {RUN, @}", "x: 1"), "s: {run: [sh, -c, exit 37], x: 1}\n");
    }
}
