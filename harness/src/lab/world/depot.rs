//! A depot of the world: files of a scenario, and its git repositories by git's own `http-backend` (git-http-backend(1)), as
//! package indexes and code hosts serve them. What lies in it, the engine has put there.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::http::Request;
use crate::lab::SUITE;

/// An answer: status line without the version, further headers, body.
pub type Answer = (String, String, Vec<u8>);

/// Where the depot of a scenario lies, in the lab.
pub fn folder(scenario: &str) -> PathBuf {
    Path::new(SUITE).join("depot").join(scenario)
}

/// What a depot answers to a request.
///
/// # Errors
/// When git cannot be started.
pub async fn answer(scenario: u16, request: &Request) -> io::Result<Answer> {
    let folder = folder(&format!("s{scenario}"));
    let (path, query) = request.path().split_once('?').unwrap_or((request.path(), ""));
    if let Some(in_git) = path.strip_prefix("/git/") {
        return by_git(&folder.join("git"), in_git, query, request).await;
    }
    let relative = Path::new(path.trim_start_matches('/'));
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let mut file = folder.join(relative);
    if file.is_dir() {
        file.push("index.html");
    }
    match plain.then(|| std::fs::read(&file)).transpose().ok().flatten() {
        Some(bytes) => Ok(("200 OK".into(), format!("Content-Type: {}\r\n", kind(&file)), bytes)),
        None => Ok(("404 Not Found".into(), String::new(), Vec::new())),
    }
}

/// The media type by the file's name; a package index for npm has none, and is JSON.
fn kind(file: &Path) -> &'static str {
    match file.extension().and_then(|e| e.to_str()) {
        Some("html") => "text/html",
        Some("whl" | "tgz" | "crate") => "application/octet-stream",
        _ => "application/json",
    }
}

async fn by_git(root: &Path, path: &str, query: &str, request: &Request) -> io::Result<Answer> {
    let mut git = Command::new("git");
    git.arg("http-backend").env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    git.env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1").env("REMOTE_USER", "step");
    git.env("PATH_INFO", format!("/{path}")).env("QUERY_STRING", query).env("REQUEST_METHOD", request.method());
    for (name, header) in [
        ("CONTENT_TYPE", "content-type"),
        ("HTTP_CONTENT_ENCODING", "content-encoding"),
        ("GIT_PROTOCOL", "git-protocol"),
    ] {
        if let Some(value) = request.header(header) {
            git.env(name, value);
        }
    }
    git.env("CONTENT_LENGTH", request.body.len().to_string());
    let mut child = git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A backend that has read enough closes its end.
        let _ = stdin.write_all(&request.body).await;
    }
    let said = child.wait_with_output().await?.stdout;
    Ok(of_script(&said))
}

/// The answer of a script (RFC 3875, section 6): headers, one of them perhaps its status, and a body.
fn of_script(said: &[u8]) -> Answer {
    let end = said.windows(4).position(|w| w == b"\r\n\r\n").map_or(said.len(), |at| at + 4);
    let head = String::from_utf8_lossy(&said[..end]);
    let (mut status, mut headers) = ("200 OK".to_owned(), String::new());
    for line in head.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("Status: ") {
            Some(own) => own.clone_into(&mut status),
            None => headers.push_str(&format!("{line}\r\n")),
        }
    }
    (status, headers, said[end..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_says_its_status_or_all_is_well() {
        let fine = of_script(b"Content-Type: x\r\n\r\nbody\r\n\r\n");
        assert_eq!(fine, ("200 OK".into(), "Content-Type: x\r\n".into(), b"body\r\n\r\n".to_vec()));
        assert_eq!(of_script(b"Status: 404 Not Found\r\n\r\n").0, "404 Not Found");
    }
}
