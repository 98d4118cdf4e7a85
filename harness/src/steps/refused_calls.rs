//! System calls that a step may not make, whatever the kernel would have answered.

use cucumber::then;

use super::StepResult;
use crate::host;
use crate::launch::Launch;
use crate::scene::Scene;
use crate::verdict::{Control, ControlKind};

#[then(regex = r#"^it is refused with "(E\w+)"$"#)]
fn refused_with(scene: &mut Scene, errno: String) -> StepResult {
    let (all, seen) = answers(scene.last()?, |answer| answer == Some(&errno));
    scene.found(all, seen);
    scene.searched = Some(errno);
    Ok(())
}

/// Where the call could not succeed anyway, another answer shows that it came to the one that was asked.
#[then("bare, the same probe is answered otherwise")]
async fn bare_otherwise(scene: &mut Scene) -> StepResult {
    let errno = scene.searched.clone().ok_or("nothing was refused")?;
    let bare = scene.bare(&scene.command()?).await?;
    let (all, seen) = answers(&bare, |answer| answer != Some(&errno));
    scene.control(ControlKind::Bare, all && bare.unfinished().is_none(), format!("bare: {seen}"));
    Ok(())
}

#[then("bare, the same probe makes one, if the kernel has them")]
async fn bare_makes(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let (shown, seen) = answers(&bare, |answer| answer.is_none());
    let lacks = |answer: Option<&String>| answer.is_some_and(|errno| LACKING.contains(&errno.as_str()));
    let moot = answers(&bare, lacks)
        .0
        .then(|| format!("this kernel does not have it: {seen}"))
        .or_else(|| bare.report.lines.iter().find(|l| l.action == "io-uring").and_then(|_| host::no_io_uring()));
    scene.controls.push(Control { kind: ControlKind::Bare, shown, seen: format!("bare: {seen}"), moot });
    Ok(())
}

/// What a kernel without a family of sockets, or without a system call, answers: socket(2), syscalls(2).
const LACKING: [&str; 2] = ["EAFNOSUPPORT", "ENOSYS"];

/// Whether all answers of the probe are so; none = the call succeeded.
fn answers(launch: &Launch, is: impl Fn(Option<&String>) -> bool) -> (bool, String) {
    let lines = &launch.report.lines;
    (!lines.is_empty() && lines.iter().all(|line| is(line.errno.as_ref())), launch.report.summary())
}
