//! `linger MARK [--ignore-term] [--signs FILE] [--seconds N]`: stays where it is, and then ends with 0, without a word:
//! no line, no end. MARK carries no meaning; it is there to be seen in the command line. `daemon` leaves a process like
//! this.

#![allow(unsafe_code)]

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use crate::action::Action;
use crate::seen::Seen;
use crate::words::{Usage, Words};

const DEFAULT: u64 = 60;
/// The longest stay, in seconds.
const MAX: u64 = 600;
const BEAT: Duration = Duration::from_millis(20);

/// Stays.
#[derive(Clone)]
pub struct Linger {
    pub mark: OsString,
    pub ignore_term: bool,
    pub signs: Option<OsString>,
    pub seconds: u64,
}

impl Linger {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let ignore_term = words.flag("--ignore-term");
        let signs = words.value("--signs")?;
        let seconds = words.number("--seconds", DEFAULT)?;
        let [mark] = words.exactly(["MARK"])?;
        if mark.is_empty() || seconds > MAX {
            return Err(Usage(format!("MARK is not empty, and --seconds at most {MAX}")));
        }
        Ok(Self { mark, ignore_term, signs, seconds })
    }

    /// The words that say all this again.
    pub fn words(&self) -> Vec<OsString> {
        let mut words = vec!["linger".into(), self.mark.clone(), "--seconds".into(), self.seconds.to_string().into()];
        words.extend(self.ignore_term.then(|| "--ignore-term".into()));
        words.extend(self.signs.iter().flat_map(|file| ["--signs".into(), file.clone()]));
        words
    }

    /// One byte more in the file is one beat: it grows as long as this process runs.
    fn sign(&self) {
        if let Some(file) = &self.signs {
            let _ = OpenOptions::new().append(true).create(true).open(file).and_then(|mut file| file.write_all(b"."));
        }
    }
}

impl Action for Linger {
    fn target(&self) -> String {
        self.mark.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        if self.ignore_term {
            ignore_term();
        }
        let end = Instant::now() + Duration::from_secs(self.seconds);
        while Instant::now() < end {
            self.sign();
            thread::sleep(BEAT);
        }
        process::exit(0)
    }
}

/// From here on, TERM, INT and HUP do nothing, also in what is executed.
pub fn ignore_term() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: SIG_IGN is no function of ours.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}
