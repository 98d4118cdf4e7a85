//! The secret store through `kusaw config`: killed anywhere, on a full disk, by several at once, and where others could come
//! by. What is kept is looked at through the library.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used, reason = "a test")]

mod factory;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use factory::Factory;
use kusaw::store::{Fault, Store};
use nix::sys::ptrace;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigHandler, Signal, kill, signal};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

const STEPS: &str = "steps:\n  a: {run: [sh, -c, 'echo ${TOKEN-none}']}\n  b: {run: [sh, -c, 'echo ${TOKEN-none}']}\n";

fn data(factory: &Factory) -> PathBuf {
    factory.home().join(".local/share/kusaw")
}

fn value(factory: &Factory, name: &str) -> Option<String> {
    match Store::at(&data(factory)).get(name) {
        Ok(secret) => Some(String::from_utf8(secret.expose().to_vec()).unwrap()),
        Err(Fault::Missing(_)) => None,
        Err(fault) => panic!("{fault}"),
    }
}

/// All files of the store and its keys.
fn files(factory: &Factory) -> Vec<String> {
    let of = |folder| fs::read_dir(data(factory).join(folder)).into_iter().flatten();
    let all = of("store").chain(of("keys")).map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut all: Vec<String> = all.collect();
    all.sort();
    all
}

fn config(factory: &Factory, arguments: &[&str]) -> Command {
    let mut command = factory.command();
    command.arg("config").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn feed(mut child: Child, value: &str) -> Output {
    // Who is refused does not read.
    let _ = child.stdin.take().unwrap().write_all(value.as_bytes());
    child.wait_with_output().unwrap()
}

fn set(factory: &Factory, key: &str, value: &str) -> Output {
    feed(config(factory, &["set", key, "--secret"]).spawn().unwrap(), value)
}

fn refused(code: i32, done: &Output, words: &[&str]) {
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(code) && words.iter().all(|word| said.contains(word)), "{words:?}: {done:?}");
}

/// Kills the command before its `n`th system call, which is after the one before; whether it came so far.
#[allow(clippy::zombie_processes, reason = "whoever traces it waits for it by its number")]
fn killed_at(mut command: Command, value: &str, n: usize) -> bool {
    // SAFETY: runs between fork and exec and makes one system call.
    unsafe { command.pre_exec(|| ptrace::traceme().map_err(Into::into)) };
    let mut child = command.spawn().unwrap();
    let pid = Pid::from_raw(child.id() as i32);
    let _ = child.stdin.take().unwrap().write_all(value.as_bytes());
    assert_eq!(waitpid(pid, None).unwrap(), WaitStatus::Stopped(pid, Signal::SIGTRAP));
    ptrace::setoptions(pid, ptrace::Options::PTRACE_O_TRACESYSGOOD | ptrace::Options::PTRACE_O_EXITKILL).unwrap();
    // Two stops a call: before it, and after it.
    for _ in 0..(2 * n).saturating_sub(1) {
        ptrace::syscall(pid, None).unwrap();
        match waitpid(pid, None).unwrap() {
            WaitStatus::PtraceSyscall(_) => {}
            WaitStatus::Exited(_, code) => {
                assert_eq!(code, 0);
                return false;
            }
            other => panic!("{other:?}"),
        }
    }
    kill(pid, Signal::SIGKILL).unwrap();
    while waitpid(pid, None).unwrap() != WaitStatus::Signaled(pid, Signal::SIGKILL, false) {}
    true
}

#[test]
fn killed_at_any_system_call_the_first_value_is_there_or_it_is_not() {
    let mut kept = Vec::new();
    for n in 0.. {
        let factory = Factory::new(STEPS);
        let hit = killed_at(config(&factory, &["set", "K", "--secret"]), "one", n);
        let now = value(&factory, "K");
        assert!(now.is_none() || now.as_deref() == Some("one"), "{n}: {now:?}");
        assert!(hit || now.is_some());
        kept.push(now.is_some());
        // Whatever it left, the next one goes on from there.
        assert!(set(&factory, "K", "two").status.success(), "{n}");
        assert_eq!(
            (value(&factory, "K").as_deref(), files(&factory)),
            (Some("two"), vec!["K.age".into(), "store.key".into()])
        );
        if !hit {
            break;
        }
    }
    assert!(kept.contains(&false) && kept.is_sorted(), "from the rename on it is there: {kept:?}");
}

#[test]
fn killed_at_any_system_call_the_old_value_is_there_or_the_new_one() {
    let factory = Factory::new(STEPS);
    let mut old = "0".to_owned();
    assert!(set(&factory, "K", &old).status.success());
    let mut both = [false; 2];
    for n in 0.. {
        let new = format!("{}", n + 1);
        let hit = killed_at(config(&factory, &["set", "K", "--secret"]), &new, n);
        let now = value(&factory, "K").unwrap();
        assert!(now == old || now == new, "{n}: {now}, neither {old} nor {new}");
        both[usize::from(now == new)] = true;
        // One file that is not whole at most, however often it was killed.
        assert!(files(&factory).iter().filter(|name| !["K.age", "store.key"].contains(&name.as_str())).count() <= 1);
        old = now;
        if !hit {
            break;
        }
    }
    assert_eq!((both, files(&factory)), ([true; 2], vec!["K.age".into(), "store.key".into()]));
}

#[test]
fn killed_at_any_system_call_of_unset_the_value_is_whole_or_gone() {
    let factory = Factory::new(STEPS);
    for n in 0.. {
        assert!(set(&factory, "K", "v").status.success());
        let hit = killed_at(config(&factory, &["unset", "K"]), "", n);
        let now = value(&factory, "K");
        assert!(now.is_none() || now.as_deref() == Some("v"), "{n}: {now:?}");
        if !hit {
            assert!(now.is_none());
            break;
        }
    }
}

