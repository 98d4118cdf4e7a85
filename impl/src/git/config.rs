//! git's settings as text: read from what `git config --list` says, and written as a file that the step may see. Pure. What
//! leaves here must hold no credentials; it has no file to include, because includes are resolved before.

/// One setting, as git names it: the section and the name in lower case, a subsection as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// `section.name` or `section.subsection.name`.
    pub key: Vec<u8>,
    /// None: the name stands alone, which means true.
    pub value: Option<Vec<u8>>,
}

/// What `git config --list --null --show-scope` says, without what this program has set itself.
pub fn parse(list: &[u8]) -> Vec<Setting> {
    let mut fields = list.split(|byte| *byte == 0);
    let mut settings = Vec::new();
    while let (Some(scope), Some(text)) = (fields.next(), fields.next()) {
        if scope != b"command" {
            settings.push(setting(text));
        }
    }
    settings
}

/// What `git config --list --null` says.
pub fn setting(text: &[u8]) -> Setting {
    match text.iter().position(|byte| *byte == b'\n') {
        Some(at) => Setting { key: text[..at].into(), value: Some(text[at + 1..].into()) },
        None => Setting { key: text.into(), value: None },
    }
}

/// The last value of a setting.
pub fn last<'a>(settings: &'a [Setting], key: &str) -> Option<&'a [u8]> {
    settings.iter().rev().find(|setting| setting.key == key.as_bytes())?.value.as_deref()
}

/// Sections that hold credentials, or speak of files and keys that are not there.
const SECTIONS: &[&str] = &["credential", "gpg", "imap", "include", "includeif", "sendemail"];

/// The same for single settings of a section, whatever the subsection.
const KEYS: &[(&str, &str)] = &[
    ("commit", "gpgsign"),
    ("core", "fsmonitor"),
    ("http", "cookiefile"),
    ("http", "extraheader"),
    ("http", "proxy"),
    ("http", "sslcert"),
    ("http", "sslkey"),
    ("push", "gpgsign"),
    ("remote", "proxy"),
    ("tag", "forcesignannotated"),
    ("tag", "gpgsign"),
    ("user", "signingkey"),
];

/// Parts of the names of other settings that hold credentials: those of tools that keep theirs here.
const WORDS: &[&str] = &["apikey", "credential", "passw", "secret", "token"];

/// The settings that a step may see: nothing that is a credential, or is where signing needs a key.
pub fn for_step(settings: &[Setting]) -> Vec<Setting> {
    let shown = settings.iter().filter(|setting| !is_private(&setting.key));
    shown
        .map(|setting| Setting {
            key: without_userinfo(&setting.key),
            value: setting.value.as_deref().map(without_userinfo),
        })
        .collect()
}

fn is_private(key: &[u8]) -> bool {
    let (section, _, name) = parts(key);
    let is = |part: &[u8], word: &str| part.eq_ignore_ascii_case(word.as_bytes());
    let name_text = String::from_utf8_lossy(name).to_lowercase();
    SECTIONS.iter().any(|word| is(section, word))
        || KEYS.iter().any(|(of, word)| is(section, of) && is(name, word))
        || WORDS.iter().any(|word| name_text.contains(word))
}

/// Section, subsection, name: the first and the last have no dot in them.
fn parts(key: &[u8]) -> (&[u8], Option<&[u8]>, &[u8]) {
    let dot = |byte: &u8| *byte == b'.';
    let (Some(first), Some(last)) = (key.iter().position(dot), key.iter().rposition(dot)) else {
        return (key, None, b"");
    };
    let subsection = (first < last).then(|| &key[first + 1..last]);
    (&key[..first], subsection, &key[last + 1..])
}

