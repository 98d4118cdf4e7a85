//! Mounts: what changes the tree of files that this process sees (mount_namespaces(7)), by the old calls and by the
//! new.

mod attach;
mod change;
mod context;
mod root;
mod tree;

use crate::action::{Entry, boxed};

pub const ACTIONS: &[Entry] = &[
    ("mount", |words| boxed(attach::Mount::parse(words))),
    ("umount", |words| boxed(attach::Umount::parse(words))),
    ("remount", |words| boxed(change::Remount::parse(words))),
    ("private", |words| boxed(change::Private::parse(words))),
    ("mount-setattr", |words| boxed(change::MountSetattr::parse(words))),
    ("fsopen", |words| boxed(context::Fsopen::parse(words))),
    ("open-tree", |words| boxed(tree::OpenTree::parse(words))),
    ("pivot-root", |words| boxed(root::PivotRoot::parse(words))),
    ("chroot", |words| boxed(root::Chroot::parse(words))),
];
