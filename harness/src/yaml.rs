//! Settings as YAML text, the way a person would write them.
//!
//! A plain word such as `off` stays a plain word: that it is read as the word is part of what is tested.

use serde_json::Value;

/// A YAML document of block mappings; lists and everything odd in flow style, quoted as JSON.
pub fn emit(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(map, 0, &mut text),
        other => {
            text.push_str(&flow(other));
            text.push('\n');
        }
    }
    text
}

fn block(map: &serde_json::Map<String, Value>, depth: usize, text: &mut String) {
    for (key, value) in map {
        text.push_str(&"  ".repeat(depth));
        text.push_str(&scalar(key));
        text.push(':');
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                text.push('\n');
                block(inner, depth + 1, text);
            }
            other => {
                text.push(' ');
                text.push_str(&flow(other));
                text.push('\n');
            }
        }
    }
}

fn flow(value: &Value) -> String {
    match value {
        Value::String(word) => scalar(word),
        other => other.to_string(),
    }
}

fn scalar(word: &str) -> String {
    let plain = word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let special = ["true", "false", "null", "yes", "no", "on", "y", "n"].contains(&word.to_ascii_lowercase().as_str());
    if plain && !special { word.to_owned() } else { Value::String(word.to_owned()).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn off_is_plain_and_the_rest_is_quoted() {
        let text = emit(
            &json!({"sandbox": {"mode": "off", "x": {}}, "steps": {"a": {"run": ["sh", "-c", "x: y"]}}, "b": "true"}),
        );
        assert_eq!(
            text,
            "b: \"true\"\nsandbox:\n  mode: off\n  x: {}\nsteps:\n  a:\n    run: [\"sh\",\"-c\",\"x: y\"]\n"
        );
    }
}
