//! `allow_read` and `allow_write` with the real bubblewrap, judged from the host: works as root and as any other user.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use factory::{Factory, factory, settings};
use serde_json::Value;

/// Everything below the test's own folder but what a run is to make, with contents.
fn tree(factory: &Factory) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut ahead = vec![factory.path().parent().unwrap().to_path_buf()];
    while let Some(folder) = ahead.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let (path, meta) = (entry.path(), entry.metadata().unwrap());
            if ["attempts", ".git", ".cache"].iter().any(|name| path.ends_with(name)) {
                continue;
            }
            let bytes = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            if meta.is_dir() {
                ahead.push(path.clone());
            }
            found.push((path, meta.permissions().mode(), bytes));
        }
    }
    found.sort();
    found
}

#[test]
fn write_below_read_and_read_below_write_work_as_declared() {
    let script = "cat ~/data/in/file; echo w > ~/data/out/new; echo w > ~/data/in/file; echo w > ~/data/new; ls ~; echo w > new; true";
    for (sandbox, writable) in [
        ("allow_read: [~/data], allow_write: [~/data/out]", false),
        ("allow_write: [~/data/out], allow_read: [~/data, ~/data/in]", false),
        ("allow_write: [~/data], allow_read: [~/data/in]", true),
        ("allow_read: [~/data/in, ~/data/in/file], allow_write: [~/data]", true),
    ] {
        let factory = factory(sandbox, script);
        factory.run("s").code(0).stdout("data/in/file\ndata\n");
        let home = factory.home();
        assert_eq!(fs::read_to_string(home.join("data/out/new")).unwrap(), "w\n", "{sandbox}");
        assert_eq!(home.join("data/new").exists(), writable, "{sandbox}");
        assert_eq!(fs::read_to_string(home.join("data/in/file")).unwrap() == "w\n", writable, "{sandbox}");
        assert!(factory.attempt().join("worktrees/demo/new").exists());
        factory.assert_no_temp();
    }
}

#[test]
fn an_allowed_parent_weakens_nothing_of_the_attempt_and_leaves_nothing() {
    let script = "cat ~/data/in/file; for f in ~/x ~/data/x ../../events.jsonl ../x .git ../../../../kusaw.yaml; do echo x >> $f && echo \"wrote $f\"; done 2>/dev/null\n\
         echo w > new; echo a > ../../artifacts/a; echo t > $TMPDIR/t && mv .git g 2>/dev/null; true";
    let factory = factory("allow_read: [..]", script);
    let before = tree(&factory);
    factory.run("s").code(0).stdout("data/in/file\n");
    assert_eq!(tree(&factory), before);
    assert!(factory.attempt().join("worktrees/demo/new").exists() && factory.attempt().join("artifacts/a").exists());
    factory.assert_no_temp();
}

#[test]
fn the_store_stays_hidden_below_an_open_home_and_no_mount_point_is_left() {
    let factory =
        factory("allow_read: [\"~\"]", "cat ~/.ssh/id; find ~/.local/share/kusaw; cat ~/.local/share/kusaw/*/*");
    let kusaw = factory.home().join(".local/share/kusaw");
    let before = tree(&factory);
    factory.run("s").code(1).stdout(format!(".ssh/id\n{}\n", kusaw.display()));
    assert_eq!(tree(&factory), before);
}

