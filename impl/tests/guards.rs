//! What a step may not ask of the kernel, and what it still may: through the real launch.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use factory::{Factory, factory};

/// What the step says in lines, its own last.
fn said(factory: &Factory) -> String {
    let output = factory.run("s").code(0).get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_filter_and_no_new_privileges_are_the_steps_own_and_not_pid_1s() {
    let factory =
        factory("", "grep -h -E '^(NoNewPrivs|Seccomp):' /proc/self/status /proc/1/status | tr -s '\\t\\n' ' '");
    assert_eq!(said(&factory), "NoNewPrivs: 1 Seccomp: 2 NoNewPrivs: 1 Seccomp: 0 ");
}

#[test]
fn pid_1_and_the_hosts_abstract_sockets_are_out_of_the_steps_reach() {
    if !kusaw_enter::landlock::has_scopes().unwrap() {
        return eprintln!("this kernel has no scopes: `kusaw sandbox check` says so");
    }
    let name = format!("kusaw-guards-{}", std::process::id());
    let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let script = format!(
        "for s in 0 TERM STOP KILL; do kill -$s 1 2>/dev/null && echo \"sent $s\"; done; sleep 60 & kill $! && echo own\n\
         perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); print connect($s, pack(\"Sa*\", AF_UNIX, \"\\0{name}\")) ? \"reached\" : \"$!\"'"
    );
    assert_eq!(said(&factory("", &script)), "own\nOperation not permitted");
}

#[test]
fn a_sandbox_inside_the_sandbox_works() {
    let factory = factory(
        "",
        "bwrap --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp --unshare-user --unshare-pid --unshare-ipc --unshare-net \
         sh -c 'sleep 60 & kill $! && ls -d /proc/1 && echo nested'; unshare --user --map-root-user --mount --pid --fork id -u",
    );
    // Of root's own sandboxes the kernel wants a capability that nobody inside has (user_namespaces(7), CAP_SETFCAP).
    let output = factory.command_of_a_user().args(["run", "s"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "/proc/1\nnested\n0\n", "{output:?}");
}
