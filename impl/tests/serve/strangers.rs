//! Who does not belong to the factory, or does not speak as it should: refused, and nobody else notices.

use std::fs;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use serde_json::Value;

use super::factory::{Factory, factory, settings, wait_until};
use super::{Serve, WAITS, asks, run, serving, start, status};

#[test]
fn the_socket_is_not_to_be_found_inside() {
    let factory = factory("", "");
    let looks =
        "ls -A .. ../../.. >/dev/null; cd ../../../..; ls -A . attempts/.serve; test -e serve.sock || echo nothing";
    settings(&factory, "sandbox: {mode: required, allow_read: [.]}", looks);
    fs::write(factory.path().join("seen"), "").unwrap();
    for served in [false, true] {
        // Also where it is made only while the step is at work.
        let _serve = served.then(|| Serve::of(&factory));
        let id = if served { "served" } else { "alone" };
        let output = run(&factory, id);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("seen") && said.ends_with("attempts/.serve:\nnothing\n"), "{output:?}");
    }
    for entry in ["./attempts/.serve", "./serve.sock"] {
        let _serve = Serve::of(&factory);
        settings(&factory, &format!("sandbox: {{mode: required, allow_read: [{entry}]}}"), looks);
        let output = run(&factory, &format!("named{}", entry.len()));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(125) && said.contains("protected-path"), "{output:?}");
    }
}

#[test]
fn whoever_is_in_a_namespace_of_processes_of_its_own_is_refused() {
    let factory = factory("", "");
    let _serve = Serve::of(&factory);
    let mut inside = Command::new("unshare");
    inside.args(["--user", "--map-current-user", "--pid", "--fork", "--mount-proc"]);
    inside.arg(env!("CARGO_BIN_EXE_kusaw")).arg("--factory").arg(factory.path()).args(["service", "status", "--json"]);
    let output = inside.output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["serve"]["running"], false, "{output:?}");
    assert!(report["serve"]["problem"].as_str().unwrap().contains("inside a sandbox"), "{output:?}");
    assert_eq!(status(&factory).0, Some(0));
}

fn socket(factory: &Factory) -> PathBuf {
    factory.path().join("serve.sock")
}

fn message(object: &str) -> Vec<u8> {
    [&(object.len() as u32).to_le_bytes(), object.as_bytes()].concat()
}

/// What is answered until the end.
fn answered(mut stream: UnixStream) -> String {
    let mut all = Vec::new();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // A reset is an end as well.
    let _ = stream.read_to_end(&mut all);
    String::from_utf8_lossy(all.get(4..).unwrap_or_default()).into_owned()
}

fn descriptors(serve: &Serve) -> usize {
    fs::read_dir(format!("/proc/{}/fd", serve.0.id())).unwrap().count()
}

