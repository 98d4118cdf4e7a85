//! An agent's state folder with the real bubblewrap, judged from the host: works as root and as any other user.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use factory::Factory;

/// A step whose agent does what its prompt says.
fn agent(prompt: &str) -> Factory {
    let quoted = serde_json::to_string(prompt).unwrap();
    let factory = Factory::new(&format!("sandbox: {{mode: required}}\nsteps: {{s: {{prompt: {quoted}}}}}\n"));
    program(&factory.home().join("agent/claude"), "for last; do :; done; eval \"$last\"");
    factory
}

fn program(at: &Path, script: &str) {
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(at, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs it with a folder of the home first in PATH, before that of the agent.
fn run(factory: &Factory, first: &str) -> assert_cmd::assert::Assert {
    let home = factory.home();
    let path = format!("{}:{}:/usr/bin:/bin", home.join(first).display(), home.join("agent").display());
    factory.run_with("s", &[("PATH", &path)])
}

const PLANT: &str = "printf '#!/bin/sh\\n' > evil; chmod +x evil; mv evil";

#[test]
fn no_folder_on_the_way_to_a_program_in_it_can_be_exchanged() {
    let script = format!(
        "cd ~/.claude; echo x > local/notes; mv local gone; mv local/modules local/gone; mkdir -p local/modules/bin; \
         {PLANT} local/modules/bin/git; {PLANT} local/modules/bin/tool; true"
    );
    let factory = agent(&script);
    let local = factory.home().join(".claude/local");
    program(&local.join("modules/bin/tool"), "true");
    let before = fs::read(local.join("modules/bin/tool")).unwrap();
    run(&factory, ".claude/local/modules/bin").code(0);
    assert_eq!(fs::read(local.join("modules/bin/tool")).unwrap(), before);
    assert!(!local.join("modules/bin/git").exists() && !local.join("gone").exists());
    // What lies beside that is the agent's as before.
    assert_eq!(fs::read_to_string(local.join("notes")).unwrap(), "x\n");
}

/// A step could have it lead anywhere, and the next attempt would read and replace that.
#[test]
fn a_file_of_it_that_lies_in_a_folder_of_it_is_refused() {
    let factory = agent("touch ~/.claude/mark");
    let home = factory.home();
    fs::create_dir(home.join(".claude")).unwrap();
    fs::write(home.join(".claude/main.json"), "{}").unwrap();
    symlink(".claude/main.json", home.join(".claude.json")).unwrap();
    run(&factory, "tools").code(125);
    assert_eq!(factory.outcome()["reason"], "step-writable-path");
    assert!(!home.join(".claude/mark").exists());
    // Where no step can write it is as good as in the home.
    fs::remove_file(home.join(".claude.json")).unwrap();
    fs::create_dir(home.join("dotfiles")).unwrap();
    fs::write(home.join("dotfiles/main.json"), "{}").unwrap();
    symlink("dotfiles/main.json", home.join(".claude.json")).unwrap();
    fs::remove_dir_all(factory.attempt()).unwrap();
    run(&factory, "tools").code(0);
}

#[test]
fn setup_is_not_run_for_an_agent_that_is_not_there() {
    let factory = agent("true");
    let mark = factory.home().join("mark");
    let settings = format!(
        "sandbox: {{mode: required}}\nsteps: {{s: {{prompt: x, provider: cursor, setup: [[touch, '{}']]}}}}\n",
        mark.display()
    );
    fs::write(factory.path().join("kusaw.yaml"), settings).unwrap();
    run(&factory, "tools").code(127);
    assert!(!mark.exists());
    program(&factory.home().join("agent/cursor-agent"), "true");
    fs::remove_dir_all(factory.attempt()).unwrap();
    run(&factory, "tools").code(0);
    assert!(mark.exists());
}

#[test]
fn a_link_in_it_by_which_path_leads_to_programs_cannot_be_exchanged() {
    // Deeper than links are followed.
    let script = format!("cd ~/.claude/a/b; rm -f bin; mkdir bin; {PLANT} bin/git; mv ../b ../gone; true");
    let factory = agent(&script);
    let folder = factory.home().join(".claude/a/b");
    program(&factory.home().join("tools/tool"), "true");
    fs::create_dir_all(&folder).unwrap();
    symlink("../../../tools", folder.join("bin")).unwrap();
    run(&factory, ".claude/a/b/bin").code(0);
    assert!(folder.join("bin").is_symlink());
    // Directly in the state folder it cannot be kept. Its user has made it after the first attempt: it is not followed.
    let factory = agent("touch ~/.claude/mark");
    let mark = factory.home().join(".claude/mark");
    fs::create_dir_all(mark.parent().unwrap()).unwrap();
    fs::create_dir_all(factory.home().join("tools")).unwrap();
    run(&factory, "tools").code(0);
    fs::remove_file(&mark).unwrap();
    fs::remove_dir_all(factory.attempt()).unwrap();
    symlink("../tools", factory.home().join(".claude/bin")).unwrap();
    run(&factory, ".claude/bin").code(125);
    assert_eq!(factory.outcome()["reason"], "protected-path");
    assert!(!mark.exists());
}
