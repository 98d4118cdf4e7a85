//! The users and groups there are inside.

use std::path::Path;

use crate::user;

/// Users and groups: root, nobody, and the one user there is inside.
pub struct Names {
    /// The text of passwd.
    pub passwd: String,
    /// The text of group.
    pub group: String,
}

impl Names {
    /// With this home.
    pub fn of(home: &Path) -> Names {
        let (uid, gid) = (nix::unistd::geteuid(), nix::unistd::getegid());
        let user = own_name().unwrap_or_else(|| "user".into());
        let home = home.display().to_string().replace([':', '\n'], "_");
        let mut passwd =
            "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n".to_string();
        let mut group = "root:x:0:\nnogroup:x:65534:\n".to_string();
        if uid.is_root() {
            passwd = passwd.replace(":/root:", &format!(":{home}:"));
        } else {
            passwd += &format!("{user}:x:{uid}:{gid}::{home}:/bin/sh\n");
        }
        if gid.as_raw() != 0 && gid.as_raw() != 65534 {
            group += &format!("{user}:x:{gid}:\n");
        }
        Names { passwd, group }
    }
}

/// The user's name, or what the login said.
fn own_name() -> Option<String> {
    let name = user::own().map(|own| own.name.clone()).or_else(|| std::env::var("LOGNAME").ok());
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    name.filter(|n| !n.is_empty() && n.len() <= 64 && n.chars().all(plain))
}
