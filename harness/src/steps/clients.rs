//! Real clients inside: what lies in a depot of the world for them (a git repository, packages of three kinds), and what
//! they got.

use std::fs;
use std::path::Path;

use cucumber::{given, then};
use sha2::{Digest, Sha256};
use tokio::process::Command;

use super::StepResult;
use crate::lab::world::depot;
use crate::plan::Action;
use crate::scene::Scene;
use crate::verdict::ControlKind;

/// What every package is called.
const PACKAGE: &str = "demo-package";

#[given(regex = r"^a depot of the world holds a (git repository|Python package|npm package|crate)$")]
async fn holds(scene: &mut Scene, what: String) -> StepResult {
    let (folder, host) = (depot::folder(&scene.nonce), format!("https://{}.depot.test", scene.nonce));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    match what.as_str() {
        "git repository" => git(&folder).await,
        "Python package" => python(&folder).await,
        "npm package" => npm(&folder, &host).await,
        _ => cargo(&folder, &host).await,
    }
}

/// `git/demo.git`: one commit, and it can be pushed to.
async fn git(folder: &Path) -> StepResult {
    sh(
        folder,
        "git init -q -b main work && cd work && echo text > file && git add file &&
         git -c user.name=n -c user.email=n@example -c commit.gpgsign=false commit -q -m one && cd .. &&
         git clone -q --bare work git/demo.git && git -C git/demo.git config http.receivepack true && rm -rf work",
    )
    .await
}

/// `simple/demo-package/`: a page with a link to a wheel (PEP 503).
async fn python(folder: &Path) -> StepResult {
    sh(
        folder,
        "mkdir -p w/demo_package-1.0.dist-info files simple/demo-package && cd w &&
         echo 'text = 1' > demo_package.py && cd demo_package-1.0.dist-info &&
         printf 'Metadata-Version: 2.1\\nName: demo-package\\nVersion: 1.0\\n' > METADATA &&
         printf 'Wheel-Version: 1.0\\nGenerator: lab\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n' > WHEEL &&
         printf 'demo_package.py,,\\ndemo_package-1.0.dist-info/METADATA,,\\ndemo_package-1.0.dist-info/WHEEL,,\\ndemo_package-1.0.dist-info/RECORD,,\\n' > RECORD &&
         cd .. && python3 -m zipfile -c ../files/demo_package-1.0-py3-none-any.whl demo_package.py demo_package-1.0.dist-info/ &&
         cd .. && rm -rf w",
    )
    .await?;
    let page = "<a href=\"/files/demo_package-1.0-py3-none-any.whl\">demo_package-1.0-py3-none-any.whl</a>";
    write(&folder.join("simple/demo-package/index.html"), page)
}

/// `demo-package`: the registry's document about it, which names the archive.
async fn npm(folder: &Path, host: &str) -> StepResult {
    sh(
        folder,
        "mkdir -p p/package files && printf '{\"name\":\"demo-package\",\"version\":\"1.0.0\"}' > p/package/package.json &&
         tar -C p -czf files/demo-package-1.0.0.tgz package && rm -rf p",
    )
    .await?;
    let archive = format!("{host}/files/demo-package-1.0.0.tgz");
    let version = serde_json::json!({"name": PACKAGE, "version": "1.0.0", "dist": {"tarball": archive}});
    let document =
        serde_json::json!({"name": PACKAGE, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}});
    write(&folder.join(PACKAGE), &document.to_string())
}

/// `index/`: a sparse registry (The Cargo Book, Registry Index).
async fn cargo(folder: &Path, host: &str) -> StepResult {
    sh(
        folder,
        "mkdir -p c/demo-package-1.0.0/src files index/de/mo && cd c &&
         printf '[package]\\nname = \"demo-package\"\\nversion = \"1.0.0\"\\nedition = \"2021\"\\n' > demo-package-1.0.0/Cargo.toml &&
         : > demo-package-1.0.0/src/lib.rs && tar -czf ../files/demo-package-1.0.0.crate demo-package-1.0.0 &&
         cd .. && rm -rf c",
    )
    .await?;
    let bytes = fs::read(folder.join("files/demo-package-1.0.0.crate")).map_err(|e| e.to_string())?;
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let line = serde_json::json!({"name": PACKAGE, "vers": "1.0.0", "deps": [], "cksum": digest, "features": {}, "yanked": false});
    let settings = serde_json::json!({"dl": format!("{host}/files/{{crate}}-{{version}}.crate")});
    write(&folder.join("index/config.json"), &settings.to_string())?;
    write(&folder.join("index/de/mo").join(PACKAGE), &format!("{line}\n"))
}

fn write(path: &Path, text: &str) -> StepResult {
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

async fn sh(folder: &Path, script: &str) -> StepResult {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-ec", script]).current_dir(folder).env_clear();
    shell.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", "/nonexistent");
    let ended = shell.output().await.map_err(|e| format!("/bin/sh: {e}"))?;
    let told = String::from_utf8_lossy(&ended.stderr);
    if ended.status.success() { Ok(()) } else { Err(format!("the depot could not be filled: {}", told.trim())) }
}

/// Looked at on the world's side.
#[then(regex = r#"^the depot's git repository has the commit "(.+)"$"#)]
async fn has_commit(scene: &mut Scene, subject: String) -> StepResult {
    let repository = depot::folder(&scene.nonce).join("git/demo.git");
    let mut git = Command::new("git");
    git.arg("-C").arg(&repository).args(["log", "--format=%s", "main"]).env_clear();
    git.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let said = git.output().await.map_err(|e| format!("git: {e}"))?;
    let subjects = String::from_utf8_lossy(&said.stdout).into_owned();
    scene.found(subjects.lines().any(|own| own == subject), format!("commits: {}", subjects.replace('\n', ", ")));
    Ok(())
}

/// What it printed, and that it says itself that all went well.
#[then(regex = r#"^the client gets the answer of the origin "(\w+)"$"#)]
fn client_answered(scene: &mut Scene, name: String) -> StepResult {
    let launch = scene.last()?;
    let held = launch.exit == Some(0) && launch.output().contains(&format!("kusaw-origin:{name}"));
    let seen = format!("exit {:?}: {}", launch.exit, crate::text::line(launch.output().as_bytes(), 300));
    scene.found(held, seen);
    Ok(())
}

#[then(regex = r#"^the client gets "(.+)"$"#)]
fn client_got(scene: &mut Scene, words: String) -> StepResult {
    let launch = scene.last()?;
    let held = launch.exit == Some(0) && launch.output().contains(&words);
    let seen = format!("exit {:?}: {}", launch.exit, crate::text::line(launch.output().as_bytes(), 300));
    scene.found(held, seen);
    Ok(())
}

/// An origin that waits to be told, and a client that does not: then nothing goes on.
#[then(regex = r#"^planted, "(.+)", which never tells, does not get "(.+)"$"#)]
async fn planted_untold(scene: &mut Scene, command: String, words: String) -> StepResult {
    let (command, first) = (scene.shell(&command)?, "data: 1");
    let launch = scene.changed(|plan| plan.action = Action::Run(command)).await?;
    let output = launch.output();
    let shown = output.contains(first) && !output.contains(&words);
    scene.control(ControlKind::Planted, shown, format!("planted: {}", crate::text::line(output.as_bytes(), 300)));
    Ok(())
}
