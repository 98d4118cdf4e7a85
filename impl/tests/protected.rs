//! Ways around the protected places: links, other factories, a folder exchanged during the launch. With the real bubblewrap,
//! judged from the host.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use factory::{Factory, factory, settings};

/// A place beside the factory and its home.
fn beside(factory: &Factory, name: &str) -> PathBuf {
    factory.path().parent().unwrap().join(name)
}

/// Moves `name` away and leads there over a link in the folder `links`.
fn over_links(factory: &Factory, name: &str) {
    let at = |name: &str| beside(factory, name);
    fs::create_dir_all(at("links")).unwrap();
    fs::rename(at(name), at("links").with_file_name(format!("real-{}", name.replace('/', "-")))).unwrap();
    symlink(at(&format!("real-{}", name.replace('/', "-"))), at("links").join("next")).unwrap();
    symlink(at("links/next"), at(name)).unwrap();
}

fn refused(factory: &Factory, env: &[(&str, &str)], code: &str) -> String {
    let out = factory.run_with("s", env).code(125).get_output().stderr.clone();
    let said = String::from_utf8(out).unwrap();
    assert!(said.contains(code), "{said}");
    assert!(!factory.attempt().join("artifacts/executed").exists());
    said
}

const EXECUTED: &str = "touch ../../artifacts/executed";

#[test]
fn what_links_lead_to_out_of_the_data_folder_is_hidden_too() {
    let factory = factory("allow_read: [~/vol]", "cat ~/vol/file; ls -A ~/vol/store; cat ~/vol/store/* ~/vol/keys");
    let data = factory.home().join(".local/share/kusaw");
    fs::create_dir(factory.home().join("vol")).unwrap();
    fs::rename(data.join("store"), factory.home().join("vol/store")).unwrap();
    ["file", "keys"].iter().for_each(|name| fs::write(factory.home().join("vol").join(name), "file\n").unwrap());
    ["store", "keys"].iter().for_each(|name| symlink(factory.home().join("vol").join(name), data.join(name)).unwrap());
    factory.run("s").code(1).stdout("file\n");
}

#[test]
fn a_link_on_the_way_to_a_protected_place_is_protected() {
    for (what, name) in [
        ("the factory's settings", "f"),
        ("the factory's settings", "f/kusaw.yaml"),
        ("repo demo", "demo"),
        ("the git folder of repo demo", "demo/.git"),
        ("the secret store", "home"),
        ("what kusaw prepares", "home/.cache"),
        ("the secret store", "home/.local/share/kusaw/store"),
    ] {
        let factory = factory("allow_write: [../links]", EXECUTED);
        fs::create_dir(factory.home().join(".cache")).unwrap();
        over_links(&factory, name);
        let said = refused(&factory, &[], "protected-path");
        assert!(said.contains("it holds a link to") && said.contains(what), "{name}: {said}");
    }
    let programs = factory("allow_write: [~/links]", EXECUTED);
    fs::create_dir(programs.home().join("links")).unwrap();
    symlink("/usr/bin", programs.home().join("links/bin")).unwrap();
    let path = format!("{}/links/bin:/usr/bin:/bin", programs.home().display());
    assert!(refused(&programs, &[("PATH", &path)], "protected-path").contains("it holds a link to"));
}

#[test]
fn the_settings_a_link_leads_to_are_protected() {
    let factory = factory("allow_write: [../conf]", EXECUTED);
    fs::create_dir(beside(&factory, "conf")).unwrap();
    fs::rename(factory.path().join("kusaw.yaml"), beside(&factory, "conf/common.yaml")).unwrap();
    symlink("../conf/common.yaml", factory.path().join("kusaw.yaml")).unwrap();
    assert!(refused(&factory, &[], "protected-path").contains("it holds the factory's settings"));
}

#[test]
fn what_a_step_of_another_factory_left_is_not_followed() {
    for kind in ["allow_read", "allow_write"] {
        for part in ["artifacts", "worktrees/demo"] {
            let factory = factory(&format!("{kind}: [../other/attempts/a/{part}/out]"), EXECUTED);
            let left = beside(&factory, "other/attempts/a").join(part);
            fs::create_dir_all(&left).unwrap();
            fs::write(beside(&factory, "other/kusaw.yaml"), "").unwrap();
            symlink(factory.home().join(".ssh"), left.join("out")).unwrap();
            refused(&factory, &[], "step-writable-path");
        }
    }
}

