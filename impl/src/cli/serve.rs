//! `kusaw serve`: hosts the factory's one egress proxy until a signal ends it.

use std::path::Path;

use crate::outcome::{Exit, Refusal};
use crate::serve;

/// Serves: fine when a signal has ended it.
///
/// # Errors
/// When it could not begin.
pub fn serve(factory: &Path) -> Result<Exit, Refusal> {
    serve::serve(factory).map(|()| Exit::Fine)
}
