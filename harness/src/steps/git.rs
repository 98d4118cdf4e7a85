//! Given, When and Then: work with git inside.

use cucumber::{given, then, when};

use super::StepResult;
use super::writes::folder;
use crate::lab::repository::{self, Kind};
use crate::lab::{HOME, home};
use crate::launch::{Launch, shell};
use crate::plan::Action;
use crate::scene::Scene;
use crate::text;
use crate::verdict::ControlKind;

#[given(regex = r#"^the repository's kind is "(.+)"$"#)]
fn kind(scene: &mut Scene, name: String) -> StepResult {
    let kind = Kind::named(&name).ok_or_else(|| format!("nobody knows the kind of repository \"{name}\""))?;
    let path = repository::provide(&scene.nonce, kind).map_err(|e| format!("a repository, {name}: {e}"))?;
    scene.plan.repository = Some(path.display().to_string());
    scene.config = config(scene);
    Ok(())
}

#[given(regex = r#"^in the repository's config, "(.+)" is "(.*)"$"#)]
fn in_config(scene: &mut Scene, key: String, value: String) -> StepResult {
    let repository = home::repository_of(&scene.nonce, "demo");
    home::git(&repository, &["config", &key, &value]).map_err(|e| format!("{}: {e}", repository.display()))?;
    scene.config = config(scene);
    Ok(())
}

#[given(regex = r#"^the repository's config has no "(.+)"$"#)]
fn not_in_config(scene: &mut Scene, section: String) -> StepResult {
    let repository = home::repository_of(&scene.nonce, "demo");
    home::git(&repository, &["config", "--remove-section", &section])
        .map_err(|e| format!("{}: {e}", repository.display()))
}

#[given(regex = r#"^the repository's git folder has the file "(.+)" with "(.*)"$"#)]
fn in_git_folder(scene: &mut Scene, name: String, text: String) -> StepResult {
    let path = home::repository_of(&scene.nonce, "demo").join(".git").join(name);
    std::fs::write(&path, text.replace("\\n", "\n") + "\n").map_err(|e| format!("{}: {e}", path.display()))
}

/// In a home of the user's own: that of the lab is everybody's.
#[given(regex = r#"(?s)^the user's git config says "(.+)"$"#)]
fn users_config(scene: &mut Scene, text: String) -> StepResult {
    let home = format!("{HOME}/factories/{}/home", scene.nonce);
    let write = || {
        std::fs::create_dir_all(&home)?;
        std::fs::write(format!("{home}/.gitconfig"), text.replace("\\n", "\n") + "\n")
    };
    write().map_err(|e| format!("{home}: {e}"))?;
    scene.plan.home = Some(home);
    Ok(())
}

#[given(regex = r#"^its caller has the variable "(\w+)" with "(.*)"$"#)]
fn callers_variable(scene: &mut Scene, name: String, value: String) -> StepResult {
    let value = scene.expand_text(&value)?;
    scene.plan.variables.push((name, value));
    Ok(())
}

#[when(regex = r#"(?s)^the step works with git: "(.*)"$"#)]
async fn work(scene: &mut Scene, command: String) -> StepResult {
    scene.plan.action = Action::Run(shell(&observed(&scene.expand_text(&command)?)));
    scene.words = command;
    scene.run().await
}

/// The words before what git complains of, and before the code that the command ended with.
const COMPLAINT: &str = "git-complains: ";
const CODE: &str = "git-code: ";
const LOCK: &str = "git-lock: ";

/// The command, up to what fails first; what it writes to stderr is told line by line, then its code, and each lock that is
/// left in the git folders.
fn observed(command: &str) -> String {
    format!(
        "{{ {{ (\nset -e\n{command}\n); echo \"{CODE}$?\"; }} 2>&1 >&3 3>&- | sed 's/^/{COMPLAINT}/' >&3; }} 3>&1\n\
         find $(git rev-parse --git-common-dir --git-dir) -name '*.lock' | sed 's/^/{LOCK}/'"
    )
}

#[then("git ends well, without an error line or a lock")]
fn ends_well(scene: &mut Scene) -> StepResult {
    let ended = Ended::of(scene.last()?);
    scene
        .found(ended.code.as_deref() == Some("0") && ended.errors().is_empty() && ended.locks.is_empty(), ended.told());
    Ok(())
}

