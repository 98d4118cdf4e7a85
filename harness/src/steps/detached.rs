//! When and Then: processes that a step leaves behind, attempts that do not want to end, and their neighbours.

use std::time::Duration;

use cucumber::{then, when};

use super::StepResult;
use super::passing::must;
use crate::ending::Ending;
use crate::launch::SHELL;
use crate::living;
use crate::plan::Action;
use crate::scene::{Deaths, Refusal, Scene};
use crate::verdict::ControlKind;

/// What is left behind: it gives signs.
const CHILD: &str = "child='while :; do touch started; sleep 0.02; done'";

/// The step ends when the first sign was given.
const THEN_ENDS: &str = "until [ -e started ]; do sleep 0.01; done\nexit 7";

/// How long a process may outlive its attempt.
const DYING: Duration = Duration::from_secs(5);

/// Several turns of what gives signs.
const SILENT: Duration = Duration::from_millis(200);

/// `$child` gives signs; `$0` stands in the argv of all that is left.
#[when(regex = r#"^the step ends after it has done "(.*)"$"#)]
async fn leaves(scene: &mut Scene, how: String) -> StepResult {
    scene.refusal = Refusal::Marked;
    scene.plan.caller.mute = true; // what it leaves behind may keep the other ends of pipes open
    scene.words = scene.expand_text(&how)?;
    scene.plan.action = Action::Run(left_behind(scene, "."));
    let worktree = scene.next_worktree()?;
    scene.run().await?;
    if scene.launches.is_empty() {
        return Ok(());
    }
    let mark = scene.mark();
    let left = living::gone(|| living::marked(&mark), DYING).await;
    living::end(&left);
    let signs = || std::fs::metadata(worktree.join("started")).and_then(|meta| meta.modified());
    let began = signs().is_ok();
    let last = signs().ok();
    tokio::time::sleep(SILENT).await;
    scene.deaths = Some(Deaths { before: usize::from(began), left, ..Deaths::default() });
    scene.found(began, if began { "it gave signs" } else { "it gave no sign" });
    scene.found(signs().ok() == last, "no sign came afterwards");
    Ok(())
}

fn left_behind(scene: &Scene, folder: &str) -> Vec<String> {
    let text = format!("cd {folder} || exit\n{CHILD}\n{}\n{THEN_ENDS}", scene.words);
    [SHELL, "-c", &text, &scene.mark()].map(str::to_owned).to_vec()
}

#[then("bare, it lives on")]
async fn bare_lives_on(scene: &mut Scene) -> StepResult {
    let folder = scene.factory().join("bare");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let command = left_behind(scene, &folder.display().to_string());
    let bare = scene.bare(&command).await?;
    let left = living::marked(&scene.mark());
    living::end(&left);
    let seen = format!("bare: exit {:?}, {} are left: {}", bare.exit, left.len(), living::told(&left));
    scene.control(ControlKind::Bare, bare.exit == Some(7) && !left.is_empty(), seen);
    Ok(())
}

#[then(regex = r"^it ends within (\d+) s$")]
fn ends_within(scene: &mut Scene, seconds: u64) -> StepResult {
    let ending = Ending::Within(Duration::from_secs(seconds));
    if let Ok(launch) = scene.last() {
        let (held, seen) = ending.judge(launch);
        scene.found_certain(held, seen);
        scene.endings.push(ending);
    }
    Ok(())
}

#[then(regex = r"^it prints (\d+) bytes$")]
fn prints_bytes(scene: &mut Scene, count: usize) -> StepResult {
    must(scene, Ending::Length(count))
}

/// How long a bare command is watched that does not end.
const WATCHED: Duration = Duration::from_millis(700);

#[then("bare, the same command does not end")]
async fn bare_stays(scene: &mut Scene) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.caller.patience = Some(WATCHED);
    let bare = Scene::launcher()?.bare_with(&scene.command()?, &format!("{}-bare", scene.nonce), &plan).await?;
    living::end(&living::marked(&scene.mark()));
    let seen = format!("bare: after {:.1?} ended by force: {}", bare.took, bare.timed_out);
    scene.control(ControlKind::Bare, bare.timed_out, seen);
    Ok(())
}

#[then("planted, an attempt that does not end is noticed")]
async fn planted_stays(scene: &mut Scene) -> StepResult {
    let launch = scene
        .changed(|plan| {
            plan.action = Action::Run(["/bin/sleep", "60"].map(str::to_owned).to_vec());
            plan.caller.patience = Some(WATCHED);
        })
        .await?;
    let (ends, seen) = Ending::Within(WATCHED).judge(&launch);
    scene.control(ControlKind::Planted, !ends && launch.timed_out, format!("planted: {seen}"));
    Ok(())
}

/// How long an attempt with a neighbour is waited for.
const PATIENCE: Duration = Duration::from_secs(12);

/// What the neighbour prints, line by line, while the other is at it.
const NEIGHBOUR: &str = "for n in 1 2 3 4 5 6 7 8 9; do echo $n; sleep 0.05; done; exit 9";

#[when(regex = r#"^beside a neighbour, the step is the script "(.*)"$"#)]
async fn beside_script(scene: &mut Scene, text: String) -> StepResult {
    let text = scene.expand_text(&text)?;
    let mark = scene.mark();
    beside(scene, [SHELL, "-c", &text, &mark].map(str::to_owned).to_vec()).await
}

async fn beside(scene: &mut Scene, command: Vec<String>) -> StepResult {
    scene.refusal = Refusal::Marked;
    scene.endings.clear();
    scene.plan.caller.patience = Some(PATIENCE);
    scene.run_beside([SHELL, "-c", NEIGHBOUR].map(str::to_owned).to_vec(), command).await
}

#[then("the neighbour is as it would be alone")]
fn neighbour(scene: &mut Scene) -> StepResult {
    let Some(launch) = scene.launches.first() else { return Ok(()) }; // it was not asked
    let (printed, output) = Ending::Prints(b"1\n2\n3\n4\n5\n6\n7\n8\n9\n".to_vec()).judge(launch);
    let (ended, code) = Ending::Code(9).judge(launch);
    scene.found(printed && ended, format!("the neighbour {output}, {code}"));
    Ok(())
}
