//! What the factory's commands say of this machine, compared with each other and with what a real launch says.

use cucumber::{then, when};

use super::StepResult;
use crate::lab::fault::Fault;
use crate::launch::Launch;
use crate::observe::{self, Said};
use crate::plan::Plan;
use crate::scene::Scene;
use crate::text::line;
use crate::verdict::ControlKind;

/// The commands that say whether this machine can run the backend, by the manifest's names.
const COMMANDS: [&str; 4] = ["check", "status", "block", "doctor"];

#[when(regex = r#"^its command "(\w+)" is asked(?: whether this machine can run the backend)?$"#)]
async fn asked(scene: &mut Scene, name: String) -> StepResult {
    let plan = scene.plan.clone();
    let said = scene.says(&name, &plan).await?;
    scene.answers = vec![(name, said)];
    Ok(())
}

#[when("each of its commands is asked whether this machine can run the backend")]
async fn each_asked(scene: &mut Scene) -> StepResult {
    let plan = scene.plan.clone();
    scene.answers = all(scene, &plan).await?;
    Ok(())
}

#[then(regex = r"^(?:it|each) says that it (can|cannot, why, and a fix)$")]
fn says(scene: &mut Scene, what: String) -> StepResult {
    let (held, seen) = judged(&scene.answers, &what, None)?;
    scene.found(held, seen);
    Ok(())
}

#[then("each says the reason of the launch, and a fix")]
fn says_reason(scene: &mut Scene) -> StepResult {
    let observation = Scene::context()?.manifest.observe.outcome.as_ref();
    let reason = observation.map(|o| observe::refusal(o, scene.last()?)).transpose()?.flatten();
    let (held, seen) = judged(&scene.answers, CANNOT, reason.as_deref())?;
    scene.found(held && reason.is_some(), format!("the launch: {reason:?}; {seen}"));
    Ok(())
}

#[then(regex = r"^planted, with bubblewrap not on PATH each says that it (cannot, why, and a fix)$")]
async fn planted_each(scene: &mut Scene, what: String) -> StepResult {
    let plan = Plan { fault: Some(Fault::BackendNotOnPath), ..scene.plan.clone() };
    let answers = all(scene, &plan).await?;
    planted(scene, &answers, &what)
}

#[then(regex = r"^planted, without the fault it says that it (can)$")]
async fn planted_without(scene: &mut Scene, what: String) -> StepResult {
    let plan = Plan { fault: None, ..scene.plan.clone() };
    let answers = again(scene, &plan).await?;
    planted(scene, &answers, &what)
}

#[then(regex = r"^planted, with bubblewrap not on PATH it says that it (cannot, why, and a fix)$")]
async fn planted_no_backend(scene: &mut Scene, what: String) -> StepResult {
    let plan = Plan { fault: Some(Fault::BackendNotOnPath), ..scene.plan.clone() };
    let answers = again(scene, &plan).await?;
    planted(scene, &answers, &what)
}

const CANNOT: &str = "cannot, why, and a fix";

fn planted(scene: &mut Scene, answers: &[(String, Launch)], what: &str) -> StepResult {
    let (shown, seen) = judged(answers, what, None)?;
    scene.control(ControlKind::Planted, shown, format!("planted: {seen}"));
    Ok(())
}

/// The commands that were asked, with another plan.
async fn again(scene: &mut Scene, plan: &Plan) -> Result<Vec<(String, Launch)>, String> {
    let names: Vec<String> = scene.answers.iter().map(|(name, _)| name.clone()).collect();
    let mut answers = Vec::new();
    for name in names {
        answers.push((name.clone(), scene.says(&name, plan).await?));
    }
    Ok(answers)
}

/// At the same time: each may take as long as a launch that fails.
async fn all(scene: &mut Scene, plan: &Plan) -> Result<Vec<(String, Launch)>, String> {
    let (launcher, first) = (Scene::launcher()?, scene.attempts + 1);
    scene.attempts += COMMANDS.len() as u32;
    let nonce = scene.nonce.clone();
    let asked = COMMANDS.iter().zip(first..).map(|(name, attempt)| launcher.command(name, plan, &nonce, attempt));
    let said = futures::future::try_join_all(asked).await?;
    Ok(COMMANDS.iter().map(|name| (*name).to_owned()).zip(said).collect())
}

/// Whether every one of them says that it can, or that it cannot and why; with `reason`, why the launch was refused.
fn judged(answers: &[(String, Launch)], what: &str, reason: Option<&str>) -> Result<(bool, String), String> {
    let availability = Scene::context()?.manifest.observe.availability.clone().ok_or("nobody knows how it says so")?;
    let (mut held, mut seen) = (!answers.is_empty(), Vec::new());
    for (name, launch) in answers {
        let output = launch.output();
        let said = observe::said(&availability, &output)?;
        held &=
            is_said(name, launch, &said, what) && reason.is_none_or(|reason| said.reason.as_deref() == Some(reason));
        let Said { yes, reason, fix } = said;
        seen.push(format!(
            "{name}: exit {:?}, yes {yes}, reason {reason:?}, fix {fix:?} ({})",
            launch.exit,
            line(output.as_bytes(), 200)
        ));
    }
    Ok((held, seen.join("; ")))
}

/// Never an exit code of 0 where it cannot; where it can, other commands may have something else to tell.
fn is_said(name: &str, launch: &Launch, said: &Said, what: &str) -> bool {
    match what {
        CANNOT => !said.yes && said.reason.is_some() && said.fix.is_some() && launch.exit.is_some_and(|code| code != 0),
        _ => said.yes && said.reason.is_none() && (name != "check" || launch.exit == Some(0)),
    }
}
