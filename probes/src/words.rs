//! The words of one action: options with their values, wherever they stand, and what remains.

use std::ffi::{CString, OsStr, OsString};
use std::fmt;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStringExt;
use std::str::FromStr;

/// What is wrong with a command line, in one line.
#[derive(Debug, PartialEq, Eq)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The words after an action's name.
pub struct Words(Vec<OsString>);

impl Words {
    pub fn new(words: &[OsString]) -> Self {
        Self(words.to_vec())
    }

    /// Takes every `name VALUE` out of the words.
    pub fn values(&mut self, name: &str) -> Result<Vec<OsString>, Usage> {
        let mut values = Vec::new();
        while let Some(at) = self.0.iter().position(|word| word == name) {
            if at + 1 == self.0.len() {
                return Err(Usage(format!("{name} needs a value")));
            }
            values.extend(self.0.drain(at..at + 2).nth(1));
        }
        Ok(values)
    }

    /// Takes `name VALUE` out of the words; the last one counts.
    pub fn value(&mut self, name: &str) -> Result<Option<OsString>, Usage> {
        Ok(self.values(name)?.pop())
    }

    /// Takes `name NUMBER` out of the words.
    pub fn number<N: FromStr>(&mut self, name: &str, default: N) -> Result<N, Usage> {
        let Some(value) = self.value(name)? else {
            return Ok(default);
        };
        let value = value.to_string_lossy();
        value.parse().map_err(|_| Usage(format!("{name} needs a number, got {value:?}")))
    }

    /// Takes every `name` out of the words; true where there was one.
    pub fn flag(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|word| word != name);
        self.0.len() < before
    }

    /// What remains must be exactly these.
    pub fn exactly<const N: usize>(self, names: [&str; N]) -> Result<[OsString; N], Usage> {
        <[OsString; N]>::try_from(self.0).map_err(|words| {
            let got = if words.is_empty() { "nothing".to_owned() } else { format!("{words:?}") };
            Usage(format!("expected {}, got {got}", names.join(" ")))
        })
    }

    /// What remains may be one word.
    pub fn at_most_one(mut self, name: &str) -> Result<Option<OsString>, Usage> {
        match self.0.pop() {
            last if self.0.is_empty() => Ok(last),
            _ => Err(Usage(format!("expected at most one {name}"))),
        }
    }

    /// What remains, whatever it is.
    pub fn rest(self) -> Vec<OsString> {
        self.0
    }
}

/// A word that is a number, in decimal, within these bounds.
pub fn number<N: FromStr + PartialOrd + fmt::Display>(
    word: &OsStr,
    name: &str,
    bounds: RangeInclusive<N>,
) -> Result<N, Usage> {
    let (low, high) = (bounds.start(), bounds.end());
    let word = word.to_string_lossy();
    let number = word.parse().ok().filter(|number| bounds.contains(number));
    number.ok_or_else(|| Usage(format!("{name} is a number, {low} to {high}, not {word:?}")))
}

/// A word for a system call: without NUL.
pub fn c_string(word: OsString, name: &str) -> Result<CString, Usage> {
    CString::new(word.into_vec()).map_err(|_| Usage(format!("{name} has no NUL")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Words {
        Words(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn options_may_stand_anywhere() {
        for line in ["--max 5 /a", "/a --max 5"] {
            let mut words = words(line);
            assert_eq!(words.number("--max", 9), Ok(5));
            assert_eq!(words.exactly(["PATH"]), Ok([OsString::from("/a")]));
        }
    }

    #[test]
    fn an_option_may_come_twice() {
        assert_eq!(words("--find a --find b").values("--find"), Ok(vec!["a".into(), "b".into()]));
        assert_eq!(words("--max 1 --max 2").number("--max", 9), Ok(2));
    }

    #[test]
    fn a_flag_has_no_value() {
        let mut words = words("/a --keep");
        assert!(words.flag("--keep") && !words.flag("--keep"));
        assert_eq!(words.exactly(["PATH"]), Ok([OsString::from("/a")]));
    }

    #[test]
    fn a_missing_or_wrong_value_is_an_error() {
        assert_eq!(words("/a --max").number("--max", 9), Err(Usage("--max needs a value".into())));
        assert!(words("--max x /a").number("--max", 9).is_err());
        assert!(words("--max -1 /a").number("--max", 9_usize).is_err());
    }

    #[test]
    fn a_number_has_bounds() {
        assert_eq!(number("7".as_ref(), "N", 0..=7), Ok(7));
        for word in ["8", "-1", "", "x", "7 "] {
            assert_eq!(number(word.as_ref(), "N", 0..=7), Err(Usage(format!("N is a number, 0 to 7, not {word:?}"))));
        }
    }

    #[test]
    fn one_word_may_remain() {
        assert_eq!(words("").at_most_one("PID"), Ok(None));
        assert_eq!(words("1").at_most_one("PID"), Ok(Some("1".into())));
        assert!(words("1 2").at_most_one("PID").is_err());
    }

    #[test]
    fn too_few_or_too_many_words_are_an_error() {
        assert!(words("/a").exactly(["FROM", "TO"]).is_err());
        assert!(words("/a --unknown /b").exactly(["PATH"]).is_err());
    }
}
