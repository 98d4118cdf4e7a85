//! The stage by itself, as pid 1 of a PID namespace without a sandbox around it: what it does at each message, and at each
//! missing one.
#![allow(missing_docs, clippy::unwrap_used)]

use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kusaw_enter::channel::{Until, receive_message, send_job, send_message};
use kusaw_enter::place::{Identity, Place};
use kusaw_enter::{Job, Message};
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::unistd::pipe2;

const STAGE: &str = env!("CARGO_BIN_EXE_kusaw-enter");

struct Stage {
    child: Child,
    ctl: UnixStream,
    out: File,
}

impl Stage {
    fn start(argv: &[&str], env: &[&str], ports: &[u16]) -> Stage {
        Stage::start_with(argv, env, Job { ports: ports.into(), ..Job::default() })
    }

    /// The rest of the job as it is given.
    fn start_with(argv: &[&str], env: &[&str], job: Job) -> Stage {
        let (ctl, inner) = UnixStream::pair().unwrap();
        let exe = File::open("/dev/null").unwrap();
        for fd in [inner.as_fd(), exe.as_fd()] {
            fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
        }
        let numbers = [inner.as_raw_fd().to_string(), exe.as_raw_fd().to_string()];
        let mut command = Command::new("/usr/bin/unshare");
        command.args(["--user", "--map-current-user", "--pid", "--fork", "--kill-child", STAGE]);
        let child = command.arg("__enter").args(numbers).env_clear().stderr(Stdio::null()).spawn().unwrap();
        let (out, writer) = pipe2(OFlag::O_CLOEXEC).unwrap();
        let c = |s: &&str| CString::new(*s).unwrap();
        let job = Job { argv: argv.iter().map(c).collect(), env: env.iter().map(c).collect(), cwd: c"/".into(), ..job };
        let null = File::open("/dev/null").unwrap();
        let stdio = [null.as_raw_fd(), writer.as_raw_fd(), writer.as_raw_fd()].into_iter().zip(job.terminal);
        let stdio: Vec<_> = stdio.filter_map(|(fd, terminal)| (!terminal).then_some(fd)).collect();
        let stage = Stage { child, ctl, out: out.into() };
        assert_eq!(stage.message(), Some(Message::Here));
        send_job(stage.ctl.as_fd(), &job.encode(), &stdio, Until::default()).unwrap();
        stage
    }

    fn message(&self) -> Option<Message> {
        self.message_with(&mut Vec::new())
    }

    fn message_with(&self, fds: &mut Vec<OwnedFd>) -> Option<Message> {
        receive_message(self.ctl.as_fd(), fds, Until::at(Instant::now() + Duration::from_secs(5))).ok()
    }

    fn say(&self, message: Message) {
        send_message(self.ctl.as_fd(), message, &[], Until::default()).unwrap();
    }

    fn end(mut self) -> (Option<i32>, String) {
        drop(self.ctl);
        let code = self.child.wait().unwrap().code();
        let mut out = String::new();
        self.out.read_to_string(&mut out).unwrap();
        (code, out)
    }
}

fn status(code: i32) -> Option<Message> {
    Some(Message::Status(code << 8))
}

#[test]
fn the_step_gets_exactly_its_argv_and_environment_and_its_code_comes_back() {
    let stage =
        Stage::start(&["sh", "-c", "echo \"$0 $1\"; env; exit 7", "a", "b c"], &["PATH=/usr/bin:/bin", "X=1"], &[]);
    assert_eq!(stage.message(), Some(Message::Ready(0)));
    stage.say(Message::Go);
    assert_eq!((stage.message(), stage.message()), (Some(Message::Exec(0)), status(7)));
    let (code, out) = stage.end();
    assert_eq!(code, Some(7));
    assert!(out.starts_with("a b c\n") && out.contains("X=1\n") && !out.contains("HOME="), "{out}");
}

#[test]
fn nothing_is_executed_without_go() {
    for other in [None, Some(Message::Signal(15)), Some(Message::Ready(0))] {
        let stage = Stage::start(&["echo", "executed"], &["PATH=/usr/bin:/bin"], &[]);
        assert_eq!(stage.message(), Some(Message::Ready(0)));
        other.into_iter().for_each(|message| stage.say(message));
        assert_eq!(stage.end(), (Some(137), String::new()));
    }
}

