//! Two changes of one JSON text put together. Pure.

use serde_json::{Map, Value};

/// `first` with what `own` has changed, on top of `theirs`, which may have been changed as well: where both have, `own` counts.
/// The bytes of `own` as they are, where nobody else has changed anything or what they have left is no JSON.
pub fn merged(first: &[u8], own: &[u8], theirs: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let changed: Value = serde_json::from_slice(own)?;
    if theirs == first {
        return Ok(own.to_vec());
    }
    let Ok(theirs) = serde_json::from_slice(theirs) else { return Ok(own.to_vec()) };
    let first = serde_json::from_slice(first).unwrap_or(Value::Null);
    serde_json::to_vec_pretty(&value(&first, changed, theirs))
}

fn value(first: &Value, own: Value, theirs: Value) -> Value {
    match (own, theirs) {
        (own, theirs) if own == *first => theirs,
        (Value::Object(own), Value::Object(theirs)) => Value::Object(object(first, own, theirs)),
        (own, _) => own,
    }
}

fn object(first: &Value, own: Map<String, Value>, theirs: Map<String, Value>) -> Map<String, Value> {
    let before = |key: &str| first.get(key);
    let mut merged = Map::new();
    for (key, their) in theirs {
        match (own.get(&key), before(&key)) {
            (Some(mine), before) => {
                let merging = value(before.unwrap_or(&Value::Null), mine.clone(), their);
                merged.insert(key, merging);
            }
            // Removed by the one, and as it was for the other.
            (None, Some(before)) if *before == their => {}
            (None, _) => drop(merged.insert(key, their)),
        }
    }
    for (key, mine) in own {
        let is_removed = before(&key).is_some_and(|before| *before == mine);
        if !merged.contains_key(&key) && !is_removed {
            merged.insert(key, mine);
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let merged = merged(first.as_bytes(), own.as_bytes(), theirs.as_bytes()).unwrap();
            let (seen, expected): (Value, Value) =
                (serde_json::from_slice(&merged).unwrap(), serde_json::from_str(expected).unwrap());
            assert_eq!(seen, expected, "{first} {own} {theirs}");
        }
        assert!(merged(b"{}", b"{", b"{}").is_err());
        assert_eq!(merged(b"{}", b"{\"a\": 1}", b"{").unwrap(), b"{\"a\": 1}");
        assert_eq!(merged(b"{}", b"{\"a\": 1}", b"{}").unwrap(), b"{\"a\": 1}");
    }
}
