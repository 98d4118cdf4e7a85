//! How a caller starts a launch, as far as it is not what the step is asked to do: a plain value, which `launch` carries out.

/// A caller; the default one is careful.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Whether it leaves descriptors open: 7 on a key, 9 on the home.
    pub inherits: bool,
    /// Whether its 0, 1 and 2 are files of the user, not pipes.
    pub files: bool,
    /// Whether its 0 is closed.
    pub no_input: bool,
    /// Whether its 1 and 2 are one pipe, as `2>&1` makes them.
    pub merged: bool,
    /// Whether it ignores and blocks signals, which a launch inherits.
    pub deaf: bool,
}
