//! The only place that calls the YAML library. Whatever it does (booleans, duplicates, bombs, depth) is
//! decided here once: input over 1 MiB is refused before parsing, `off` stays a word, a key that stands
//! twice is an error, and no input may panic or hang.

use std::path::Path;

use serde::Deserialize;
use serde_yaml::{Error, Location};

use super::complaint::Complaints;
use super::key::{Key, Places};
use super::{Complaint, Settings, masked, right, validate};

/// Largest settings file in bytes.
pub const MAX: usize = 1 << 20;

/// The settings in `bytes`, parsed and validated; `file` is where they come from.
pub fn read(file: &Path, bytes: &[u8]) -> Result<Settings, Box<Complaints>> {
    let whole = |what: &str, fix: &str| Box::new(Complaints::from(Complaint::new(file, "", (0, 0), "", what).fix(fix)));
    if bytes.len() > MAX {
        return Err(whole("larger than 1 MiB", "settings are a page or two; is this the right file?"));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = bytes[..e.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
        whole(&format!("not UTF-8 text (line {line})"), "save the file as UTF-8")
    })?;
    let mut key = String::new();
    let parsed = serde_yaml::with_deserializer_from_str_with_options(text, options(), |yaml| {
        serde_path_to_error::deserialize(yaml).map_err(|e| {
            key = e.path().to_string();
            e.into_inner()
        })
    });
    let mut settings: Settings =
        parsed.map_err(|e| Box::new(complaint(file, text, &key, &e).without_values().into()))?;
    let wrong = validate::check(&settings);
    if !wrong.is_empty() {
        let places = Places::of(text);
        let tell = |one: validate::Wrong| {
            Complaint::new(file, text, places.find(&one.key), &one.key.to_string(), one.what).fix(one.fix)
        };
        let mut told: Vec<Complaint> = wrong.into_iter().map(tell).collect();
        told.sort_by_key(|one| one.at);
        return Err(Box::new(Complaints(told)));
    }
    settings.file = file.into();
    Ok(settings)
}

/// Any YAML within the same bounds.
pub fn yaml<T: for<'de> Deserialize<'de>>(text: &str) -> Option<T> {
    serde_yaml::from_str_with_options(text, options()).ok()
}

fn options() -> serde_yaml::Options {
    serde_yaml::options! {
        strict_booleans: true,
        duplicate_keys: serde_yaml::options::DuplicateKeyPolicy::Error,
        merge_keys: serde_yaml::options::MergeKeyPolicy::Error,
        with_snippet: false,
        // Far above what a page or two needs, far below what takes time. Expanded aliases count.
        budget: serde_yaml::budget! { max_events: 50_000, max_nodes: 20_000, max_depth: 32, flow_nesting_limit: 32 },
        alias_limits: serde_yaml::alias_limits! { max_total_replayed_events: 1_000, max_replay_stack_depth: 8 },
    }
}

fn complaint(file: &Path, text: &str, key: &str, error: &Error) -> Complaint {
    let at = error.location().filter(|l| *l != Location::UNKNOWN).map_or((0, 0), |l| (l.line(), l.column()));
    // The path library writes `.` for the whole, `?` for a key it has not seen, and has the wrapper that knows places in it.
    let key = key.trim_end_matches('?').trim_end_matches('.').trim_end_matches(".value");
    let about = |what: String| Complaint::new(file, text, at, key, what);
    match error.without_snippet() {
        Error::SerdeUnknownField { field, .. } if key.contains(".inject[") && masked::is_of_secret(field) => about(
            format!("unknown key {field}: keys are never written here"),
        )
        .fix("`kusaw config set NAME --secret` keeps the key, secret: NAME names it; one that stood here is known"),
        Error::SerdeUnknownField { field, expected, .. } => {
            about(format!("unknown key {field}")).did_you_mean(field, expected)
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            let at = place_of(variant, text, at);
            let what = format!("{variant:?} is not a value here");
            Complaint::new(file, text, at, key, what).did_you_mean(variant, expected)
        }
        Error::DuplicateMappingKey { key: twice, .. } => {
            let twice = twice
                .as_deref()
                .filter(|name| !masked::is_of_variables(key) || masked::is_variable(name))
                .unwrap_or("a key");
            about(format!("{twice} stands twice")).fix("keep one of the two")
        }
        other => {
            let (what, fix) = plain(&other.to_string(), key);
            // The parser is behind the block when it misses a key in it.
            let at = if what.ends_with(MISSING) { Places::of(text).find(&Key::parse(key)) } else { at };
            Complaint::new(file, text, at, key, what).fix(fix)
        }
    }
}

/// Behind the name of a key that is not there.
const MISSING: &str = ": is missing";