#[test]
fn on_a_full_disk_the_old_value_stays() {
    for heeds in [true, false] {
        let factory = Factory::new(STEPS);
        assert!(set(&factory, "K", "old").status.success());
        let mut command = config(&factory, &["set", "K", "--secret"]);
        let full = move || {
            if !heeds {
                // SAFETY: no handler is replaced: the child has none, and becomes another program.
                unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) }?;
            }
            setrlimit(Resource::RLIMIT_FSIZE, 16, 16).map_err(Into::into)
        };
        // SAFETY: runs between fork and exec and only makes system calls.
        unsafe { command.pre_exec(full) };
        // The refusal's own lines go into a pipe, which has no such limit.
        let done = feed(command.spawn().unwrap(), "new");
        if !heeds {
            refused(1, &done, &["secret-store", "K.age", "fix: "]);
            assert_eq!(files(&factory), ["K.age", "store.key"]);
        }
        assert!(!done.status.success());
        assert_eq!(value(&factory, "K").as_deref(), Some("old"));
        assert!(set(&factory, "K", "new").status.success());
        assert_eq!(files(&factory), ["K.age", "store.key"]);
    }
}

#[test]
fn several_at_once_on_a_new_store_agree_on_one_key() {
    let factory = Factory::new(STEPS);
    let start = |n: usize| (n, config(&factory, &["set", &format!("K{}", n % 6), "--secret"]).spawn().unwrap());
    let all: Vec<_> = (0..12).map(start).collect();
    for (n, child) in all {
        let done = feed(child, &format!("{}", n % 6));
        assert!(done.status.success(), "{done:?}");
    }
    (0..6).for_each(|n| assert_eq!(value(&factory, &format!("K{n}")), Some(n.to_string())));
    assert_eq!(files(&factory).len(), 7);
}

/// What is done to the data folder, and a word of the refusal.
type Case = (fn(PathBuf), &'static str);

#[test]
fn where_others_could_come_by_nothing_is_kept_and_nothing_is_run() {
    fn moved(path: PathBuf) {
        let away = path.with_extension("away");
        fs::rename(&path, &away).unwrap();
        symlink(&away, &path).unwrap();
    }
    fn with_mode(path: PathBuf, mode: u32) {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    const CASES: [Case; 6] = [
        (|data| with_mode(data.join("keys/store.key"), 0o640), "store.key: mode 640"),
        (|data| with_mode(data.join("keys"), 0o750), "keys: mode 750"),
        (|data| with_mode(data.join("store"), 0o755), "store: mode 755"),
        (|data| moved(data.join("keys/store.key")), "store.key: a link"),
        (|data| moved(data.join("keys")), "keys: a link"),
        (|data| moved(data.join("store")), "store: a link"),
    ];
    for (spoil, word) in CASES {
        let factory = Factory::new(STEPS);
        assert!(set(&factory, "steps.a.env.TOKEN", "canary").status.success());
        spoil(data(&factory));
        let before = files(&factory);
        refused(1, &set(&factory, "steps.b.env.TOKEN", "canary"), &["secret-store", word]);
        assert_eq!(files(&factory), before);
        let done = factory.command().args(["run", "a", "--attempt", "x"]).output().unwrap();
        refused(125, &done, &["secret-store", word]);
        assert!(done.stdout.is_empty() && !String::from_utf8_lossy(&done.stderr).contains("canary"), "{done:?}");
    }
}

#[test]
fn a_step_has_its_own_variable_of_its_own_factory_and_unset_takes_it_away() {
    let factories = [Factory::new(STEPS), Factory::new(STEPS)];
    let [one, other] = &factories;
    assert!(set(one, "steps.a.env.TOKEN", "canary\n").status.success());
    let run = |factory: &Factory, step: &str, id: &str| {
        let mut command = factory.command();
        command.env("HOME", one.home()).args(["run", step, "--attempt", id]);
        let done = command.output().unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap())
    };
    assert_eq!(run(one, "a", "1"), (Some(0), "canary\n".into()));
    assert_eq!(run(one, "b", "2"), (Some(0), "none\n".into()));
    assert_eq!(run(other, "a", "3"), (Some(0), "none\n".into()));
    let listed = config(one, &["list"]).output().unwrap();
    assert_eq!(String::from_utf8(listed.stdout).unwrap(), "steps.a.env.TOKEN  store       a\n");
    assert!(config(one, &["unset", "steps.a.env.TOKEN"]).output().unwrap().status.success());
    assert_eq!(run(one, "a", "4"), (Some(0), "none\n".into()));
    refused(1, &config(one, &["unset", "steps.a.env.TOKEN"]).output().unwrap(), &["no-secret", "config list"]);
}

#[test]
fn a_variable_with_two_values_is_told_and_the_step_is_not_run() {
    let factory = Factory::new(STEPS);
    assert!(set(&factory, "steps.a.env.TOKEN", "canary").status.success());
    let yaml = STEPS.replacen("{run", "{env: {TOKEN: plain}, run", 1);
    fs::write(factory.path().join("kusaw.yaml"), yaml).unwrap();
    let words = ["steps.a.env.TOKEN: it stands in", "kusaw.yaml as well", "kusaw config unset steps.a.env.TOKEN"];
    refused(125, &factory.command().args(["run", "a", "--attempt", "x"]).output().unwrap(), &words);
    let told = factory.command().arg("validate").output().unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    assert!(told.status.code() == Some(1) && text.contains(words[2]) && !text.contains("canary"), "{text}");
}
