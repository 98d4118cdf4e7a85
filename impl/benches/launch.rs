//! What a launch costs, as ratios in one run: `true` by kusaw, by bubblewrap with the same kind of plan, and bare.
//!
//! Whole processes, in turn, medians of the wall time. bubblewrap gets `--as-pid-1`, or it would not reap its child.
//! Usage: `make bench`, which installs kusaw with its stage and names it in KUSAW.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Launches of each program.
const ROUNDS: usize = 60;

/// bubblewrap as a blog post would run `true`, with every namespace the documentation asks for.
const RAW: &[&str] = &[
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--die-with-parent",
    "--new-session",
    "--as-pid-1",
    "--ro-bind",
    "/usr",
    "/usr",
    "--symlink",
    "usr/bin",
    "/bin",
    "--symlink",
    "usr/lib",
    "/lib",
    "--symlink",
    "usr/lib64",
    "/lib64",
    "--ro-bind",
    "/etc",
    "/etc",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
];

fn main() {
    let Some(kusaw) = std::env::var_os("KUSAW") else {
        eprintln!("bench: KUSAW is not set; run `make bench`");
        std::process::exit(2);
    };
    let factory = std::env::temp_dir().join(format!("kusaw-bench-{}", std::process::id()));
    let settings = "sandbox: {mode: required}\nsteps:\n  open: {run: [/bin/true]}\n  allowlist: {run: [/bin/true], sandbox: {mode: required, network: allowlist}}\n";
    if let Err(e) =
        std::fs::create_dir_all(&factory).and_then(|()| std::fs::write(factory.join("kusaw.yaml"), settings))
    {
        eprintln!("bench: {}: {e}", factory.display());
        std::process::exit(2);
    }
    let run = |step: &str| {
        let mut command = Command::new(&kusaw);
        command.arg("--factory").arg(&factory).args(["run", step]);
        command
    };
    let mut raw = Command::new("bwrap");
    raw.args(RAW).args(["--", "/bin/true"]);
    let mut programs = [
        ("true", Command::new("/bin/true")),
        ("bwrap", raw),
        ("kusaw open", run("open")),
        ("kusaw allowlist", run("allowlist")),
    ];
    let medians = measure(&mut programs);
    let _ = std::fs::remove_dir_all(&factory);
    let base = medians[1];
    println!("{:<16} {:>9} {:>8} {:>10}", "launch of true", "median", "x bwrap", "over bwrap");
    for ((name, _), time) in programs.iter().zip(medians) {
        let ms = |d: Duration| d.as_secs_f64() * 1000.0;
        println!("{name:<16} {:>6.2} ms {:>8.2} {:>7.2} ms", ms(time), ms(time) / ms(base), ms(time) - ms(base));
    }
}

/// Medians of the wall time, the programs taking turns.
fn measure(programs: &mut [(&str, Command); 4]) -> [Duration; 4] {
    let mut times: [Vec<Duration>; 4] = Default::default();
    for round in 0..ROUNDS + 3 {
        for (at, (name, command)) in programs.iter_mut().enumerate() {
            let began = Instant::now();
            let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
            if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
                eprintln!("bench: {name} ({}): {status:?}", Path::new(command.get_program()).display());
                std::process::exit(1);
            }
            if round >= 3 {
                times[at].push(began.elapsed()); // the first rounds warm the caches
            }
        }
    }
    times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    })
}
