//! JSON, written. Only what a probe line needs: no reading, no floats. Text that is not UTF-8 is
//! shown with U+FFFD for what cannot be.

use std::ffi::OsStr;
use std::fmt;

/// A JSON value.
#[derive(Debug, Default)]
pub enum Json {
    #[default]
    Null,
    Bool(bool),
    Number(i64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// An object; members are written in this order.
    pub fn object<K: Into<String>>(members: impl IntoIterator<Item = (K, Json)>) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// An object without members.
    pub fn nothing() -> Self {
        Self::Object(Vec::new())
    }

    /// A list.
    pub fn list<T: Into<Json>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }

    /// A count; those beyond `i64` do not occur.
    pub fn count(count: impl TryInto<i64>) -> Self {
        Self::Number(count.try_into().unwrap_or(i64::MAX))
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&OsStr> for Json {
    fn from(text: &OsStr) -> Self {
        Self::Text(text.to_string_lossy().into_owned())
    }
}

impl From<&[u8]> for Json {
    fn from(bytes: &[u8]) -> Self {
        Self::Text(String::from_utf8_lossy(bytes).into_owned())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(text) => quoted(f, text),
            Self::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (at, (name, value)) in members.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { "," })?;
                    quoted(f, name)?;
                    write!(f, ":{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// RFC 8259 section 7; U+007F and the line separators are escaped too, so that a line stays a line
/// for every reader.
fn quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                write!(f, "\\u{:04x}", u32::from(c))?;
            }
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn what_is_written_reads_back_the_same() {
        let every: String = (0..=0x2fff).filter_map(char::from_u32).chain(['🦀', '\u{10ffff}']).collect();
        let line = Json::from(every.as_str()).to_string();
        assert!(!line.contains(|c: char| c.is_control() || c == '\u{2028}'));
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), every);
    }

    #[test]
    fn bytes_that_are_not_utf8_become_the_replacement_character() {
        assert_eq!(Json::from(&b"a\xff\0b"[..]).to_string(), "\"a\u{fffd}\\u0000b\"");
        assert_eq!(Json::from(OsStr::from_bytes(b"\xc3(")).to_string(), "\"\u{fffd}(\"");
    }

    #[test]
    fn values_nest() {
        let value = Json::object([
            ("a", Json::list(["x", "\"y\""])),
            ("b", Json::object([("c", Json::Null), ("d", Json::Bool(true))])),
            ("n", Json::count(7_usize)),
        ]);
        let text = r#"{"a":["x","\"y\""],"b":{"c":null,"d":true},"n":7}"#;
        assert_eq!(value.to_string(), text);
    }
}
