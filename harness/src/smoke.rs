//! The smoke test of a driver: that it can run a command at all, before it is judged.

use serde_json::json;

use crate::driver::{Kind, Manifest, Templates};
use crate::lab::{DRIVER_BIN, Lab};
use crate::launch::{Launch, Launcher};
use crate::plan::{Action, Plan};
use crate::text::print;

/// Runs the smoke test in the lab; exit code 0 if all of it works.
pub fn run(lab: &Lab, manifest: &Manifest) -> u8 {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => {
            eprintln!("conformance: no runtime can be made to launch anything: {e}");
            return 1;
        }
    };
    if let Some(why) = crate::available::why_not(lab, manifest) {
        eprintln!("{}: blocked: {why}", manifest.name);
        return crate::lab::namespaces::BLOCKED;
    }
    let launcher = Launcher { manifest, lab };
    let mut bad = 0;
    for (number, check) in CHECKS.iter().enumerate() {
        if check.of_factories && manifest.kind != Kind::Factory {
            continue;
        }
        let argv = check.argv.iter().map(|w| (*w).to_owned()).collect();
        let mut plan = Plan { action: Action::Run(argv), stdin: check.stdin.to_vec(), ..Plan::default() };
        plan.env.insert("SMOKE".into(), json!("a b"));
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
        let (word, seen) = if good { ("ok", "") } else { ("BAD", seen.as_str()) };
        print(&format!("{word:<4} {:<40} {seen}\n", check.what));
        bad += u8::from(!good);
    }
    u8::from(bad > 0)
}

/// What the driver says of its version.
pub fn version(manifest: &Manifest) -> Option<String> {
    let templates = Templates::new(json!({"program": manifest.program.as_ref().map(|p| format!("{DRIVER_BIN}/{p}"))}));
    let argv = templates.argv(&manifest.version).ok()?;
    let (program, arguments) = argv.split_first()?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    crate::host::first_line(std::path::Path::new(program), &arguments)
}

struct Check {
    what: &'static str,
    argv: &'static [&'static str],
    stdin: &'static [u8],
    /// Whether it needs settings.
    of_factories: bool,
    good: fn(&Launch) -> bool,
}

const RUNS_TRUE: Check =
    Check { what: "runs true", argv: &["/bin/true"], stdin: b"", of_factories: false, good: |l| l.exit == Some(0) };

const CHECKS: &[Check] = &[
    RUNS_TRUE,
    Check { what: "passes exit codes", argv: &["/bin/sh", "-c", "exit 23"], good: |l| l.exit == Some(23), ..RUNS_TRUE },
    Check {
        what: "passes argv",
        argv: &["/bin/sh", "-c", "printf '%s|' \"$@\"", "sh", "a b", "", "'\"$x"],
        good: |l| printed(l, "a b||'\"$x|"),
        ..RUNS_TRUE
    },
    Check {
        what: "passes stdin",
        argv: &["/bin/cat"],
        stdin: b"smoke from stdin",
        good: |l| printed(l, "smoke from stdin"),
        ..RUNS_TRUE
    },
    Check {
        what: "keeps stdout and stderr apart",
        argv: &["/bin/sh", "-c", "echo out; echo err >&2"],
        good: |l| printed(l, "out") && !printed(l, "err") && l.stderr.windows(3).any(|w| w == b"err"),
        ..RUNS_TRUE
    },
    Check {
        what: "passes the step's environment",
        argv: &["/bin/sh", "-c", "echo \"[$SMOKE]\""],
        of_factories: true,
        good: |l| printed(l, "[a b]"),
        ..RUNS_TRUE
    },
    Check { what: "gives a PATH", argv: &["/bin/sh", "-c", "ls -d / >/dev/null"], ..RUNS_TRUE },
    Check {
        what: "runs the probe of the worktree",
        argv: &["tools/probe", "env"],
        good: |l| l.report.ended,
        ..RUNS_TRUE
    },
];

fn printed(launch: &Launch, text: &str) -> bool {
    String::from_utf8_lossy(&launch.stdout).contains(text)
}
