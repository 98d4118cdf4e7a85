//! `ptrace PID`: seizes a process, stops it, reads one word of its memory and lets it run on, whole. `ptrace --leave
//! PID`: attaches, waits for the stop and leaves it like that: when the probe ends, the process stays stopped, because
//! nobody took the SIGSTOP that stopped it.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::memory;
use super::pid::Pid;
use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

const BOUND: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(1);

/// Traces.
pub struct Ptrace {
    leave: bool,
    pid: Pid,
}

impl Ptrace {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let leave = words.flag("--leave");
        let [pid] = words.exactly(["PID"])?;
        Ok(Self { leave, pid: Pid::parse(&pid)? })
    }
}

impl Action for Ptrace {
    fn target(&self) -> String {
        self.pid.to_string()
    }

    fn run(&self) -> Seen {
        let pid = self.pid.number();
        if self.leave {
            return Seen::of(request(libc::PTRACE_ATTACH, pid, 0, 0).and_then(|()| stopped(pid)));
        }
        match seized(self.pid, pid) {
            Ok(read) => Seen::ok(Json::object([("read", Json::Bool(read))])),
            Err(error) => error.into(),
        }
    }
}

/// Whether a word could be read.
fn seized(named: Pid, pid: i32) -> io::Result<bool> {
    request(libc::PTRACE_SEIZE, pid, 0, 0)?;
    request(libc::PTRACE_INTERRUPT, pid, 0, 0)?;
    stopped(pid)?;
    let read = memory::first_readable(named).is_some_and(|at| peek(pid, at));
    request(libc::PTRACE_DETACH, pid, 0, signal(pid))?;
    Ok(read)
}

fn request(request: c_uint, pid: i32, address: usize, data: c_int) -> io::Result<()> {
    let (address, data) = (address as *mut c_void, data as usize as *mut c_void);
    // SAFETY: none of the requests made here reads or writes this process's memory: their arguments are plain numbers.
    Errno::result(unsafe { libc::ptrace(request, pid, address, data) })?;
    Ok(())
}

/// A word may be -1, so only errno says whether it was read.
fn peek(pid: i32, address: u64) -> bool {
    Errno::clear();
    let (address, nothing) = (address as *mut c_void, std::ptr::null_mut::<c_void>());
    // SAFETY: the address is one of the other process; here, nothing is written.
    unsafe { libc::ptrace(libc::PTRACE_PEEKDATA, pid, address, nothing) };
    Errno::last_raw() == 0
}

/// Waits for a stop without taking it: of a stop that was taken, nothing is left when the tracer ends.
fn stopped(pid: i32) -> io::Result<()> {
    let deadline = Instant::now() + BOUND;
    while wait(pid)?.is_none() {
        if Instant::now() >= deadline {
            return Err(Errno::ETIMEDOUT.into());
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// How a traced process is stopped, if it is.
fn wait(pid: i32) -> io::Result<Option<c_int>> {
    let options = libc::WSTOPPED | libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: a siginfo_t of zeros is one; the call fills it, and its status is read where it has been filled.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        Errno::result(libc::waitid(libc::P_PID, pid.cast_unsigned(), &raw mut info, options))?;
        if info.si_pid() == 0 {
            return Ok(None);
        }
        if info.si_code != libc::CLD_TRAPPED && info.si_code != libc::CLD_STOPPED {
            return Err(Errno::ESRCH.into());
        }
        Ok(Some(info.si_status()))
    }
}

/// The signal that the process must still get: none for the stop that was asked for (its high bits say
/// PTRACE_EVENT_STOP), and one that came first otherwise.
fn signal(pid: i32) -> c_int {
    wait(pid).ok().flatten().filter(|status| status >> 8 == 0).unwrap_or_default()
}
