//! What an action saw: an errno by its name or none, and details.

use std::io;

use nix::errno::Errno;

use crate::json::Json;

/// The result of one action. It is `ok` where there is no errno.
pub struct Seen {
    pub errno: Option<String>,
    pub detail: Json,
}

impl Seen {
    pub fn ok(detail: Json) -> Self {
        Self { errno: None, detail }
    }

    /// The same detail whether it went well or not.
    pub fn tried<T, E: Into<io::Error>>(result: Result<T, E>, detail: Json) -> Self {
        Self { errno: result.err().map(|error| errno(&error.into())), detail }
    }

    /// A call with nothing to tell but how it ended.
    pub fn of<T, E: Into<io::Error>>(result: Result<T, E>) -> Self {
        Self::tried(result, Json::nothing())
    }

    pub fn failed(errno: impl Into<String>, detail: Json) -> Self {
        Self { errno: Some(errno.into()), detail }
    }
}

impl From<io::Error> for Seen {
    fn from(error: io::Error) -> Self {
        Self::failed(errno(&error), Json::nothing())
    }
}

impl From<Errno> for Seen {
    fn from(error: Errno) -> Self {
        io::Error::from(error).into()
    }
}

/// A part of a detail that may fail by itself: what was seen, or the symbol of the error.
pub fn or_errno(seen: io::Result<Json>) -> Json {
    seen.unwrap_or_else(|error| Json::from(errno(&error)))
}

/// The symbol of an error, as in errno(3): `ENOENT`. Errors that std makes itself (a connect that
/// took too long, a NUL in a path) get the symbol nearest to them.
pub fn errno(error: &io::Error) -> String {
    match (error.raw_os_error(), error.kind()) {
        (Some(number), _) => match Errno::from_raw(number) {
            Errno::UnknownErrno => format!("E{number}"),
            known => format!("{known:?}"),
        },
        (None, io::ErrorKind::TimedOut) => "ETIMEDOUT".to_owned(),
        (None, io::ErrorKind::InvalidInput) => "EINVAL".to_owned(),
        (None, kind) => format!("{kind:?}"),
    }
}
