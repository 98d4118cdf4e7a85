//! What a commit may bring into the user's tree, beyond what git's own checks refuse: paths in, a verdict out. It must stay
//! pure: nothing here looks at a file.

use std::collections::BTreeMap;

use super::code::Code;
use super::spelling;

/// PATH_MAX, path_resolution(7); git's own check has the same bound.
const LONGEST_PATH: usize = 4095;

/// NAME_MAX of every usual file system.
const LONGEST_NAME: usize = 255;

/// Whether a path that a commit makes may be there.
///
/// # Errors
/// The code of what it may not.
pub fn path(path: &[u8]) -> Result<(), Code> {
    if path.len() > LONGEST_PATH {
        return Err(Code::PathTooLong);
    }
    if has_control(path) {
        return Err(Code::PathControl);
    }
    for name in path.split(|byte| *byte == b'/') {
        if spelling::is_git(name) {
            return Err(Code::PathGit);
        }
        if name.len() > LONGEST_NAME {
            return Err(Code::PathTooLong);
        }
        if spelling::has_hidden(name) {
            return Err(Code::PathControl);
        }
    }
    // After the names: `.git\x` is more than a backslash.
    if path.contains(&b'\\') { Err(Code::PathBackslash) } else { Ok(()) }
}

/// Whether a symbolic link at `path` may lead to `target`. Leading `..` are counted against the folders that the link lies
/// in; after a name none is taken: that name may be a link itself, and `..` then leads from wherever it leads to. So links
/// that all pass stay inside, whatever they are put together to.
///
/// # Errors
/// The code of what it may not.
pub fn link(path: &[u8], target: &[u8]) -> Result<(), Code> {
    if target.is_empty()
        || target.len() > LONGEST_PATH
        || has_control(target)
        || spelling::has_hidden(target)
        || has_drive(target)
    {
        return Err(Code::LinkOutside);
    }
    let mut above = path.iter().filter(|byte| **byte == b'/').count();
    let mut named = false;
    for (number, name) in target.split(|byte| matches!(byte, b'/' | b'\\')).enumerate() {
        match name {
            // A first name that is empty: it is absolute.
            b"" if number == 0 => return Err(Code::LinkOutside),
            b"" | b"." => {}
            b".." if named || above == 0 => return Err(Code::LinkOutside),
            b".." => above -= 1,
            name if spelling::is_git(name) => return Err(Code::LinkGit),
            _ => named = true,
        }
    }
    Ok(())
}

/// Whether the way along a link, through all others of its tree, leaves the tree: `links` holds their targets by path. What is
/// not a link counts as a folder. As in path_resolution(7): more than 40 links end nowhere.
pub fn leads_outside(path: &[u8], links: &BTreeMap<Vec<u8>, Option<Vec<u8>>>) -> bool {
    let mut way: Vec<&[u8]> = Vec::new();
    let mut left: Vec<&[u8]> = path.rsplit(|byte| *byte == b'/').collect();
    let mut followed = 0;
    while let Some(name) = left.pop() {
        match name {
            b"" | b"." => continue,
            b".." if way.pop().is_none() => return true,
            b".." => continue,
            name => way.push(name),
        }
        match links.get(&way.join(&b'/')) {
            None => {}
            Some(Some(target)) if target.first() != Some(&b'/') && followed < 40 => {
                followed += 1;
                way.pop();
                left.extend(target.rsplit(|byte| *byte == b'/'));
            }
            Some(Some(target)) => return target.first() == Some(&b'/'),
            // Nobody knows where.
            Some(None) => return true,
        }
    }
    false
}

/// Pairs of names in one folder that are one on a file system that ignores case, with a new one among them.
pub fn collisions<'a>(names: &[&'a [u8]], is_new: impl Fn(&[u8]) -> bool) -> Vec<(&'a [u8], &'a [u8])> {
    let mut keyed: Vec<(Vec<u8>, &[u8])> = names.iter().map(|name| (spelling::key(name), *name)).collect();
    keyed.sort_unstable();
    let pairs = keyed.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    pairs.filter(|pair| is_new(pair[0].1) || is_new(pair[1].1)).map(|pair| (pair[0].1, pair[1].1)).collect()
}

/// C0, DEL, and in UTF-8 C1: a terminal obeys them.
fn has_control(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_control) || str::from_utf8(bytes).is_ok_and(|text| text.chars().any(char::is_control))
}

