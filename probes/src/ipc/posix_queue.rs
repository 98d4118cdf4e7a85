//! `mq NAME` takes the first message out of a POSIX queue and sends it back with the priority that it had, `mq-send
//! NAME TEXT` sends one. Neither waits.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use nix::mqueue::{MQ_OFlag, MqdT, mq_getattr, mq_open, mq_receive, mq_send};
use nix::sys::stat::Mode;

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words, c_string};

/// Looks at the first message.
pub struct Mq {
    name: CString,
}

impl Mq {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [name] = words.exactly(["NAME"])?;
        Ok(Self { name: named(&name)? })
    }

    /// The message, and how many there are.
    fn first(&self) -> io::Result<(Vec<u8>, i64)> {
        let queue = opened(&self.name, MQ_OFlag::O_RDWR)?;
        let attributes = mq_getattr(&queue)?;
        let mut text = vec![0; usize::try_from(attributes.msgsize()).unwrap_or_default()];
        let mut priority = 0;
        let length = mq_receive(&queue, &mut text, &mut priority)?;
        text.truncate(length);
        mq_send(&queue, &text, priority)?;
        Ok((text, attributes.curmsgs()))
    }
}

impl Action for Mq {
    fn target(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        match self.first() {
            Ok((text, messages)) => {
                Seen::ok(Json::object([("text", Json::from(&text[..])), ("messages", Json::Number(messages))]))
            }
            Err(error) => error.into(),
        }
    }
}

/// Sends a message.
pub struct MqSend {
    name: CString,
    text: OsString,
}

impl MqSend {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [name, text] = words.exactly(["NAME", "TEXT"])?;
        Ok(Self { name: named(&name)?, text })
    }

    fn sent(&self) -> io::Result<()> {
        Ok(mq_send(&opened(&self.name, MQ_OFlag::O_WRONLY)?, self.text.as_bytes(), 0)?)
    }
}

impl Action for MqSend {
    fn target(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        Seen::of(self.sent())
    }
}

/// A name begins with a slash, whether it is given or not.
fn named(word: &OsStr) -> Result<CString, Usage> {
    let name = word.as_bytes();
    let name = [b"/", name.strip_prefix(b"/").unwrap_or(name)].concat();
    c_string(OsString::from_vec(name), "NAME")
}

fn opened(name: &CString, flags: MQ_OFlag) -> io::Result<MqdT> {
    Ok(mq_open(name.as_c_str(), flags | MQ_OFlag::O_NONBLOCK, Mode::empty(), None)?)
}
