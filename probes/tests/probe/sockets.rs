//! `socket`: Unix sockets, by path and by abstract name.

use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::thread;

use serde_json::json;

use crate::victim::until;
use crate::{folder, lines, one};

#[test]
fn a_socket_is_connected_to_and_its_first_words_shown() {
    let (_folder, path) = folder();
    let listener = UnixListener::bind(format!("{path}/s")).unwrap();
    let server = thread::spawn(move || listener.accept().unwrap().0.write_all(b"hello").unwrap());
    let seen = one(&format!("socket {path}/s"));
    server.join().unwrap();
    assert_eq!(seen["target"], format!("{path}/s"));
    assert_eq!(seen["detail"], json!({"reply": "hello", "closed": false}));
    // A child that another test is just starting may hold the listener for a moment yet.
    assert!(until(|| one(&format!("socket {path}/s"))["errno"] == "ECONNREFUSED"));
    assert_eq!(one(&format!("socket {path}/t"))["errno"], "ENOENT");
}

#[test]
fn silence_is_no_reply_and_a_hang_up_is_told() {
    let (_folder, path) = folder();
    let _silent = UnixListener::bind(format!("{path}/silent")).unwrap();
    assert_eq!(one(&format!("socket {path}/silent"))["detail"], json!({"reply": "", "closed": false}));
    let closing = UnixListener::bind(format!("{path}/closing")).unwrap();
    let server = thread::spawn(move || drop(closing.accept().unwrap()));
    assert_eq!(one(&format!("socket {path}/closing"))["detail"], json!({"reply": "", "closed": true}));
    server.join().unwrap();
}

#[test]
fn an_abstract_name_begins_with_an_at_sign() {
    let name = format!("/kusaw-probe/{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let seen = lines(&format!("socket @{name} + socket {name} + socket @{name}x"));
    assert_eq!(seen[0]["ok"], true);
    assert_eq!(seen[1]["errno"], "ENOENT");
    assert_eq!(seen[2]["errno"], "ECONNREFUSED");
}

#[test]
fn the_type_must_be_the_sockets() {
    let (_folder, path) = folder();
    let _datagrams = UnixDatagram::bind(format!("{path}/d")).unwrap();
    let seen = lines(&format!(
        "socket {path}/d --type dgram + socket {path}/d + socket --type seqpacket {path}/d + socket --type stream {path}/d"
    ));
    assert_eq!(seen[0]["ok"], true);
    for line in &seen[1..] {
        assert_eq!(line["errno"], "EPROTOTYPE");
    }
}
