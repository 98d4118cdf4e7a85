//! What the sandbox says that it does not protect from.

use cucumber::{then, when};

use super::StepResult;
use crate::launch::Launch;
use crate::scene::Scene;
use crate::text::line;
use crate::verdict::ControlKind;

#[when("it is asked what it does not protect from")]
async fn asked(scene: &mut Scene) -> StepResult {
    scene.said = Some(scene.check(true).await?);
    Ok(())
}

#[then(regex = r#"^it says "(.+)"$"#)]
fn says(scene: &mut Scene, words: String) -> StepResult {
    let said = scene.said.as_ref().ok_or("nothing was asked")?;
    let (held, seen) = (has_line(said, &words), format!("exit {:?}; {}", said.exit, line(&said.stdout, 600)));
    scene.found(held, seen);
    scene.words = words;
    Ok(())
}

#[then("planted, without --verbose it does not say it")]
async fn planted_terse(scene: &mut Scene) -> StepResult {
    let terse = scene.check(false).await?;
    let shown = terse.exit == Some(0) && !has_line(&terse, &scene.words);
    scene.control(ControlKind::Planted, shown, format!("planted: exit {:?}; {}", terse.exit, line(&terse.stdout, 200)));
    Ok(())
}

/// Whether one of its lines begins so, behind the sign of a list.
fn has_line(launch: &Launch, words: &str) -> bool {
    launch.output().lines().any(|line| line.trim_start_matches("- ").starts_with(words))
}
