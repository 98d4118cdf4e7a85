//! docs/first-steps.md is what happens: the commands of the page are run, one after the other, in a fresh home, and what they
//! print is what stands there. `KUSAW_WRITE_PAGES=1 cargo test -p kusaw --test first_steps` writes it anew.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

mod factory;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use factory::Factory;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/first-steps.md");

/// The agent: it has no login but what it is given, looks where it should not look, and commits.
const CLAUDE: &str = r#"#!/bin/sh
[ -n "$CLAUDE_CODE_OAUTH_TOKEN" ] || { echo "Not logged in"; exit 1; }
cat ~/.ssh/id_ed25519
touch fixed && git add fixed && git commit -q -m "Make the test pass" && echo "The test passes now."
"#;

#[test]
fn the_page_is_what_happens() {
    let page = fs::read_to_string(PAGE).unwrap();
    let you = You::new();
    let (mut written, mut is_console) = (String::new(), false);
    for line in page.lines() {
        let is_output = is_console && !line.starts_with("$ ") && line != "```";
        match line {
            "```console" => is_console = true,
            "```" => is_console = false,
            _ => {}
        }
        if !is_output {
            written += &format!("{line}\n");
        }
        if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            written += &you.types(command);
        }
    }
    if std::env::var_os("KUSAW_WRITE_PAGES").is_some() {
        fs::write(PAGE, &written).unwrap();
    }
    assert!(page == written, "KUSAW_WRITE_PAGES=1 writes the page anew; it would be:\n{written}");
}

/// Somebody new: a home with an identity for git and a token, and kusaw on PATH.
struct You {
    ground: Factory,
    path: String,
}

impl You {
    fn new() -> You {
        let ground = Factory::new("");
        let config = "[user]\n\tname = You\n\temail = you@example.com\n";
        fs::write(ground.home().join(".gitconfig"), config).unwrap();
        for folder in [".local/bin", ".ssh", "stand-in"] {
            fs::create_dir_all(ground.home().join(folder)).unwrap();
        }
        let claude = ground.home().join("stand-in/claude");
        for (file, text) in
            [("token", "token-of-the-page\n"), (".ssh/id_ed25519", "your key\n"), ("stand-in/claude", CLAUDE)]
        {
            fs::write(ground.home().join(file), text).unwrap();
        }
        fs::set_permissions(claude, PermissionsExt::from_mode(0o755)).unwrap();
        // The same for an ordinary user: from here on all is his.
        let command = ground.command_of_a_user();
        let named = command.get_args().map(PathBuf::from).chain([command.get_program().into()]);
        let kusaw = named.into_iter().find(|path| path.ends_with("kusaw")).unwrap();
        let path =
            format!("{}/.local/bin:{}:/usr/bin:/bin", ground.home().display(), kusaw.parent().unwrap().display());
        You { ground, path }
    }

    /// What a command prints, as the page has it. The next one begins in the folder that this one ends in.
    fn types(&self, command: &str) -> String {
        let place = self.ground.tmp().join("folder");
        let folder = fs::read_to_string(&place).map_or(self.ground.home(), |folder| folder.trim_end().into());
        let command = command.replace("ID", &self.attempt(&folder));
        let script = format!("exec 2>&1; cd '{}' && {command}\npwd >'{}'", folder.display(), place.display());
        let mut shell = self.ground.program_of_a_user("sh");
        shell.args(["-c", &script]).env("HOME", self.ground.home()).env("PATH", &self.path);
        // One name for a commit, whenever it is made.
        shell.env("GIT_AUTHOR_DATE", "@1767225600 +0000").env("GIT_COMMITTER_DATE", "@1767225600 +0000");
        let said = String::from_utf8(shell.output().unwrap().stdout).unwrap();
        self.as_written(&said, &folder)
    }

    /// What is another at each run. All of that is here.
    fn as_written(&self, said: &str, folder: &Path) -> String {
        let said = said.replace(&*self.ground.home().to_string_lossy(), "/home/you");
        match &*self.attempt(folder) {
            "" => said,
            id => said.replace(id, "ID"),
        }
    }

    /// The last attempt of a factory; its id begins with the time.
    fn attempt(&self, factory: &Path) -> String {
        let entries = fs::read_dir(factory.join("attempts")).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| !name.starts_with('.')).max().unwrap_or_default()
    }
}
