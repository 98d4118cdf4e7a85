//! What of a line of the settings is shown: a key that stands there by mistake, or a variable's value, must not come back in a
//! message that ends up in a log. Better a word too many is hidden than one too few.

/// What is looked at of a line, in bytes: far less of it is shown.
const LONGEST: usize = 4096;

/// In place of what is hidden.
const HIDDEN: &str = "***";

/// How keys of well-known services begin.
const PREFIXES: [&str; 18] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
    "npm_",
    "pypi-",
    "AGE-SECRET-KEY-",
];

/// Ends of names whose values are secrets.
const ENDS: [&str; 9] =
    ["key", "token", "password", "passwd", "passphrase", "credential", "credentials", "authorization", "value"];

/// A line of the file, without the values of variables and of names that are those of secrets, and without keys.
pub fn line(text: &str) -> String {
    let mut out = String::new();
    let (mut rest, mut hides) = (&text[..text.floor_char_boundary(LONGEST)], false);
    while let Some(next) = rest.chars().next() {
        if hides && (next == '"' || next == '\'') {
            let end = rest[1..].find(next).map_or(rest.len(), |at| at + 2);
            out += HIDDEN;
            rest = &rest[end..];
            continue;
        }
        if is_between(next) {
            hides &= !matches!(next, ',' | '}' | '\n');
            out.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        }
        let end = rest.find(is_between).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        if let Some(name) = word.strip_suffix(':') {
            hides = is_of_secret(name);
            out += &self::word(word);
        } else if after.starts_with("':") || after.starts_with("\":") {
            hides = is_of_secret(word);
            out += &self::word(word);
            out += &after[..2];
            rest = &after[2..];
        } else {
            out += &if hides { HIDDEN.to_string() } else { self::word(word) };
        }
    }
    out
}

/// A line of the block of a step's variables, where something is wrong with that: what stands there may be a value anywhere. Only
/// a name in front is shown.
pub fn line_of_variables(text: &str) -> String {
    let name = text.split_once(':').map_or("", |(name, _)| name);
    let is_name = |name: &str| name == "env" || is_variable(name);
    match is_name(name.trim()) && !text.trim_end().ends_with(':') {
        true => format!("{name}: {HIDDEN}"),
        false if is_name(name.trim()) => text.into(),
        false => HIDDEN.into(),
    }
}

/// A key path, without what stands in place of a variable's name.
pub fn key(path: &str) -> String {
    match path.split_once(".env.") {
        Some((step, name)) if path.starts_with("steps.") && !is_variable(name) => format!("{step}.env.{HIDDEN}"),
        _ => path.into(),
    }
}

/// Whether it is that of a step's variables, or of one.
pub fn is_of_variables(key: &str) -> bool {
    key.starts_with("steps.") && (key.ends_with(".env") || key.contains(".env."))
}

/// Words of a message, without keys.
pub fn words(text: &str) -> String {
    let pieces = text.split_inclusive(is_between).map(|piece| {
        let end = piece.trim_end_matches(is_between).len();
        word(&piece[..end]) + &piece[end..]
    });
    pieces.collect()
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || "{}[](),\"'`".contains(c)
}

fn word(word: &str) -> String {
    if looks_like_key(word) { HIDDEN.into() } else { word.into() }
}

/// Whether a name is that of a secret, or of a variable.
pub fn is_of_secret(name: &str) -> bool {
    (name.len() > 1 && is_variable(name)) || ENDS.iter().any(|end| name.to_ascii_lowercase().ends_with(end))
}

/// Whether a name is written as those of variables are.
pub fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Whether a word may be a key: it begins as those of well-known services do, or is long and as if thrown with dice.
pub fn looks_like_key(word: &str) -> bool {
    let has = |of: fn(&u8) -> bool| word.bytes().any(|b| of(&b));
    let is_path = word.starts_with(['/', '~', '.']) || word.contains("://");
    let fits = word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-+/=".contains(&b));
    let dice = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    PREFIXES.iter().any(|begin| word.len() > begin.len() + 4 && word.starts_with(begin))
        || (word.len() >= 20 && fits && dice && !is_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_of_variables_are_hidden() {
        for (from, to) in [
            ("  - {name: a, key: sk-ant-api03-xyz}", "  - {name: a, key: ***}"),
            ("    key: short", "    key: ***"),
            ("    api_key: 'with, comma and } brace'", "    api_key: ***"),
            ("    env: {TOKEN: \"a b\", CI: \"1\"}, foo: bar", "    env: {TOKEN: ***, CI: ***}, foo: bar"),
            ("    'TOKEN': abc", "    'TOKEN': ***"),
            ("    secret: ghp_0123456789", "    secret: ***"),
            ("    secret: ANTHROPIC_API_KEY", "    secret: ANTHROPIC_API_KEY"),
            ("    key_env: OPENAI_API_KEY", "    key_env: OPENAI_API_KEY"),
            (
                "sandbox: {mode: requird, allow_read: [~/library-2024-of-everything]}",
                "sandbox: {mode: requird, allow_read: [~/library-2024-of-everything]}",
            ),
            ("  run: [x, 0123456789abcdef0123456789abcdef]", "  run: [x, ***]"),
            (
                "  allow: [a-host-with-a-long-name-2.example.com:443]",
                "  allow: [a-host-with-a-long-name-2.example.com:443]",
            ),
            ("größe: 尺寸", "größe: 尺寸"),
        ] {
            assert_eq!(line(from), to);
        }
        assert_eq!(words("\"sk-ant-123456\" is not a value here"), "\"***\" is not a value here");
    }
}
