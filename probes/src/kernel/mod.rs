//! What the kernel keeps or offers that is neither a file nor a socket.

#[cfg(target_os = "linux")]
mod bpf;
#[cfg(target_os = "linux")]
mod io_uring;
mod keyring;
mod keys;
#[cfg(target_os = "linux")]
mod perf;
#[cfg(target_os = "linux")]
mod userfaultfd;

use crate::action::{Entry, boxed};

pub const ACTIONS: &[Entry] = &[
    ("keyring", |words| boxed(keyring::Keyring::parse(words))),
    ("keys", |words| boxed(keys::Keys::parse(words))),
    ("add-key", |words| boxed(keys::AddKey::parse(words))),
    #[cfg(target_os = "linux")]
    ("bpf", |words| boxed(bpf::Bpf::parse(words))),
    #[cfg(target_os = "linux")]
    ("perf", |words| boxed(perf::Perf::parse(words))),
    #[cfg(target_os = "linux")]
    ("userfaultfd", |words| boxed(userfaultfd::Userfaultfd::parse(words))),
    #[cfg(target_os = "linux")]
    ("io-uring", |words| boxed(io_uring::IoUring::parse(words))),
];
