//! What a record says of an attempt as a whole and of its step: two short lists of words.

use serde::{Serialize, Serializer};

macro_rules! words {
    ($(#[$about:meta])* $list:ident { $($name:ident $word:literal $meaning:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $list { $(#[doc = $meaning] $name,)* }

        impl $list {
            /// Every one, in the order of the documentation.
            pub const ALL: &'static [$list] = &[$($list::$name,)*];

            /// The stable word in records.
            pub fn word(self) -> &'static str {
                match self { $($list::$name => $word,)* }
            }

            /// What it means, in one line.
            pub fn meaning(self) -> &'static str {
                match self { $($list::$name => $meaning,)* }
            }
        }

        impl Serialize for $list {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.word())
            }
        }
    };
}

words! {
    /// Where an attempt stands when its record is written.
    RunState {
        Ended "ended" "The step was executed and is over.",
        Refused "refused" "Nothing of the step was executed.",
    }
}

words! {
    /// What became of the step.
    StepOutcome {
        Succeeded "succeeded" "Exit code 0.",
        Failed "failed" "Any other exit code.",
        Killed "killed" "Ended by a signal, its own or with its sandbox.",
        NotImported "not-imported" "Exit code 0, but what it committed could not be taken over.",
        Refused "refused" "Not executed.",
    }
}
