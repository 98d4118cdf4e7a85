//! System V and POSIX objects. Each test makes its own, and removes them.

#![allow(unsafe_code)]

use std::ffi::{CString, c_int};
use std::sync::atomic::{AtomicI32, Ordering};

use serde_json::json;

use crate::namespaces::inside;
use crate::{as_ordinary, lines, one};

/// A key that no other test has, and no other run at the same time.
fn key() -> i32 {
    static NEXT: AtomicI32 = AtomicI32::new(1);
    let own = std::process::id().cast_signed() & 0x003f_ffff;
    (own << 8) | NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Removes an object at the end.
struct Removed<F: Fn(c_int) -> c_int>(c_int, F);

impl<F: Fn(c_int) -> c_int> Drop for Removed<F> {
    fn drop(&mut self) {
        assert_eq!((self.1)(self.0), 0, "{}", std::io::Error::last_os_error());
    }
}

#[test]
fn a_segment_is_made_read_and_written() {
    let key = key();
    let made = one(&format!("shm-make {key} first"));
    let id = made["detail"]["id"].as_i64().unwrap();
    // SAFETY: this one takes plain numbers, and no buffer.
    let remove = |id| unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
    let _removed = Removed(id as c_int, remove);
    let hex = format!("{key:#010x}");
    let words = format!("shm {hex} + shm-write {key} other + shm {key} + shm-make {key} again + ipcs");
    let seen = lines(&words);
    assert_eq!((&made["target"], &seen[0]["target"]), (&json!(hex), &json!(hex)));
    assert_eq!(seen[0]["detail"], json!({"id": id, "bytes": 5, "text": "first"}));
    assert_eq!(seen[1]["ok"], true);
    assert_eq!(seen[2]["detail"]["text"], "other");
    assert_eq!(seen[3]["errno"], "EEXIST");
    assert!(seen[4]["detail"]["shm"].as_array().unwrap().contains(&json!(hex)), "{}", seen[4]);
}

#[test]
fn a_segment_without_rights_is_refused() {
    let key = key();
    let id = one(&format!("shm-make {key} x"))["detail"]["id"].as_i64().unwrap();
    // SAFETY: a shmid_ds of zeros is one; it outlives the calls, of which the first fills it.
    let closed = unsafe {
        let mut segment: libc::shmid_ds = std::mem::zeroed();
        libc::shmctl(id as c_int, libc::IPC_STAT, &raw mut segment);
        segment.shm_perm.mode = 0;
        libc::shmctl(id as c_int, libc::IPC_SET, &raw mut segment)
    };
    assert_eq!(closed, 0);
    // SAFETY: as above.
    let remove = |id| unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
    let _removed = Removed(id as c_int, remove);
    for seen in as_ordinary(&format!("shm {key} + shm-write {key} x")) {
        assert_eq!(seen["errno"], "EACCES", "{seen}");
    }
}

#[test]
fn a_semaphore_is_read_and_changed() {
    let key = key();
    // SAFETY: plain numbers only.
    let id = unsafe { libc::semget(key, 1, libc::IPC_CREAT | libc::IPC_EXCL | 0o600) };
    assert!(id >= 0);
    // SAFETY: plain numbers only.
    let _removed = Removed(id, |id| unsafe { libc::semctl(id, 0, libc::IPC_RMID) });
    let seen = lines(&format!("sem {key} + sem-add {key} 5 + sem-add {key} -2 + sem {key} + sem-add {key} -9 + ipcs"));
    assert_eq!((&seen[0]["detail"], &seen[3]["detail"]), (&json!({"value": 0}), &json!({"value": 3})));
    assert_eq!((&seen[1]["ok"], &seen[4]["errno"]), (&json!(true), &json!("EAGAIN")));
    assert!(seen[5]["detail"]["sem"].as_array().unwrap().contains(&json!(format!("{key:#010x}"))));
}

#[test]
fn the_first_message_is_shown_and_stays() {
    let key = key();
    // SAFETY: plain numbers only.
    let id = unsafe { libc::msgget(key, libc::IPC_CREAT | libc::IPC_EXCL | 0o600) };
    assert!(id >= 0);
    // SAFETY: this one takes plain numbers, and no buffer.
    let _removed = Removed(id, |id| unsafe { libc::msgctl(id, libc::IPC_RMID, std::ptr::null_mut()) });
    let seen = lines(&format!("queue {key} + queue-send {key} hello + queue {key} + queue {key} + ipcs"));
    assert_eq!(seen[0]["errno"], "ENOMSG");
    assert_eq!(seen[1]["ok"], true);
    for line in &seen[2..4] {
        assert_eq!(line["detail"], json!({"text": "hello"}), "{line}");
    }
    assert!(seen[4]["detail"]["msg"].as_array().unwrap().contains(&json!(format!("{key:#010x}"))));
}

#[test]
fn what_is_not_there_is_an_error() {
    let key = key();
    let words = format!(
        "shm {key} + shm-write {key} x + sem {key} + sem-add {key} 1 + queue {key} + queue-send {key} x + \
         mq kusaw-{key} + mq-send kusaw-{key} x + sem-named kusaw-{key}"
    );
    for seen in lines(&words) {
        assert_eq!((&seen["errno"], &seen["detail"]), (&json!("ENOENT"), &json!({})), "{seen}");
    }
}

#[test]
fn a_posix_queue_gives_its_first_message_and_keeps_it() {
    let name = format!("/kusaw-probe-{}", std::process::id());
    let c_name = CString::new(name.as_str()).unwrap();
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR;
    // SAFETY: the name ends with NUL and outlives the call; null asks for the default sizes.
    let queue =
        unsafe { libc::mq_open(c_name.as_ptr(), flags, 0o600 as libc::mode_t, std::ptr::null::<libc::mq_attr>()) };
    assert!(queue >= 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the name ends with NUL and outlives the call.
    let _removed = Removed(queue, |_| unsafe { libc::mq_unlink(c_name.as_ptr()) });
    let bare = name.trim_start_matches('/');
    let seen = lines(&format!("mq {name} + mq-send {bare} hello + mq {bare} + mq {name}"));
    assert_eq!((&seen[0]["errno"], &seen[0]["target"]), (&json!("EAGAIN"), &json!(name)));
    assert_eq!(seen[1]["ok"], true, "{}", seen[1]);
    for line in &seen[2..] {
        assert_eq!(line["detail"], json!({"text": "hello", "messages": 1}), "{line}");
    }
    // SAFETY: plain numbers only; on Linux a queue's descriptor is one like any other (mq_overview(7)).
    assert_eq!(unsafe { libc::fchmod(queue, 0) }, 0);
    for seen in as_ordinary(&format!("mq {name} + mq-send {name} x")) {
        assert_eq!(seen["errno"], "EACCES", "{seen}");
    }
}

#[test]
fn a_named_semaphore_has_a_value() {
    let name = format!("kusaw-probe-{}", std::process::id());
    let c_name = CString::new(format!("/{name}")).unwrap();
    let flags = libc::O_CREAT | libc::O_EXCL;
    // SAFETY: the name ends with NUL and outlives the call; the mode and the value are the arguments that O_CREAT asks
    // for.
    let semaphore = unsafe { libc::sem_open(c_name.as_ptr(), flags, 0o600 as libc::mode_t, 7_u32) };
    assert!(!semaphore.is_null(), "{}", std::io::Error::last_os_error());
    // SAFETY: the name ends with NUL and outlives the call.
    let _removed = Removed(0, |_| unsafe { libc::sem_unlink(c_name.as_ptr()) });
    assert_eq!(one(&format!("sem-named {name}"))["detail"], json!({"value": 7}));
}

#[test]
fn in_an_ipc_namespace_of_its_own_nothing_of_these_is_there() {
    let key = key();
    let id = one(&format!("shm-make {key} x"))["detail"]["id"].as_i64().unwrap();
    // SAFETY: as above.
    let remove = |id| unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
    let _removed = Removed(id as c_int, remove);
    let seen = inside(&format!("unshare ipc + shm {key} + ipcs"));
    assert_eq!(seen[1]["errno"], "ENOENT", "{seen:?}");
    assert_eq!(seen[2]["detail"], json!({"shm": [], "sem": [], "msg": []}));
}
