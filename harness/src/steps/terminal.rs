//! Given and Then: the terminal of a caller, what is done at it, and what it shows.

use std::time::Duration;

use cucumber::{gherkin, given, then};

use super::StepResult;
use super::passing::must;
use crate::caller::{Deed, Terminal};
use crate::ending::{self, Ending};
use crate::host;
use crate::launch::Launch;
use crate::scene::Scene;
use crate::verdict::{Control, ControlKind};

#[given("its caller has a terminal")]
fn terminal(scene: &mut Scene) {
    scene.plan.caller.terminal.get_or_insert_default();
}

#[given("its caller has a terminal, and takes the output by a pipe")]
fn piped(scene: &mut Scene) {
    scene.plan.caller.terminal = Some(Terminal { piped: true, ..Terminal::default() });
}

/// A row: what the terminal must show, and what is done then.
#[given("at its caller's terminal")]
fn deeds(scene: &mut Scene, step: &gherkin::Step) -> StepResult {
    let rows = &step.table.as_ref().ok_or("nothing to be done is written there")?.rows;
    let mut deeds = Vec::new();
    for row in rows.iter().skip(1) {
        let [shown, deed] = row.as_slice() else { return Err("two cells are needed".to_owned()) };
        deeds.push((scene.expand_text(shown)?, Deed::parse(deed)?));
    }
    scene.plan.caller.terminal.get_or_insert_default().deeds = deeds;
    Ok(())
}

#[then(regex = r#"^the terminal shows "(.*)"$"#)]
fn shows(scene: &mut Scene, words: String) -> StepResult {
    let bytes = ending::bytes(&words.replace("{nonce}", &scene.nonce))?;
    must(scene, Ending::Shows(bytes))
}

#[then(regex = r"^it ends within (\d+) s of that$")]
fn ends_soon(scene: &mut Scene, seconds: u64) -> StepResult {
    must(scene, Ending::After(Duration::from_secs(seconds)))
}

#[then("the terminal is set as before")]
fn restored(scene: &mut Scene) -> StepResult {
    must(scene, Ending::Restored)
}

#[then("nothing is typed into the caller's terminal")]
fn nothing_typed(scene: &mut Scene) -> StepResult {
    let Ok(launch) = scene.last() else { return Ok(()) }; // it was not asked
    let typed = typed(launch)?;
    scene.found_certain(typed.is_empty(), format!("typed: {:?}", crate::text::line(&typed, 60)));
    Ok(())
}

#[then("bare, the same probe types into it")]
async fn bare_types(scene: &mut Scene) -> StepResult {
    let command = scene.command()?;
    types_bare(scene, &command).await
}

#[then(regex = r#"^bare, the probe "(.+)" types into it$"#)]
async fn bare_probe_types(scene: &mut Scene, words: String) -> StepResult {
    let command = scene.probe(&words)?;
    types_bare(scene, &command).await
}

/// Some kernels let nobody type so: then the control is moot.
async fn types_bare(scene: &mut Scene, command: &[String]) -> StepResult {
    let bare = scene.bare(command).await?;
    let typed = typed(&bare)?;
    let seen = format!("bare, typed: {:?}; {}", crate::text::line(&typed, 60), bare.report.summary());
    let (shown, moot) = (!typed.is_empty(), host::no_tiocsti());
    scene.controls.push(Control { kind: ControlKind::Bare, shown, seen, moot });
    Ok(())
}

/// What lies in the input of the caller's terminal although nobody has typed it.
fn typed(launch: &Launch) -> Result<Vec<u8>, String> {
    launch.terminal.as_ref().map(|seen| seen.unread.clone()).ok_or_else(|| "there was no terminal".to_owned())
}