/// Takes `user:password@` out of every URL in it, and for http(s) a user alone as well: it may be a token.
fn without_userinfo(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(3).position(|three| three == b"://") {
        let (before, after) = rest.split_at(at + 3);
        out.extend_from_slice(before);
        let end = after.iter().position(|byte| b"/?# \t\n\"'".contains(byte)).unwrap_or(after.len());
        let authority = &after[..end];
        let is_web = out[..out.len() - 3].to_ascii_lowercase();
        let is_web = is_web.ends_with(b"http") || is_web.ends_with(b"https");
        match authority.iter().rposition(|byte| *byte == b'@') {
            Some(sign) if is_web => out.extend_from_slice(&authority[sign + 1..]),
            Some(sign) => {
                let user = authority[..sign].split(|byte| *byte == b':').next().unwrap_or_default();
                out.extend_from_slice(user);
                out.extend_from_slice(&authority[sign..]);
            }
            None => out.extend_from_slice(authority),
        }
        rest = &after[end..];
    }
    out.extend_from_slice(rest);
    out
}

/// The settings as a file: git-config(1), SYNTAX. In their order, because later ones count.
pub fn file(settings: &[Setting]) -> Vec<u8> {
    let mut out = Vec::new();
    for Setting { key, value } in settings {
        let (section, subsection, name) = parts(key);
        out.push(b'[');
        out.extend_from_slice(section);
        if let Some(subsection) = subsection {
            out.extend_from_slice(b" \"");
            subsection.iter().for_each(|byte| escaped(&mut out, *byte));
            out.push(b'"');
        }
        out.extend_from_slice(b"]\n\t");
        out.extend_from_slice(name);
        if let Some(value) = value {
            out.extend_from_slice(b" = \"");
            value.iter().for_each(|byte| match byte {
                b'\n' => out.extend_from_slice(b"\\n"),
                byte => escaped(&mut out, *byte),
            });
            out.push(b'"');
        }
        out.push(b'\n');
    }
    out
}

fn escaped(out: &mut Vec<u8>, byte: u8) {
    if byte == b'"' || byte == b'\\' {
        out.push(b'\\');
    }
    out.push(byte);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(list: &str) -> String {
        let list: String = list.lines().map(|line| format!("local\0{}\0", line.replacen('=', "\n", 1))).collect();
        String::from_utf8(file(&for_step(&parse(list.as_bytes())))).unwrap()
    }

    #[test]
    fn what_a_step_needs_stays() {
        insta::assert_snapshot!(shown("core.bare=false\ncore.autocrlf\nbranch.a.b \"c\".remote=origin\nalias.x=!a \"b\" \\c\ncore.hookspath=.husky/_"), @r#"
        [core]
        	bare = "false"
        [core]
        	autocrlf
        [branch "a.b \"c\""]
        	remote = "origin"
        [alias]
        	x = "!a \"b\" \\c"
        [core]
        	hookspath = ".husky/_"
        "#);
    }

    #[test]
    fn credentials_and_signing_do_not() {
        let private = "credential.helper=store\ncredential.https://a.example.username=u\nhttp.https://a.example/.extraheader=Authorization: x\nhttp.proxy=http://u:p@proxy\nuser.signingkey=A\ncommit.gpgsign=true\ngpg.ssh.program=/p\nincludeif.gitdir:/a.path=b\ngithub.oauth-token=t\nhub.apikey=k\nfoo.bar.smtppassword=p";
        assert_eq!(shown(private), "");
    }

    #[test]
    fn a_url_loses_what_stands_before_its_host() {
        let url = |url: &str| String::from_utf8(without_userinfo(url.as_bytes())).unwrap();
        assert_eq!(url("https://user:secret@a.example/r?x=@"), "https://a.example/r?x=@");
        assert_eq!(url("https://token@a.example"), "https://a.example");
        assert_eq!(url("ssh://git@a.example:22/r"), "ssh://git@a.example:22/r");
        assert_eq!(url("ssh://git:pw@a.example/r"), "ssh://git@a.example/r");
        assert_eq!(url("git@a.example:r.git"), "git@a.example:r.git");
        assert_eq!(url("a https://t@b http://u:p@c/d"), "a https://b http://c/d");
        assert_eq!(
            shown("url.https://t@a.example/.insteadof=gh:"),
            "[url \"https://a.example/\"]\n\tinsteadof = \"gh:\"\n"
        );
    }

    #[test]
    fn what_kusaw_has_set_itself_is_not_the_repository_s() {
        let list = b"command\0core.pager\ncat\0local\0core.bare\nfalse\0";
        assert_eq!(parse(list), [Setting { key: "core.bare".into(), value: Some("false".into()) }]);
    }
}
