//! The mounts that this process sees, from /proc/self/mountinfo (proc_pid_mountinfo(5)).

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Where something is mounted, each path once. A mount may be hidden below a later one.
pub fn points() -> io::Result<Vec<PathBuf>> {
    let mut points = read(&fs::read("/proc/self/mountinfo")?);
    points.sort();
    points.dedup();
    Ok(points)
}

/// The fifth word of each line.
fn read(mountinfo: &[u8]) -> Vec<PathBuf> {
    let point = |line: &[u8]| line.split(|byte| *byte == b' ').nth(4).map(unescaped);
    mountinfo.split(|byte| *byte == b'\n').filter_map(point).map(PathBuf::from).collect()
}

/// Blank, tab, newline and backslash are written as a backslash and three octal digits.
fn unescaped(mut word: &[u8]) -> OsString {
    let mut path = Vec::new();
    while let Some((first, rest)) = word.split_first() {
        let (byte, left) = escaped(word).unwrap_or((*first, rest));
        path.push(byte);
        word = left;
    }
    OsString::from_vec(path)
}

/// The byte that an escape at the beginning stands for, and what follows it.
fn escaped(word: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, left) = word.strip_prefix(b"\\")?.split_at_checked(3)?;
    let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()?;
    Some((byte, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_is_the_fifth_word() {
        let text = b"22 1 0:20 / / rw - ext4 /dev/vda rw\n\
            23 22 0:21 /a /mnt/my\\040disk\\134x rw,nosuid shared:1 - tmpfs tmpfs rw\n\
            24 22 0:22 / /odd\\04 rw - tmpfs tmpfs rw\nshort line\n";
        assert_eq!(read(text), ["/", "/mnt/my disk\\x", "/odd\\04"].map(PathBuf::from));
    }
}
