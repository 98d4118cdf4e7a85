//! Warnings: what `validate` and the doctor tell although a launch would go on. Each has a code for programs and a fix for people.

macro_rules! warnings {
    ($($name:ident $code:literal $meaning:literal $fix:literal,)*) => {
        /// One kind of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Warning { $(#[doc = $meaning] $name,)* }

        impl Warning {
            /// Every one, in the order of the documentation.
            pub const ALL: &'static [Warning] = &[$(Warning::$name,)*];

            /// The stable code in reports.
            pub const fn code(self) -> &'static str {
                match self { $(Warning::$name => $code,)* }
            }

            /// What it means, in one line.
            pub fn meaning(self) -> &'static str {
                match self { $(Warning::$name => $meaning,)* }
            }

            /// What the user can do about it.
            pub fn fix(self) -> &'static str {
                match self { $(Warning::$name => $fix,)* }
            }
        }
    };
}

warnings! {
    IgnoresProxy "W1" "A step in allowlist mode runs a program that ignores HTTP_PROXY and HTTPS_PROXY: it reaches nothing."
        "tell the program of the proxy in its own way, or use another: the line of its kind says how",
    Opens "W2" "Something weakens a guarantee: an entry of allow_read or allow_write that opens keys, sockets, other checkouts or a home; a step that runs without the sandbox that others have."
        "name the folder that is needed and nothing around it; set sandbox: required for the step",
    Unlisted "W3" "A runner's handshake names a host that is on no list: nothing is allowed by that."
        "add the host to sandbox.egress.allow, if the step is to reach it",
    Misread "W4" "An entry of an allowlist may not mean what it seems to."
        "write the hosts that are meant",
    NoEffect "W5" "A setting has no effect where it stands."
        "remove it, or write what is meant",
}