/// What the YAML library says, in the words of who writes settings, and what would be right.
fn plain(said: &str, key: &str) -> (String, String) {
    let said = first_line(said);
    let right = || right::at(key).to_string();
    let kinds = [
        ("null into string", "nothing stands here"),
        ("expected mapping start", "a block is needed here"),
        ("expected sequence start", "a list is needed here"),
        ("expected string scalar", "text is needed here"),
        ("invalid boolean", "neither true nor false"),
        ("invalid type", "something else is needed here"),
    ];
    if let Some((_, what)) = kinds.iter().find(|(begin, _)| said.contains(begin)) {
        return (what.to_string(), right());
    }
    if let Some(name) = said.strip_prefix("missing field ") {
        let name = name.trim_matches('`');
        return (format!("{name}{MISSING}"), format!("{name}: {}", right::at(&format!("{key}.{name}"))));
    }
    let syntax = [
        ("tabs", "indent with spaces"),
        ("unknown anchor", "text that begins with * needs quotes, such as \"*.github.com\""),
        ("unclosed", "close it, or look for a quote that is not closed above"),
        ("illegal placement", "look for a bracket or quote that is not closed above; text with a colon needs quotes"),
        ("merge keys", "write the keys out where they are meant"),
        ("multiple documents", "one file is one document: take out the line ---"),
    ];
    let found = syntax.iter().find(|(begin, _)| said.contains(begin)).map(|(_, fix)| fix.to_string());
    (
        said,
        found.unwrap_or_else(|| {
            "settings are a page or two, without deep nesting; see docs/os-sandbox.md, Settings".into()
        }),
    )
}

/// Of a word whose key is at `key`: behind it in the same line, if it is there.
fn place_of(word: &str, text: &str, key: (u64, u64)) -> (u64, u64) {
    let index = |n: u64| (n as usize).saturating_sub(1);
    let line: Vec<char> = text.lines().nth(index(key.0)).unwrap_or_default().chars().collect();
    let word: Vec<char> = word.chars().collect();
    let rest = line.get(index(key.1)..).filter(|_| !word.is_empty());
    let found = rest.and_then(|rest| rest.windows(word.len()).position(|part| part == word));
    (key.0, key.1 + found.unwrap_or(0) as u64)
}

