//! The probe as its callers see it: lines, exit codes, and facts that another program confirms.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its tests do")]

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

fn probe() -> Command {
    Command::new(env!("CARGO_BIN_EXE_kusaw-probe"))
}

/// Runs words split at blanks; every line must be JSON, the last one the end, the exit code 37.
fn lines(words: &str) -> Vec<Value> {
    reported(probe().args(words.split(' ')).output().unwrap())
}

fn reported(output: Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(37), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.pop(), Some(json!({"probe": 1, "end": true})));
    lines
}

fn one(words: &str) -> Value {
    let mut lines = lines(words);
    assert_eq!(lines.len(), 1);
    lines.remove(0)
}

fn folder() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn a_line_has_the_agreed_members() {
    let line = one("read /nonexistent");
    assert_eq!(line["probe"], 1);
    assert_eq!(line["action"], "read");
    assert_eq!(line["target"], "/nonexistent");
    assert_eq!(line["ok"], false);
    assert_eq!(line["errno"], "ENOENT");
    assert_eq!(line["detail"], json!({}));
    assert!(line["us"].is_u64());
}

#[test]
fn a_usage_error_is_found_before_anything_runs() {
    let (_folder, path) = folder();
    for words in ["", "reed /a", "read", "write /a", "connect nowhere", "connect --proxy socks a:1", "sweep /"] {
        let file = format!("{path}/x");
        let output = probe().args(["write", &file, "text", "+"]).args(words.split(' ')).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(output.stdout.is_empty());
        assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 1, "{words}");
        assert!(!fs::exists(file).unwrap());
    }
    assert_eq!(probe().output().unwrap().status.code(), Some(2));
}

#[test]
fn files_are_written_read_listed_and_looked_at() {
    let (_folder, path) = folder();
    let seen = lines(&format!(
        "write {path}/b new + write {path}/a longer + read {path}/a --max 4 + read {path}/b + list {path} + stat {path}/b"
    ));
    assert_eq!(seen[1]["detail"], json!({"bytes": 6}));
    assert_eq!(seen[2]["detail"], json!({"bytes": 4, "text": "long"}));
    assert_eq!(seen[3]["detail"], json!({"bytes": 3, "text": "new"}));
    assert_eq!(seen[4]["detail"], json!({"names": ["a", "b"]}));
    let there = fs::metadata(format!("{path}/b")).unwrap();
    assert_eq!(seen[5]["detail"]["kind"], "file");
    assert_eq!(seen[5]["detail"]["size"], 3);
    assert_eq!(seen[5]["detail"]["mode"], format!("{:04o}", there.mode() & 0o7777));
    assert_eq!(seen[5]["detail"]["uid"], there.uid());
    assert_eq!(seen[5]["detail"]["mtime"], there.mtime());
}

#[test]
fn open_write_changes_nothing() {
    let (_folder, path) = folder();
    let seen = lines(&format!("open-write {path}/x + write {path}/x text + open-write {path}/x + open-write {path}"));
    assert_eq!(seen[0]["errno"], "ENOENT");
    assert_eq!(seen[2]["ok"], true);
    assert_eq!(fs::read(format!("{path}/x")).unwrap(), b"text");
    assert_eq!(seen[3]["errno"], "EISDIR");
}

#[test]
fn links_are_made_and_not_followed_by_stat() {
    let (_folder, path) = folder();
    let seen = lines(&format!(
        "write {path}/x text + link {path}/x {path}/hard + symlink {path}/x {path}/soft + read {path}/soft + stat {path}/soft + link {path}/x {path}/hard"
    ));
    assert_eq!(fs::metadata(format!("{path}/x")).unwrap().nlink(), 2);
    assert_eq!(seen[2]["target"], format!("{path}/soft"));
    assert_eq!(seen[3]["detail"]["text"], "text");
    assert_eq!(seen[4]["detail"]["kind"], "symlink");
    assert_eq!(seen[5]["errno"], "EEXIST");
    assert_eq!(seen[5]["detail"], json!({"from": format!("{path}/x")}));
}

