//! What a step may not ask of the kernel, as a table of calls: those with which it could reach what no namespace keeps
//! apart. A refused call fails with an errno and never kills: programs go on without it. 32-bit programs run, behind the
//! same table. Never anything that browsers and build tools need for sandboxes of their own.
#![allow(unsafe_code)]

use libc::{ENOSYS, EPERM, sock_filter, sock_fprog};

/// A call, by its numbers, and the errno it fails with.
struct Rule {
    /// For programs of this architecture.
    native: Option<u32>,
    /// For 32-bit programs.
    compat: Option<u32>,
    /// Only with one of these values in this argument.
    when: Option<(u32, &'static [u32])>,
    errno: i32,
}

/// Some numbers are those of all architectures, others differ.
const RULES: &[Rule] = &[
    // Whoever has the number of a keyring of the same user can link it and read what is in it (keyrings(7)): neither a session
    // keyring of its own nor a user namespace stands in the way, and /proc/keys tells the numbers.
    refuse(libc::SYS_add_key, Some(compat::ADD_KEY), EPERM),
    refuse(libc::SYS_request_key, Some(compat::REQUEST_KEY), EPERM),
    refuse(libc::SYS_keyctl, Some(compat::KEYCTL), EPERM),
    // Typing into a terminal, and pasting on a console (ioctl_tty(2), ioctl_console(2)).
    refuse(libc::SYS_ioctl, Some(54), EPERM).when(1, &[libc::TIOCSTI as u32, libc::TIOCLINUX as u32]),
    // Sockets between a virtual machine and its host: no network namespace holds them (vsock(7)).
    refuse(libc::SYS_socket, Some(compat::SOCKET), EPERM).when(0, &[libc::AF_VSOCK as u32]),
    refuse(libc::SYS_socketpair, Some(compat::SOCKETPAIR), EPERM).when(0, &[libc::AF_VSOCK as u32]),
    // Its arguments lie behind a pointer, where a filter cannot look. Some libraries then use the two calls above; 32-bit
    // programs of glibc and Go know no other way to a socket, and have none.
    Rule { native: None, compat: compat::SOCKETCALL, when: Some((0, &[1, 8])), errno: ENOSYS },
    // It opens sockets past every filter (IORING_OP_SOCKET). Programs know kernels without it.
    refuse(libc::SYS_io_uring_setup, Some(425), ENOSYS),
    refuse(libc::SYS_io_uring_enter, Some(426), ENOSYS),
    refuse(libc::SYS_io_uring_register, Some(427), ENOSYS),
];

/// AUDIT_ARCH_X86_64 of linux/audit.h, and i386's numbers (arch/x86/entry/syscalls/syscall_32.tbl).
#[cfg(target_arch = "x86_64")]
mod compat {
    pub const NATIVE: u32 = 0xc000_003e;
    pub const ADD_KEY: u32 = 286;
    pub const REQUEST_KEY: u32 = 287;
    pub const KEYCTL: u32 = 288;
    pub const SOCKET: u32 = 359;
    pub const SOCKETPAIR: u32 = 360;
    pub const SOCKETCALL: Option<u32> = Some(102);
    /// From here on the numbers are x32's, which has the architecture of 64-bit programs.
    pub const X32: Option<u32> = Some(0x4000_0000);
}

/// AUDIT_ARCH_AARCH64, and arm's numbers (arch/arm/tools/syscall.tbl).
#[cfg(target_arch = "aarch64")]
mod compat {
    pub const NATIVE: u32 = 0xc000_00b7;
    pub const ADD_KEY: u32 = 309;
    pub const REQUEST_KEY: u32 = 310;
    pub const KEYCTL: u32 = 311;
    pub const SOCKET: u32 = 281;
    pub const SOCKETPAIR: u32 = 288;
    pub const SOCKETCALL: Option<u32> = None;
    pub const X32: Option<u32> = None;
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("filter.rs needs this architecture's AUDIT_ARCH and the numbers of its 32-bit calls");

const fn refuse(native: libc::c_long, compat: Option<u32>, errno: i32) -> Rule {
    Rule { native: Some(native as u32), compat, when: None, errno }
}

impl Rule {
    const fn when(self, argument: u32, values: &'static [u32]) -> Rule {
        Rule { when: Some((argument, values)), ..self }
    }
}

/// The table as a program for the kernel.
pub struct Filter(Vec<sock_filter>);

impl Filter {
    /// To be made before the fork: it allocates.
    pub fn new() -> Filter {
        let native = [past_x32(), calls(|rule| rule.native)].concat();
        let choose = [load(ARCHITECTURE), equal(compat::NATIVE, 1, 0), skip(native.len())];
        Filter([&choose[..], &native, &calls(|rule| rule.compat)].concat())
    }

    /// Applies it to this thread and all that it starts. Async-signal-safe: two system calls, no allocation. `false`
    /// leaves errno set.
    pub fn apply(&self) -> bool {
        let program = sock_fprog { len: self.0.len() as u16, filter: self.0.as_ptr().cast_mut() };
        // SAFETY: the kernel copies the program, which it only reads, before the call returns; the rest are plain numbers.
        unsafe {
            // bubblewrap has set it already; seccomp(2) asks for it from whoever has no capability.
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
        }
    }
}

/// Offsets in struct seccomp_data (linux/seccomp.h). Of an argument the low half, which is all that the kernel looks at in
/// a request of ioctl(2) and a family.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

/// As on a kernel without x32; but -1 is a tracer's way to skip a call, and no number.
fn past_x32() -> Vec<sock_filter> {
    let from = |first| {
        let numbers = sock_filter { jt: 0, jf: 2, ..instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, first) };
        vec![load(NUMBER), numbers, equal(u32::MAX, 1, 0), give(refusal(ENOSYS))]
    };
    compat::X32.map_or_else(Vec::new, from)
}

/// All rules for programs whose numbers `of` gives. Jumps count from the next instruction, and none leads out of its rule.
fn calls(of: impl Fn(&Rule) -> Option<u32>) -> Vec<sock_filter> {
    let mut program = vec![load(NUMBER)];
    for (rule, number) in RULES.iter().filter_map(|rule| Some((rule, of(rule)?))) {
        let mut then = Vec::new();
        if let Some((argument, values)) = rule.when {
            then.push(load(ARGUMENTS + 8 * argument));
            // Each leads past those after it and past the permission.
            then.extend(values.iter().rev().enumerate().rev().map(|(left, value)| equal(*value, left as u8 + 1, 0)));
            then.push(give(libc::SECCOMP_RET_ALLOW));
        }
        then.push(give(refusal(rule.errno)));
        program.push(equal(number, 0, then.len() as u8));
        program.append(&mut then);
    }
    program.push(give(libc::SECCOMP_RET_ALLOW));
    program
}

fn refusal(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno as u32
}

fn load(offset: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

fn equal(to: u32, then: u8, otherwise: u8) -> sock_filter {
    sock_filter { jt: then, jf: otherwise, ..instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, to) }
}

fn skip(instructions: usize) -> sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JA, instructions as u32)
}

fn give(what: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, what)
}

fn instruction(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

#[cfg(test)]
mod tests;