/// Deleting a branch, too, takes what config says about it.
#[then("git ends well, without a lock")]
fn ends_well_but(scene: &mut Scene) -> StepResult {
    let ended = Ended::of(scene.last()?);
    scene.found(ended.code.as_deref() == Some("0") && ended.locks.is_empty(), ended.told());
    Ok(())
}

#[then("git fails with an error line, and leaves no lock")]
fn fails(scene: &mut Scene) -> StepResult {
    let ended = Ended::of(scene.last()?);
    let failed = ended.code.as_deref().is_some_and(|code| code != "0");
    scene.found(failed && !ended.errors().is_empty() && ended.locks.is_empty(), ended.told());
    Ok(())
}

#[then("git tells an error, and leaves no lock")]
fn tells(scene: &mut Scene) -> StepResult {
    let ended = Ended::of(scene.last()?);
    scene.found(!ended.errors().is_empty() && ended.locks.is_empty(), ended.told());
    Ok(())
}

/// What became of the git commands of a launch.
struct Ended {
    code: Option<String>,
    complaints: Vec<String>,
    locks: Vec<String>,
}

impl Ended {
    fn of(launch: &Launch) -> Self {
        Self::told_by(&String::from_utf8_lossy(&launch.stdout))
    }

    fn told_by(output: &str) -> Self {
        let all = |word: &str| output.lines().filter_map(|l| l.strip_prefix(word)).map(str::to_owned).collect();
        let codes: Vec<String> = all(CODE);
        Self { code: codes.first().cloned(), complaints: all(COMPLAINT), locks: all(LOCK) }
    }

    /// As git begins them, usage.c of its sources.
    fn errors(&self) -> Vec<&String> {
        let is_error =
            |line: &&String| ["error: ", "fatal: ", "warning: ", "BUG: "].iter().any(|word| line.starts_with(word));
        self.complaints.iter().filter(is_error).collect()
    }

    fn told(&self) -> String {
        let code = self.code.as_deref().unwrap_or("none");
        format!("ended with {code}, said {:?}, locks {:?}", self.complaints, self.locks)
    }
}

#[then("planted, with another text in its place it is not so")]
fn planted_text(scene: &mut Scene) -> StepResult {
    let kept = scene.kept.clone().ok_or("no place was judged")?;
    let path = folder(scene.last()?, kept.repo.as_deref())?.join(&kept.path);
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    let text = std::fs::read(&path).unwrap_or_default();
    std::fs::write(&path, [&text[..], b"and another\n"].concat()).map_err(failed)?;
    let (held, seen) = kept.state.judge(&path);
    scene.control(ControlKind::Planted, !held, format!("planted: {seen}"));
    std::fs::write(&path, text).map_err(failed)
}

#[then("the repository's config is as it was")]
fn config_kept(scene: &mut Scene) -> StepResult {
    let (held, seen) = judge_config(scene);
    scene.found_certain(held, seen);
    Ok(())
}

#[then("bare, in the repository, the same command changes its config")]
async fn bare_config(scene: &mut Scene) -> StepResult {
    let own = home::repository_of(&scene.nonce, "demo").display().to_string();
    let bare =
        scene.bare(&shell(&format!("cd '{own}'\n{}", observed(&scene.expand_text(&scene.words.clone())?)))).await?;
    let (held, seen) = judge_config(scene);
    scene.control(
        ControlKind::Bare,
        !held && bare.unfinished().is_none(),
        format!("bare: {seen}; {}", Ended::of(&bare).told()),
    );
    Ok(())
}

/// Whether the repository's config is as it was, and what it is.
pub fn judge_config(scene: &Scene) -> (bool, String) {
    let now = config(scene);
    (now == scene.config, format!("the config now: {}", text::line(&now, 300)))
}

/// All that git reads as the repository's config; that of some kinds lies elsewhere.
pub fn config(scene: &Scene) -> Vec<u8> {
    let folder = home::repository_of(&scene.nonce, "demo").join(".git");
    ["config", "config.worktree"].iter().flat_map(|name| std::fs::read(folder.join(name)).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_the_lines_that_git_begins_so() {
        let ended = Ended::told_by(
            "git-code: 1\nerror: printed\ngit-complains: error: no\ngit-complains: hint: so\ngit-lock: a.lock\n",
        );
        assert_eq!((ended.code.as_deref(), ended.locks.len()), (Some("1"), 1));
        assert_eq!(ended.errors(), ["error: no"]);
        assert!(Ended::told_by("kusaw-shell: began\n").code.is_none());
    }
}
