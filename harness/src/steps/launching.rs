//! When: carrying out the plan.

use cucumber::{gherkin, when};

use super::StepResult;
use crate::launch::PROBE_IN_WORKTREE;
use crate::plan::Action;
use crate::scene::Scene;

#[when(regex = r#"^the step runs the probe "(.*)"$"#)]
#[when(regex = r#"^in a second attempt, the step runs the probe "(.*)"$"#)]
async fn probe(scene: &mut Scene, words: String) -> StepResult {
    scene.plan.action = Action::Run(scene.probe(&words));
    scene.run().await
}

#[when("the step runs the probe with the arguments")]
async fn probe_arguments(scene: &mut Scene, step: &gherkin::Step) -> StepResult {
    let row = step.table.as_ref().and_then(|t| t.rows.first()).ok_or("no arguments are written there")?;
    let words = row.iter().map(|word| scene.expand(word));
    scene.plan.action = Action::Run(std::iter::once(PROBE_IN_WORKTREE.to_owned()).chain(words).collect());
    scene.run().await
}

#[when(regex = r#"^the step runs the shell command "(.*)"$"#)]
async fn shell(scene: &mut Scene, command: String) -> StepResult {
    scene.plan.action = Action::Run(scene.shell(&command));
    scene.run().await
}

#[when("the step is run")]
async fn run(scene: &mut Scene) -> StepResult {
    scene.run().await
}

#[when(regex = r"^the step asks for (\d+) different hosts$")]
async fn different_hosts(scene: &mut Scene, count: usize) -> StepResult {
    scene.asked = (1..=count).map(|n| format!("h{n}.many.example")).collect();
    let one = |host: &String| format!("connect --proxy connect {host}:443");
    let words: Vec<String> = scene.asked.iter().map(one).collect();
    scene.plan.action = Action::Run(scene.probe(&words.join(" + ")));
    scene.run().await
}

#[when(regex = r#"^two attempts at the same time ask for "([^"]+)" and "([^"]+)"$"#)]
async fn two_at_once(scene: &mut Scene, left: String, right: String) -> StepResult {
    let launcher = Scene::launcher()?;
    let plan = |host: &str| {
        let mut plan = scene.plan.clone();
        plan.action = Action::Run(scene.probe(&format!("connect --proxy connect --times 5 {host}")));
        plan
    };
    let (first, second) = (plan(&left), plan(&right));
    // Each in a folder of its own: the settings file of one factory cannot hold two plans.
    let (one, two) = (format!("{}l", scene.case), format!("{}r", scene.case));
    let (one, two) = futures::future::join(launcher.launch(&first, &one, 1), launcher.launch(&second, &two, 1)).await;
    scene.launches.extend([one?, two?]);
    Ok(())
}