/// `C:` begins an absolute path on Windows.
fn has_drive(target: &[u8]) -> bool {
    matches!(target, [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let long = "a/".repeat(2100) + "a";
        let wide = "a".repeat(256);
        for (text, verdict) in [
            ("a", Ok(())),
            ("src/.gitignore", Ok(())),
            (".github/x", Ok(())),
            ("ä/ö ü", Ok(())),
            ("a b", Ok(())),
            (".git", Err(Code::PathGit)),
            ("a/.GIT/config", Err(Code::PathGit)),
            ("a/git~1", Err(Code::PathGit)),
            ("a/.git /x", Err(Code::PathGit)),
            ("a/.g\u{200c}it", Err(Code::PathGit)),
            (".git\\config", Err(Code::PathGit)),
            ("a\nb", Err(Code::PathControl)),
            ("a\u{1b}[31m", Err(Code::PathControl)),
            ("a\u{7f}", Err(Code::PathControl)),
            ("a\u{9b}31m", Err(Code::PathControl)),
            ("a\u{202e}txt.exe", Err(Code::PathControl)),
            ("a/\u{3164}", Err(Code::PathControl)),
            ("日本語/ä́", Ok(())),
            ("..\\pwned", Err(Code::PathBackslash)),
            (&long, Err(Code::PathTooLong)),
            (&wide, Err(Code::PathTooLong)),
        ] {
            assert_eq!(path(text.as_bytes()), verdict, "{text:?}");
        }
        assert_eq!(path(b"latin-\xe9"), Ok(()));
    }

    #[test]
    fn links() {
        for (at, target, verdict) in [
            ("l", "file", Ok(())),
            ("l", "./dir/file", Ok(())),
            ("a/l", "../file", Ok(())),
            ("a/b/l", "../../c", Ok(())),
            ("a/b/l", "..//./../", Ok(())),
            ("l", "..file", Ok(())),
            ("l", "a/...", Ok(())),
            ("l", "/etc/passwd", Err(Code::LinkOutside)),
            ("l", "../x", Err(Code::LinkOutside)),
            ("l", "..", Err(Code::LinkOutside)),
            ("a/l", "../../x", Err(Code::LinkOutside)),
            ("a/l", "b/../../../x", Err(Code::LinkOutside)),
            // `b` may be a link to the top.
            ("a/l", "b/../x", Err(Code::LinkOutside)),
            ("l", "", Err(Code::LinkOutside)),
            ("l", "..\0a", Err(Code::LinkOutside)),
            ("l", "..\\x", Err(Code::LinkOutside)),
            ("l", "\\\\host\\share", Err(Code::LinkOutside)),
            ("l", "C:\\x", Err(Code::LinkOutside)),
            ("l", "~/.ssh", Ok(())),
            ("l", ".git/hooks", Err(Code::LinkGit)),
            ("a/l", "../.GIT", Err(Code::LinkGit)),
            ("l", "sub/git~1/x", Err(Code::LinkGit)),
        ] {
            assert_eq!(link(at.as_bytes(), target.as_bytes()), verdict, "{at} -> {target:?}");
        }
    }

    /// Every target of up to five names, in a folder of every depth: it passes only if the kernel's way, with each name taken
    /// for a link to the top, never leaves the tree.
    #[test]
    fn no_link_that_passes_can_leave() {
        let words = ["..", "a", ".", ""];
        for depth in 0..4usize {
            let at = "d/".repeat(depth) + "l";
            for code in 0..4usize.pow(5) {
                let names: Vec<&str> = (0..5).map(|n| words[code / 4usize.pow(n) % 4]).collect();
                let target = names.join("/");
                if link(at.as_bytes(), target.as_bytes()).is_err() {
                    continue;
                }
                assert!(!target.starts_with('/'), "{target}");
                for top in [true, false] {
                    let mut now = depth as isize;
                    for name in &names {
                        now = match *name {
                            ".." => now - 1,
                            "a" if top => 0,
                            "a" => now + 1,
                            _ => now,
                        };
                        assert!(now >= 0, "{at} -> {target}");
                    }
                }
            }
        }
    }

    #[test]
    fn links_through_links() {
        let links = [
            ("ext", "/home/dev"),
            ("leak", "./ext/x"),
            ("up", ".."),
            ("deep/in/top", "../.."),
            ("in", "deep/in/top/ok"),
            ("out", "deep/in/top/../x"),
            ("not", "deep/in/none/../x"),
            ("loop", "loop/x"),
        ];
        let links = links.map(|(path, target)| (path.into(), Some(target.into())));
        let links: BTreeMap<Vec<u8>, Option<Vec<u8>>> = links.into_iter().chain([(b"gone".to_vec(), None)]).collect();
        let outside: Vec<&[u8]> = links.keys().filter(|p| leads_outside(p, &links)).map(|p| &p[..]).collect();
        assert_eq!(outside, [&b"ext"[..], b"gone", b"leak", b"out", b"up"]);
    }

    #[test]
    fn names_that_are_one_elsewhere() {
        let names: Vec<&[u8]> = vec![b"D", b"a", b"d", b"e"];
        let none: [(&[u8], &[u8]); 0] = [];
        assert_eq!(collisions(&names, |name| name == b"d"), [(&b"D"[..], &b"d"[..])]);
        assert_eq!(collisions(&names, |name| name == b"e"), none);
        assert_eq!(collisions(&names[1..], |_| true), none);
        let three: Vec<&[u8]> = vec![b"x", b"X", b"\xc3\x84", b"\xc3\xa4"];
        assert_eq!(collisions(&three, |_| true).len(), 2);
    }
}
