//! `memfd-exec ARG..`: runs this program again, with these words, from a copy in memory that has no path
//! (memfd_create(2), fexecve(3)). It is ok where the copy ran to its end; where it ended otherwise, the errno is
//! ECHILD.

#![allow(unsafe_code)]

use std::env;
use std::ffi::{CStr, CString, OsString, c_char};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use nix::errno::Errno;

use super::exec::{self, Ended};
use crate::RAN_TO_ITS_END;
use crate::action::Action;
use crate::descriptor;
use crate::seen::Seen;
use crate::words::{Usage, Words, c_string};

const NAME: &CStr = c"kusaw-probe";
/// As many have their place in a list that is made without an allocation, after the fork.
const MAX_WORDS: usize = 62;

/// Runs a copy.
pub struct MemfdExec {
    target: OsString,
    words: Vec<CString>,
}

impl MemfdExec {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let arguments = words.rest();
        if arguments.is_empty() || arguments.len() > MAX_WORDS {
            return Err(Usage(format!("expected ARG.., 1 to {MAX_WORDS} of them")));
        }
        let words = arguments.iter().map(|word| c_string(word.clone(), "ARG")).collect::<Result<_, _>>()?;
        Ok(Self { target: arguments.join(" ".as_ref()), words })
    }

    fn run(&self) -> io::Result<Ended> {
        let copy = copy()?;
        let words = self.words.clone();
        // What std would execute is replaced before it comes to that: it only sees to the pipe and the error.
        let mut command = Command::new(env::args_os().next().unwrap_or_default());
        // SAFETY: between fork and exec, only the system call is made.
        unsafe { command.pre_exec(move || execute(&copy, &words)) };
        exec::run(&mut command)
    }
}

impl Action for MemfdExec {
    fn target(&self) -> String {
        self.target.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let ended = match self.run() {
            Ok(ended) => ended,
            Err(error) => return error.into(),
        };
        let whole = ended.status.and_then(|status| status.code()) == Some(RAN_TO_ITS_END.into());
        let mut seen = Seen::from(ended);
        seen.errno = seen.errno.or((!whole).then(|| "ECHILD".to_owned()));
        seen
    }
}

fn copy() -> io::Result<File> {
    let program = fs::read(env::current_exe()?)?;
    // Linux before 6.3 does not know MFD_EXEC, and needs none.
    let made = memfd(libc::MFD_CLOEXEC | libc::MFD_EXEC).or_else(|_| memfd(libc::MFD_CLOEXEC));
    let mut copy = made?;
    copy.write_all(&program)?;
    Ok(copy)
}

fn memfd(flags: u32) -> io::Result<File> {
    // SAFETY: the name ends with NUL; the answer is a new descriptor.
    let fd = unsafe { descriptor::made(libc::syscall(libc::SYS_memfd_create, NAME.as_ptr(), flags))? };
    Ok(fd.into())
}

/// Returns where it fails.
fn execute(copy: &File, words: &[CString]) -> io::Result<()> {
    let mut argv = [ptr::null::<c_char>(); MAX_WORDS + 2];
    argv[0] = NAME.as_ptr();
    for (place, word) in argv[1..=MAX_WORDS].iter_mut().zip(words) {
        *place = word.as_ptr();
    }
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: all texts end with NUL, both lists with null, and they outlive the call. No other thread changes the
    // environment.
    let answer = unsafe {
        let (fd, nothing) = (copy.as_raw_fd(), c"".as_ptr());
        libc::syscall(libc::SYS_execveat, fd, nothing, argv.as_ptr(), environ, libc::AT_EMPTY_PATH)
    };
    Errno::result(answer)?;
    Ok(())
}
