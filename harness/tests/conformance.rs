//! `cargo test --test conformance`: the same engine as the `conformance` command, with the same arguments.

use std::process::ExitCode;

fn main() -> ExitCode {
    kusaw_conformance::cli::main()
}
