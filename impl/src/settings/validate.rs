//! What a parser cannot see: names that point nowhere, paths that are patterns, host entries that are
//! none, a step without a program. Everything wrong is found before anything is made or executed.

use super::complaint::did_you_mean;
use super::key::Key;
use super::{Inject, Network, Sandbox, Settings, Step, allowlist, attempts, inject};
use crate::builtin;
use crate::egress::entry::Entry;
use crate::provider::{self, arguments};
use crate::stderr::printable;

/// One thing that is wrong, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Where.
    pub key: Key,
    /// What.
    pub what: String,
    /// What would be right.
    pub fix: String,
}

/// All that is wrong, in the order of the file's blocks.
pub fn check(settings: &Settings) -> Vec<Wrong> {
    let mut check = Check { settings, wrong: Vec::new() };
    check.block(&settings.sandbox, &Key::new("sandbox"));
    for (name, repo) in &settings.repos {
        let key = Key::new("repos").below(name);
        check.name(name, &key);
        check.path(&repo.path.value, &key.below("path"));
        if let Some(sign) = &repo.sign {
            check.path(&sign.value, &key.below("sign"));
        }
    }
    for (name, step) in &settings.steps {
        let key = Key::new("steps").below(name);
        check.name(name, &key);
        check.step(step, &key);
        check.injected(name, step);
    }
    check.wrong
}

/// Things that are wrong are looked for until there are so many: ten are told.
const MOST: usize = 50;

/// The rule for names of repositories, steps and attempts, in words.
pub const NAME: &str = "1 to 64 letters, digits, dots, dashes and underscores; no dot or dash first, no two dots, no dot or .lock at the end";

/// Whether `text` is a name: as one part of a path it stays where it is, no program takes it for an option, and it can be a
/// part of a branch (git-check-ref-format(1)).
pub fn is_name(text: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    let is_ref = !text.contains("..") && !text.ends_with('.') && !text.ends_with(".lock");
    (1..=64).contains(&text.len()) && text.bytes().all(fits) && !text.starts_with(['.', '-']) && is_ref
}

struct Check<'a> {
    settings: &'a Settings,
    wrong: Vec<Wrong>,
}

