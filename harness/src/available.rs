//! Whether a driver can be asked on this host at all: looked at once, in the lab, before the first scenario.
//!
//! What is missing blocks the whole driver, by name and with the fix. It never makes a scenario pass or fail.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;

use crate::driver::{Manifest, Templates};
use crate::lab::{DRIVER, DRIVER_BIN, DRIVER_SET_USER_ID, HOME, Lab, Start, UID};
use crate::launch::environment;

/// An `available:` command that takes longer says no.
const BOUND: Duration = Duration::from_secs(30);

/// Why the driver cannot be asked here: which of its needs are not on the lab's PATH, which of what is provided for it is not
/// there, with the fix, or what its own `available:` command says.
pub fn why_not(lab: &Lab, manifest: &Manifest) -> Option<String> {
    missing(manifest).or_else(|| set_user_id(lab, manifest)).or_else(|| refused(manifest))
}

fn missing(manifest: &Manifest) -> Option<String> {
    let mut lacking: Vec<String> = manifest.needs.iter().filter(|name| Lab::which(name).is_none()).cloned().collect();
    let absent = |path: &&PathBuf| path.file_name().is_some_and(|name| !Path::new(DRIVER).join(name).is_dir());
    let folders = manifest.provide.iter().filter_map(|part| part.folder.as_ref()).filter(absent);
    lacking.extend(folders.map(|path| path.display().to_string()));
    let programs = manifest.provide.iter().filter_map(|part| part.set_user_id.as_ref());
    lacking.extend(programs.filter(|name| Lab::which(name).is_none()).cloned());
    let fix = match manifest.provide.iter().find_map(|part| part.made_by.as_deref()) {
        Some(command) => format!("`{command}` installs it"),
        None if lacking.iter().all(|name| is_of_setup(name)) => "`make setup` installs it".to_owned(),
        None => "install it with the system's packages: of programs, the lab shows what lies in /usr".to_owned(),
    };
    (!lacking.is_empty()).then(|| format!("not installed: {}; {fix}", lacking.join(", ")))
}

/// Whether `make setup` installs a program.
fn is_of_setup(name: &str) -> bool {
    let list = |line: &'static str| {
        let (list, programs) = line.split_once("=(")?;
        ["programs", "inside"].contains(&list).then(|| programs.split_once(')').map_or(programs, |(own, _)| own))
    };
    let lists = include_str!("../../ci/setup").lines().filter_map(list);
    lists.flat_map(str::split_whitespace).any(|program| program == name)
}

/// A set-user-ID program that is installed, and yet not in its place in the lab.
fn set_user_id(lab: &Lab, manifest: &Manifest) -> Option<String> {
    let mut programs = manifest.provide.iter().filter_map(|part| part.set_user_id.as_ref());
    let name = programs.find(|name| !Path::new(DRIVER_SET_USER_ID).join(name).is_file())?;
    Some(match lab.start {
        Start::Root => format!("{name} is not set-user-ID root here, as its package makes it: install it again"),
        Start::Unprivileged => {
            format!("{name} is set-user-ID root, which only root can show to the lab; start the suite as root")
        }
    })
}

/// What `available:` prints as its reason, if it does not end with 0.
fn refused(manifest: &Manifest) -> Option<String> {
    if manifest.available.is_empty() {
        return None;
    }
    let ended = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| e.to_string())
        .and_then(|runtime| runtime.block_on(ask(manifest)));
    match ended {
        Ok(output) if output.status.success() => None,
        Ok(output) if output.stderr.trim_ascii().is_empty() => {
            Some(format!("`available:` ended with {}", output.status))
        }
        Ok(output) => Some(crate::text::line(output.stderr.trim_ascii(), 300)),
        Err(e) => Some(format!("`available:`: {e}")),
    }
}

async fn ask(manifest: &Manifest) -> Result<std::process::Output, String> {
    let program = manifest.program.as_ref().map(|p| format!("{DRIVER_BIN}/{p}"));
    let templates = Templates::new(json!({"program": program, "home": HOME, "uid": UID}));
    let argv = templates.argv(&manifest.available)?;
    let mut environment = environment::of_user();
    for (name, template) in &manifest.env.set {
        environment.push((name.clone(), templates.render(template)?));
    }
    environment.retain(|(name, _)| !manifest.env.unset.contains(name));
    let (program, arguments) = argv.split_first().ok_or("no program is named")?;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).current_dir("/").env_clear().envs(environment);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let ended = tokio::time::timeout(BOUND, command.output()).await;
    ended.map_err(|_| format!("no answer within {} s", BOUND.as_secs()))?.map_err(|e| format!("{program}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(more: &str) -> Manifest {
        Manifest::parse(&format!("name: n\nkind: sandbox\nplatforms: [linux]\nlaunch: {{open: []}}\n{more}")).unwrap()
    }

    #[test]
    fn what_is_not_there_is_told_with_its_fix() {
        assert_eq!(missing(&manifest("needs: [sh]")), None);
        let told = missing(&manifest("needs: [nobody-has-this]")).unwrap();
        assert!(told.starts_with("not installed: nobody-has-this; install it with the system's packages"), "{told}");
        let told = missing(&manifest("provide: [{set_user_id: nobody-has-this, made_by: make it}]")).unwrap();
        assert_eq!(told, "not installed: nobody-has-this; `make it` installs it");
    }

    #[test]
    fn make_setup_installs_what_it_lists() {
        assert!(["bwrap", "socat", "python3", "ssh-agent"].into_iter().all(is_of_setup));
        assert!(!["docker", "tar", "scenarios", "", "sandbox", "\"$@\"x"].into_iter().any(is_of_setup));
    }

    #[test]
    fn a_driver_says_itself_why_it_cannot_be_asked() {
        let refused = |argv: &str| refused(&manifest(&format!("available: {argv}")));
        assert_eq!(refused("[sh, -c, 'exit 0']"), None);
        assert_eq!(refused("[sh, -c, 'echo no engine >&2; exit 1']").unwrap(), "no engine");
        assert_eq!(refused("[sh, -c, 'exit 7']").unwrap(), "`available:` ended with exit status: 7");
        assert!(refused("[/nobody/has/this]").unwrap().contains("/nobody/has/this"));
    }
}
