//! Manifests that only say in what they differ from another one (`like: NAME`).
//!
//! Mappings are laid over each other key by key; anything else, a list too, is replaced as a whole.

use std::path::Path;

use serde_json::Value;

use super::Manifest;

/// Parses the manifest at `path`, laid over the one that it is like. What it provides from beside a manifest lies beside the one
/// that says so.
///
/// # Errors
/// The parser's message; for one that is like another, without a line.
pub fn read(root: &Path, path: &Path, text: &str) -> Result<Manifest, String> {
    let own = value(text)?;
    let Some(other) = own.get("like").and_then(Value::as_str).map(str::to_owned) else {
        return beside(Manifest::parse(text)?, path);
    };
    let below = root.join("harness/drivers").join(format!("{other}.yaml"));
    let base = std::fs::read_to_string(&below).map_err(|e| format!("like: {}: {e}", below.display()))?;
    let base = value(&base)?;
    if let Some(third) = base.get("like").and_then(Value::as_str) {
        return Err(format!(
            "like: {other} is itself like {third}; say what differs from a manifest that stands alone"
        ));
    }
    let place = if own.get("provide").is_some() { path } else { &below };
    let whole = serde_json::from_value(over(base, own)).map_err(|e| format!("like {other}: {e}"))?;
    beside(whole, place)
}

fn beside(mut manifest: Manifest, path: &Path) -> Result<Manifest, String> {
    let path = path.canonicalize().map_err(|e| format!("{}: {e}", path.display()))?;
    manifest.provide.iter_mut().for_each(|part| part.beside(&path));
    Ok(manifest)
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
        let read = |text: &str| super::read(&root, &root.join("Cargo.toml"), text); // wherever it lies
        let letter = read("name: x\nlike: letter\nclaims: [FS-06]\n").unwrap();
        assert_eq!((letter.name.as_str(), letter.claims.len(), letter.backend.as_deref()), ("x", 1, Some("bwrap")));
        assert!(read("name: x\nlike: letter\nclams: []\n").unwrap_err().contains("clams"));
        assert!(read("name: x\nlike: nobody\n").unwrap_err().contains("nobody.yaml"));
    }

    #[test]
    fn a_manifest_is_like_one_that_stands_alone_and_its_parts_lie_beside_who_names_them() {
        let root = std::env::temp_dir().join(format!("kusaw-like-{}", std::process::id()));
        let (drivers, mine) = (root.join("harness/drivers"), root.join("mine"));
        std::fs::create_dir_all(&drivers).unwrap();
        std::fs::create_dir_all(&mine).unwrap();
        let base = "name: base\nkind: sandbox\nplatforms: [linux]\nprovide: [{file: ./base}]\n";
        std::fs::write(drivers.join("base.yaml"), base).unwrap();
        std::fs::write(drivers.join("second.yaml"), "name: second\nlike: base\n").unwrap();
        let read = |text: &str| {
            std::fs::write(mine.join("x.yaml"), text).unwrap();
            read(&root, &mine.join("x.yaml"), text)
        };
        let file = |text: &str| read(text).unwrap().provide.remove(0).file.unwrap();
        let (drivers, mine) = (drivers.canonicalize().unwrap(), mine.canonicalize().unwrap());
        assert_eq!(file("name: x\nlike: base\n"), drivers.join("base"));
        assert_eq!(file("name: x\nlike: base\nprovide: [{file: ./own}]\n"), mine.join("own"));
        assert!(read("name: x\nlike: second\n").is_err_and(|e| e.contains("second is itself like base")));
        std::fs::remove_dir_all(root).unwrap();
    }
}
