//! The key of the user that signs what is imported: a public one of ssh, as git's `user.signingkey` is with `gpg.format=ssh`. Who
//! holds the private one, an agent or the file beside it, is asked by ssh-keygen(1), outside; no step reaches either.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use crate::outcome::{Reason, Refusal};
use crate::process::apart::apart;
use crate::process::command::{self, Bounds};
use crate::process::path;

/// What makes signatures, with OpenSSH 8.2 or newer.
pub const PROGRAM: &str = "ssh-keygen";

/// What tells of an agent's keys.
const AGENT: &str = "ssh-add";

/// Most bytes of a public key, and of a signature.
const MOST: u64 = 64 << 10;

/// For an agent to say which keys it has.
const BOUNDS: Bounds = Bounds { time: Duration::from_secs(10), said: 1 << 20 };

/// Whether it can be expected to sign, as far as that is known before anything is signed.
///
/// # Errors
/// When there is no such key, no program to sign with, or nobody who has the private one.
pub fn check(key: &Path) -> Result<(), Refusal> {
    let cannot = |what: &dyn std::fmt::Display, fix: &str| Refusal {
        fix: Some(fix.into()),
        ..Refusal::new(Reason::CannotSign, format!("{}: {what}", key.display()))
    };
    let named = "name a public key of ssh that is there, such as ~/.ssh/id_ed25519.pub";
    let text = read(key).map_err(|e| cannot(&e, named))?;
    let blob = blob(&text).ok_or_else(|| cannot(&"is no public key of ssh", named))?;
    if path::find(PROGRAM).is_none() {
        return Err(cannot(
            &format!("there is no program {PROGRAM}"),
            "install OpenSSH's client programs, 8.2 or newer",
        ));
    }
    if private(key).is_some_and(|private| File::open(private).is_ok()) || agent_has(blob) {
        return Ok(());
    }
    let fix = "start an ssh-agent, ssh-add the private key, and run kusaw with SSH_AUTH_SOCK set to the agent's socket";
    Err(cannot(&"no ssh-agent holds its private key, and none lies beside it", fix))
}

/// Starts the program that signs what `payload` holds; its stdout is the signature. It gets nothing of a step, and no terminal.
///
/// # Errors
/// When it is not there.
pub fn signing(key: &Path, payload: File, signature: File, complaints: File) -> io::Result<Child> {
    let mut command = program(PROGRAM)?;
    command.args(["-Y", "sign", "-n", "git", "-f"]).arg(key);
    apart(command.stdin(payload).stdout(signature).stderr(complaints)).spawn()
}

/// The signature that was made.
///
/// # Errors
/// When it is none.
pub fn signature(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(MOST).read_to_end(&mut bytes)?;
    let is_whole =
        bytes.starts_with(b"-----BEGIN SSH SIGNATURE-----\n") && bytes.ends_with(b"-----END SSH SIGNATURE-----\n");
    if is_whole { Ok(bytes) } else { Err(io::Error::other(format!("{PROGRAM} made no signature"))) }
}

fn program(name: &str) -> io::Result<Command> {
    let found = path::find(name).ok_or_else(|| io::Error::other(format!("no program {name} in any folder of PATH")))?;
    let mut command = Command::new(found);
    command.env_clear().env("PATH", path::searched()).env("LC_ALL", "C");
    command.envs(["HOME", "SSH_AUTH_SOCK"].iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    Ok(command)
}

fn read(key: &Path) -> io::Result<String> {
    if !fs::metadata(key)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let mut text = String::new();
    File::open(key)?.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

/// The key itself: the second word, sshd(8), AUTHORIZED_KEYS FILE FORMAT.
fn blob(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    let kind = words.next()?;
    let is_kind = ["ssh-", "ecdsa-", "sk-"].iter().any(|begin| kind.starts_with(begin));
    words.next().filter(|blob| is_kind && blob.len() > 16 && !blob.starts_with('-'))
}

/// Where ssh-keygen looks for the private key.
pub fn private(key: &Path) -> Option<PathBuf> {
    (key.extension()? == "pub").then(|| key.with_extension(""))
}

fn agent_has(blob: &str) -> bool {
    let asked = program(AGENT).and_then(|mut add| command::run(apart(add.arg("-L")), None, BOUNDS));
    let listed = asked.ok().and_then(Result::ok).unwrap_or_default();
    String::from_utf8_lossy(&listed).split_whitespace().any(|word| word == blob)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_key_is_told_from_a_private_one() {
        assert_eq!(blob("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 dev@devbox\n"), Some("AAAAC3NzaC1lZDI1NTE5"));
        assert_eq!(blob("sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1"), Some("AAAAGnNrLXNzaC1lZDI1"));
        for bad in ["", "ssh-ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "rsa AAAAC3NzaC1lZDI1NTE5"] {
            assert_eq!(blob(bad), None, "{bad}");
        }
        assert_eq!(private(Path::new("/k/id.pub")), Some("/k/id".into()));
        assert_eq!(private(Path::new("/k/id")), None);
    }

    #[test]
    fn what_is_no_key_is_refused_with_a_fix() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key.pub");
        let told = || check(&key).unwrap_err();
        assert_eq!(told().reason, Reason::CannotSign);
        fs::write(&key, "notes\n").unwrap();
        assert!(told().detail.contains("no public key") && told().fix().contains(".pub"));
    }
}
