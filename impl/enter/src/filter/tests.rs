use super::*;
use std::io::Error;

/// What the program answers to a call: an errno, or `None` for a permission.
fn verdict(program: &[sock_filter], architecture: u32, number: u32, arguments: [u64; 2]) -> Option<i32> {
    let (mut at, mut loaded) = (0, 0);
    loop {
        let sock_filter { code, jt, jf, k } = program[at];
        at += 1;
        let holds = match u32::from(code) & 0xf7 {
            code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                loaded = match k {
                    NUMBER => number,
                    ARCHITECTURE => architecture,
                    // The low half, also of what is larger.
                    _ => arguments[(k - ARGUMENTS) as usize / 8] as u32,
                };
                continue;
            }
            code if code == libc::BPF_JMP | libc::BPF_JA => {
                at += k as usize;
                continue;
            }
            code if code == libc::BPF_JMP | libc::BPF_JEQ => loaded == k,
            code if code == libc::BPF_JMP | libc::BPF_JGE => loaded >= k,
            _ => return (k != libc::SECCOMP_RET_ALLOW).then_some((k & 0xffff) as i32),
        };
        at += usize::from(if holds { jt } else { jf });
    }
}

#[test]
fn the_program_says_what_the_table_says() {
    let Filter(program) = Filter::new();
    const FOREIGN: u32 = 0x4000_0003; // AUDIT_ARCH_I386; no program for another one than the two comes here
    for rule in RULES {
        for (architecture, number) in [(compat::NATIVE, rule.native), (FOREIGN, rule.compat)] {
            let Some(number) = number else { continue };
            let says = |argument: u32, value: u64| {
                let mut arguments = [0xdead; 2];
                arguments[argument as usize] = value;
                verdict(&program, architecture, number, arguments)
            };
            let Some((argument, values)) = rule.when else {
                assert_eq!(says(0, 0), Some(rule.errno), "{architecture:x} {number}");
                continue;
            };
            for value in values.iter().copied().map(u64::from) {
                assert_eq!(says(argument, value), Some(rule.errno), "{architecture:x} {number} {value}");
                assert_eq!(says(argument, value | 1 << 32), Some(rule.errno), "the high half does not count");
                assert_eq!(says(argument, value | 1 << 20), None, "{architecture:x} {number} {value}");
            }
        }
    }
    for number in [0, 1, 41, 59, 60, 157, 317, 435] {
        assert_eq!(verdict(&program, FOREIGN, number, [0; 2]), None, "{number}");
    }
    assert_eq!(verdict(&program, compat::NATIVE, libc::SYS_socket as u32, [libc::AF_UNIX as u64, 0]), None);
    assert_eq!(verdict(&program, compat::NATIVE, u32::MAX, [0; 2]), None, "a tracer skips a call");
    if let Some(x32) = compat::X32 {
        let numbers = [0, libc::SYS_getpid as u32, libc::SYS_keyctl as u32, 512].map(|number| x32 | number);
        assert_eq!(numbers.map(|n| verdict(&program, compat::NATIVE, n, [0; 2])), [Some(ENOSYS); 4]);
    }
}

/// The errno of a call, without and then with the filter. A filter is the thread's own.
fn without_and_with(calls: &[(libc::c_long, [u64; 3])]) -> Vec<(Option<i32>, Option<i32>)> {
    let calls = calls.to_vec();
    let errno = |&(number, [a, b, c]): &(libc::c_long, [u64; 3])| {
        // SAFETY: none of the calls below changes anything outside of this process; pointers are null.
        let result = unsafe { libc::syscall(number, a, b, c, 0, 0) };
        (result < 0).then(|| Error::last_os_error().raw_os_error()).flatten()
    };
    let thread = std::thread::spawn(move || {
        let without: Vec<_> = calls.iter().map(errno).collect();
        assert!(Filter::new().apply(), "{}", Error::last_os_error());
        assert!(Filter::new().apply(), "a step may add filters of its own");
        without.into_iter().zip(calls.iter().map(errno)).collect()
    });
    thread.join().unwrap()
}

