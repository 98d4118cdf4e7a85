//! Names that git takes for `.git`, on whatever file system they come to lie: what is harmless here is a repository there.

/// Whether `name`, one name without a slash, is `.git` for git on Linux, macOS or Windows: with other cases, with code points
/// that HFS+ ignores, as NTFS's short name, with the spaces, dots and streams that Windows cuts off. As in git's
/// is_hfs_dotgit (utf8.c) and is_ntfs_dotgit (path.c), taken together.
pub fn is_git(name: &[u8]) -> bool {
    let seen = without_ignored(name);
    let end = seen.iter().position(|byte| matches!(byte, b':' | b'\\')).unwrap_or(seen.len());
    let mut stem = &seen[..end];
    while let [rest @ .., b' ' | b'.'] = stem {
        stem = rest;
    }
    stem.eq_ignore_ascii_case(b".git") || stem.eq_ignore_ascii_case(b"git~1")
}

/// Whether a name holds what is not seen, or turns the rest of a line around: Unicode's bidirectional controls (UAX 9), its
/// default ignorable code points (UAX 44) less variation selectors, which belong to emoji, and the Hangul fillers.
pub fn has_hidden(name: &[u8]) -> bool {
    str::from_utf8(name).is_ok_and(|text| text.chars().any(is_hidden))
}

/// One of them.
pub fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
    ) || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}')
        || matches!(c, '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}')
        || matches!(c, '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e00ff}')
}

/// What is the same for file systems that ignore case: two names with one key cannot lie in one folder there. Names that only
/// differ in their normal form (NFC, NFD), or in `ß` and `ss`, have two keys, though they are one name on macOS.
pub fn key(name: &[u8]) -> Vec<u8> {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    match str::from_utf8(name) {
        Ok(text) => {
            text.chars().filter(|c| !is_ignored(*c)).flat_map(char::to_lowercase).collect::<String>().into_bytes()
        }
        Err(_) => name.to_ascii_lowercase(),
    }
}

fn without_ignored(name: &[u8]) -> Vec<u8> {
    match str::from_utf8(name) {
        Ok(text) => text.chars().filter(|c| !is_ignored(*c)).collect::<String>().into_bytes(),
        Err(_) => name.to_vec(),
    }
}

/// Apple's technical note 1150, "Unicode Subtleties": HFS+ ignores these when it compares.
fn is_ignored(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_known() {
        let spellings = [
            ".git",
            ".GIT",
            ".Git",
            "git~1",
            "GIT~1",
            ".git ",
            ".git.",
            ".git . .",
            ".git::$INDEX_ALLOCATION",
            ".git:stream",
            ".git\\x",
            "git~1 ",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".gi\u{206a}t\u{200d}",
            ".G\u{202e}IT.",
        ];
        spellings.iter().for_each(|name| assert!(is_git(name.as_bytes()), "{name:?}"));
        for name in
            [".gitignore", ".gitmodules", "git", "git~2", " .git", ".git-x", ".gitx.", "a.git", "", "..", ".gıt"]
        {
            assert!(!is_git(name.as_bytes()), "{name:?}");
        }
        assert!(is_git(b".git. ") && !is_git(b".g\xffit"));
    }

    #[test]
    fn a_key_is_the_same_in_every_case() {
        assert_eq!(key("ÄRGER".as_bytes()), key("ärger".as_bytes()));
        assert_eq!(key(b"Makefile"), key(b"makefile"));
        assert_eq!(key("a\u{200c}".as_bytes()), key(b"a"));
        assert_ne!(key(b"a"), key(b"b"));
        assert_eq!(key(b"\xffA"), b"\xffa");
    }
}
