//! The smoke test of a driver: that it can run a command at all, before it is judged.

use serde_json::json;

use crate::driver::{Kind, Manifest, Templates};
use crate::lab::{DRIVER_BIN, Lab};
use crate::launch::{Launch, Launcher};
use crate::plan::{Action, Plan};

/// Runs the smoke test in the lab; exit code 0 if all of it works.
pub fn run(lab: &Lab, manifest: &Manifest) -> u8 {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return 1;
    };
    if let Some(why) = crate::engine::missing(manifest) {
        eprintln!("{}: blocked: {why}", manifest.name);
        return crate::lab::namespaces::BLOCKED;
    }
    let launcher = Launcher { manifest, lab };
    let mut bad = 0;
    for (number, check) in CHECKS.iter().enumerate() {
        let mut plan =
            Plan { action: Action::Run(check.argv.iter().map(|w| (*w).to_owned()).collect()), ..Plan::default() };
        if manifest.kind == Kind::Factory {
            plan.block().insert("mode".into(), json!("required"));
        }
        let launched = runtime.block_on(launcher.launch(&plan, &format!("smoke{number}"), 1));
        let (good, seen) = match &launched {
            Ok(launch) => {
                ((check.good)(launch), format!("exit {:?}, {}", launch.exit, crate::text::line(&launch.stderr, 200)))
            }
            Err(e) => (false, e.clone()),
        };
        println!("{:<4} {:<40} {}", if good { "ok" } else { "BAD" }, check.what, if good { "" } else { &seen });
        bad += u8::from(!good);
    }
    u8::from(bad > 0)
}

/// What the driver says of its version.
pub fn version(manifest: &Manifest) -> Option<String> {
    let templates = Templates::new(json!({"program": manifest.program.as_ref().map(|p| format!("{DRIVER_BIN}/{p}"))}));
    let argv = templates.argv(&manifest.version, &[]).ok()?;
    let (program, arguments) = argv.split_first()?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    crate::host::first_line(std::path::Path::new(program), &arguments)
}

struct Check {
    what: &'static str,
    argv: &'static [&'static str],
    good: fn(&Launch) -> bool,
}

const CHECKS: &[Check] = &[
    Check { what: "runs true", argv: &["/bin/true"], good: |l| l.exit == Some(0) },
    Check { what: "passes exit codes", argv: &["/bin/sh", "-c", "exit 23"], good: |l| l.exit == Some(23) },
    Check {
        what: "passes argv",
        argv: &["/bin/sh", "-c", "printf '%s|' \"$@\"", "sh", "a b", "", "'\"$x"],
        good: |l| String::from_utf8_lossy(&l.stdout).contains("a b||'\"$x|"),
    },
    Check {
        what: "keeps output and errors apart",
        argv: &["/bin/sh", "-c", "echo out; echo err >&2"],
        good: |l| l.stdout.windows(3).any(|w| w == b"out") && l.stderr.windows(3).any(|w| w == b"err"),
    },
    Check { what: "gives a PATH", argv: &["/bin/sh", "-c", "ls / >/dev/null"], good: |l| l.exit == Some(0) },
    Check { what: "runs the probe of the worktree", argv: &["tools/probe", "env"], good: |l| l.report.ended },
];
