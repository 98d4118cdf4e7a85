//! What a launch costs, as ratios in one run: `true` by kusaw, by bubblewrap with the same kind of plan, and bare.
//!
//! Whole processes, in turn, medians of the wall time. bubblewrap gets `--as-pid-1`, or it would not reap its child.
//! Usage: `make bench`, which installs kusaw with its stage and names it in KUSAW.

use std::ffi::OsStr;
use std::io;
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

/// Entries of `allow_read`; more than 300 are refused, and cost as much as that takes.
const ENTRIES: [usize; 5] = [10, 100, 300, 1_000, 5_000];

/// Files of a tree that a step may write.
const FILES: usize = 300_000;

fn main() {
    let Some(kusaw) = std::env::var_os("KUSAW") else {
        eprintln!("bench: KUSAW is not set; run `make bench`");
        std::process::exit(2);
    };
    let folder = std::env::temp_dir().join(format!("bench-of-launch-{}", std::process::id()));
    let made = prepare(&folder);
    let measured = made.map(|()| measure(&mut programs(&kusaw, &folder)));
    let _ = std::fs::remove_dir_all(&folder);
    match measured {
        Ok(rows) => show(&rows),
        Err(e) => {
            eprintln!("bench: {}: {e}", folder.display());
            std::process::exit(2);
        }
    }
}

/// A factory for each launch, folders to allow, and a large tree.
fn prepare(folder: &Path) -> io::Result<()> {
    let factory = |name: &str, sandbox: &str| {
        let settings = format!("sandbox: {{mode: required{sandbox}}}\nsteps:\n  s: {{run: [/bin/true]}}\n");
        std::fs::create_dir_all(folder.join("factories").join(name))?;
        std::fs::write(folder.join("factories").join(name).join("kusaw.yaml"), settings)
    };
    factory("open", "")?;
    factory("allowlist", ", network: allowlist")?;
    for count in ENTRIES {
        let paths: Vec<String> =
            (0..count).map(|n| folder.join(format!("allowed/{n}")).display().to_string()).collect();
        factory(&format!("read{count}"), &format!(", allow_read: [{}]", paths.join(", ")))?;
    }
    for tree in ["empty", "large"] {
        factory(tree, &format!(", allow_write: [{}]", folder.join(tree).display()))?;
        std::fs::create_dir_all(folder.join(tree))?;
    }
    for n in 0..ENTRIES.into_iter().max().unwrap_or_default() {
        std::fs::create_dir_all(folder.join(format!("allowed/{n}")))?;
    }
    for n in 0..FILES {
        let part = folder.join(format!("large/{}", n / 1_000));
        if n % 1_000 == 0 {
            std::fs::create_dir(&part)?;
        }
        std::fs::write(part.join(n.to_string()), "")?;
    }
    Ok(())
}

/// What is launched in turn; the second is what all are compared with.
fn programs(kusaw: &OsStr, folder: &Path) -> Vec<(String, Command)> {
    let run = |factory: &str| {
        let mut command = Command::new(kusaw);
        command.arg("--factory").arg(folder.join("factories").join(factory)).args(["run", "s"]);
        command
    };
    let mut raw = Command::new("bwrap");
    raw.args(RAW).args(["--", "/bin/true"]);
    let mut programs = vec![("true".to_owned(), Command::new("/bin/true")), ("bwrap".to_owned(), raw)];
    for step in ["open", "allowlist"] {
        programs.push((format!("kusaw {step}"), run(step)));
    }
    for count in ENTRIES {
        programs.push((format!("{count} allow_read"), run(&format!("read{count}"))));
    }
    programs.push(("an empty tree".to_owned(), run("empty")));
    programs.push((format!("{FILES} files"), run("large")));
    programs
}

/// A program, the median of its wall time, and whether it was refused.
type Row = (String, Duration, bool);

fn show(rows: &[Row]) {
    let ms = |d: Duration| d.as_secs_f64() * 1000.0;
    let base = ms(rows[1].1);
    println!("{:<18} {:>10} {:>8} {:>11}", "launch of true", "median", "x bwrap", "over bwrap");
    for (name, time, refused) in rows {
        let note = if *refused { "  refused" } else { "" };
        println!("{name:<18} {:>7.2} ms {:>8.2} {:>8.2} ms{note}", ms(*time), ms(*time) / base, ms(*time) - base);
    }
}

/// Medians of the wall time, the programs taking turns. A refusal (125) is an answer; anything else but 0 ends the bench.
fn measure(programs: &mut [(String, Command)]) -> Vec<Row> {
    let mut times = vec![(Vec::new(), false); programs.len()];
    for round in 0..ROUNDS + 3 {
        for ((name, command), (times, refused)) in programs.iter_mut().zip(&mut times) {
            let began = Instant::now();
            let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
            *refused = status.as_ref().is_ok_and(|s| s.code() == Some(125));
            if !*refused && !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
                eprintln!("bench: {name} ({}): {status:?}", Path::new(command.get_program()).display());
                std::process::exit(1);
            }
            if round >= 3 {
                times.push(began.elapsed()); // the first rounds warm the caches
            }
        }
    }
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    programs.iter().zip(times).map(|((name, _), (times, refused))| (name.clone(), median(times), refused)).collect()
}
