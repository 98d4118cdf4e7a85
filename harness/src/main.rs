//! The `conformance` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    kusaw_conformance::cli::main()
}
