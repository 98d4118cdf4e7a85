//! Exit codes: of `kusaw run`, whose own are few and at the end of the range, so that the step's pass through, and of all other
//! commands.

/// The exit code of `kusaw run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunExit {
    /// The step's own.
    Step(i32),
    /// The step succeeded and its commits were rejected.
    NotImported,
    /// Nothing was executed.
    Refused,
    /// The step's program is there and cannot be executed.
    CannotExecute,
    /// The step's program was not found.
    NotFound,
    /// This signal ended the step, or kusaw before it executed one.
    Signal(i32),
}

impl RunExit {
    /// The number. 126 and 127 are those of env(1), timeout(1) and docker, 128 and the signal those of shells.
    pub fn code(self) -> i32 {
        match self {
            RunExit::Step(code) => code,
            RunExit::NotImported => 123,
            RunExit::Refused => 125,
            RunExit::CannotExecute => 126,
            RunExit::NotFound => 127,
            RunExit::Signal(signal) => 128 + signal,
        }
    }

    /// Each of them, with the number as it is written, and what it means.
    pub fn all() -> [(String, &'static str); 6] {
        let told = |exit: RunExit, meaning| (exit.code().to_string(), meaning);
        [
            ("0 to 255".into(), "The step's own."),
            told(RunExit::NotImported, "The step succeeded, and what it committed was rejected (not-imported)."),
            told(RunExit::Refused, "kusaw refused or failed: nothing of the step was executed."),
            told(RunExit::CannotExecute, "The step's program is there but cannot be executed."),
            told(RunExit::NotFound, "The step's program was not found where the step runs."),
            ("128 + n".into(), "Signal n ended the step, or kusaw before anything was executed."),
        ]
    }
}

/// The exit code of every command but `run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Fine.
    Fine,
    /// Something was found.
    Findings,
    /// It could not even begin.
    Usage,
}

impl Exit {
    /// Every one.
    pub const ALL: [Exit; 3] = [Exit::Fine, Exit::Findings, Exit::Usage];

    /// Fine where nothing was found.
    pub fn of(fine: bool) -> Exit {
        if fine { Exit::Fine } else { Exit::Findings }
    }

    /// The number.
    pub fn code(self) -> i32 {
        match self {
            Exit::Fine => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
        }
    }

    /// What it means, in one line.
    pub fn meaning(self) -> &'static str {
        match self {
            Exit::Fine => "All is as it should be.",
            Exit::Findings => {
                "There is something to tell: steps cannot be sandboxed here, a promise does not hold, a finding."
            }
            Exit::Usage => "Wrong use of the command line, or settings that cannot be used.",
        }
    }
}