#[test]
fn a_store_that_is_made_while_a_step_runs_stays_hidden() {
    let factory = factory("allow_read: [\"~\"]", "grep -c '/.local/share/kusaw ' /proc/self/mountinfo");
    let kusaw = factory.home().join(".local/share/kusaw");
    fs::remove_dir_all(&kusaw).unwrap();
    factory.run("s").code(0).stdout("1\n");
    assert_eq!(fs::metadata(&kusaw).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn an_entry_in_a_hidden_place_is_shown_alone() {
    let factory = factory(
        "allow_read: [.., ../tmp/keep]",
        "ls -A ../../../../../tmp; cat ../../../../../tmp/keep/file; touch ../../../../../tmp/x",
    );
    for folder in ["keep", "other"] {
        fs::create_dir(factory.tmp().join(folder)).unwrap();
        fs::write(factory.tmp().join(folder).join("file"), "kept\n").unwrap();
    }
    let before = tree(&factory);
    factory.run("s").code(1).stdout("keep\nkept\n");
    assert_eq!(tree(&factory), before);
}

#[test]
fn what_an_entry_leads_to_works_by_both_names() {
    let factory = factory("allow_read: [~/link/in]", "cat ~/link/in/file; cat ~/data/in/file; ls ~/data");
    symlink("data", factory.home().join("link")).unwrap();
    factory.run("s").code(0).stdout("data/in/file\ndata/in/file\nin\n");
}

#[test]
fn a_link_that_a_step_left_is_not_followed_by_the_next_run() {
    let replace = "rm -r ~/data/out && ln -s ~/secret ~/data/out";
    let read = "cat ~/data/out/file ~/secret/file 2>/dev/null; true";
    let factory = factory("allow_write: [~/data]", replace);
    factory.run("s").code(0);
    assert!(factory.home().join("data/out").is_symlink(), "the link is there, and leads to the secret outside");
    assert_eq!(fs::read_to_string(factory.home().join("data/out/file")).unwrap(), "secret/file\n");
    let again = |sandbox: &str, id: &str| {
        settings(&factory, sandbox, read);
        let out = factory.command().args(["run", "s", "--attempt", id]).output().unwrap();
        let outcome = fs::read(factory.path().join("attempts").join(id).join("outcome.json")).unwrap();
        let outcome: Value = serde_json::from_slice(&outcome).unwrap();
        (String::from_utf8(out.stdout).unwrap(), outcome["reason"].clone())
    };
    for (i, kind) in ["allow_read", "allow_write"].iter().enumerate() {
        for (j, path) in ["~/data/out", "~/data/out/file"].iter().enumerate() {
            // The attempt has the outer folder: the entry adds nothing.
            let entries = if i == 0 {
                format!("allow_write: [~/data], allow_read: [{path}]")
            } else {
                format!("allow_write: [~/data, {path}]")
            };
            let shown = again(&format!("sandbox: {{mode: required, {entries}}}"), &format!("own{i}{j}"));
            assert_eq!(shown, (String::new(), Value::Null), "{entries}");
            // Another step has it.
            let other = format!("sandbox: {{mode: required, {kind}: [{path}]}}");
            let text = |factory: &Factory| fs::read_to_string(factory.path().join("kusaw.yaml")).unwrap();
            settings(&factory, &other, read);
            let both = text(&factory) + "  other: {run: [x], sandbox: {allow_write: [~/data]}}\n";
            fs::write(factory.path().join("kusaw.yaml"), both).unwrap();
            let id = format!("other{i}{j}");
            let out = factory.command().args(["run", "s", "--attempt", &id]).output().unwrap();
            let said = String::from_utf8(out.stderr).unwrap();
            assert!(
                out.status.code() == Some(125) && said.contains("step-writable-path") && said.contains("/data itself"),
                "{said}"
            );
        }
    }
    let left: Vec<_> = fs::read_dir(factory.home().join("secret")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["file"], "no mount point came where the link leads");
}

#[test]
fn what_cannot_be_resolved_is_refused_by_name_and_grants_nothing() {
    for (entry, errno) in [("loop/x", "ELOOP"), ("dangling", "ENOENT"), ("missing/x", "ENOENT"), ("closed/x", "EACCES")]
    {
        for kind in ["allow_read", "allow_write"] {
            let factory = factory(&format!("{kind}: [~/{entry}]"), "touch ~/executed ../../artifacts/executed");
            let home = factory.home();
            symlink("loop", home.join("loop")).unwrap();
            symlink("nowhere", home.join("dangling")).unwrap();
            fs::create_dir_all(home.join("closed/x")).unwrap();
            fs::set_permissions(home.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
            let mut command = without_root(factory.command());
            let out = command.args(["run", "s", "--attempt", "a"]).output().unwrap();
            fs::set_permissions(home.join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
            let said = String::from_utf8(out.stderr).unwrap();
            assert_eq!(
                (out.status.code(), &factory.outcome()["reason"]),
                (Some(125), &"unresolved-path".into()),
                "{said}"
            );
            assert!(said.contains(&format!("sandbox.{kind}: \"~/{entry}\"")) && said.contains(errno), "{said}");
            assert!(!factory.attempt().join("artifacts/executed").exists());
        }
    }
}

/// Root goes into folders that are closed to it, unless it has lost that right.
fn without_root(command: Command) -> Command {
    if !nix::unistd::geteuid().is_root() {
        return command;
    }
    let mut less = Command::new("setpriv");
    less.args(["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]);
    less.arg(command.get_program()).args(command.get_args()).env_clear();
    less.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    less
}

#[test]
fn protected_places_are_refused_by_name_and_nothing_is_made() {
    let store = "~/.local/share/kusaw/store";
    for (kind, entry, what) in [
        ("allow_read", "/", "the whole machine"),
        ("allow_read", store, "it is the secret store"),
        ("allow_read", "~/.local/share/kusaw/store/token", "it lies in the secret store"),
        ("allow_read", "~/to-store", "it is the secret store"),
        ("allow_read", "~/.local/share/kusaw/keys/../store", "it is the secret store"),
        ("allow_write", "/", "the whole machine"),
        ("allow_write", "~", "it holds the secret store"),
        ("allow_write", "~/.local", "it holds the secret store"),
        ("allow_write", ".", "it is the factory's folder"),
        ("allow_write", "..", "it holds"),
        ("allow_write", "kusaw.yaml", "it is the factory's settings"),
        ("allow_write", "attempts", "it is the factory's folder of attempts"),
        ("allow_write", "~/.cache", "it holds what kusaw prepares"),
        ("allow_write", "../demo/.git/hooks", "it lies in the git folder of repo demo"),
        ("allow_write", "../demo", "it holds the git folder of repo demo"),
        ("allow_write", "~/other", "it is another factory's folder"),
        ("allow_read", "/proc/self/cwd", "/proc"),
        ("allow_read", "/dev/null", "/dev"),
        ("allow_read", "/tmp", "/tmp"),
    ] {
        let factory = factory(&format!("{kind}: ['{entry}']"), "touch ../../artifacts/executed");
        fs::create_dir_all(factory.home().join(".local/share/kusaw/keys")).unwrap();
        symlink(".local/share/kusaw/store", factory.home().join("to-store")).unwrap();
        fs::create_dir_all(factory.home().join(".cache/kusaw")).unwrap();
        fs::create_dir(factory.home().join("other")).unwrap();
        fs::write(factory.home().join("other/kusaw.yaml"), "").unwrap();
        let out = factory.run("s").code(125).get_output().stderr.clone();
        let said = String::from_utf8(out).unwrap();
        assert!(said.contains(&format!("sandbox.{kind}: {entry:?}")) && said.contains(what), "{entry}: {said}");
        assert!(!factory.attempt().join("worktrees/demo").exists(), "{entry}");
    }
}

#[test]
fn what_lies_in_etc_is_shown_without_a_trace_on_the_host() {
    let factory = factory(
        "allow_read: [/etc/skel, /etc/shells]",
        "ls -d /etc/skel/.profile; head -c 1 /etc/shells; ls /etc/shadow",
    );
    factory.run("s").code(2).stdout("/etc/skel/.profile\n#");
    let cache = factory.home().join(".cache/kusaw");
    assert!(!cache.exists() || !fs::read_dir(cache).unwrap().flatten().any(|etc| etc.path().join("skel").exists()));
    factory.assert_no_temp();
}

#[test]
fn too_many_are_refused_before_anything_is_made_but_covered_ones_do_not_count() {
    let entries = |n: usize| (0..n).map(|i| format!("~/many/{i}")).collect::<Vec<_>>().join(", ");
    let made = |factory: &Factory, n: usize| {
        (0..n).for_each(|i| fs::create_dir_all(factory.home().join(format!("many/{i}"))).unwrap())
    };
    let many = factory(&format!("allow_read: [{}]", entries(301)), "true");
    made(&many, 301);
    many.run("s").code(125);
    assert_eq!(many.outcome()["reason"], "too-many-paths");
    assert!(!many.attempt().join("worktrees/demo").exists());
    let covered = factory(&format!("allow_read: [{}, ~/many]", entries(2_000)), "ls ~/many | wc -l");
    made(&covered, 2_000);
    covered.run("s").code(0).stdout("2000\n");
}

fn validate(factory: &Factory) -> (Option<i32>, Value) {
    let out = factory.command().args(["validate", "--json"]).output().unwrap();
    (out.status.code(), serde_json::from_slice(&out.stdout).unwrap())
}

#[test]
fn validate_tells_what_is_dangerous_what_is_refused_and_whether_the_machine_can() {
    let factory = factory("allow_read: [~/data, ~/.ssh], allow_write: [~/data/out, ~/missing]", "true");
    let socket = factory.home().join("data/in/s");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let (code, report) = validate(&factory);
    assert_eq!(code, Some(1));
    let told = |list: &str, path: &str| {
        let finding =
            report[list].as_array().unwrap().iter().find(|one| one["path"] == path).cloned().unwrap_or_default();
        (finding["code"].as_str().unwrap_or("").to_string(), finding["what"].as_str().unwrap_or("").to_string())
    };
    assert_eq!(told("warnings", "~/.ssh"), ("W2".into(), "covers SSH keys".into()));
    assert!(told("warnings", "~/data").1.contains(&socket.display().to_string()), "{report}");
    assert_eq!(told("warnings", "~/data/out").0, "");
    assert_eq!(told("errors", "~/missing").0, "unresolved-path");
    assert_eq!((&report["sandbox"]["backend"], &report["sandbox"]["available"]), (&"bubblewrap".into(), &true.into()));
    assert!(!factory.path().join("attempts").exists());
}

#[test]
fn validate_is_content_with_fine_settings_and_tells_wrong_ones_apart() {
    let fine = factory("allow_read: [~/data]", "true");
    let (code, report) = validate(&fine);
    assert_eq!((code, &report["warnings"], &report["errors"]), (Some(0), &Value::Array(vec![]), &Value::Array(vec![])));
    fs::write(fine.path().join("kusaw.yaml"), "steps: {s: {run: [x]}}").unwrap();
    let (code, report) = validate(&fine);
    assert_eq!((code, report.get("sandbox")), (Some(0), None));
    // The outer entry of the one step that is sandboxed covers the factory's inner one: its launch is fine.
    let covered =
        "sandbox: {mode: required, allow_read: [~/data/in]}\nsteps: {s: {run: [x], sandbox: {allow_write: [~/data]}}}";
    fs::write(fine.path().join("kusaw.yaml"), covered).unwrap();
    assert_eq!(validate(&fine).0, Some(0));
    fs::write(fine.path().join("kusaw.yaml"), "stepz: 1").unwrap();
    let out = fine.command().args(["validate", "--json"]).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8(out.stderr).unwrap().contains("did you mean steps?"));
}

#[test]
fn a_run_says_in_one_line_what_an_entry_opens() {
    let factory = factory("allow_read: [~/.ssh, ~/data]", "cat ~/.ssh/id");
    let output = factory.run("s").code(0).stdout(".ssh/id\n").get_output().stderr.clone();
    let said = String::from_utf8(output).unwrap();
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("W2")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].starts_with("kusaw: warning: W2 sandbox.allow_read: \"~/.ssh\" covers SSH keys"), "{said}");
}

/// Of the parts used above.
#[test]
fn the_tree_notices_a_mount_point_that_is_left() {
    let factory = factory("", "true");
    let before = tree(&factory);
    fs::create_dir(Path::new(&factory.home()).join("left")).unwrap();
    assert_ne!(tree(&factory), before);
}
