//! What a step may not ask of the kernel: keys. Whoever has the number of a keyring of the same user can link it and read
//! what is in it (keyrings(7)): neither a session keyring of its own nor a user namespace stands in the way, and /proc/keys
//! tells the numbers. So the three system calls of keyrings fail with EPERM, as in container engines.
//!
//! Never anything that browsers and build tools need for sandboxes of their own.
#![allow(unsafe_code)]

use libc::{sock_filter, sock_fprog};

/// AUDIT_ARCH_* of linux/audit.h, and the numbers of add_key, request_key and keyctl for 32-bit programs.
#[cfg(target_arch = "x86_64")]
const ARCH: (u32, [u32; 3]) = (0xc000_003e, [286, 287, 288]);
#[cfg(target_arch = "aarch64")]
const ARCH: (u32, [u32; 3]) = (0xc000_00b7, [309, 310, 311]);

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("filter.rs needs this architecture's AUDIT_ARCH and the numbers of its 32-bit calls");

const NATIVE: [u32; 3] = [libc::SYS_add_key as u32, libc::SYS_request_key as u32, libc::SYS_keyctl as u32];

/// x32 calls have the same architecture and this bit in their number.
const X32: u32 = 0x4000_0000;

/// Offsets in struct seccomp_data (linux/seccomp.h).
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

/// Jumps count from the next instruction.
const PROGRAM: [sock_filter; 14] = [
    load(ARCHITECTURE),
    jump(ARCH.0, 0, 6),
    load(NUMBER),
    instruction(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, !X32),
    jump(NATIVE[0], 8, 0),
    jump(NATIVE[1], 7, 0),
    jump(NATIVE[2], 6, 0),
    give(libc::SECCOMP_RET_ALLOW),
    load(NUMBER),
    jump(ARCH.1[0], 3, 0),
    jump(ARCH.1[1], 2, 0),
    jump(ARCH.1[2], 1, 0),
    give(libc::SECCOMP_RET_ALLOW),
    give(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
];

const fn load(offset: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

const fn jump(equal_to: u32, then: u8, otherwise: u8) -> sock_filter {
    sock_filter { jt: then, jf: otherwise, ..instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, equal_to) }
}

const fn give(what: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, what)
}

const fn instruction(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Applies the filter to this thread and all that it starts. Async-signal-safe: three system calls at most, no allocation.
/// `false` leaves errno set.
pub fn apply() -> bool {
    let program = sock_fprog { len: PROGRAM.len() as u16, filter: PROGRAM.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program, which it only reads, before the call returns; the rest are plain numbers.
    unsafe {
        // bubblewrap has set it already; seccomp(2) asks for it from whoever has no capability.
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Error;

    #[test]
    fn calls_of_keyrings_are_refused_and_others_are_not() {
        // A filter is the thread's own.
        let thread = std::thread::spawn(|| {
            assert!(apply(), "{}", Error::last_os_error());
            // A number without arguments is enough: the filter comes before the call looks at them.
            let errno = |number: u32| {
                // SAFETY: without the filter these calls would fail as well (EINVAL, EFAULT) and change nothing.
                let result = unsafe { libc::syscall(number.into(), -1, 0, 0, 0, 0) };
                (result < 0).then(|| Error::last_os_error().raw_os_error()).flatten()
            };
            (NATIVE.map(errno), errno(libc::SYS_getpid as u32), apply())
        });
        let (refused, other, again) = thread.join().unwrap();
        assert_eq!(refused, [Some(libc::EPERM); 3]);
        assert_eq!(other, None);
        assert!(again, "a step may add filters of its own");
    }
}