#[test]
fn garbage_is_refused_and_holds_up_nobody() {
    let factory = factory("", "");
    serving(&factory, &(asks("blocked.example:80") + WAITS + "; " + &asks("other.example:80")));
    let serve = Serve::of(&factory);
    let before = descriptors(&serve);
    let (going_on, mut out) = start(&factory, "a");
    let attempt = r#"{"protocol":1,"ask":"attempt","attempt":"x","grant":{"entries":[]}}"#;
    for (bytes, refusal) in [
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "too large"),
        (vec![0xff; 100_000], "too large"),
        (message(""), "no message of kusaw"),
        (message("[1"), "no message of kusaw"),
        (message(&"[".repeat(100_000)), "no message of kusaw"),
        (message(r#"{"protocol":1,"ask":"other"}"#), "no message of kusaw"),
        (message(r#"{"protocol":99,"ask":"attempt"}"#), "it speaks protocol 99"),
        (message(r#"{"protocol":1,"ask":"end"}"#), "no attempt has begun"),
        (message(attempt), "the records did not come along"),
        (message(&attempt.replace("\"x\"", "\"../x\"")), "no attempt id"),
        (message(&attempt.replace("[]", "[\"a b\"]")), "no message of kusaw"),
    ] {
        let mut stream = UnixStream::connect(socket(&factory)).unwrap();
        let _ = stream.write_all(&bytes);
        let said = answered(stream);
        assert!(said.contains("refused") && said.contains(refusal), "{refusal}: {said}");
    }
    let (file, null) = (tempfile::tempfile().unwrap(), fs::File::open("/dev/null").unwrap());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    for (fds, refusal) in [
        (vec![file.as_raw_fd(); 3], "does not listen"),
        (vec![file.as_raw_fd(), file.as_raw_fd(), listener.as_raw_fd()], "no file for appending"),
        (vec![null.as_raw_fd(); 2], "no file for appending"),
        (vec![listener.as_raw_fd(); 253], "too many descriptors"),
    ] {
        let stream = UnixStream::connect(socket(&factory)).unwrap();
        let (bytes, rights) = (message(attempt), [ControlMessage::ScmRights(&fds)]);
        let slices = [std::io::IoSlice::new(&bytes)];
        sendmsg::<()>(stream.as_raw_fd(), &slices, &rights, MsgFlags::empty(), None).unwrap();
        let said = answered(stream);
        assert!(said.contains("refused") && said.contains(refusal), "{refusal}: {said}");
    }
    // Slow ones, silent ones, and one that goes in the middle of a word.
    let silent: Vec<UnixStream> = (0..100).map(|_| UnixStream::connect(socket(&factory)).unwrap()).collect();
    for mut stream in &silent[..50] {
        stream.write_all(&message(attempt)[..20]).unwrap();
    }
    assert_eq!(status(&factory).1["serve"]["attempts"], 1);
    fs::write(factory.attempt().join("artifacts/go"), "").unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "went on\n403\n");
    going_on.wait_with_output().unwrap();
    // Each is let go in its time, though it stays.
    wait_until(|| descriptors(&serve) == before);
    drop(silent);
}

/// Another version is not passed over in silence: it may have attempts that this one knows nothing of.
#[test]
fn a_serve_of_another_version_is_refused_with_the_fix() {
    let factory = factory("", "");
    serving(&factory, "touch ../../artifacts/executed");
    let folder = factory.path().join("attempts/.serve");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let listener = UnixListener::bind(folder.join("serve.sock")).unwrap();
    let answers =
        [r#"{"protocol":2,"answer":"hello"}"#, r#"{"protocol":1,"answer":"ended","error":null}"#, "garbage", ""];
    let other = thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut some = [0; 4096];
            let _ = stream.read(&mut some).unwrap();
            if !answer.is_empty() {
                stream.write_all(&message(answer)).unwrap();
            }
        }
    });
    for (n, said) in ["it speaks protocol 2, and this kusaw 1", "it said Ended", "no message", ""].iter().enumerate() {
        let output = run(&factory, &format!("a{n}"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(125) && stderr.contains("serve-refused") && stderr.contains(said),
            "{output:?}"
        );
        assert!(stderr.contains("fix: end that `kusaw serve`"), "{stderr}");
        assert!(!factory.path().join(format!("attempts/a{n}/artifacts/executed")).exists());
    }
    other.join().unwrap();
    assert_eq!(run(&factory, "alone").status.code(), Some(0), "what is dead is no serve");
}

/// Only root can be another user.
#[test]
fn another_user_is_refused_on_both_sides() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    const OTHER: libc::uid_t = 54321; // nobody's
    let factory = factory("", "");
    serving(&factory, "");
    let serve = Serve::of(&factory);
    let folder = factory.path().join("attempts/.serve");
    let open = |mode| {
        for place in folder.ancestors().take(4) {
            fs::set_permissions(place, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    open(0o755);
    fs::set_permissions(folder.join("serve.sock"), fs::Permissions::from_mode(0o666)).unwrap();
    let path = socket(&factory);
    // One that asks, one that announces more than it says, and one that says nothing: none of them is heard.
    let asks = message(r#"{"protocol":1,"ask":"status"}"#);
    for bytes in [asks, [&4_000_000_u32.to_le_bytes()[..], &[b' '; 50_000]].concat(), Vec::new()] {
        let path = path.clone();
        let started = Instant::now();
        let said = thread::spawn(move || {
            become_user(OTHER);
            let mut stream = UnixStream::connect(path).unwrap();
            // It may be refused before that is through.
            let _ = stream.write_all(&bytes);
            answered(stream)
        });
        let said = said.join().unwrap();
        assert!(said.contains("refused") && said.contains("user 54321"), "{said}");
        let took = started.elapsed();
        assert!(took < Duration::from_secs(3), "a peer has 5 s for its first message; this one has none: {took:?}");
    }
    // The folder is not this user's alone any more: nobody knows who listens there.
    let output = run(&factory, "a");
    assert!(String::from_utf8_lossy(&output.stderr).contains("serve-refused"), "{output:?}");
    drop(serve);
    open(0o700);
    // And the other way round: another user listens.
    let (listener, path) = (folder.join("serve.sock"), folder.clone());
    fs::remove_file(&listener).unwrap();
    nix::unistd::chown(&folder, Some(OTHER.into()), None).unwrap();
    open(0o711);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let _listening = thread::spawn(move || {
        become_user(OTHER);
        UnixListener::bind(path.join("serve.sock")).unwrap()
    })
    .join()
    .unwrap();
    nix::unistd::chown(&folder, Some(nix::unistd::geteuid()), None).unwrap();
    let output = run(&factory, "b");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(125) && stderr.contains("the other side is user 54321"), "{output:?}");
}

/// This thread alone: the system call behind setresuid(2) knows nothing of the others.
#[allow(unsafe_code)]
fn become_user(user: libc::uid_t) {
    // SAFETY: a raw system call with plain numbers; the thread ends after it.
    assert_eq!(unsafe { libc::syscall(libc::SYS_setresuid, -1, user, -1) }, 0);
}
