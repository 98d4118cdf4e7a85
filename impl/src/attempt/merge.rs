//! Two changes of one JSON text put together. Pure.

use std::io::{self, Write};

use serde::de::Error as _;
use serde_json::{Error, Map, Value};

/// `first` with what `own` has changed, on top of `theirs`, which may have been changed as well: where both have, `own` counts.
/// The bytes of `own` as they are, where nobody else has changed anything or what they have left is no JSON.
///
/// # Errors
/// When `own` is no JSON, or no object and `first` is one, and when it comes to more than so many bytes: written out, a text can
/// be a hundred times as long.
pub fn merged(first: &[u8], own: &[u8], theirs: &[u8], most: usize) -> Result<Vec<u8>, Error> {
    let changed: Value = serde_json::from_slice(own)?;
    let first_value: Value = serde_json::from_slice(first).unwrap_or(Value::Null);
    if first_value.is_object() && !changed.is_object() {
        return Err(Error::custom("it is no object any more"));
    }
    if theirs == first {
        return Ok(own.to_vec());
    }
    let Ok(theirs) = serde_json::from_slice(theirs) else { return Ok(own.to_vec()) };
    let mut text = Bounded { bytes: Vec::new(), most };
    serde_json::to_writer_pretty(&mut text, &value(&first_value, changed, theirs))?;
    Ok(text.bytes)
}

struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + more.len() > self.most {
            return Err(io::Error::other(format!("it comes to more than {} bytes", self.most)));
        }
        self.bytes.extend(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn value(first: &Value, own: Value, theirs: Value) -> Value {
    match (own, theirs) {
        (own, theirs) if own == *first => theirs,
        (Value::Object(own), Value::Object(theirs)) => Value::Object(object(first, own, theirs)),
        (own, _) => own,
    }
}

fn object(first: &Value, mut own: Map<String, Value>, theirs: Map<String, Value>) -> Map<String, Value> {
    let before = |key: &str| first.get(key);
    let mut merged = Map::new();
    for (key, their) in theirs {
        match (own.remove(&key), before(&key)) {
            (Some(mine), before) => {
                let merging = value(before.unwrap_or(&Value::Null), mine, their);
                merged.insert(key, merging);
            }
            // Removed by the one, and as it was for the other.
            (None, Some(before)) if *before == their => {}
            (None, _) => drop(merged.insert(key, their)),
        }
    }
    for (key, mine) in own {
        let is_removed = before(&key).is_some_and(|before| *before == mine);
        if !is_removed {
            merged.insert(key, mine);
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 1 << 20;

    #[test]
    fn both_changes_are_kept_and_where_they_meet_the_own_counts() {
        for (first, own, theirs, expected) in [
            (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, r#"{"a":1,"c":3}"#, r#"{"a":1,"b":2,"c":3}"#),
            (r#"{"a":1,"b":1}"#, r#"{"a":1}"#, r#"{"a":1,"b":1,"c":3}"#, r#"{"a":1,"c":3}"#),
            (r#"{"a":1,"b":1}"#, r#"{"a":2,"b":1}"#, r#"{"a":1}"#, r#"{"a":2}"#),
            (r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":3}"#, r#"{"a":2}"#),
            (r#"{"p":{"x":1}}"#, r#"{"p":{"x":1,"y":2}}"#, r#"{"p":{"x":5}}"#, r#"{"p":{"x":5,"y":2}}"#),
            (r#"{"p":{"x":1}}"#, r#"{"p":{"x":2}}"#, r#"{}"#, r#"{"p":{"x":2}}"#),
            (r#"{}"#, r#"{"p":{"x":1}}"#, r#"{"p":{"y":1}}"#, r#"{"p":{"x":1,"y":1}}"#),
            (r#"{"l":[1]}"#, r#"{"l":[1,2]}"#, r#"{"l":[1],"m":1}"#, r#"{"l":[1,2],"m":1}"#),
        ] {
            let merged = merged(first.as_bytes(), own.as_bytes(), theirs.as_bytes(), MOST).unwrap();
            let (seen, expected): (Value, Value) =
                (serde_json::from_slice(&merged).unwrap(), serde_json::from_str(expected).unwrap());
            assert_eq!(seen, expected, "{first} {own} {theirs}");
        }
        for bad in [&b"{"[..], b"", b"null", b"[]"] {
            assert!(merged(b"{}", bad, b"{}", MOST).is_err(), "{bad:?}");
        }
        assert!(merged(b"1", b"2", b"1", MOST).is_ok());
        assert_eq!(merged(b"{}", b"{\"a\": 1}", b"{", MOST).unwrap(), b"{\"a\": 1}");
        assert_eq!(merged(b"{}", b"{\"a\": 1}", b"{}", MOST).unwrap(), b"{\"a\": 1}");
    }
    #[test]
    fn what_would_be_far_longer_written_out_is_not() {
        let own = format!("{{\"a\":{}{}{}}}", "[".repeat(100), vec!["0"; 500].join(","), "]".repeat(100));
        assert!(merged(b"{}", own.as_bytes(), b"{\"b\":1}", MOST).is_ok());
        assert!(merged(b"{}", own.as_bytes(), b"{\"b\":1}", 20 * own.len()).is_err());
    }
}
