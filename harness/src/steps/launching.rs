//! When: carrying out the plan.

use cucumber::{gherkin, when};

use super::StepResult;
use crate::launch::PROBE_IN_WORKTREE;
use crate::plan::Action;
use crate::scene::Scene;
use crate::waiting::WAITS;

#[when(regex = r#"^the step runs the probe "(.*)"$"#)]
#[when(regex = r#"^in a second attempt, the step runs the probe "(.*)"$"#)]
async fn probe(scene: &mut Scene, words: String) -> StepResult {
    scene.plan.action = Action::Run(scene.probe(&words)?);
    scene.run().await
}

#[when("the step runs the probe with the arguments")]
async fn probe_arguments(scene: &mut Scene, step: &gherkin::Step) -> StepResult {
    let row = step.table.as_ref().and_then(|t| t.rows.first()).ok_or("no arguments are written there")?;
    let words = row.iter().map(|word| scene.expand(word));
    let argv = std::iter::once(Ok(PROBE_IN_WORKTREE.to_owned())).chain(words).collect::<Result<_, String>>()?;
    scene.plan.action = Action::Run(argv);
    scene.run().await
}

#[when(regex = r#"(?s)^the step runs the shell command "(.*)"$"#)]
async fn shell(scene: &mut Scene, command: String) -> StepResult {
    scene.plan.action = Action::Run(scene.shell(&command)?);
    scene.words = command;
    scene.run().await
}

#[when(regex = r#"^while an attempt that has done "(.*)" waits, another runs "(.*)"$"#)]
async fn shell_while(scene: &mut Scene, first: String, second: String) -> StepResult {
    let (one, other) = (scene.shell(&format!("{first}\n{WAITS}"))?, scene.shell(&second)?);
    (scene.words, scene.other_words) = (first, second);
    scene.run_while(one, other).await
}

#[when("the step is run")]
#[when("in a second attempt, the step is run")]
async fn run(scene: &mut Scene) -> StepResult {
    scene.run().await
}

#[when(regex = r"^the step asks for (\d+) different hosts$")]
async fn different_hosts(scene: &mut Scene, count: usize) -> StepResult {
    scene.asked = (1..=count).map(|n| format!("h{n}.many.example")).collect();
    let one = |host: &String| format!("connect --proxy connect {host}:443");
    let words: Vec<String> = scene.asked.iter().map(one).collect();
    scene.plan.action = Action::Run(scene.probe(&words.join(" + "))?);
    scene.run().await
}

#[when(regex = r#"^two attempts of one factory at the same time ask for "([^"]+)" and "([^"]+)"$"#)]
async fn two_at_once(scene: &mut Scene, first: String, second: String) -> StepResult {
    let probe = |host: &str| scene.probe(&format!("connect --proxy connect --times 5 {host}"));
    let (one, other) = (probe(&first)?, probe(&second)?);
    scene.run_beside(one, other).await
}