#[test]
fn each_call_is_refused_by_the_kernel_and_its_neighbours_are_not() {
    let (eperm, enosys) = (Some(EPERM), Some(ENOSYS));
    let high = 1 << 32;
    // No descriptor has the number -1: without the filter that would be the errno.
    let bad = u64::MAX;
    let [vsock, sti, linux] = [libc::AF_VSOCK as u64, libc::TIOCSTI, libc::TIOCLINUX];
    let refused = [
        (libc::SYS_add_key, [0, 0, 0], eperm),
        (libc::SYS_request_key, [0, 0, 0], eperm),
        (libc::SYS_keyctl, [bad, 0, 0], eperm),
        (libc::SYS_ioctl, [bad, sti, 0], eperm),
        (libc::SYS_ioctl, [bad, sti | high, 0], eperm),
        (libc::SYS_ioctl, [bad, linux, 0], eperm),
        (libc::SYS_ioctl, [bad, linux | high, 0], eperm),
        (libc::SYS_socket, [vsock, 1, 0], eperm),
        (libc::SYS_socket, [vsock | high, 1, 0], eperm),
        (libc::SYS_socketpair, [vsock, 1, 0], eperm),
        (libc::SYS_io_uring_setup, [0, 0, 0], enosys),
        (libc::SYS_io_uring_enter, [bad, 0, 0], enosys),
        (libc::SYS_io_uring_register, [bad, 0, 0], enosys),
    ];
    let calls = refused.map(|(number, arguments, _)| (number, arguments));
    for ((call, expected), (without, with)) in calls.iter().zip(refused.map(|r| r.2)).zip(without_and_with(&calls)) {
        assert_eq!(with, expected, "{call:?}");
        // A container's own filter may refuse the others without ours as well.
        assert!(call.0 != libc::SYS_ioctl || without == Some(libc::EBADF), "{call:?} {without:?}");
    }
    let stream = libc::SOCK_STREAM as u64;
    for (without, with) in without_and_with(&[
        (libc::SYS_ioctl, [bad, libc::TIOCGWINSZ, 0]),
        (libc::SYS_ioctl, [bad, libc::TIOCSCTTY, 0]),
        (libc::SYS_socket, [libc::AF_UNIX as u64, stream, 0]),
        (libc::SYS_socket, [libc::AF_INET as u64, stream, 0]),
        (libc::SYS_socket, [libc::AF_NETLINK as u64, libc::SOCK_RAW as u64, 0]),
        (libc::SYS_getpid, [0, 0, 0]),
    ]) {
        assert_eq!(with, without);
    }
}

/// A 32-bit program of one call, whose exit code is its errno.
#[cfg(target_arch = "x86_64")]
fn program_of_i386(number: u32, arguments: [u32; 2]) -> Vec<u8> {
    const AT: u32 = 0x0804_8000;
    let mut code = Vec::new();
    for (instruction, value) in [(0xbb, arguments[0]), (0xb9, arguments[1]), (0xba, 0), (0xb8, number)] {
        code.push(instruction); // mov ebx, ecx, edx, eax
        code.extend(value.to_le_bytes());
    }
    // int 0x80; neg eax; mov ebx, eax; mov eax, 1; int 0x80
    code.extend([0xcd, 0x80, 0xf7, 0xd8, 0x89, 0xc3, 0xb8, 1, 0, 0, 0, 0xcd, 0x80]);
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0".to_vec();
    let size = 84 + code.len() as u32;
    // Version, entry, offsets of program and section headers, flags, sizes and counts; then one segment: all of it.
    file.extend([1, AT + 84, 52, 0, 0, 0x0020_0034, 1, 0].iter().flat_map(|n: &u32| n.to_le_bytes()));
    file.extend([1, 0, AT, AT, size, size, 5, 0x1000].iter().flat_map(|n: &u32| n.to_le_bytes()));
    file.extend(code);
    file
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_32_bit_program_runs_and_its_calls_are_refused_too() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let code = |name: &str, number, arguments| {
        let file = folder.path().join(name);
        std::fs::write(&file, program_of_i386(number, arguments)).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::process::Command::new(file).stdin(std::process::Stdio::null()).status().map(|status| status.code())
    };
    if code("first", 24, [0, 0]).is_err() {
        return eprintln!("this kernel runs no 32-bit programs: nothing to refuse");
    }
    let [vsock, unix, sti] = [libc::AF_VSOCK as u32, libc::AF_UNIX as u32, libc::TIOCSTI as u32];
    let calls = [
        (286, [0, 0], EPERM),
        (54, [0, sti], EPERM),
        (54, [0, libc::TIOCGWINSZ as u32], libc::ENOTTY),
        (359, [vsock, 1], EPERM),
        (102, [1, 0], ENOSYS),       // socketcall: socket
        (102, [3, 0], libc::EFAULT), // socketcall: connect
        (425, [0, 0], ENOSYS),
        (33, [0, 0], libc::EFAULT), // access
    ];
    let all = |prefix: &str| {
        let each = calls.iter().enumerate().map(|(n, (number, arguments, _))| (n, *number, *arguments));
        each.map(|(n, number, arguments)| code(&format!("{prefix}{n}"), number, arguments).unwrap()).collect::<Vec<_>>()
    };
    let without = all("without");
    let with = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            assert!(Filter::new().apply());
            (all("with"), code("unix", 359, [unix, 1]).unwrap())
        });
        thread.join().unwrap()
    });
    assert_eq!(with.0, calls.map(|call| Some(call.2)), "without: {without:?}");
    assert_ne!(with.1, Some(EPERM), "its result, a descriptor, is its exit code");
    assert!(without.iter().zip(&with.0).take(2).all(|(without, with)| without != with), "{without:?}");
}
