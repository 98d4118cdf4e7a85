//! `kusaw serve`: hosts the factory's one egress proxy until a signal ends it.

use std::path::Path;

use crate::outcome::Reason;
use crate::serve;

/// Serves; the value is the exit code: 0 = ended by a signal, 1 = it could not begin, 2 = the settings cannot be used.
pub fn serve(factory: &Path) -> i32 {
    match serve::serve(factory) {
        Ok(()) => 0,
        Err(refusal) => {
            super::report(&refusal);
            if refusal.reason == Reason::BadSettings { 2 } else { 1 }
        }
    }
}
