//! `io-uring [vsock]`: makes a ring for requests to the kernel (io_uring(7)). With `vsock`, a socket of that family is
//! then asked for through the ring, where a filter of system calls does not see it.

#![allow(unsafe_code)]

use std::ffi::{c_long, c_void};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use crate::action::Action;
use crate::descriptor;
use crate::json::Json;
use crate::seen::{Seen, errno};
use crate::words::{Usage, Words};

const ENTRIES: u32 = 4;
const BOUND: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(1);
/// Of linux/io_uring.h: IORING_OP_SOCKET, IORING_OFF_SQES, IORING_FEAT_SINGLE_MMAP.
const SOCKET: u8 = 45;
const AT_REQUESTS: i64 = 0x1000_0000;
const SINGLE_MMAP: u32 = 1;

/// Makes a ring.
pub struct IoUring {
    vsock: bool,
}

impl IoUring {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        match words.at_most_one("vsock")? {
            None => Ok(Self { vsock: false }),
            Some(word) if word == "vsock" => Ok(Self { vsock: true }),
            Some(word) => Err(Usage(format!("expected nothing or vsock, got {word:?}"))),
        }
    }
}

impl Action for IoUring {
    fn target(&self) -> String {
        if self.vsock { "vsock".to_owned() } else { String::new() }
    }

    /// `socket` is null where none was asked for, and where it was made.
    fn run(&self) -> Seen {
        let mut setup = Setup::default();
        let ring = made(&mut setup);
        let socket = match &ring {
            Ok(ring) if self.vsock => vsock(ring, &setup),
            _ => Ok(()),
        };
        let symbol = |error: Option<&io::Error>| error.map_or(Json::Null, |error| Json::from(errno(error)));
        let detail = Json::object([("setup", symbol(ring.as_ref().err())), ("socket", symbol(socket.as_ref().err()))]);
        Seen::tried(ring.and(socket), detail)
    }
}

fn made(setup: &mut Setup) -> io::Result<OwnedFd> {
    // SAFETY: the kernel reads and fills the structure, which is whole; the answer is a new descriptor.
    unsafe { descriptor::made(libc::syscall(libc::SYS_io_uring_setup, ENTRIES, &raw mut *setup)) }
}

/// One request and its answer.
fn vsock(ring: &OwnedFd, setup: &Setup) -> io::Result<()> {
    if setup.features & SINGLE_MMAP == 0 {
        return Err(Errno::ENOSYS.into()); // Linux 5.3 and older, whose rings make no sockets either
    }
    let answers_end = setup.answers.entries as usize + 2 * ENTRIES as usize * size_of::<Answer>();
    let rings = Mapped::new(ring, 0, answers_end.max(setup.requests.array as usize + 4 * ENTRIES as usize))?;
    let requests = Mapped::new(ring, AT_REQUESTS, ENTRIES as usize * size_of::<Request>())?;
    let (domain, protocol, kind) = (libc::AF_VSOCK, 0, libc::SOCK_STREAM as u64);
    let request = Request { operation: SOCKET, domain, kind, protocol, ..Request::default() };
    // SAFETY: what the offsets name lies inside the mappings (io_uring_setup(2)), and is aligned; the kernel reads the
    // request and its place in the ring only after it sees the new tail.
    unsafe {
        requests.start.cast::<Request>().write(request);
        rings.at::<u32>(setup.requests.array).write(0);
        (*rings.at::<AtomicU32>(setup.requests.tail)).store(1, Ordering::Release);
    }
    // SAFETY: plain numbers only, and no set of signals.
    Errno::result(unsafe { libc::syscall(libc::SYS_io_uring_enter, ring.as_raw_fd(), 1, 0, 0, ptr::null::<u8>(), 0) })?;
    let deadline = Instant::now() + BOUND;
    // SAFETY: as above; what stands before the tail is written.
    while unsafe { (*rings.at::<AtomicU32>(setup.answers.tail)).load(Ordering::Acquire) } == 0 {
        if Instant::now() >= deadline {
            return Err(Errno::ETIMEDOUT.into());
        }
        thread::sleep(PAUSE);
    }
    // SAFETY: as above: there is one answer. A result that is not negative is a new descriptor.
    unsafe {
        let result = (*rings.at::<Answer>(setup.answers.entries)).result;
        match result {
            0.. => descriptor::made(c_long::from(result)).map(drop),
            _ => Err(io::Error::from_raw_os_error(-result)),
        }
    }
}

/// Memory that is shared with the kernel as long as this lives.
struct Mapped {
    start: *mut c_void,
    length: usize,
}

impl Mapped {
    fn new(ring: &OwnedFd, offset: i64, length: usize) -> io::Result<Self> {
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE);
        // SAFETY: without an address of ours, the kernel chooses a free one.
        let start = unsafe { libc::mmap(ptr::null_mut(), length, rights, flags, ring.as_raw_fd(), offset) };
        if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self { start, length }) }
    }

    fn at<T>(&self, offset: u32) -> *mut T {
        self.start.wrapping_byte_add(offset as usize).cast()
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped here, and nothing of it is borrowed.
        unsafe { libc::munmap(self.start, self.length) };
    }
}

/// struct io_uring_params of linux/io_uring.h, with what is not looked at left without names.
#[repr(C)]
#[derive(Default)]
struct Setup {
    _entries_flags_and_thread: [u32; 5],
    features: u32,
    _reserved: [u32; 4],
    requests: RequestOffsets,
    answers: AnswerOffsets,
}

#[repr(C)]
#[derive(Default)]
struct RequestOffsets {
    _head: u32,
    tail: u32,
    _mask_entries_flags_dropped: [u32; 4],
    array: u32,
    _reserved: [u32; 3],
}

#[repr(C)]
#[derive(Default)]
struct AnswerOffsets {
    _head: u32,
    tail: u32,
    _mask_entries_overflow: [u32; 3],
    entries: u32,
    _flags_and_reserved: [u32; 4],
}

/// struct io_uring_sqe, in the words of IORING_OP_SOCKET.
#[repr(C)]
#[derive(Default)]
struct Request {
    operation: u8,
    _flags: [u8; 3],
    domain: i32,
    kind: u64,
    _address: u64,
    protocol: u32,
    _rest: [u32; 9],
}

/// struct io_uring_cqe.
#[repr(C)]
struct Answer {
    _request: u64,
    result: i32,
    _flags: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_are_as_long_as_the_kernel_says() {
        assert_eq!((size_of::<Setup>(), size_of::<Request>(), size_of::<Answer>()), (120, 64, 16));
    }
}
