//! What a parser cannot see: names that point nowhere, paths that are patterns, host entries that are
//! none, a step without a program. Everything wrong is found before anything is made or executed.

use std::path::Path;

use serde_yaml::Spanned;

use super::{Complaint, Inject, Network, Sandbox, Settings, Step, StepSandbox, allowlist, attempts, inject};
use crate::builtin;
use crate::egress::entry::Entry;
use crate::provider::{self, arguments};
use crate::stderr::printable;

/// The first thing that is wrong, if any.
pub fn check(settings: &Settings, file: &Path, text: &str) -> Result<(), Box<Complaint>> {
    let check = Check { settings, file, text };
    check.block(&settings.sandbox, "sandbox")?;
    for (name, repo) in &settings.repos {
        let key = format!("repos.{name}");
        check.name(name, &key)?;
        if repo.path.value.is_empty() || repo.path.value.contains('\0') {
            return Err(check.at(&repo.path, &format!("{key}.path"), "not a path"));
        }
        if let Some(sign) = repo.sign.as_ref().filter(|sign| sign.value.is_empty() || sign.value.contains('\0')) {
            return Err(check.at(sign, &format!("{key}.sign"), "not a path"));
        }
    }
    for (name, step) in &settings.steps {
        check.name(name, &format!("steps.{}", printable(name, 80)))?;
        check.step(step, &format!("steps.{name}"))?;
        check.injected(step, &format!("steps.{name}"))?;
    }
    Ok(())
}

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
    file: &'a Path,
    text: &'a str,
}

type Checked = Result<(), Box<Complaint>>;

