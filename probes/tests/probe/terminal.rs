//! Terminals that the tests make, with the probe on one side.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::pty::{Winsize, openpty};
use nix::unistd::geteuid;
use serde_json::{Value, json};

use crate::victim::until;
use crate::{folder, one, probe, reported};

/// What the probe says with a terminal of 33 rows as its stdin.
fn on_a_terminal(words: &str) -> Vec<Value> {
    on_an_echoing_terminal(words, "").0
}

/// The same, and what then comes out of the terminal's other side, until it is what is awaited.
fn on_an_echoing_terminal(words: &str, awaited: &str) -> (Vec<Value>, String) {
    let size = Winsize { ws_row: 33, ws_col: 99, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(&size, None).unwrap();
    let slave: OwnedFd = pty.slave.try_clone().unwrap();
    let output = probe().args(words.split(' ')).stdin(slave).output().unwrap();
    fcntl(&pty.master, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    let (mut master, mut echo) = (File::from(pty.master), String::new());
    until(|| {
        let mut bytes = [0; 100];
        let length = master.read(&mut bytes).unwrap_or_default();
        echo.push_str(std::str::from_utf8(&bytes[..length]).unwrap());
        echo.len() >= awaited.len()
    });
    (reported(output), echo)
}

#[test]
fn a_terminal_has_a_size_and_a_mode() {
    let seen = on_a_terminal("tty + tty 0 + tty /dev/null + tty 99");
    let detail = &seen[0]["detail"];
    assert_eq!(seen[0]["ok"], true, "{}", seen[0]);
    assert!(detail["name"].as_str().unwrap().starts_with("/dev/pts/"), "{detail}");
    let facts = json!({"is": true, "rows": 33, "cols": 99, "echo": true, "canonical": true, "name": detail["name"]});
    assert_eq!((detail, &seen[1]["detail"]), (&facts, &facts));
    assert_eq!((&seen[2]["errno"], &seen[2]["detail"]["is"]), (&json!("ENOTTY"), &json!(false)));
    let none = json!({"is": false, "rows": null, "cols": null, "echo": null, "canonical": null, "name": "ENOENT"});
    assert_eq!((&seen[3]["errno"], &seen[3]["detail"]), (&json!("EBADF"), &none));
}

#[test]
fn the_controlling_terminal_can_be_typed_into() {
    for high in ["", " --high"] {
        let words = format!("tiocsctty 0 --setsid + open-tty + ids + tiocsti 0 typed{high} + tiocsti /dev/tty !{high}");
        let legacy = fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti");
        // Linux 6.2 and later can keep it from all but root.
        let closed = legacy.is_ok_and(|text| text.trim() == "0") && !geteuid().is_root();
        let (seen, echo) = on_an_echoing_terminal(&words, if closed { "" } else { "typed!" });
        assert_eq!((&seen[0]["ok"], &seen[0]["detail"]), (&json!(true), &json!({"setsid": null})), "{}", seen[0]);
        assert_eq!(seen[1]["ok"], true);
        let ids = &seen[2]["detail"];
        assert_eq!((&ids["sid"], &ids["pgrp"], &ids["foreground"]), (&ids["pid"], &ids["pid"], &ids["pid"]));
        if closed {
            assert_eq!((&seen[3]["errno"], &seen[3]["detail"]), (&json!("EIO"), &json!({"pushed": 0})));
            continue;
        }
        assert_eq!((&seen[3]["ok"], &seen[3]["detail"]), (&json!(true), &json!({"pushed": 5})), "{}", seen[3]);
        assert_eq!((&seen[4]["ok"], echo.as_str()), (&json!(true), "typed!"), "{}", seen[4]);
    }
}

#[test]
fn a_terminal_is_no_console() {
    let seen = on_a_terminal("tioclinux 0 + tioclinux 0 --high");
    for line in &seen {
        assert_eq!(line["errno"], "ENOTTY", "{line}");
    }
}

#[test]
fn a_session_has_one_controlling_terminal() {
    let other = openpty(None, None).unwrap();
    let path = nix::unistd::ttyname(&other.slave).unwrap();
    let path = path.to_str().unwrap();
    let seen = on_a_terminal(&format!("tiocsctty 0 --setsid + tiocsctty {path} + tiocsctty 0 --setsid"));
    assert_eq!((&seen[0]["ok"], &seen[1]["errno"]), (&json!(true), &json!("EPERM")), "{seen:?}");
    assert_eq!((&seen[2]["ok"], &seen[2]["detail"]), (&json!(true), &json!({"setsid": "EPERM"})));
}

#[test]
fn what_is_no_terminal_cannot_be_typed_into() {
    let (_folder, path) = folder();
    fs::write(format!("{path}/file"), "").unwrap();
    let words = [format!("tiocsti {path}/file x"), format!("tiocsctty {path}/file"), "tioclinux 1".to_owned()];
    for words in words {
        assert_eq!(one(&words)["errno"], "ENOTTY", "{words}");
    }
    assert_eq!(one("tiocsti /nonexistent x")["errno"], "ENOENT");
    let seen = reported(probe().args(["tiocsctty", "0", "--setsid", "+", "open-tty"]).output().unwrap());
    assert_eq!(seen[1]["errno"], "ENXIO");
}