#[test]
fn an_orphaned_stage_ends_while_its_step_runs() {
    let stage = Stage::start(&["sleep", "60"], &["PATH=/usr/bin:/bin"], &[]);
    assert_eq!(stage.message(), Some(Message::Ready(0)));
    stage.say(Message::Go);
    assert_eq!(stage.message(), Some(Message::Exec(0)));
    let start = Instant::now();
    let (mut child, ctl) = (stage.child, stage.ctl);
    drop(ctl);
    assert_eq!(child.wait().unwrap().code(), Some(137));
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn what_cannot_be_executed_is_told_with_errno() {
    for (program, errno) in
        [("nothere", libc::ENOENT), ("/nothere", libc::ENOENT), ("/etc/passwd", libc::EACCES), ("/", libc::EACCES)]
    {
        let stage = Stage::start(&[program], &["PATH=/usr/bin:/bin"], &[]);
        assert_eq!(stage.message(), Some(Message::Ready(0)));
        stage.say(Message::Go);
        assert_eq!(stage.message(), Some(Message::Exec(errno)), "{program}");
        stage.end();
    }
}

#[test]
fn signals_are_default_again_and_reach_the_steps_group() {
    let stage = Stage::start(
        &["sh", "-c", "grep Sig /proc/self/status; trap 'exit 5' TERM; sleep 9 & wait"],
        &["PATH=/usr/bin:/bin"],
        &[],
    );
    assert_eq!(stage.message(), Some(Message::Ready(0)));
    stage.say(Message::Go);
    assert_eq!(stage.message(), Some(Message::Exec(0)));
    std::thread::sleep(Duration::from_millis(300));
    stage.say(Message::Signal(libc::SIGTERM));
    assert_eq!(stage.message(), status(5));
    let (_, out) = stage.end();
    for line in ["SigIgn:\t0000000000000000", "SigBlk:\t0000000000000000"] {
        assert!(out.contains(line), "{out}");
    }
}

#[test]
fn ports_listen_before_the_step_exists_and_come_out_as_descriptors() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let stage = Stage::start(&["true"], &["PATH=/usr/bin:/bin"], &[free]);
    let mut fds = Vec::new();
    // A machine without IPv6 has no second one.
    let loopbacks: Vec<IpAddr> = match TcpListener::bind("[::1]:0") {
        Ok(_) => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
        Err(_) => vec![Ipv4Addr::LOCALHOST.into()],
    };
    assert_eq!(stage.message_with(&mut fds), Some(Message::Ready(loopbacks.len() as i32)));
    let listeners: Vec<TcpListener> = fds.into_iter().map(TcpListener::from).collect();
    assert_eq!(
        listeners.iter().map(|listener| listener.local_addr().unwrap()).collect::<Vec<_>>(),
        loopbacks.iter().map(|ip| (*ip, free).into()).collect::<Vec<SocketAddr>>()
    );
    for ip in loopbacks {
        TcpStream::connect((ip, free)).unwrap();
    }
    let second = Stage::start(&["true"], &[], &[free]);
    assert_eq!(second.message(), Some(Message::NoListener(libc::EADDRINUSE)));
    stage.end();
    second.end();
}

#[test]
fn a_message_that_is_no_job_is_refused() {
    let without_program = Stage::start(&[""], &[], &[]);
    assert_eq!(without_program.message(), Some(Message::Failed(libc::EBADMSG)));
    assert_eq!(without_program.end().0, Some(1));
}

#[test]
fn outside_of_a_pid_namespace_it_refuses() {
    let (ctl, inner) = UnixStream::pair().unwrap();
    let exe = File::open("/dev/null").unwrap();
    for fd in [inner.as_fd(), exe.as_fd()] {
        fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    }
    let numbers = [inner.as_raw_fd().to_string(), exe.as_raw_fd().to_string()];
    let mut child = Command::new(STAGE).arg("__enter").args(numbers).spawn().unwrap();
    let message =
        receive_message(ctl.as_fd(), &mut Vec::new(), Until::at(Instant::now() + Duration::from_secs(5))).unwrap();
    assert_eq!(message, Message::NotConfined(child.id() as i32));
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn in_the_launchers_mount_namespace_it_refuses() {
    let outside = kusaw_enter::job::mount_namespace().unwrap();
    let stage = Stage::start_with(&["true"], &[], Job { outside, ..Job::default() });
    assert_eq!(stage.message(), Some(Message::NotConfined(1)));
    assert_eq!(stage.end().0, Some(1));
}

#[test]
fn where_something_else_is_shown_it_refuses() {
    let usr = Place { path: c"/usr".into(), is: Identity::of("/usr".as_ref()).unwrap() };
    let start = |places: Vec<Place>| Stage::start_with(&["true"], &[], Job { places, ..Job::default() });
    assert_eq!(start(vec![usr.clone()]).message(), Some(Message::Ready(0)));
    for path in [c"/etc", c"/nothere", c"/proc/self/root/usr"] {
        let other = Place { path: path.into(), ..usr.clone() };
        let stage = start(vec![usr.clone(), other]);
        assert_eq!((stage.message(), stage.end().0), (Some(Message::Exchanged(1)), Some(1)), "{path:?}");
    }
}

#[test]
fn a_terminal_is_made_for_the_step_and_its_other_end_comes_out() {
    let job = Job { terminal: [true, false, true], ..Job::default() };
    let script = "tty <&2; [ -t 0 ] && echo same >/dev/tty; echo piped; read -r line; echo $line >&2";
    let stage = Stage::start_with(&["sh", "-c", script], &["PATH=/usr/bin:/bin"], job);
    let mut fds = Vec::new();
    assert_eq!(stage.message_with(&mut fds), Some(Message::Ready(1)));
    let mut screen = File::from(fds.remove(0));
    std::io::Write::write_all(&mut screen, b"typed\n").unwrap();
    stage.say(Message::Go);
    assert_eq!((stage.message(), stage.message()), (Some(Message::Exec(0)), status(0)));
    let (_, out) = stage.end();
    assert!(out.starts_with("/dev/pts/") && out.ends_with("piped\n"), "{out}");
    let mut seen = Vec::new();
    // EIO: nobody has the step's end any more.
    assert_eq!(screen.read_to_end(&mut seen).unwrap_err().raw_os_error(), Some(libc::EIO));
    assert_eq!(String::from_utf8(seen).unwrap(), "typed\r\nsame\r\ntyped\r\n");
}
