//! Where the key is not: for an ordinary user, whoever hosts the proxy.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::factory::{Factory, wait_until};
use super::{HOSTS, Host, KEY, OK, Serve, factory, keep_by, provider};

/// Shows all that it can see, has a request answered, and waits for a file.
const STEP: &str = "env; ulimit -c; ulimit -Hc; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; \
                    curl -sS -H \"authorization: Bearer $P_KEY\" $P_URL/x >answer && cat answer; echo; echo up; until [ -e go ]; do sleep 0.02; done";

/// Whether these bytes hold the key, as it is or in a way that a program may write it.
fn holds_key(bytes: &[u8]) -> bool {
    bytes.windows(KEY.len()).any(|part| part.eq_ignore_ascii_case(KEY.as_bytes()))
}

/// The files below a folder that hold it.
fn files_with_key(folder: &Path) -> Vec<String> {
    let found = Command::new("grep").args(["-rliaF", "-D", "skip", "-e", KEY]).arg(folder).output().unwrap();
    assert!(found.status.code().is_some_and(|code| code < 2), "{found:?}");
    String::from_utf8(found.stdout).unwrap().lines().map(str::to_string).collect()
}

/// Processes of this machine that have it in their environment or arguments.
fn processes_with_key() -> Vec<String> {
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let parts = numbers
        .filter(|name| name.parse::<u32>().is_ok())
        .flat_map(|n| ["environ", "cmdline"].map(|part| format!("/proc/{n}/{part}")));
    parts.filter(|path| fs::read(path).is_ok_and(|bytes| holds_key(&bytes))).collect()
}

/// The most that this process may allow itself for a core file, as a shell says it.
fn most() -> String {
    let said = Command::new("sh").args(["-c", "ulimit -Hc"]).output().unwrap().stdout;
    String::from_utf8(said).unwrap().trim().into()
}

/// Why a crash leaves no core file in the folder of a program here, whatever the program does (core(5)).
fn no_core_files() -> Option<String> {
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    match pattern.trim() {
        "" => Some("kernel.core_pattern is empty".into()),
        other if other.contains(['|', '@', '/']) => Some(format!("kernel.core_pattern is {other}, no name of a file")),
        _ if most() == "0" => Some("the hard limit on core files (ulimit -Hc) is 0".into()),
        _ => None,
    }
}

/// Past what the test's harness keeps to itself.
fn say(what: &str) {
    std::io::stderr().write_all(format!("{what}\n").as_bytes()).unwrap();
}

/// Whether the kernel has taken a process from its user: it is not dumpable (proc(5), PR_SET_DUMPABLE).
fn is_taken(pid: u32) -> bool {
    fs::metadata(format!("/proc/{pid}/environ")).unwrap().uid() == 0
}