#[test]
fn nothing_waits_for_a_fifo() {
    let (_folder, path) = folder();
    assert!(Command::new("mkfifo").arg(format!("{path}/f")).status().unwrap().success());
    assert!(fs::metadata(format!("{path}/f")).unwrap().file_type().is_fifo());
    let seen = lines(&format!(
        "read {path}/f + write {path}/f x + open-write {path}/f + stat {path}/f + sweep {path} --find x"
    ));
    assert_eq!(seen[0]["detail"]["bytes"], 0);
    assert_eq!(seen[1]["errno"], "ENXIO");
    assert_eq!(seen[2]["errno"], "ENXIO");
    assert_eq!(seen[3]["detail"]["kind"], "fifo");
    assert_eq!(seen[4]["detail"], json!({"files": 0, "folders": 1, "unreadable": 0, "hits": []}));
}

#[test]
fn argv_and_environment_are_those_of_the_process() {
    let (folder, path) = folder();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\n\"");
    let mut command = probe();
    command.args(["argv", "one two", ""]).arg(odd).args(["+", "env", "A", "B", "+", "env"]);
    let output = command.env_clear().env("A", "1").env("C", odd).current_dir(folder.path()).output().unwrap();
    let seen = reported(output);
    let argv = &seen[0]["detail"]["argv"];
    assert_eq!(argv[2], "one two");
    assert_eq!(argv[3], "");
    assert_eq!(argv[4], "\u{fffd}\n\"");
    assert_eq!(argv.as_array().unwrap().len(), 11);
    assert_eq!(seen[0]["detail"]["cwd"], fs::canonicalize(path).unwrap().to_str().unwrap());
    assert_eq!(seen[0]["detail"]["ppid"], std::process::id());
    assert_eq!(seen[1]["detail"], json!({"vars": {"A": "1"}}));
    assert_eq!(seen[2]["detail"], json!({"vars": {"A": "1", "C": "\u{fffd}\n\""}}));
}

#[test]
fn a_sweep_finds_texts_but_not_through_links_or_skipped_folders() {
    let (_folder, path) = folder();
    for (name, text) in [("a/x", "..KEY-1"), ("a/b/y", "KEY-1 KEY-2"), ("skip/z", "KEY-1"), ("long", "0123456789KEY-2")]
    {
        let file = format!("{path}/in/{name}");
        fs::create_dir_all(file.rsplit_once('/').unwrap().0).unwrap();
        fs::write(file, text).unwrap();
    }
    fs::write(format!("{path}/outside"), "KEY-1").unwrap();
    std::os::unix::fs::symlink(&path, format!("{path}/in/up")).unwrap();
    std::os::unix::fs::symlink(format!("{path}/outside"), format!("{path}/in/out")).unwrap();
    let seen = one(&format!("sweep {path}/in --find KEY-1 --find KEY-2 --skip {path}/in/skip --max-file 12"));
    let detail = &seen["detail"];
    assert_eq!((&detail["files"], &detail["folders"]), (&json!(3), &json!(3)));
    let hits = detail["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 3, "{hits:?}");
    for hit in [("a/x", 0), ("a/b/y", 0), ("a/b/y", 1)] {
        assert!(hits.contains(&json!({"path": format!("{path}/in/{}", hit.0), "text": hit.1})));
    }
    assert_eq!(one("sweep /nonexistent --find x")["errno"], "ENOENT");
}

/// A server that gives each connection to `answer` with the head of what it asked.
fn server(answer: impl Fn(String, TcpStream) + Send + Sync + Copy + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                let request = request(&mut stream);
                answer(request, stream);
            });
        }
    });
    address
}

