//! docs/your-sandbox.md is what happens: its files are written into a folder outside of the checkout's tree of drivers, its
//! commands run there, and every line of output that it shows is printed.

#![allow(clippy::unwrap_used)] // helpers of tests, which clippy does not see as tests

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/your-sandbox.md");

#[test]
fn the_page_is_what_happens() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("your-sandbox");
    let _ = fs::remove_dir_all(&folder); // of the last time
    fs::create_dir_all(&folder).unwrap();
    let page = fs::read_to_string(PAGE).unwrap();
    let (mut files, mut commands) = (0, 0);
    for block in blocks(&page) {
        match block.name.split_once(' ') {
            Some((_, name)) => {
                fs::write(folder.join(name), block.text).unwrap();
                fs::set_permissions(folder.join(name), Permissions::from_mode(0o755)).unwrap();
                files += 1;
            }
            None if block.name == "console" => commands += console(&folder, block.text),
            None => {} // what is done once in the checkout
        }
    }
    assert_eq!((files, commands), (4, 8), "files and commands of the page");
}

/// A fenced block: what stands behind its opening fence, and its lines.
struct Block<'a> {
    name: &'a str,
    text: &'a str,
}

fn blocks(page: &str) -> impl Iterator<Item = Block<'_>> {
    page.split("\n```").skip(1).step_by(2).map(|block| {
        let (name, text) = block.split_once('\n').unwrap();
        Block { name, text }
    })
}

/// Runs the commands of a block, and looks for the lines that stand below each; how many there were.
fn console(folder: &Path, text: &str) -> usize {
    let mut count = 0;
    for part in format!("\n{text}").split("\n$ ").skip(1) {
        let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
        let printed = types(folder, command);
        let lines: Vec<String> = printed.lines().map(plain).collect();
        for line in shown.lines().filter(|line| !line.is_empty() && *line != "...") {
            assert!(lines.contains(&plain(line)), "$ {command}\n{line}\nis not in what it prints:\n{printed}");
        }
        count += 1;
    }
    count
}

/// What a command prints, output and errors.
fn types(folder: &Path, command: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_conformance")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-c", command]).current_dir(folder).env("PATH", path).stdin(Stdio::null());
    let output = bash.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A line without what differs from run to run: numbers with a unit of time, and tokens.
fn plain(line: &str) -> String {
    let words = line.trim_end().split(' ').collect::<Vec<_>>();
    let is_time = |word: &str| word.trim_start_matches('(').parse::<f64>().is_ok();
    let is_unit =
        |word: Option<&&str>| word.is_some_and(|word| matches!(word.trim_end_matches([':', ')']), "ms" | "s"));
    let of = |(position, word): (usize, &&str)| match *word {
        word if is_time(word) && is_unit(words.get(position + 1)) => "TIME".to_owned(),
        word if word.starts_with("kusaw-canary-") => "TOKEN".to_owned(),
        word => word.to_owned(),
    };
    words.iter().enumerate().map(of).collect::<Vec<_>>().join(" ")
}
