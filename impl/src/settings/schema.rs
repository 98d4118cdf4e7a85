//! The JSON Schema of `kusaw.yaml`, for editors: made from the types of the settings, published in docs/schemas and printed by
//! `kusaw schema`. It knows kinds, words and which keys there are; what a host or a path is, only the parser knows.

/// The published text.
pub const TEXT: &str = include_str!("../../../docs/schemas/kusaw.json");

/// The words of a registry, and what stands in place of types that have no schema of their own.
#[cfg(test)]
pub mod words {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use super::super::InjectEntry;
    use crate::{builtin, provider};

    /// Agents by their registry names.
    pub fn providers(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"enum": provider::ALL.iter().map(|one| one.name).collect::<Vec<_>>()})
    }

    /// Built-in steps.
    pub fn builtins(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"enum": builtin::ALL.iter().map(|one| one.name).collect::<Vec<_>>()})
    }

    /// Entries, or the word.
    pub fn inject(generator: &mut SchemaGenerator) -> Schema {
        let entries = generator.subschema_for::<Vec<InjectEntry>>();
        json_schema!({"anyOf": [{"const": "provider"}, entries]})
    }

    /// YAML has numbers and booleans where the parser reads their text.
    pub struct Text;

    impl JsonSchema for Text {
        fn schema_name() -> Cow<'static, str> {
            "Text".into()
        }

        fn inline_schema() -> bool {
            true
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({"type": ["string", "number", "boolean"]})
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::settings::{self, Settings, parse};

    /// `KUSAW_WRITE_SCHEMAS=1 cargo test -p kusaw --lib schema` writes it.
    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schemas/kusaw.json");
        let text = serde_json::to_string_pretty(&schemars::schema_for!(Settings)).unwrap() + "\n";
        if std::env::var_os("KUSAW_WRITE_SCHEMAS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), text, "{path}");
    }

    /// The keywords that our schema has, json-schema.org/draft/2020-12; one that is not here is no keyword to pass over.
    fn fits(schema: &Value, value: &Value) -> bool {
        let Some(schema) = schema.as_object() else { return schema == &json!(true) };
        let all =
            |schemas: &Value| -> Vec<bool> { schemas.as_array().unwrap().iter().map(|one| fits(one, value)).collect() };
        schema.iter().all(|(keyword, says)| match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" => true,
            "$ref" => fits(root().pointer(says.as_str().unwrap().trim_start_matches('#')).unwrap(), value),
            "type" => says.as_array().map_or_else(|| is(says, value), |kinds| kinds.iter().any(|kind| is(kind, value))),
            "enum" => says.as_array().unwrap().contains(value),
            "const" => says == value,
            "anyOf" => all(says).contains(&true),
            "oneOf" => all(says).into_iter().filter(|fits| *fits).count() == 1,
            "required" => value
                .as_object()
                .is_none_or(|map| says.as_array().unwrap().iter().all(|key| map.contains_key(key.as_str().unwrap()))),
            "items" => value.as_array().is_none_or(|list| list.iter().all(|entry| fits(says, entry))),
            "properties" => value.as_object().is_none_or(|map| {
                map.iter().all(|(key, value)| says.get(key).is_none_or(|schema| fits(schema, value)))
            }),
            "additionalProperties" => value.as_object().is_none_or(|map| {
                let known = |key: &str| schema.get("properties").is_some_and(|all| all.get(key).is_some());
                map.iter().filter(|(key, _)| !known(key)).all(|(_, value)| fits(says, value))
            }),
            other => panic!("nobody evaluates {other}"),
        })
    }

    fn is(kind: &Value, value: &Value) -> bool {
        match kind.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            other => panic!("nobody knows the type {other}"),
        }
    }

    fn root() -> &'static Value {
        static ROOT: std::sync::OnceLock<Value> = std::sync::OnceLock::new();
        ROOT.get_or_init(|| serde_json::from_str(TEXT).unwrap())
    }

    /// What the schema says, and what the parser says.
    fn verdicts(yaml: &str) -> (bool, bool) {
        let value: Value = parse::yaml(yaml).unwrap_or_else(|| panic!("no YAML: {yaml}"));
        (fits(root(), &value), settings::read("k".as_ref(), yaml.as_bytes()).is_ok())
    }

    const STEP: &str = "steps: {s: {run: [x]}}";

    #[test]
    fn right_settings_are_right_for_both() {
        for yaml in [
            STEP,
            "sandbox: {mode: off, network: open}",
            "sandbox: {mode: required, network: allowlist, allow_read: [~/a, /b], allow_write: [], egress: {allow: ['*.a.example', 'b:1'], provider_hosts: false, sni: off, inject: provider}}",
            "sandbox: {egress: {inject: [{name: a, upstream: 'https://a.example', base_url_env: U, key_env: K}]}}",
            "sandbox: {egress: {inject: [{name: a, upstream: 'https://a.example', header: x-a, format: '{}', base_url_env: U, base_path: /v1, key_env: K, secret: S}]}}",
            "repos: {a: {path: /a}, b: {path: ~/b, sandbox: required}}",
            "repos: {a: {path: /a}}\nsteps: {s: {uses: test, repos: [a], per_repo: true}}",
            "steps: {s: {provider: claude-code, prompt: hi, env: {A: b, C: 1, D: true}}}",
            "steps: {s: {provider: cursor, prompt: hi, sandbox: off}}",
            "steps: {s: {run: [x, 1], sandbox: {mode: required, egress: {allow: [a]}}, requires: [network], handshake: [y]}}",
        ] {
            assert_eq!(verdicts(yaml), (true, true), "{yaml}");
        }
    }

    #[test]
    fn wrong_settings_are_wrong_for_both() {
        for yaml in [
            "sandbx: {}",
            "sandbox: off",
            "sandbox: {mode: Off}",
            "sandbox: {mode: }",
            "sandbox: {mode: true}",
            "sandbox: {network: closed}",
            "sandbox: {allow_read: /a}",
            "sandbox: {allow_read: [[a]]}",
            "sandbox: {egress: {alow: []}}",
            "sandbox: {egress: {provider_hosts: perhaps}}",
            "sandbox: {egress: {sni: maybe}}",
            "sandbox: {egress: {inject: providr}}",
            "sandbox: {egress: {inject: [{name: a}]}}",
            "sandbox: {egress: {inject: [{name: a, upstream: 'https://a.example', base_url_env: U, key_env: K, key: k}]}}",
            "repos: {a: /a}",
            "repos: {a: {sandbox: off}}",
            "repos: {a: {path: /a, sandbox: {mode: off}}}",
            "repos: [a]",
            "steps: {s: {}}",
            "steps: {s: {run: [x], uses: test}}",
            "steps: {s: {run: [x], prompt: hi}}",
            "steps: {s: {run: x}}",
            "steps: {s: {uses: tset}}",
            "steps: {s: {provider: claud-code, prompt: hi}}",
            "steps: {s: {run: [x], sandbox: true}}",
            "steps: {s: {run: [x], sandbox: {netwrok: open}}}",
            "steps: {s: {run: [x], per_repo: sometimes}}",
            "steps: {s: {run: [x], requires: [netwrk]}}",
            "steps: {s: {run: [x], env: {A: [b]}}}",
            "steps: {s: {run: [x], env: {A: }}}",
        ] {
            assert_eq!(verdicts(yaml), (false, false), "{yaml}");
        }
        for only_the_parser_knows in ["sandbox: {allow_read: ['/a/*']}", "sandbox: {egress: {allow: ['https://a']}}"] {
            assert_eq!(verdicts(only_the_parser_knows), (true, false), "{only_the_parser_knows}");
        }
    }

    /// A block that is indented is the inside of `sandbox:`.
    #[test]
    fn the_examples_of_the_readme_are_right_for_both() {
        let readme = include_str!("../../../README.md");
        let blocks: Vec<&str> = readme.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(blocks.len() > 1);
        for block in blocks {
            let whole = if block.starts_with(' ') { format!("sandbox:\n{block}") } else { block.to_string() };
            assert_eq!(verdicts(&whole), (true, true), "{whole}");
        }
    }
}
