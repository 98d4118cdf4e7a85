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

/// Sections that a step's git works with, and that hold no credentials by their meaning: git-config(1).
const SECTIONS: &[&str] = &[
    "add",
    "advice",
    "alias",
    "am",
    "apply",
    "author",
    "blame",
    "branch",
    "checkout",
    "clean",
    "color",
    "column",
    "commit",
    "committer",
    "core",
    "diff",
    "extensions",
    "feature",
    "fetch",
    "filter",
    "format",
    "gc",
    "grep",
    "help",
    "i18n",
    "index",
    "init",
    "interactive",
    "log",
    "mailmap",
    "maintenance",
    "merge",
    "notes",
    "pack",
    "pretty",
    "pull",
    "push",
    "rebase",
    "reftable",
    "remote",
    "repack",
    "rerere",
    "revert",
    "sequence",
    "showbranch",
    "splitindex",
    "stash",
    "status",
    "submodule",
    "tag",
    "transfer",
    "uploadpack",
    "url",
    "user",
    "versionsort",
    "worktree",
];

/// Of those, what is for signing, needs a key or a host, or starts a process that stays.
const NOT: &[(&str, &str)] = &[
    ("commit", "gpgsign"),
    ("core", "askpass"),
    ("core", "fsmonitor"),
    ("core", "gitproxy"),
    ("core", "sshcommand"),
    ("push", "gpgsign"),
    ("remote", "proxy"),
    ("tag", "forcesignannotated"),
    ("tag", "gpgsign"),
    ("user", "signingkey"),
];

/// Parts of keys and values that are, or speak of, credentials.
const WORDS: &[&str] = &[
    "access_key",
    "accesskey",
    "api-key",
    "api_key",
    "apikey",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "extraheader",
    "passphrase",
    "passw",
    "private_key",
    "privatekey",
    "pwd",
    "secret",
    "sshpass",
    "token",
];

/// The settings that a step may see: nothing that is a credential, or is where signing needs a key. What is not known to be
/// harmless is left out: tools keep what they like in a repository's settings.
pub fn for_step(settings: &[Setting]) -> Vec<Setting> {
    let shown = settings.iter().filter(|setting| !is_private(&setting.key));
    let shown = shown.filter(|Setting { key, value }| {
        [Some(key), value.as_ref()].into_iter().flatten().all(|text| is_harmless(text))
    });
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
    !SECTIONS.iter().any(|word| is(section, word)) || NOT.iter().any(|(of, word)| is(section, of) && is(name, word))
}

/// Whether there is no word of credentials in it, no command of the shell, no helper of a transport, and no more than one URL:
/// of one the user can be taken away.
fn is_harmless(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).to_lowercase();
    let is_more_than_a_url = text.contains("://") && text.contains('@') && text.contains([' ', '\t', '\n', '"', '\'']);
    let is_command = text.starts_with('!') || text.starts_with("ext::");
    !is_command && !is_more_than_a_url && !WORDS.iter().any(|word| text.contains(word))
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

/// Takes `user:password@` out of a URL, and for http(s) a user alone as well: it may be a token. The host begins after the last
/// @ before the first slash, question mark or hash, as git has it (url.c).
fn without_userinfo(text: &[u8]) -> Vec<u8> {
    let Some(at) = text.windows(3).position(|three| three == b"://") else { return text.into() };
    let (scheme, rest) = (&text[..at + 3], &text[at + 3..]);
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let Some(sign) = rest[..end].iter().rposition(|byte| *byte == b'@') else { return text.into() };
    let is_web = [&b"http"[..], b"https"].iter().any(|web| text[..at].to_ascii_lowercase().ends_with(web));
    let user = rest[..sign].split(|byte| *byte == b':').next().unwrap_or_default();
    match is_web {
        true => [scheme, &rest[sign + 1..]].concat(),
        false => [scheme, user, &rest[sign..]].concat(),
    }
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
        insta::assert_snapshot!(shown("core.bare=false\ncore.autocrlf\nbranch.a.b \"c\".remote=origin\nalias.x=a \"b\" \\c\ncore.hookspath=.husky/_"), @r#"
        [core]
        	bare = "false"
        [core]
        	autocrlf
        [branch "a.b \"c\""]
        	remote = "origin"
        [alias]
        	x = "a \"b\" \\c"
        [core]
        	hookspath = ".husky/_"
        "#);
    }

    #[test]
    fn credentials_and_signing_do_not() {
        for private in [
            "credential.helper=store",
            "credential.https://a.example.username=u",
            "http.https://a.example/.extraheader=Authorization: x",
            "http.proxy=http://u:p@proxy",
            "user.signingkey=A",
            "commit.gpgsign=true",
            "gpg.ssh.program=/p",
            "includeif.gitdir:/a.path=b",
            "token.github=t",
            "hub.apikey=k",
            "alias.pat=!curl -H x",
            "alias.x=-c http.extraheader=x fetch",
            "core.sshcommand=sshpass -p x ssh",
            "lfs.customtransfer.x.args=x",
            "remote.o.url=https://a.example/r?access_token=x",
            "remote.o.url=ext::sh -c x",
            "remote.o.url=https://a:b c@a.example/r",
            "remote.o.url=https://a:b'c@a.example/r",
        ] {
            assert_eq!(shown(private), "", "{private}");
        }
    }

    #[test]
    fn a_url_loses_what_stands_before_its_host() {
        let url = |url: &str| String::from_utf8(without_userinfo(url.as_bytes())).unwrap();
        assert_eq!(url("https://user:s3same@a.example/r?x=@"), "https://a.example/r?x=@");
        assert_eq!(url("https://user:s@3@a.example#@"), "https://a.example#@");
        assert_eq!(url("HTTPS://t@a.example"), "HTTPS://a.example");
        assert_eq!(url("ssh://git@a.example:22/r"), "ssh://git@a.example:22/r");
        assert_eq!(url("ssh://git:pw@a.example/r"), "ssh://git@a.example/r");
        assert_eq!(url("git@a.example:r.git"), "git@a.example:r.git");
        let instead = "[url \"https://a.example/\"]\n\tinsteadof = \"gh:\"\n";
        assert_eq!(shown("url.https://t@a.example/.insteadof=gh:"), instead);
    }

    #[test]
    fn what_kusaw_has_set_itself_is_not_the_repository_s() {
        let list = b"command\0core.pager\ncat\0local\0core.bare\nfalse\0";
        assert_eq!(parse(list), [Setting { key: "core.bare".into(), value: Some("false".into()) }]);
    }
}
