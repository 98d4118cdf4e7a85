//! Manifests that only say in what they differ from another one (`like: NAME`).
//!
//! Mappings are laid over each other key by key; anything else, a list too, is replaced as a whole.

use std::path::Path;

use serde_json::Value;

use super::Manifest;

/// Parses a manifest, laid over the one that it is like.
///
/// # Errors
/// The parser's message; for one that is like another, without a line.
pub fn read(root: &Path, text: &str) -> Result<Manifest, String> {
    let own = value(text)?;
    let other = own.get("like").and_then(Value::as_str).map(str::to_owned);
    let Some(other) = other else { return Manifest::parse(text) };
    let path = root.join("harness/drivers").join(format!("{other}.yaml"));
    let base = std::fs::read_to_string(&path).map_err(|e| format!("like: {}: {e}", path.display()))?;
    let whole = over(value(&base)?, own);
    serde_json::from_value(whole).map_err(|e| format!("like {other}: {e}"))
}

fn value(text: &str) -> Result<Value, String> {
    let options = serde_yaml::options! { strict_booleans: true };
    serde_yaml::from_str_with_options(text, options).map_err(|e| e.to_string())
}

fn over(base: Value, own: Value) -> Value {
    match (base, own) {
        (Value::Object(mut base), Value::Object(own)) => {
            for (key, value) in own {
                let under = base.remove(&key).unwrap_or(Value::Null);
                base.insert(key, over(under, value));
            }
            Value::Object(base)
        }
        (_, own) => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_said_is_the_others() {
        let base = json!({"name": "a", "commands": {"run": ["x"], "check": ["y"]}, "claims": ["FS-06"]});
        let own = json!({"name": "b", "commands": {"run": ["z", "x"]}, "claims": []});
        let whole = json!({"name": "b", "commands": {"run": ["z", "x"], "check": ["y"]}, "claims": []});
        assert_eq!(over(base, own), whole);
    }

    #[test]
    fn an_unknown_key_is_an_error_here_too() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let letter = read(&root, "name: x\nlike: letter\nclaims: [FS-06]\n").unwrap();
        assert_eq!((letter.name.as_str(), letter.claims.len(), letter.backend.as_deref()), ("x", 1, Some("bwrap")));
        assert!(read(&root, "name: x\nlike: letter\nclams: []\n").unwrap_err().contains("clams"));
        assert!(read(&root, "name: x\nlike: nobody\n").unwrap_err().contains("nobody.yaml"));
    }
}
