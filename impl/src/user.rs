//! The user who runs kusaw. /etc/passwd is asked first, and what stands there counts, also where nsswitch.conf(5) would ask
//! another name service before it: those are loaded for a user who is not in it only, which costs as much as a sandbox.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
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
        in_passwd(&passwd, uid.as_raw()).or_else(|| {
            let user = User::from_uid(uid).ok().flatten()?;
            Some(Known { name: user.name, home: user.dir })
        })
    })
    .as_ref()
}

/// The first row with this uid, as getpwuid(3) takes it. The fields: name, password, uid, gid, comment, home, shell. A home is
/// bytes: with a replaced one the folder of another would be hidden.
fn in_passwd(passwd: &[u8], uid: u32) -> Option<Known> {
    let rows = passwd.split(|byte| *byte == b'\n').map(|line| line.split(|byte| *byte == b':').collect::<Vec<_>>());
    let uid = |row: &[&[u8]]| str::from_utf8(row[2]).ok().and_then(|text| text.parse().ok()) == Some(uid);
    let mut own = rows.filter(|row| row.len() >= 6 && uid(row));
    own.next()
        .map(|row| Known { name: String::from_utf8_lossy(row[0]).into_owned(), home: OsStr::from_bytes(row[5]).into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_of_a_uid_counts_and_broken_ones_do_not() {
        let passwd =
            b"root:x:0:0:root:/root:/bin/sh\nbroken:x:7\n+::::::\ndev:x:7:7::/home/dev:\nother:x:7:7::/o:/bin/sh\n";
        assert_eq!(in_passwd(passwd, 7), Some(Known { name: "dev".into(), home: "/home/dev".into() }));
        assert_eq!(in_passwd(passwd, 8), None);
    }

    #[test]
    fn a_home_is_bytes() {
        let home = OsStr::from_bytes(b"/home/andr\xe9").into();
        let passwd = b"andr\xe9:x:7:7:Andr\xe9:/home/andr\xe9:/bin/sh";
        assert_eq!(in_passwd(passwd, 7), Some(Known { name: "andr\u{fffd}".into(), home }));
    }
}
