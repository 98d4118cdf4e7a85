//! A step that waits: it shows in its worktree that it runs, and goes on when it is told to. So the harness can look, or
//! do something, while an attempt certainly runs; nothing depends on how fast anything is.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// The shell command that waits, in the worktree; it touches its sign until then.
pub const WAITS: &str = "until [ -e go ]; do touch started; sleep 0.02; done";

/// The names that it and [`go`] make in the worktree.
pub const MARKS: [&str; 2] = ["started", "go"];

/// From the start of a launch to the first sign; a launch that takes longer is at fault.
const START: Duration = Duration::from_secs(15);

/// A step that shows no life for so long is dead: 100 of its turns, so that a loaded machine does not pass for a death.
const SILENT: Duration = Duration::from_secs(2);

/// Waits for the step's first sign.
///
/// # Errors
/// When there is none in 15 s.
pub async fn first_sign(worktree: &Path) -> Result<(), String> {
    first_sign_unless(worktree, || false).await.map(|_| ())
}

/// The same, and whether there is one before the launch has ended.
///
/// # Errors
/// As [`first_sign`].
pub async fn first_sign_unless(worktree: &Path, ended: impl Fn() -> bool) -> Result<bool, String> {
    let began = Instant::now();
    while std::fs::metadata(worktree.join("started")).is_err() {
        if ended() {
            return Ok(false);
        }
        if began.elapsed() > START {
            return Err(format!("the step gave no sign in {START:?}"));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(true)
}

/// Whether the step gives a sign that much later than now.
pub async fn goes_on(worktree: &Path, time: Duration) -> bool {
    let (began, from) = (Instant::now(), SystemTime::now() + time);
    let later = || std::fs::metadata(worktree.join("started")).and_then(|m| m.modified()).is_ok_and(|at| at > from);
    while !later() && began.elapsed() < time + SILENT {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    later()
}

/// Tells it to go on.
///
/// # Errors
/// When its worktree cannot be written.
pub fn go(worktree: &Path) -> Result<(), String> {
    std::fs::write(worktree.join("go"), "").map_err(|e| format!("{}: {e}", worktree.display()))
}

/// Whether the step gives its last sign within `bound`; told when it has been silent for long enough.
pub async fn last_sign(worktree: &Path, bound: Duration) -> bool {
    let (began, sign) = (Instant::now(), worktree.join("started"));
    let silent = |at: SystemTime| at.elapsed().is_ok_and(|age| age > SILENT);
    let is_silent = || std::fs::metadata(&sign).and_then(|m| m.modified()).is_ok_and(silent);
    while !is_silent() && began.elapsed() < bound + SILENT {
        tokio::time::sleep(SILENT / 40).await;
    }
    is_silent()
}
