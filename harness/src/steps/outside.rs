//! Then: what git on the host says about an attempt's worktree and its branch.

use cucumber::then;

use super::StepResult;
use super::writes::folder;
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
    let (mut shown, mut told) = (false, Vec::new());
    for (repo, one) in &outside {
        let worktree = folder(&launch, Some(repo))?;
        let (held, seen) = one.judge(&worktree).await?;
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