fn request(stream: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn say(mut stream: &TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_direct_connection_shows_what_the_origin_says() {
    let origin = server(|request, stream| {
        say(&stream, &format!("HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\n{}", &request[..4]));
        thread::sleep(Duration::from_secs(20));
    });
    let started = Instant::now();
    let seen = one(&format!("connect {origin}"));
    assert!(started.elapsed() < Duration::from_secs(5), "waited for the end of a complete answer");
    assert_eq!(seen["ok"], true);
    assert_eq!(seen["detail"]["via"], "none");
    assert_eq!(seen["detail"]["address"], origin);
    assert_eq!(seen["detail"]["status"], Value::Null);
    assert!(seen["detail"]["reply"].as_str().unwrap().ends_with("\r\n\r\nGET "));
    assert_eq!(seen["detail"]["attempts"], 1);
}

#[test]
fn silence_and_refusal_have_their_own_symbols() {
    let silent = server(|_, _stream| thread::sleep(Duration::from_secs(20)));
    assert_eq!(one(&format!("connect --timeout 200 {silent}"))["errno"], "ETIMEDOUT");
    let closing = server(|_, _| ());
    assert_eq!(one(&format!("connect {closing}"))["errno"], "ENOREPLY");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let seen = one(&format!("connect {free}"));
    assert_eq!(seen["errno"], "ECONNREFUSED");
    assert_eq!(seen["detail"]["address"], free.to_string());
    let output = probe().env_clear().args(["connect", "--proxy", "http", "a.invalid:80"]).output().unwrap();
    assert_eq!(reported(output)[0]["errno"], "ENOPROXY");
}

/// A proxy that lets `good.invalid` through and answers in the origin's place.
fn proxy() -> String {
    server(|asked, mut stream| {
        let good = asked.contains("good.invalid");
        let tunnel = asked.starts_with("CONNECT ");
        if !good {
            say(&stream, "HTTP/1.1 403 No\r\nContent-Length: 4\r\n\r\nnope");
        } else if tunnel {
            say(&stream, "HTTP/1.1 200 OK\r\n\r\nfirst ");
            let inner = request(&mut stream);
            say(&stream, &inner);
        } else {
            say(&stream, &format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{asked}", asked.len()));
        }
    })
}

fn through(proxy: &str, words: &str) -> Value {
    let url = format!("http://{proxy}/");
    let mut command = probe();
    command.env("HTTPS_PROXY", &url).env("HTTP_PROXY", &url).args(words.split(' '));
    reported(command.output().unwrap()).remove(0)
}

#[test]
fn a_tunnel_carries_the_origins_first_words() {
    let proxy = proxy();
    let seen = through(&proxy, "connect --proxy connect good.invalid:443");
    assert_eq!(seen["ok"], true, "{seen}");
    assert_eq!(seen["detail"]["status"], 200);
    assert_eq!(seen["detail"]["address"], proxy);
    assert_eq!(seen["detail"]["reply"], "first GET / HTTP/1.1\r\nHost: good.invalid\r\nConnection: close\r\n\r\n");
    let seen = through(&proxy, "connect --proxy connect bad.invalid:443");
    assert_eq!((&seen["ok"], &seen["errno"]), (&json!(false), &json!("EPROXY403")));
    assert_eq!(seen["detail"]["status"], 403);
    assert!(seen["detail"]["reply"].as_str().unwrap().ends_with("nope"));
}

#[test]
fn plain_http_goes_in_absolute_form() {
    let proxy = proxy();
    let seen = through(&proxy, "connect --proxy http good.invalid:80");
    assert_eq!(seen["ok"], true, "{seen}");
    assert!(seen["detail"]["reply"].as_str().unwrap().contains("GET http://good.invalid:80/ HTTP/1.1\r\n"));
    let seen = through(&proxy, "connect --proxy http bad.invalid:80");
    assert_eq!(seen["errno"], "EPROXY403");
}

#[test]
fn many_tries_are_counted() {
    let proxy = proxy();
    let seen = through(&proxy, "connect --proxy connect --parallel 8 --times 2 good.invalid:443");
    assert_eq!(seen["detail"]["attempts"], 16);
    assert_eq!(seen["detail"]["counts"], json!({"ok": 16, "refused": 0}));
    let seen = through(&proxy, "connect --proxy http --times 3 bad.invalid:80");
    assert_eq!(seen["detail"]["counts"], json!({"ok": 0, "refused": 3}));
}
