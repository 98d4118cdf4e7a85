//! A kernel that lacks something: one system call fails, for a command and all that it starts.

use std::io::Error;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The call of this number, if `when` only with this value in this argument, fails with `errno`.
pub fn refuse(command: &mut Command, number: libc::c_long, when: Option<(u32, u32)>, errno: i32) {
    let instruction = |code: u32, jf, k| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let load = |offset| instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, offset);
    let equal = |to, otherwise| instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, otherwise, to);
    let give = |what| instruction(libc::BPF_RET | libc::BPF_K, 0, what);
    // Without a value: the low half of the first argument is what it is.
    let (argument, value) = when.unwrap_or_default();
    let value = if when.is_some() { equal(value, 1) } else { load(0) };
    let mut filter = [
        load(0),
        equal(number as u32, 3),
        load(16 + 8 * argument),
        value,
        give(libc::SECCOMP_RET_ERRNO | errno as u32),
        give(libc::SECCOMP_RET_ALLOW),
    ];
    // SAFETY: between fork and exec only two system calls, on memory that the closure owns.
    unsafe {
        command.pre_exec(move || {
            let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            match libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) {
                0 => Ok(()),
                _ => Err(Error::last_os_error()),
            }
        });
    }
}