impl Check<'_> {
    fn tell(&mut self, key: &Key, what: impl Into<String>, fix: impl Into<String>) {
        let one = Wrong { key: key.clone(), what: what.into(), fix: fix.into() };
        // What the factory's block has, each step meets again.
        if !self.is_full() && !self.wrong.contains(&one) {
            self.wrong.push(one);
        }
    }

    fn is_full(&self) -> bool {
        self.wrong.len() >= MOST
    }

    fn name(&mut self, name: &str, key: &Key) {
        if !is_name(name) {
            self.tell(&key.itself(), "not a name", NAME);
        }
    }

    fn path(&mut self, path: &str, key: &Key) {
        if path.is_empty() || path.contains('\0') {
            self.tell(key, "not a path", "a path, such as ~/library");
        }
    }

    fn block(&mut self, block: &Sandbox, key: &Key) {
        for (list, name) in [(&block.allow_read, "allow_read"), (&block.allow_write, "allow_write")] {
            for (i, path) in list.iter().map(|path| path.value.as_str()).enumerate() {
                let key = key.below(name).entry(i);
                self.path(path, &key);
                if path.contains(['*', '?', '[']) {
                    let fix = "name the folder itself; all below it is included";
                    self.tell(&key, "patterns are not taken, only paths", fix);
                }
                if path.starts_with('~') && path != "~" && !path.starts_with("~/") {
                    let fix = "write ~/FOLDER for your own home, or the whole path";
                    self.tell(&key, "homes of other users are not taken", fix);
                }
            }
        }
        let egress = key.below("egress");
        for (i, entry) in block.egress.allow.iter().enumerate() {
            if let Err(why) = Entry::parse(&entry.value) {
                let fix = "an entry is HOST, *.SUFFIX or an address, each with an optional :PORT";
                self.tell(&egress.below("allow").entry(i), format!("{:?}: {why}", entry.value), fix);
            }
        }
        if let Inject::Entries(entries) = &block.egress.inject {
            for (i, entry) in entries.iter().enumerate() {
                if let Err(wrong) = inject::check(entry) {
                    let what = format!("entry {}: {}", printable(&entry.name.value, 64), wrong.what);
                    self.tell(&egress.below("inject").entry(i).below(wrong.key), what, wrong.fix);
                }
            }
        }
    }

    /// Keys that a step gets, put together: its own block adds to the factory's.
    fn injected(&mut self, name: &str, step: &Step) {
        let all = match inject::of(self.settings, step) {
            Ok(all) => all,
            Err(wrong) => {
                let key = self.place_of_entry(name, step, wrong.entry.as_deref());
                return self.tell(&key, wrong.what, wrong.fix);
            }
        };
        let is_open = allowlist::network(self.settings, step) == Network::Open;
        if let Some(first) = all.first()
            && is_open
            && attempts::any_sandboxed(self.settings, step)
        {
            let key = self.place_of_entry(name, step, Some(&first.name));
            let what =
                format!("entry {}: the network is open: keys are only kept out with network: allowlist", first.name);
            self.tell(&key, what, "set sandbox.network: allowlist");
        }
    }

    /// Where an entry stands: the last of this name, in the step's block or the factory's.
    fn place_of_entry(&self, name: &str, step: &Step, entry: Option<&str>) -> Key {
        let of_step = step.block().map(|block| (Key::new("steps").below(name).below("sandbox"), block));
        let blocks = of_step.into_iter().chain([(Key::new("sandbox"), &self.settings.sandbox)]);
        for (key, block) in blocks {
            let key = key.below("egress").below("inject");
            match &block.egress.inject {
                Inject::None => {}
                Inject::Provider => return key,
                Inject::Entries(entries) => {
                    let found = entries.iter().rposition(|one| Some(one.name.value.as_str()) == entry);
                    if let Some(index) = found {
                        return key.entry(index);
                    }
                }
            }
        }
        Key::new("steps").below(name)
    }

    fn step(&mut self, step: &Step, key: &Key) {
        for (i, repo) in step.repos.iter().enumerate() {
            if self.is_full() {
                break;
            }
            let key = key.below("repos").entry(i);
            if !self.settings.repos.contains_key(&repo.value) {
                let known: Vec<&str> = self.settings.repos.keys().map(String::as_str).collect();
                self.tell(&key, format!("no repo {:?} under repos:", repo.value), did_you_mean(&repo.value, &known));
            }
            if step.repos[..i].iter().any(|r| r.value == repo.value) {
                self.tell(&key, format!("{} stands twice", repo.value), "keep one of the two");
            }
        }
        if let Some(block) = step.block() {
            self.block(block, &key.below("sandbox"));
        }
        for (name, value) in &step.env {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                let fix = "NAME: value, without = in the name and NUL bytes";
                self.tell(
                    &key.below("env").below(name).itself(),
                    format!("{:?} cannot be a variable", printable(name, 80)),
                    fix,
                );
            }
        }
        for (name, needs) in [("uses", step.uses.is_some()), ("per_repo", step.is_per_repo())] {
            if needs && step.repos.is_empty() {
                self.tell(&key.below(name), "the step has no repos", "add repos: [NAME], a name under repos:");
            }
        }
        self.program(step, key);
    }

    fn args(&mut self, step: &Step, key: &Key) {
        let wrong = match provider::of(step) {
            _ if step.args.is_empty() => return,
            Some(_) if step.args.iter().any(|arg| arg.contains('\0')) => {
                ("an argument holds a NUL byte".to_string(), "a list of arguments, such as [--model, opus]")
            }
            Some(provider) => match arguments::check(provider.own_sandbox, &step.args) {
                Ok(()) => return,
                Err(e) => (e.to_string(), "write it as the agent's own manual has it"),
            },
            None => ("only an agent takes arguments".into(), "write them into run: [program, argument]"),
        };
        self.tell(&key.below("args"), wrong.0, wrong.1);
    }

    fn program(&mut self, step: &Step, key: &Key) {
        let ways = [step.run.is_some(), step.provider.is_some() || step.prompt.is_some(), step.uses.is_some()];
        if ways.iter().filter(|w| **w).count() != 1 {
            self.tell(
                key,
                "a step has exactly one of run, uses, and an agent (provider, prompt)",
                "such as run: [make, test], or prompt: what the agent is told (claude-code, where provider is left out)",
            );
        }
        let once = [("run", &step.run), ("handshake", &step.handshake)];
        let once = once.into_iter().filter_map(|(name, argv)| Some((key.below(name), argv.as_ref()?)));
        let setup = step.setup.iter().enumerate().map(|(n, argv)| (key.below("setup").entry(n), argv));
        for (key, argv) in once.chain(setup) {
            let what = match argv {
                argv if argv.first().is_none_or(String::is_empty) => "no program",
                argv if argv.iter().any(|a| a.contains('\0')) => "an argument holds a NUL byte",
                _ => continue,
            };
            self.tell(&key, what, "a list: a program and its arguments, such as [make, test]");
        }
        if let Some(provider) = &step.provider
            && provider::find(&provider.value).is_none()
        {
            let known: Vec<&str> = provider::ALL.iter().map(|p| p.name).collect();
            let what = format!("no provider {:?}", provider.value);
            self.tell(&key.below("provider"), what, did_you_mean(&provider.value, &known));
        }
        self.args(step, key);
        if step.is_interactive() && provider::of(step).is_none() {
            let fix = "remove it; a program of run: has the terminal anyway";
            self.tell(&key.below("interactive"), "only an agent has two ways to be started", fix);
        }
        if let Some(uses) = &step.uses
            && builtin::find(&uses.value).is_none()
        {
            let known: Vec<&str> = builtin::ALL.iter().map(|b| b.name).collect();
            let what = format!("no built-in step {:?}", uses.value);
            self.tell(&key.below("uses"), what, did_you_mean(&uses.value, &known));
        }
        // Without the key the user is asked when the step is run.
        if step.prompt.as_ref().is_some_and(|p| p.is_empty() || p.contains('\0')) {
            let fix = "say what the agent is to do, or leave prompt: out to be asked at each run";
            self.tell(&key.below("prompt"), "not a prompt: it is empty, or holds a NUL byte", fix);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for fine in ["a", "A-1_b.c", &"x".repeat(64)] {
            assert!(is_name(fine), "{fine}");
        }
        for bad in ["", ".", "..", ".a", "-a", "a/b", "a b", "ä", &"x".repeat(65), "a\n"] {
            assert!(!is_name(bad), "{bad:?}");
        }
    }
}
