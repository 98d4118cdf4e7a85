//! What a user's programs share: System V shared memory, a semaphore and a message queue, and the POSIX ones. The lab has an
//! IPC namespace of its own, so they are nobody else's; they must never outlive their scenario.
#![allow(unsafe_code)] // sysvipc(7), mq_overview(7), sem_overview(7), each call with its SAFETY sentence

use std::ffi::CString;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::ptr;

use super::home;

/// Bytes of the shared memory.
const SIZE: usize = 4096;
/// What the semaphores are at first.
const VALUE: u32 = 7;
/// The first bytes of every key: "kus".
const KEYS: i32 = 0x6b75_0000;

/// The objects, until this is dropped.
#[derive(Debug)]
pub struct Shared {
    /// The key of the three System V objects.
    pub key: i32,
    name: String,
    memory: i32,
    semaphore: i32,
    queue: i32,
    mq: libc::mqd_t,
}

/// What can be seen of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    memory: Vec<u8>,
    semaphore: i32,
    messages: u64,
    posix_messages: i64,
    posix_memory: Vec<u8>,
    posix_semaphore: Vec<u8>,
}

impl Content {
    /// The names of what another content has otherwise.
    pub fn difference(&self, other: &Self) -> String {
        let parts = [
            ("shared memory", self.memory != other.memory),
            ("semaphore", self.semaphore != other.semaphore),
            ("message queue", self.messages != other.messages),
            ("POSIX message queue", self.posix_messages != other.posix_messages),
            ("POSIX shared memory", self.posix_memory != other.posix_memory),
            ("POSIX semaphore", self.posix_semaphore != other.posix_semaphore),
        ];
        let changed: Vec<&str> = parts.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect();
        changed.join(", ")
    }
}

impl Shared {
    /// Makes them; `number` is unique in the run, and their POSIX names are `/lab-NONCE`. Memory and messages hold a token.
    ///
    /// # Errors
    /// When one of them cannot be made.
    pub fn make(number: u16, nonce: &str) -> io::Result<Self> {
        let (key, name) = (KEYS + i32::from(number), format!("lab-{nonce}"));
        // SAFETY: numbers only; each returns an id or -1.
        let ids = unsafe {
            let new = libc::IPC_CREAT | libc::IPC_EXCL | 0o600;
            [libc::shmget(key, SIZE, new), libc::semget(key, 1, new), libc::msgget(key, new)]
        };
        let [memory, semaphore, queue] = ids;
        let mut shared = Self { key, name, memory, semaphore, queue, mq: -1 };
        if ids.iter().any(|id| *id < 0) {
            return Err(io::Error::last_os_error());
        }
        shared.fill()?;
        Ok(shared)
    }

    fn fill(&mut self) -> io::Result<()> {
        let token = home::token()?;
        self.with_memory(|memory| memory[..token.len()].copy_from_slice(token.as_bytes()))?;
        // struct msgbuf of msgop(2): a type above 0, then the text.
        let message = [&1_i64.to_ne_bytes()[..], token.as_bytes()].concat();
        let posix = CString::new(format!("/{}", self.name))?;
        let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | libc::O_NONBLOCK;
        // SAFETY: SETVAL takes an int as its union semun; the kernel reads of the message as many bytes as it is told; both
        // texts end with NUL and outlive their calls; the default attributes are asked for by null.
        let filled = unsafe {
            let set = libc::semctl(self.semaphore, 0, libc::SETVAL, VALUE);
            let sent = libc::msgsnd(self.queue, message.as_ptr().cast(), token.len(), libc::IPC_NOWAIT);
            self.mq = libc::mq_open(posix.as_ptr(), flags, 0o600, ptr::null_mut::<libc::mq_attr>());
            let posted = libc::mq_send(self.mq, token.as_ptr().cast(), token.len(), 0);
            let named = libc::sem_open(posix.as_ptr(), libc::O_CREAT | libc::O_EXCL, 0o600, VALUE);
            set == 0 && sent == 0 && posted == 0 && named != libc::SEM_FAILED && libc::sem_close(named) == 0
        };
        if !filled {
            return Err(io::Error::last_os_error());
        }
        fs::write(self.posix_memory(), token)
    }

    /// What they hold now.
    ///
    /// # Errors
    /// When one of them is not there any more.
    pub fn content(&self) -> io::Result<Content> {
        // SAFETY: GETVAL takes no fourth argument; the two structs are plain numbers, filled by the calls.
        let (semaphore, stat, attributes) = unsafe {
            let (mut stat, mut attributes) = (std::mem::zeroed(), std::mem::zeroed());
            let got = libc::semctl(self.semaphore, 0, libc::GETVAL);
            if got < 0
                || libc::msgctl(self.queue, libc::IPC_STAT, &raw mut stat) != 0
                || libc::mq_getattr(self.mq, &raw mut attributes) != 0
            {
                return Err(io::Error::last_os_error());
            }
            (got, stat, attributes)
        };
        let mut memory = Vec::new();
        self.with_memory(|bytes| memory.extend_from_slice(bytes))?;
        Ok(Content {
            memory,
            semaphore,
            messages: stat.msg_qnum,
            posix_messages: attributes.mq_curmsgs,
            posix_memory: fs::read(self.posix_memory())?,
            posix_semaphore: fs::read(format!("/dev/shm/sem.{}", self.name))?,
        })
    }

    fn with_memory(&self, mut act: impl FnMut(&mut [u8])) -> io::Result<()> {
        // SAFETY: the segment has SIZE bytes, is attached for the time of `act` only, and the slice does not leave it.
        unsafe {
            let at = libc::shmat(self.memory, ptr::null(), 0);
            if at as isize == -1 {
                return Err(io::Error::last_os_error());
            }
            act(std::slice::from_raw_parts_mut(at.cast(), SIZE));
            libc::shmdt(at);
        }
        Ok(())
    }

    fn posix_memory(&self) -> PathBuf {
        PathBuf::from(format!("/dev/shm/{}", self.name))
    }
}

/// The key that words of a feature name.
///
/// # Errors
/// When they are no number in hexadecimal.
pub fn key(words: &str) -> Result<i32, String> {
    i32::from_str_radix(words.trim_start_matches("0x"), 16).map_err(|e| format!("the key {words}: {e}"))
}

/// Whether System V shared memory with this key is there.
pub fn has_memory(key: i32) -> bool {
    memory(key) >= 0
}

/// Removes it, if it is there.
pub fn remove_memory(key: i32) {
    // SAFETY: numbers, and null where nothing is asked for; an id of -1 is refused.
    unsafe { libc::shmctl(memory(key), libc::IPC_RMID, ptr::null_mut()) };
}

fn memory(key: i32) -> i32 {
    // SAFETY: numbers only: no segment is made or attached.
    unsafe { libc::shmget(key, 0, 0) }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // What is not there any more cannot be removed.
        let _ = fs::remove_file(self.posix_memory());
        let Ok(posix) = CString::new(format!("/{}", self.name)) else { return };
        // SAFETY: numbers, texts that end with NUL, and null where nothing is asked for; ids of -1 are refused.
        unsafe {
            libc::shmctl(self.memory, libc::IPC_RMID, ptr::null_mut());
            libc::semctl(self.semaphore, 0, libc::IPC_RMID);
            libc::msgctl(self.queue, libc::IPC_RMID, ptr::null_mut());
            libc::mq_close(self.mq);
            libc::mq_unlink(posix.as_ptr());
            libc::sem_unlink(posix.as_ptr());
        }
    }
}