impl Check<'_> {
    fn at<T>(&self, place: &Spanned<T>, key: &str, what: impl Into<String>) -> Box<Complaint> {
        let at = (place.referenced.line(), place.referenced.column());
        Box::new(Complaint::new(self.file, self.text, at, key, what))
    }

    fn about(&self, key: &str, what: impl Into<String>) -> Box<Complaint> {
        Box::new(Complaint::new(self.file, self.text, (0, 0), key, what))
    }

    fn block(&self, block: &Sandbox, key: &str) -> Checked {
        for (list, name) in [(&block.allow_read, "allow_read"), (&block.allow_write, "allow_write")] {
            for path in list {
                if path.value.contains(['*', '?', '[']) {
                    let complaint = self.at(path, &format!("{key}.{name}"), "patterns are not taken, only paths");
                    return Err(Box::new(complaint.fix("name the folder itself; all below it is included")));
                }
                if path.value.is_empty() || path.value.contains('\0') {
                    return Err(self.at(path, &format!("{key}.{name}"), "not a path"));
                }
                if path.value.starts_with('~') && path.value != "~" && !path.value.starts_with("~/") {
                    let complaint = self.at(path, &format!("{key}.{name}"), "homes of other users are not taken");
                    return Err(Box::new(complaint.fix("write ~/FOLDER for your own home, or the whole path")));
                }
            }
        }
        for entry in &block.egress.allow {
            if let Err(why) = Entry::parse(&entry.value) {
                let complaint = self.at(entry, &format!("{key}.egress.allow"), format!("{:?}: {why}", entry.value));
                return Err(Box::new(
                    complaint.fix("an entry is HOST, *.SUFFIX or an address, each with an optional :PORT"),
                ));
            }
        }
        if let Inject::Entries(entries) = &block.egress.inject {
            for entry in entries {
                inject::check(entry).map_err(|wrong| {
                    let complaint = self.at(&entry.name, &format!("{key}.egress.inject.{}", wrong.key), wrong.what);
                    Box::new(complaint.fix(wrong.fix))
                })?;
            }
        }
        Ok(())
    }

    /// Keys that a step gets, put together: its own block adds to the factory's.
    fn injected(&self, step: &Step, key: &str) -> Checked {
        let key = format!("{key}.sandbox.egress.inject");
        let all =
            inject::of(self.settings, step).map_err(|wrong| Box::new(self.about(&key, wrong.what).fix(wrong.fix)))?;
        let is_open = allowlist::network(self.settings, step) == Network::Open;
        if !all.is_empty() && is_open && attempts::any_sandboxed(self.settings, step) {
            let complaint = self.about(&key, "the network is open: keys are only kept out with network: allowlist");
            return Err(Box::new(complaint.fix("set sandbox.network: allowlist")));
        }
        Ok(())
    }

    fn name(&self, name: &str, key: &str) -> Checked {
        match is_name(name) {
            true => Ok(()),
            false => Err(Box::new(self.about(key, "not a name").fix(NAME))),
        }
    }

    fn step(&self, step: &Step, key: &str) -> Checked {
        for (i, repo) in step.repos.iter().enumerate() {
            let key = format!("{key}.repos");
            if !self.settings.repos.contains_key(&repo.value) {
                let known: Vec<&str> = self.settings.repos.keys().map(String::as_str).collect();
                let complaint = self.at(repo, &key, format!("no repo {:?} under repos:", repo.value));
                return Err(Box::new(complaint.did_you_mean(&repo.value, &known)));
            }
            if step.repos[..i].iter().any(|r| r.value == repo.value) {
                return Err(self.at(repo, &key, format!("{} stands twice", repo.value)));
            }
        }
        if let Some(StepSandbox::Block(block)) = &step.sandbox {
            self.block(block, &format!("{key}.sandbox"))?;
        }
        for (name, value) in &step.env {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(self.about(&format!("{key}.env"), format!("{name:?} cannot be a variable")));
            }
        }
        self.program(step, key)
    }

    fn args(&self, step: &Step, key: &str) -> Checked {
        let key = format!("{key}.args");
        let wrong = |what: &str, fix: &str| Err(Box::new(self.about(&key, what).fix(fix)));
        match provider::of(step) {
            _ if step.args.is_empty() => Ok(()),
            Some(_) if step.args.iter().any(|arg| arg.contains('\0')) => {
                Err(self.about(&key, "an argument holds a NUL byte"))
            }
            Some(provider) if step.uses.is_none() => arguments::check(provider.own_sandbox, &step.args)
                .or_else(|e| wrong(&e.to_string(), "write it as the agent's own manual has it")),
            _ => wrong("only an agent takes arguments", "write them into run: [program, argument]"),
        }
    }

    fn program(&self, step: &Step, key: &str) -> Checked {
        let ways = [step.run.is_some(), step.provider.is_some() || step.prompt.is_some(), step.uses.is_some()];
        if ways.iter().filter(|w| **w).count() != 1 {
            let complaint = self.about(key, "a step has exactly one of run, provider with prompt, uses");
            return Err(Box::new(complaint.fix("for example run: [make, test]")));
        }
        let once = [("run", &step.run), ("handshake", &step.handshake)];
        let once = once.into_iter().filter_map(|(name, argv)| Some((name, argv.as_ref()?)));
        for (name, argv) in once.chain(step.setup.iter().map(|argv| ("setup", argv))) {
            if argv.first().is_none_or(String::is_empty) {
                return Err(self.about(&format!("{key}.{name}"), "no program"));
            }
            if argv.iter().any(|a| a.contains('\0')) {
                return Err(self.about(&format!("{key}.{name}"), "an argument holds a NUL byte"));
            }
        }
        if let Some(provider) = &step.provider
            && provider::find(&provider.value).is_none()
        {
            let known: Vec<&str> = provider::ALL.iter().map(|p| p.name).collect();
            let complaint = self.at(provider, &format!("{key}.provider"), format!("no provider {:?}", provider.value));
            return Err(Box::new(complaint.did_you_mean(&provider.value, &known)));
        }
        self.args(step, key)?;
        // Without the key the user is asked when the step is run.
        if step.prompt.as_ref().is_some_and(|p| p.is_empty() || p.contains('\0')) {
            let complaint = self.about(&format!("{key}.prompt"), "not a prompt: it is empty, or holds a NUL byte");
            return Err(Box::new(
                complaint.fix("say what the agent is to do, or leave prompt: out to be asked at each run"),
            ));
        }
        if let Some(uses) = &step.uses {
            let known: Vec<&str> = builtin::ALL.iter().map(|b| b.name).collect();
            if !known.contains(&uses.value.as_str()) {
                let complaint = self.at(uses, &format!("{key}.uses"), format!("no built-in step {:?}", uses.value));
                return Err(Box::new(complaint.did_you_mean(&uses.value, &known)));
            }
        }
        for (name, needs) in [("uses", step.uses.is_some()), ("per_repo", step.is_per_repo())] {
            if needs && step.repos.is_empty() {
                let complaint = self.about(&format!("{key}.{name}"), "the step has no repos");
                return Err(Box::new(complaint.fix("add repos: [NAME]")));
            }
        }
        Ok(())
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
