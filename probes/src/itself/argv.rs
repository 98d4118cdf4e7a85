//! `argv ARGS...`: how this process was started. Its own words carry no meaning; they are there to
//! be seen again.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::parent_id;
use std::process;

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Shows the process.
pub struct Argv;

impl Argv {
    pub fn parse(_words: Words) -> Result<Self, Usage> {
        Ok(Self)
    }
}

impl Action for Argv {
    fn target(&self) -> String {
        String::new()
    }

    fn run(&self) -> Seen {
        let argv: Vec<OsString> = env::args_os().collect();
        let cwd = env::current_dir();
        Seen::ok(Json::object([
            ("argv", Json::list(argv.iter().map(OsString::as_os_str))),
            ("cwd", cwd.map_or(Json::Null, |path| Json::from(path.as_os_str()))),
            ("pid", Json::count(process::id())),
            ("ppid", Json::count(parent_id())),
        ]))
    }
}
