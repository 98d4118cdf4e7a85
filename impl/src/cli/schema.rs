//! `kusaw schema`: the JSON Schema of `kusaw.yaml`. With `kusaw schema >.kusaw.schema.json` and the first line
//! `# yaml-language-server: $schema=.kusaw.schema.json` in kusaw.yaml, an editor completes the settings and marks what is wrong.

use std::io::Write;

use crate::outcome::Exit;
use crate::settings::schema;

/// Prints it.
pub fn schema() -> Exit {
    // A reader that has gone away has seen enough.
    let _ = std::io::stdout().write_all(schema::TEXT.as_bytes());
    Exit::Fine
}
