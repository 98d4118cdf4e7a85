//! Then: what git on the host says about an attempt's worktree and its branch.

use std::path::PathBuf;

use cucumber::then;

use super::StepResult;
use super::writes::folder;
use crate::lab::home;
use crate::outside::Outside;
use crate::plan::Action;
use crate::scene::Scene;
use crate::verdict::ControlKind;

#[then(regex = r#"(?s)^outside, its branch has the commits? "(.*)"$"#)]
async fn commits(scene: &mut Scene, subjects: String) -> StepResult {
    let subjects = subjects.split("; ").map(str::to_owned).collect();
    judge(scene, "demo", Outside::Commits(subjects)).await
}

#[then(regex = r#"(?s)^outside, the branch of "(\w+)" has the commits? "(.*)"$"#)]
async fn commits_of(scene: &mut Scene, repo: String, subjects: String) -> StepResult {
    let subjects = subjects.split("; ").map(str::to_owned).collect();
    judge(scene, &repo, Outside::Commits(subjects)).await
}

#[then(regex = r#"(?s)^outside, git "(.*)" prints "(.*)"$"#)]
async fn prints(scene: &mut Scene, command: String, text: String) -> StepResult {
    let command = command.split_whitespace().map(str::to_owned).collect();
    judge(scene, "demo", Outside::Prints(command, text.replace("\\n", "\n").replace("\\t", "\t"))).await
}

#[then("outside, the repository is whole")]
async fn whole(scene: &mut Scene) -> StepResult {
    judge(scene, "demo", Outside::Whole).await
}

#[then("planted, in the worktree of an attempt that did nothing git says otherwise")]
async fn planted(scene: &mut Scene) -> StepResult {
    let outside = std::mem::take(&mut scene.outside);
    let launch = scene.changed(|plan| plan.action = Action::Run(vec!["/bin/true".to_owned()])).await?;
    let worktrees = outside.iter().map(|(repo, _)| folder(&launch, Some(repo))).collect::<Result<Vec<_>, _>>()?;
    says_otherwise(scene, &outside, &worktrees).await
}

/// Nothing was done there.
#[then("planted, in the repository's own worktree git says otherwise")]
async fn planted_in_own(scene: &mut Scene) -> StepResult {
    let outside = std::mem::take(&mut scene.outside);
    let own: Vec<_> = outside.iter().map(|(repo, _)| home::repository_of(&scene.nonce, repo)).collect();
    says_otherwise(scene, &outside, &own).await
}

/// Whether what was judged is not so, all in all, where nothing was done.
async fn says_otherwise(scene: &mut Scene, outside: &[(String, Outside)], worktrees: &[PathBuf]) -> StepResult {
    let (mut shown, mut told) = (false, Vec::new());
    for ((_, one), worktree) in outside.iter().zip(worktrees) {
        let (held, seen) = one.judge(worktree).await?;
        shown |= !held && worktree.is_dir();
        told.push(seen);
    }
    scene.control(ControlKind::Planted, shown, format!("planted: {}", told.join("; ")));
    Ok(())
}

/// Judges what was launched last, and keeps how it was judged.
async fn judge(scene: &mut Scene, repo: &str, outside: Outside) -> StepResult {
    let (held, seen) = outside.judge(&folder(scene.last()?, Some(repo))?).await?;
    scene.found(held, seen);
    scene.outside.push((repo.to_owned(), outside));
    Ok(())
}
