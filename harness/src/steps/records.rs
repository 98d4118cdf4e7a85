//! Then: what a factory does with names that a step has put in place of its own. The controls do what a careless factory
//! would.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cucumber::then;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::StepResult;
use super::secrets::token;
use super::writes::{on_the_host, victim_as_it_was};
use crate::lab::HOME;
use crate::scene::Scene;
use crate::verdict::ControlKind;

/// How long a careless factory is watched before it counts as waiting for ever.
const WATCHED: Duration = Duration::from_secs(1);

#[then("the attempts have ended")]
fn ended(scene: &mut Scene) {
    let slow: Vec<String> = scene.launches.iter().filter(|l| l.timed_out).map(|l| l.argv.join(" ")).collect();
    let took: Vec<Duration> = scene.launches.iter().map(|l| l.took).collect();
    scene.found_certain(slow.is_empty(), format!("ended after {took:.1?}; not: {slow:?}"));
}

#[then("planted, whoever follows such a link changes the user's file")]
fn planted_follows(scene: &mut Scene) -> StepResult {
    let victim = scene.victim.clone().ok_or("the user has no file")?;
    follow(scene, &victim)?;
    let (held, seen) = victim_as_it_was(scene)?;
    scene.control(ControlKind::Planted, !held, format!("planted: {seen}"));
    Ok(())
}

#[then("planted, whoever follows such a link makes it")]
fn planted_makes(scene: &mut Scene) -> StepResult {
    let name = scene.searched.clone().ok_or("no name was searched for")?;
    follow(scene, &Path::new(HOME).join(&name))?;
    let found = on_the_host(&name);
    scene.control(ControlKind::Planted, !found.is_empty(), format!("planted: {found:?}"));
    Ok(())
}

/// Appends a line as to a log, through a link to `target`.
fn follow(scene: &Scene, target: &Path) -> StepResult {
    let link = place(scene)?.join("link");
    let write = || {
        symlink(target, &link)?;
        OpenOptions::new().append(true).create(true).open(&link)?.write_all(b"blocked\n")
    };
    write().map_err(|e| format!("{}: {e}", link.display()))
}

#[then("planted, a plain write to such a folder fails")]
fn planted_folder(scene: &mut Scene) -> StepResult {
    let path = place(scene)?.join("record");
    fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let opened = OpenOptions::new().append(true).open(&path);
    scene.control(ControlKind::Planted, opened.is_err(), format!("planted: {opened:?}"));
    Ok(())
}

#[then("planted, a plain write to such a pipe does not end within a second")]
async fn planted_write(scene: &mut Scene) -> StepResult {
    planted_wait(scene, |path| OpenOptions::new().append(true).open(path)).await
}

#[then("planted, a plain read of such a pipe does not end within a second")]
async fn planted_read(scene: &mut Scene) -> StepResult {
    planted_wait(scene, |path| File::open(path)).await
}

async fn planted_wait(scene: &mut Scene, open: fn(&Path) -> io::Result<File>) -> StepResult {
    let path = place(scene)?.join("record");
    mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).map_err(|e| format!("{}: {e}", path.display()))?;
    let seen = watched(path, open).await?;
    scene.control(ControlKind::Planted, seen.is_none(), format!("planted: ended with {seen:?}"));
    Ok(())
}

/// What opening came to; none if it still waits after a while. Then the other end is opened, so that nobody waits for ever.
async fn watched(path: PathBuf, open: fn(&Path) -> io::Result<File>) -> Result<Option<io::Result<()>>, String> {
    let own = path.clone();
    let mut task = tokio::task::spawn_blocking(move || open(&own).map(drop));
    let broken = |e: tokio::task::JoinError| e.to_string();
    if let Ok(ended) = tokio::time::timeout(WATCHED, &mut task).await {
        return ended.map(Some).map_err(broken);
    }
    // Reading and writing at once never waits for the other end of a pipe (fifo(7)).
    let told = |e: io::Error| format!("{}: {e}", path.display());
    let both = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(&path).map_err(told)?;
    let released = task.await.map_err(broken)?;
    drop(both);
    released.map(|()| None).map_err(told)
}

#[then("no secret stands in a file of the attempt's folder")]
fn no_secret_stands(scene: &mut Scene) -> StepResult {
    let folder = attempt_folder(scene)?;
    let found = holding_a_secret(&folder);
    scene.found_certain(found.is_empty(), format!("in {}: {found:?}", folder.display()));
    Ok(())
}

#[then("planted, a copy of what such a link leads to is noticed")]
fn planted_copy(scene: &mut Scene) -> StepResult {
    let folder = attempt_folder(scene)?;
    let secret = Path::new(HOME).join(".ssh/id_ed25519");
    let copy = folder.join("planted");
    let link = place(scene)?.join("link");
    let copied = symlink(secret, &link).and_then(|()| fs::copy(&link, &copy));
    copied.map_err(|e| format!("{}: {e}", copy.display()))?;
    let found = holding_a_secret(&folder);
    scene.control(ControlKind::Planted, found == [copy], format!("planted: {found:?}"));
    Ok(())
}

fn attempt_folder(scene: &Scene) -> Result<PathBuf, String> {
    let folder = scene.last()?.templates.render("{{attempt_dir}}").map(PathBuf::from)?;
    if folder.is_dir() { Ok(folder) } else { Err(format!("observe.attempt_dir: {} is no folder", folder.display())) }
}

/// Regular files below a folder with a token in them; links are not followed.
fn holding_a_secret(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    let text = fs::read(entry.path()).unwrap_or_default();
                    found.extend(token(&String::from_utf8_lossy(&text)).map(|_| entry.path()));
                }
                _ => {}
            }
        }
    }
    found
}

/// A folder of this scenario for what its control makes.
fn place(scene: &Scene) -> Result<PathBuf, String> {
    let folder = Path::new(HOME).join("factories").join(&scene.nonce).join("planted");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder)
}