/// Without the place, which stands in front already.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or("cannot be read");
    line.split(" at line ").next().unwrap_or(line).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(yaml: &str) -> String {
        read("kusaw.yaml".as_ref(), yaml.as_bytes()).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn off_is_the_word_wherever_a_mode_stands() {
        for wrong in ["true", "false", "''", "null", "~", "", "Required", "OFF", "no", "[off]", "1"] {
            for place in [
                format!("sandbox: {{mode: {wrong}}}\nsteps: {{s: {{run: [x]}}}}"),
                format!("repos: {{r: {{path: /r, sandbox: {wrong}}}}}\nsteps: {{s: {{run: [x]}}}}"),
                format!("steps:\n  s:\n    run: [x]\n    sandbox: {wrong}\n"),
                format!("steps:\n  s:\n    run: [x]\n    sandbox:\n      mode: {wrong}\n"),
            ] {
                assert!(read("k".as_ref(), place.as_bytes()).is_err(), "accepted: {place}");
            }
        }
        let empty_block = "sandbox:\nsteps: {s: {run: [x]}}";
        assert!(read("k".as_ref(), empty_block.as_bytes()).is_err());
        read("k".as_ref(), b"sandbox: {mode: off}\nsteps: {s: {run: [x], sandbox: off}}").unwrap();
    }

    #[test]
    fn complaints_name_place_key_and_fix() {
        insta::assert_snapshot!(told("sandbox:\n  mode: requird\n"), @r#"
        kusaw.yaml:2:9: sandbox.mode: "requird" is not a value here
          2 |   mode: requird
          did you mean required? known here: off, required
        "#);
        insta::assert_snapshot!(told("steps:\n  build:\n    sandbox:\n      netwrk: open\n    run: [x]\n"), @r"
        kusaw.yaml:4:7: steps.build.sandbox.netwrk: unknown key netwrk
          4 |       netwrk: open
          did you mean network? known here: mode, network, allow_read, allow_write, egress
        ");
        insta::assert_snapshot!(told("steps:\n  a: {run: [x]}\n  a: {run: [y]}\n"), @r"
        kusaw.yaml:3:3: steps: a stands twice
          3 |   a: {run: [y]}
          keep one of the two
        ");
        insta::assert_snapshot!(told("sandbox:\n  egress:\n    provider_hosts: yes\n"), @r"
        kusaw.yaml:3:21: sandbox.egress.provider_hosts: neither true nor false
          3 |     provider_hosts: yes
          true or false
        ");
        insta::assert_snapshot!(told("steps:\n  a:\n    run: x\n"), @r"
        kusaw.yaml:3:10: steps.a.run: a list is needed here
          3 |     run: x
          a list: a program and its arguments, such as [make, test]
        ");
    }

    #[test]
    fn all_that_is_wrong_is_told_and_the_same_once() {
        insta::assert_snapshot!(told("steps:\n  a: {run: [x], repos: [nobody]}\n  b: {run: [], repos: [nobody]}\n"), @r#"
        kusaw.yaml:2:25: steps.a.repos[0]: no repo "nobody" under repos:
          2 |   a: {run: [x], repos: [nobody]}
          there is none yet
          the same at kusaw.yaml:3:24 (steps.b.repos[0])
        kusaw.yaml:3:12: steps.b.run: no program
          3 |   b: {run: [], repos: [nobody]}
          a list: a program and its arguments, such as [make, test]
        "#);
    }

    /// However the block of variables is wrong.
    #[test]
    fn the_value_of_a_variable_is_not_printed() {
        for wrong in [
            "{TOKEN:hunter2}",
            "{TOKEN : hunter2, X: [a]}",
            "{X: [a], TOKEN: x,hunter2}",
            "[TOKEN=hunter2]",
            "\n      TOKEN:hunter2",
            "\n      TOKEN=hunter2",
            "\n      - TOKEN=hunter2",
            "\n      TOKEN:\n        - hunter2",
            "\n      TOKEN:\n        a: hunter2",
            "\n      TOKEN: |\n         x\n       hunter2",
            "\n      TOKEN: \"x\n        hunter2\"x",
            "\n      TOKEN: a: hunter2",
            "\n      TOKEN: x, hunter2\n      TOKEN: x, hunter2",
            "\n      my-token: [hunter2]",
            "\n      hunter2: [x]",
        ] {
            let told = told(&format!("steps:\n  a:\n    run: [x]\n    env: {wrong}\n"));
            assert!(!told.contains("hunter2") && told.contains("steps.a.env"), "{wrong}: {told}");
        }
    }

    #[test]
    fn a_key_that_stands_there_is_not_printed() {
        let entry = "name: a, upstream: 'https://a.example', base_url_env: U, key_env: K";
        for wrong in ["key: sk-ant-api03-0123456789", "secret: sk-ant-api03-0123456789", "token: 'my secret'"] {
            let text = format!("sandbox: {{egress: {{inject: [{{{entry}, {wrong}}}]}}}}\nsteps: {{s: {{run: [x]}}}}");
            let told = told(&text);
            assert!(
                !told.contains("api03") && !told.contains("my secret") && told.contains("config set NAME"),
                "{told}"
            );
        }
    }

    /// A bound against hanging only: each takes a few milliseconds.
    #[test]
    fn hostile_files_are_refused_at_once() {
        let start = std::time::Instant::now();
        let level = |n: u8| match n {
            b'a' => format!("&a [{}]", ["v"; 10].join(",")),
            n => format!("&{} [{}]", n as char, vec![format!("*{}", (n - 1) as char); 10].join(",")),
        };
        let bomb = format!("[{}]", (b'a'..=b'i').map(level).collect::<Vec<_>>().join(", "));
        let wide = format!("[{}]", vec!["x"; 200_000].join(","));
        let deep = "[".repeat(100_000);
        let blocks: String = (0..700).map(|n| format!("\n{}-", " ".repeat(8 + n))).collect();
        for what in [bomb, wide, deep, blocks] {
            for place in ["", "sandbox:\n  allow_read: ", "steps:\n  s:\n    run: [x]\n    setup: "] {
                assert!(read("k".as_ref(), format!("{place}{what}\n").as_bytes()).is_err(), "{place}{:.80}", what);
            }
        }
        // Thousands of things that are wrong, in a long line or far below.
        let steps = "steps:\n  s:\n    run: [x]\n    repos: ";
        let many = |repo: &str| (0..1_000).map(|n| format!("{repo}{n}")).collect::<Vec<_>>();
        let known: String = many("a-long-name-").iter().map(|name| format!("  {name}: {{path: /r}}\n")).collect();
        let list = format!("[{}]", many("a-lang-name-").join(","));
        for text in [
            format!("{steps}{list}"),
            format!("{}{steps}\n      - {}", "\n".repeat(100_000), many("b").join("\n      - ")),
            format!("repos:\n{known}{steps}{list}"),
        ] {
            assert!(read("k".as_ref(), text.as_bytes()).is_err());
        }
        for bad in [&b"steps: \xff"[..], &vec![b' '; MAX + 1], b"\0", b"- a", b"x: !!binary _"] {
            assert!(read("k".as_ref(), bad).is_err());
        }
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }

    #[test]
    fn settings_of_a_large_factory_are_read() {
        let repos: String = (0..1_000).map(|n| format!("  r{n}: {{path: /r{n}, sandbox: required}}\n")).collect();
        let steps: String = (0..1_000).map(|n| format!("  s{n}: {{run: [make, test], repos: [r{n}]}}\n")).collect();
        let shared = "  t: {run: [x], env: &e {A: b}}\n  u: {run: [x], env: *e}\n";
        read("k".as_ref(), format!("repos:\n{repos}steps:\n{steps}{shared}").as_bytes()).unwrap();
    }
}