/// The same command, in a folder of its own and with core files as large as may be, which the kernel would leave there.
fn dumping(command: &Command, folder: &Path) -> Command {
    let mut inside = Command::new("sh");
    inside
        .args(["-c", "ulimit -c \"$(ulimit -Hc)\" && exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    inside.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    inside.current_dir(folder).stdin(Stdio::null());
    inside
}

/// Ends it as a fault would, and says whether it was [`is_taken`] before.
fn crash(child: &mut Child) -> (ExitStatus, bool) {
    let taken = is_taken(child.id());
    let pid = Pid::from_raw(child.id() as i32);
    // A first SIGSEGV may be taken for a stack that is full, and the program goes on.
    wait_until(|| {
        let _ = kill(pid, Signal::SIGSEGV);
        matches!(fs::read_to_string(format!("/proc/{pid}/stat")), Ok(stat) if stat.contains(") Z "))
    });
    (child.wait().unwrap(), taken)
}

/// Killed when it is dropped.
pub struct Ended(pub Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub struct Running {
    pub run: Ended,
    out: BufReader<std::process::ChildStdout>,
    pub said: String,
}

/// An attempt whose step has had its answer.
pub fn up(mut command: Command, id: &str) -> Running {
    command.args(["run", "s", "--attempt", id]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = Ended(command.spawn().unwrap());
    let out = BufReader::new(run.0.stdout.take().unwrap());
    let mut running = Running { run, out, said: String::new() };
    running.goes_on();
    running
}

impl Running {
    /// Waits until the step says once more that it is up.
    pub fn goes_on(&mut self) {
        self.said.clear();
        while !self.said.ends_with("\nup\n") {
            assert!(self.out.read_line(&mut self.said).unwrap() > 0, "it never came up: {}", self.said);
        }
    }
}

/// What `run` and its step have said, whole.
pub fn finish(mut running: Running, factory: &Factory, id: &str) -> String {
    fs::write(factory.path().join("attempts").join(id).join("artifacts/go"), "").unwrap();
    running.out.read_to_string(&mut running.said).unwrap();
    running.run.0.stderr.take().unwrap().read_to_string(&mut running.said).unwrap();
    assert!(running.run.0.wait().unwrap().success(), "{}", running.said);
    running.said
}

fn opens(factory: &Factory, pid: u32, part: &str) -> bool {
    factory
        .program_of_a_user("sh")
        .args(["-c", &format!(": </proc/{pid}/{part}")])
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}

/// There is no level of detail to raise: what `serve` and `run` say here is all that they can say.
#[test]
fn the_key_is_in_the_memory_of_the_host_alone_and_nobody_reads_that() {
    for host in HOSTS {
        let (port, heads) = provider(OK);
        let factory = factory(port, STEP);
        keep_by(factory.command_of_a_user());
        let said_by_serve = factory.tmp().with_file_name("serve.err");
        let mut serve = (host == Host::Serve).then(|| {
            let mut command = factory.command_of_a_user();
            command.stderr(fs::File::create(&said_by_serve).unwrap());
            Serve::by(command)
        });
        let running = up(factory.command_of_a_user(), "a");
        assert!(heads.recv().unwrap().contains(KEY), "the control: it was there");
        assert_eq!(processes_with_key(), [""; 0]);
        let hosting = serve.as_ref().map_or(running.run.0.id(), |serve| serve.0.id());
        let plain = Ended(factory.program_of_a_user("sleep").arg("600").spawn().unwrap());
        wait_until(|| fs::read_to_string(format!("/proc/{}/comm", plain.0.id())).unwrap() == "sleep\n");
        let free = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").map_or(true, |scope| scope.trim() == "0");
        for part in ["environ", "mem", "maps", "auxv"] {
            assert!(!opens(&factory, hosting, part), "{host:?}: {part} of the host");
            assert!(opens(&factory, plain.0.id(), part) || part == "mem" && !free, "the control: {part}");
        }
        drop(plain);
        let above = factory.tmp().with_file_name("");
        assert_eq!(files_with_key(&above), [""; 0], "{host:?}, while it runs");
        let said = finish(running, &factory, "a");
        assert!(
            said.contains("\nP_KEY=factory-egress-placeholder\n")
                && said.contains("hello")
                && !holds_key(said.as_bytes()),
            "{said}"
        );
        if let Some(serve) = &mut serve {
            serve.signal(Signal::SIGTERM);
            serve.0.wait().unwrap();
        }
        assert_eq!(files_with_key(&above), [""; 0], "{host:?}");
        fs::write(factory.attempt().join("planted"), format!("x{}x", KEY.to_uppercase())).unwrap();
        assert_eq!(files_with_key(&above).len(), 1, "the control: it would be found");
    }
}

/// The control is the same program before it has read a key. Where the kernel leaves no core files at all, what it
/// would dump is what is judged.
#[test]
fn a_host_with_a_key_leaves_no_core_file_and_one_without_does() {
    let (port, _heads) = provider(OK);
    let factory = factory(port, STEP);
    keep_by(factory.command_of_a_user());
    let cannot = no_core_files();
    if let Some(why) = &cannot {
        say(&format!("core files are not judged, only whether the process is dumpable: {why}"));
    }
    for host in HOSTS {
        for with_key in [true, false] {
            let folder = tempfile::tempdir_in(factory.home()).unwrap();
            let owner = format!("--reference={}", factory.home().display());
            assert!(Command::new("chown").arg(owner).arg(folder.path()).status().unwrap().success());
            let command = dumping(&factory.command_of_a_user(), folder.path());
            let id = format!("{host:?}-{with_key}");
            let (status, taken) = match host {
                Host::Serve => {
                    let mut serve = Serve::by(command);
                    let running = with_key.then(|| up(factory.command_of_a_user(), &id));
                    let status = crash(&mut serve.0);
                    running.map(|mut running| running.run.0.wait().unwrap());
                    status
                }
                Host::Run if with_key => crash(&mut up(command, &id).run.0),
                Host::Run => {
                    let mut command = command;
                    let waiting = command.args(["config", "set", "OTHER", "--secret"]).stdin(Stdio::piped());
                    let mut waiting = waiting.spawn().unwrap();
                    let name = format!("/proc/{}/comm", waiting.id());
                    wait_until(|| fs::read_to_string(&name).unwrap() == "kusaw\n");
                    crash(&mut waiting)
                }
            };
            assert_eq!(status.signal(), Some(libc::SIGSEGV), "{host:?}, {with_key}: {status:?}");
            assert_eq!(taken, with_key, "{host:?}: not dumpable");
            if cannot.is_some() {
                continue;
            }
            let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
            assert_eq!(status.core_dumped(), !with_key, "{host:?}, {with_key}: {files:?}");
            assert!(!with_key || files.is_empty(), "{files:?}");
        }
    }
}

/// What keeps a host from being read is its own: the steps that come later have what a step has.
#[test]
fn a_step_has_its_callers_limit_on_core_files_with_and_after_a_key() {
    let (port, _heads) = provider(OK);
    let factory = factory(port, STEP);
    keep_by(factory.command_of_a_user());
    let without = "  t:\n    sandbox: {network: open}\n    run: [sh, -c, 'ulimit -c; ulimit -Hc; test -r /proc/self/environ && echo readable']\n";
    let yaml = fs::read_to_string(factory.path().join("kusaw.yaml")).unwrap();
    let (block, steps) = yaml.split_once("steps:\n").unwrap();
    let inject = block.split_once("inject: ").unwrap().1.trim_end().trim_end_matches("}}");
    let own = format!(
        "sandbox: {{mode: required, network: allowlist}}\nsteps:\n{}    sandbox: {{egress: {{inject: {inject}}}}}\n{without}",
        steps
    );
    fs::write(factory.path().join("kusaw.yaml"), own).unwrap();
    let most = most();
    if most == "0" {
        say("whether the limit on core files stays is not judged: the hard limit here (ulimit -Hc) is 0 already");
    }
    for host in HOSTS {
        let folder = factory.home();
        let _serve = (host == Host::Serve).then(|| Serve::by(dumping(&factory.command_of_a_user(), &folder)));
        let (first, second) = (format!("{host:?}-1"), format!("{host:?}-2"));
        let said = finish(up(dumping(&factory.command_of_a_user(), &folder), &first), &factory, &first);
        assert!(said.contains(&format!("\n{most}\n{most}\n")) && said.contains("hello"), "{host:?}: {said}");
        let output =
            dumping(&factory.command_of_a_user(), &folder).args(["run", "t", "--attempt", &second]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, format!("{most}\n{most}\nreadable\n"), "{output:?}");
    }
}
