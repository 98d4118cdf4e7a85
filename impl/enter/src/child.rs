//! The step's own process between fork and execve. Everything it needs is laid out beforehand in
//! `Plan`: after the fork it must neither allocate nor take a lock nor return.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr;

use kusaw_enter::{Job, Part, landlock};

use crate::filter::Filter;

/// Pointers and strings for `chdir` and `execve`, all made before the fork.
pub struct Plan {
    /// The paths to try, in order (PATH is searched as execvp does).
    programs: Vec<CString>,
    /// Keeps the strings alive that the pointers below point to.
    _job: Job,
    cwd: *const c_char,
    argv: Vec<*const c_char>,
    /// `/bin/sh PROGRAM ARGS..`: for a script without an interpreter line (ENOEXEC), as execvp does.
    script: Vec<*const c_char>,
    envp: Vec<*const c_char>,
    stdio: [RawFd; 3],
    /// The first of 0, 1 and 2 that is a terminal.
    terminal: Option<RawFd>,
    filter: Filter,
}

/// What the child writes into the report pipe before it exits: a `Part`'s letter or `EXECUTE`, and errno.
pub const REPORT: usize = 5;

/// The letter of execve.
const EXECUTE: u8 = b'X';

const SHELL: &std::ffi::CStr = c"/bin/sh";

impl Plan {
    /// Lays out `job`; the pointers stay valid because a `CString`'s bytes do not move with it.
    pub fn new(job: &Job, stdio: &[OwnedFd; 3]) -> Plan {
        let job = job.clone();
        let end = [ptr::null()];
        let argv: Vec<_> = job.argv.iter().map(|a| a.as_ptr()).chain(end).collect();
        let script = [SHELL.as_ptr(), ptr::null()].into_iter().chain(argv.iter().skip(1).copied()).collect();
        Plan {
            programs: programs(&job),
            cwd: job.cwd.as_ptr(),
            argv,
            script,
            envp: job.env.iter().map(|e| e.as_ptr()).chain(end).collect(),
            stdio: [stdio[0].as_raw_fd(), stdio[1].as_raw_fd(), stdio[2].as_raw_fd()],
            terminal: job.terminal.iter().position(|is| *is).map(|n| n as RawFd),
            filter: Filter::new(),
            _job: job,
        }
    }

    /// Becomes the step. Only async-signal-safe calls from here to execve.
    pub fn become_step(&mut self, report: BorrowedFd) -> ! {
        // SAFETY: setsid, dup2, ioctl, chdir and the two raw signal calls take plain numbers or pointers that
        // `self` keeps alive; `_exit` does not return. Nothing here allocates.
        unsafe {
            libc::setsid();
            for (target, fd) in self.stdio.iter().enumerate() {
                // All three were opened while 0, 1 and 2 were taken, so none of them is a target.
                if libc::dup2(*fd, target as RawFd) < 0 {
                    tell(report, Part::Descriptors as u8);
                }
            }
            // Of the session that has just been made: Ctrl-C and the window's size reach the step.
            if self.terminal.is_some_and(|fd| libc::ioctl(fd, libc::TIOCSCTTY, 0) != 0) {
                tell(report, Part::Terminal as u8);
            }
            if libc::chdir(self.cwd) != 0 {
                tell(report, Part::Folder as u8);
            }
            reset_signals();
        }
        // Here and not in pid 1, which thereby stays out of the step's reach.
        if landlock::scope().is_err() {
            tell(report, Part::Landlock as u8);
        }
        if !self.filter.apply() {
            tell(report, Part::Filter as u8);
        }
        let mut denied = None;
        for program in &self.programs {
            // SAFETY: `argv`, `script` and `envp` end in null and point into strings that `self` owns.
            let errno = unsafe {
                libc::execve(program.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr());
                if *libc::__errno_location() == libc::ENOEXEC {
                    self.script[1] = program.as_ptr();
                    libc::execve(SHELL.as_ptr(), self.script.as_ptr(), self.envp.as_ptr());
                }
                *libc::__errno_location()
            };
            match errno {
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => denied = Some(errno),
                _ => {
                    denied = Some(errno);
                    break;
                }
            }
        }
        // SAFETY: sets this thread's errno to a plain number.
        unsafe { *libc::__errno_location() = denied.unwrap_or(libc::ENOENT) };
        tell(report, EXECUTE)
    }
}

/// The files to try for `argv[0]`: itself when it has a slash, else one for each entry of the job's PATH.
fn programs(job: &Job) -> Vec<CString> {
    let Some(program) = job.argv.first() else { return Vec::new() };
    if program.as_bytes().contains(&b'/') {
        return vec![program.clone()];
    }
    let path = job.env.iter().find_map(|e| e.as_bytes().strip_prefix(b"PATH="));
    path.unwrap_or(b"/usr/bin:/bin")
        .split(|b| *b == b':')
        // An empty or relative entry would search the worktree: never.
        .filter(|folder| folder.first() == Some(&b'/'))
        .filter_map(|folder| CString::new([folder, b"/", program.as_bytes()].concat()).ok())
        .collect()
}

/// Default action for every signal and an empty mask. Raw calls: glibc hides 32 and 33, which its own
/// posix_spawn leaves ignored, and an ignored signal would be inherited by the step.
///
/// # Safety
/// Only for a process that has just been forked and has no handlers it still needs.
unsafe fn reset_signals() {
    // The kernel's struct sigaction: handler, flags, restorer, mask; all zero is SIG_DFL.
    let default = [0u64; 4];
    for signal in 1..=64 {
        // SAFETY: the kernel reads 32 bytes of `default`; KILL and STOP are refused without effect.
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), ptr::null::<u64>(), 8) };
    }
    let none = 0u64;
    // SAFETY: the kernel reads 8 bytes of `none`.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &none, ptr::null::<u64>(), 8) };
}

fn tell(report: BorrowedFd, letter: u8) -> ! {
    // SAFETY: reads this thread's errno, writes five bytes of the stack, ends the process.
    unsafe {
        let errno = *libc::__errno_location();
        let [a, b, c, d] = errno.to_le_bytes();
        let bytes = [letter, a, b, c, d];
        libc::write(report.as_raw_fd(), bytes.as_ptr().cast(), REPORT);
        libc::_exit(if errno == libc::ENOENT { 127 } else { 126 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(argv0: &str, env: &[&str]) -> Vec<String> {
        let c = |s: &&str| CString::new(*s).unwrap();
        let job = Job { argv: vec![c(&argv0)], env: env.iter().map(c).collect(), ..Job::default() };
        programs(&job).into_iter().map(|p| p.into_string().unwrap()).collect()
    }

    #[test]
    fn the_program_is_searched_in_absolute_entries_of_path_only() {
        assert_eq!(tried("git", &["PATH=/a::.:b:/c/d"]), ["/a/git", "/c/d/git"]);
        assert_eq!(tried("git", &[]), ["/usr/bin/git", "/bin/git"]);
        assert_eq!(tried("./x", &["PATH=/a"]), ["./x"]);
    }
}
