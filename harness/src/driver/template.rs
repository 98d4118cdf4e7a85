//! Templates of a manifest: minijinja with a few filters of our own.
//!
//! An argv entry that is exactly `{{argv}}` stands for the whole command; every other entry renders to one argument.

use minijinja::{Environment, Value};

/// Renders the templates of a manifest in one context.
#[derive(Debug)]
pub struct Templates {
    engine: Environment<'static>,
    context: serde_json::Value,
}

impl Templates {
    /// Templates that see the keys of `context`.
    pub fn new(context: serde_json::Value) -> Self {
        let mut engine = Environment::new();
        engine.set_undefined_behavior(minijinja::UndefinedBehavior::Chainable);
        engine.add_filter("shell", shell);
        engine.add_filter("shell_path", shell_path);
        engine.add_filter("yaml", yaml);
        Self { engine, context }
    }

    /// The same templates with one key of the context changed.
    pub fn with(&self, key: &str, value: &str) -> Self {
        let mut context = self.context.clone();
        context[key] = value.into();
        Self::new(context)
    }

    /// Renders one template.
    ///
    /// # Errors
    /// The engine's message with the template it is about.
    pub fn render(&self, template: &str) -> Result<String, String> {
        self.engine
            .render_str(template, minijinja::value::Serde(&self.context))
            .map_err(|e| format!("template \"{template}\": {e:#}"))
    }

    /// Renders an argv; the entry `{{argv}}` is replaced by `command`.
    ///
    /// # Errors
    /// As [`Templates::render`].
    pub fn argv(&self, templates: &[String], command: &[String]) -> Result<Vec<String>, String> {
        let mut argv = Vec::new();
        for template in templates {
            if template == "{{argv}}" {
                argv.extend_from_slice(command);
            } else {
                argv.push(self.render(template)?);
            }
        }
        Ok(argv)
    }
}

/// Quotes a string for sh; of a list, quotes each and joins by blanks.
fn shell(value: &Value) -> String {
    let quote = |s: &str| format!("'{}'", s.replace('\'', "'\\''"));
    match value.as_str() {
        Some(text) => quote(text),
        None => match value.try_iter() {
            Ok(items) => items.map(|v| quote(&v.to_string())).collect::<Vec<_>>().join(" "),
            Err(_) => quote(&value.to_string()),
        },
    }
}

/// Quotes a path for sh; a `~` at its beginning stays the shell's word for the home.
fn shell_path(path: &str) -> String {
    match path.strip_prefix('~') {
        Some("") => "~/".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("~/{}", shell(&rest[1..].into())),
        _ => shell(&path.into()),
    }
}

/// A value as a YAML document. Plain words stay plain, because the documentation writes `sandbox: off`.
fn yaml(value: &Value) -> Result<String, minijinja::Error> {
    let json = serde_json::to_value(value)
        .map_err(|e| minijinja::Error::new(minijinja::ErrorKind::BadSerialization, e.to_string()))?;
    Ok(crate::yaml::emit(&json))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn argv_takes_the_command_whole() {
        let templates = Templates::new(json!({"factory": "/f"}));
        let argv =
            templates.argv(&["run".into(), "{{factory}}/x".into(), "{{argv}}".into()], &["a b".into(), String::new()]);
        assert_eq!(argv.unwrap(), ["run", "/f/x", "a b", ""]);
    }

    #[test]
    fn filters() {
        let templates = Templates::new(json!({"s": "it's", "l": ["a b", "c"], "m": {"k": "off"}}));
        assert_eq!(templates.render("{{s|shell}} {{l|shell}}").unwrap(), "'it'\\''s' 'a b' 'c'");
        let paths = ["~", "~/a b", "/~/c", "~d"].map(shell_path);
        assert_eq!(paths, ["~/", "~/'a b'", "'/~/c'", "'~d'"]);
        assert_eq!(templates.render("{{m|yaml}}").unwrap(), "k: off\n");
        assert_eq!(templates.render("{{nothing.at.all}}").unwrap(), "");
    }
}
