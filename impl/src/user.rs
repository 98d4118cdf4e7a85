//! The user who runs kusaw. /etc/passwd is asked first: for a user who is not in it the system's name services are loaded,
//! which costs as much as a sandbox.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use nix::unistd::{User, geteuid};

/// What the system knows of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The login name.
    pub name: String,
    /// The home, whatever HOME says.
    pub home: PathBuf,
}

/// The user with our effective uid; nobody in a container that does not know its own user.
pub fn own() -> Option<&'static Known> {
    static OWN: OnceLock<Option<Known>> = OnceLock::new();
    OWN.get_or_init(|| {
        let uid = geteuid();
        let passwd = fs::read("/etc/passwd").unwrap_or_default();
        in_passwd(&String::from_utf8_lossy(&passwd), uid.as_raw()).or_else(|| {
            let user = User::from_uid(uid).ok().flatten()?;
            Some(Known { name: user.name, home: user.dir })
        })
    })
    .as_ref()
}

/// The first row with this uid, as getpwuid(3) takes it. The fields: name, password, uid, gid, comment, home, shell.
fn in_passwd(passwd: &str, uid: u32) -> Option<Known> {
    let rows = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut own = rows.filter(|row| row.len() >= 6 && row[2].parse() == Ok(uid));
    own.next().map(|row| Known { name: row[0].into(), home: row[5].into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_of_a_uid_counts_and_broken_ones_do_not() {
        let passwd =
            "root:x:0:0:root:/root:/bin/sh\nbroken:x:7\n+::::::\ndev:x:7:7::/home/dev:\nother:x:7:7::/o:/bin/sh\n";
        assert_eq!(in_passwd(passwd, 7), Some(Known { name: "dev".into(), home: "/home/dev".into() }));
        assert_eq!(in_passwd(passwd, 8), None);
    }
}
