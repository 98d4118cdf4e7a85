//! What has to happen first in the process: no inherited descriptor may reach a child, and the ends of
//! children must be told.
#![allow(unsafe_code)]

/// To be called at the start of `main`.
pub fn prepare() {
    // SAFETY: marks descriptors close-on-exec, touches no memory. Fails on Linux before 5.11, where the
    // launch refuses for want of pidfd_open or bubblewrap's needs; our own descriptors are marked anyway.
    let marked = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if marked != 0 {
        mark_one_by_one();
    }
    // SAFETY: sets a disposition to the default: an ignored SIGCHLD, inherited, would hide bubblewrap's end.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

fn mark_one_by_one() {
    let Ok(list) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<i32> = list.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect();
    for fd in numbers.into_iter().filter(|fd| *fd > 2) {
        // SAFETY: sets a flag of a descriptor number; a number that is closed by now is an error without effect.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}