#[test]
fn a_folder_that_holds_another_factory_cannot_be_written() {
    let factory = factory("allow_write: [~/projects]", EXECUTED);
    let other = factory.home().join("projects/other");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("kusaw.yaml"), "").unwrap();
    let said = refused(&factory, &[], "protected-path");
    assert!(said.contains("it holds another factory's folder") && said.contains("if a step left it"), "{said}");
    // Too deep for a launch.
    fs::create_dir(factory.home().join("projects/deep")).unwrap();
    fs::rename(&other, factory.home().join("projects/deep/other")).unwrap();
    let out = factory.command().arg("validate").output().unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(said.contains("error: protected-path sandbox.allow_write: \"~/projects\""), "{said}");
    // What is refused is told to be dangerous all the same.
    settings(&factory, "sandbox: {mode: required, allow_write: ['~']}", EXECUTED);
    let out = factory.command().arg("validate").output().unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(
        said.contains("error: protected-path") && said.contains("warning: W2 sandbox.allow_write: \"~\""),
        "{said}"
    );
    settings(&factory, "sandbox: {mode: required, allow_write: [~/projects]}", EXECUTED);
    // Nothing that settings could be read from.
    fs::remove_dir_all(factory.home().join("projects/deep")).unwrap();
    fs::create_dir_all(factory.home().join("projects/kusaw.yaml")).unwrap();
    factory.run("s").code(125);
    let again = factory.command().args(["run", "s", "--attempt", "b"]).output().unwrap();
    assert_eq!(again.status.code(), Some(0), "{again:?}");
}

#[test]
fn an_open_home_starts_whatever_links_lead_to_it_or_lie_in_it() {
    let linked = factory("allow_read: [\"~\"]", "cat ~/data/in/file");
    over_links(&linked, "home");
    linked.run("s").code(0).stdout("data/in/file\n");
    let inside = factory("allow_read: [\"~\", ~/l]", "cat ~/l/in/file");
    symlink("data", inside.home().join("l")).unwrap();
    inside.run("s").code(0).stdout("data/in/file\n");
}

#[test]
fn a_folder_that_is_exchanged_during_the_launch_is_refused() {
    for (kind, entry) in [("allow_read", "~/data"), ("allow_read", "~/data/in"), ("allow_write", "~/data/in")] {
        let factory = factory(&format!("{kind}: [{entry}]"), EXECUTED);
        fs::create_dir(factory.home().join("secret/in")).unwrap();
        let home = factory.home().display().to_string();
        let exchange = format!("cd {home}; mv data d; ln -s secret data; exec /usr/bin/bwrap \"$@\"");
        let path = factory.fake_bwrap(&exchange);
        let said = refused(&factory, &[("PATH", &path)], "path-changed");
        assert!(said.contains(entry.trim_start_matches('~')), "{said}");
    }
}

#[test]
fn names_that_a_step_chose_forge_no_line() {
    let factory = factory("allow_read: [~/data]", "true");
    let name = factory.home().join("data/evil\u{1b}[31m\nkusaw: all fine");
    let _listener = std::os::unix::net::UnixListener::bind(name).unwrap();
    let out = factory.command().arg("validate").output().unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(said.contains("a socket") && !said.contains('\u{1b}') && !said.contains("\nkusaw:"), "{said}");
    let out = factory.run("s").code(0).get_output().stderr.clone();
    let said = String::from_utf8(out).unwrap();
    assert!(said.contains("a socket") && !said.contains("\nkusaw: all fine"), "{said}");
}

#[test]
fn a_checkout_in_a_folder_to_be_written_is_told() {
    let factory = factory("allow_write: [~/src]", "true");
    fs::create_dir_all(factory.home().join("src/project/.git")).unwrap();
    let out = factory.command().arg("validate").output().unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(said.contains("holds a checkout") && said.contains("src/project"), "{said}");
}

#[test]
fn below_settings_that_cannot_be_read_no_others_govern() {
    let factory = factory("allow_write: [sub]", "true");
    let inner = factory.path().join("sub");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("kusaw.yaml"), "steps: {s: {run: [touch, planted]}}").unwrap();
    fs::write(factory.path().join("kusaw.yaml"), "sandbox: {mode: required").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kusaw"));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", factory.home()).env("TMPDIR", factory.tmp());
    let out = command.current_dir(&inner).args(["run", "s"]).output().unwrap();
    assert_eq!(out.status.code(), Some(125), "{out:?}");
    assert!(String::from_utf8(out.stderr).unwrap().contains("bad-settings"));
}

#[test]
fn the_store_of_another_environment_is_protected() {
    let factory = factory("allow_read: [~/.local/share/kusaw/store]", EXECUTED);
    let elsewhere = factory.home().join("xdg").display().to_string();
    refused(&factory, &[("XDG_DATA_HOME", &elsewhere)], "protected-path");
    settings(&factory, "sandbox: {mode: required, allow_read: [~/.local]}", "ls -A ~/.local/share/kusaw");
    let mut command = factory.command();
    command.args(["run", "s", "--attempt", "b"]).env("XDG_DATA_HOME", &elsewhere);
    assert_eq!(String::from_utf8(command.output().unwrap().stdout).unwrap(), "");
}

#[test]
fn root_cannot_let_a_step_write_the_system() {
    if nix::unistd::geteuid().is_root() {
        let factory = factory("allow_write: [/usr/share]", EXECUTED);
        assert!(refused(&factory, &[], "protected-path").contains("it lies in the system"));
    }
}
