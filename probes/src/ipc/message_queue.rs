//! `queue KEY` shows the first message in a System V queue and leaves it there, `queue-send KEY TEXT` sends one.
//! Neither waits.

#![allow(unsafe_code)]

use std::ffi::{OsString, c_int, c_long};
use std::io;
use std::os::unix::ffi::OsStrExt;

use nix::errno::Errno;

use super::key::Key;
use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

const MAX: usize = 4096;
/// What is sent has this type; what is received may have any.
const KIND: c_long = 1;

/// Looks at the first message.
pub struct Queue {
    key: Key,
}

impl Queue {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [key] = words.exactly(["KEY"])?;
        Ok(Self { key: Key::parse(&key)? })
    }

    fn first(&self) -> io::Result<Vec<u8>> {
        let queue = get(self.key)?;
        let (message, length) = match received(queue, libc::MSG_COPY) {
            Ok(copy) => copy,
            // A kernel without copies (msgrcv(2)): the message is taken, and goes back, behind the others.
            Err(Errno::ENOSYS | Errno::EINVAL) => {
                let taken = received(queue, 0)?;
                sent(queue, &taken.0, taken.1)?;
                taken
            }
            Err(error) => return Err(error.into()),
        };
        Ok(message.text[..length].to_vec())
    }
}

impl Action for Queue {
    fn target(&self) -> String {
        self.key.to_string()
    }

    fn run(&self) -> Seen {
        match self.first() {
            Ok(text) => Seen::ok(Json::object([("text", Json::from(&text[..]))])),
            Err(error) => error.into(),
        }
    }
}

/// Sends a message.
pub struct QueueSend {
    key: Key,
    text: OsString,
}

impl QueueSend {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [key, text] = words.exactly(["KEY", "TEXT"])?;
        if text.len() > MAX {
            return Err(Usage(format!("TEXT is at most {MAX} bytes long")));
        }
        Ok(Self { key: Key::parse(&key)?, text })
    }

    fn sent(&self) -> io::Result<()> {
        let mut message = Message { kind: KIND, text: [0; MAX] };
        message.text[..self.text.len()].copy_from_slice(self.text.as_bytes());
        Ok(sent(get(self.key)?, &message, self.text.len())?)
    }
}

impl Action for QueueSend {
    fn target(&self) -> String {
        self.key.to_string()
    }

    fn run(&self) -> Seen {
        Seen::of(self.sent())
    }
}

/// struct msgbuf of msgop(2).
#[repr(C)]
struct Message {
    kind: c_long,
    text: [u8; MAX],
}

fn get(key: Key) -> io::Result<c_int> {
    // SAFETY: plain numbers only.
    Ok(Errno::result(unsafe { libc::msgget(key.0, 0) })?)
}

/// The first message, cut off where it is longer, and its length.
fn received(queue: c_int, flags: c_int) -> Result<(Message, usize), Errno> {
    let mut message = Message { kind: 0, text: [0; MAX] };
    let flags = flags | libc::IPC_NOWAIT | libc::MSG_NOERROR;
    // SAFETY: the kernel writes the type and at most as many bytes as it is told, which the message has.
    let length = unsafe { libc::msgrcv(queue, (&raw mut message).cast(), MAX, 0, flags) };
    Ok((message, usize::try_from(Errno::result(length)?).unwrap_or_default()))
}

fn sent(queue: c_int, message: &Message, length: usize) -> Result<(), Errno> {
    // SAFETY: the kernel reads the type and so many bytes, which the message has.
    Errno::result(unsafe { libc::msgsnd(queue, (&raw const *message).cast(), length, libc::IPC_NOWAIT) })?;
    Ok(())
}
