//! `--keep`: a shell in the lab, to look at a red cell.

use std::process::Command;

use crate::lab::HOME;
use crate::launch::environment::of_user;
use crate::text::print;

/// Runs a shell in the lab until the user leaves it.
pub fn shell() {
    print("The lab is open: you are its user. The factories lie in ~/factories. `exit` closes the lab.\n");
    let status = Command::new("/bin/sh").arg("-i").current_dir(HOME).env_clear().envs(of_user()).status();
    if let Err(e) = status {
        eprintln!("conformance: /bin/sh: {e}");
    }
}
