//! Templates of a manifest: minijinja with a few filters of our own.
//!
//! An argv entry renders to one argument. An entry that is one expression and yields a list, as `{{argv}}` does, stands for
//! as many arguments as the list has items: a sandbox takes each path of a list with a flag of its own.

use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, Value};

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
        engine.add_filter("repeat", repeat);
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

    /// Renders an argv; an entry that yields a list becomes an argument for each of its items.
    ///
    /// # Errors
    /// As [`Templates::render`].
    pub fn argv(&self, templates: &[String]) -> Result<Vec<String>, String> {
        let mut argv = Vec::new();
        for template in templates {
            match self.list(template)? {
                Some(items) => argv.extend(items),
                None => argv.push(self.render(template)?),
            }
        }
        Ok(argv)
    }

    /// The items of an entry that is one expression and yields a list.
    fn list(&self, template: &str) -> Result<Option<Vec<String>>, String> {
        let Some(expression) = expression(template) else { return Ok(None) };
        let evaluate = || -> Result<_, Error> {
            let value = self
                .engine
                .compile_expression_owned(expression.to_owned())?
                .eval(minijinja::value::Serde(&self.context))?;
            if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
                return Ok(None);
            }
            Ok(Some(value.try_iter()?.map(|item| item.to_string()).collect()))
        };
        evaluate().map_err(|e| format!("template \"{template}\": {e:#}"))
    }
}

/// The expression of a template that is nothing else.
fn expression(template: &str) -> Option<&str> {
    let inner = template.strip_prefix("{{")?.strip_suffix("}}")?;
    (!inner.contains("{{") && !inner.contains("}}") && !inner.starts_with('-')).then_some(inner)
}

/// A flag before each item of a list, and each item `copies` times (default 1): `--ro-bind FROM TO` takes a path twice. What
/// is not defined is an empty list.
fn repeat(value: &Value, flag: &str, copies: Option<usize>) -> Result<Vec<String>, Error> {
    if value.is_undefined() || value.is_none() {
        return Ok(Vec::new());
    }
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Err(Error::new(ErrorKind::InvalidOperation, format!("repeat needs a list, not a {}", value.kind())));
    }
    let one = |item: Value| {
        std::iter::once(flag.to_owned()).chain(std::iter::repeat_n(item.to_string(), copies.unwrap_or(1)))
    };
    Ok(value.try_iter()?.flat_map(one).collect())
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
fn yaml(value: &Value) -> Result<String, Error> {
    let json = serde_json::to_value(value).map_err(|e| Error::new(ErrorKind::BadSerialization, e.to_string()))?;
    Ok(crate::yaml::emit(&json))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn argv(entries: &[&str]) -> Result<Vec<String>, String> {
        let context = json!({"factory": "/f", "argv": ["a b", "", "{{x}}"], "paths": ["/p", "/q r"], "empty": []});
        Templates::new(context).argv(&entries.iter().map(|e| (*e).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn argv_takes_the_command_whole() {
        assert_eq!(argv(&["run", "{{factory}}/x", "{{argv}}"]).unwrap(), ["run", "/f/x", "a b", "", "{{x}}"]);
        assert_eq!(argv(&["-c", "{{argv|shell}}"]).unwrap(), ["-c", "'a b' '' '{{x}}'"]);
    }

    #[test]
    fn a_list_is_as_many_arguments() {
        assert_eq!(argv(&["{{ paths }}", "{{factory}}{{factory}}"]).unwrap(), ["/p", "/q r", "/f/f"]);
        assert_eq!(argv(&["{{paths|repeat(\"-r\")}}"]).unwrap(), ["-r", "/p", "-r", "/q r"]);
        assert_eq!(argv(&["{{paths|repeat('-b', 2)}}"]).unwrap(), ["-b", "/p", "/p", "-b", "/q r", "/q r"]);
        assert!(argv(&["{{empty|repeat('-r')}}", "{{nobody|repeat('-r')}}", "{{empty}}"]).unwrap().is_empty());
    }

    #[test]
    fn what_is_no_list_is_one_argument_and_cannot_be_repeated() {
        assert_eq!(argv(&["{{factory}}", "{{nobody}}"]).unwrap(), ["/f", ""]);
        assert!(argv(&["{{factory|repeat('-r')}}"]).unwrap_err().contains("needs a list, not a string"));
        assert!(argv(&["{{factory"]).is_err() && argv(&["{{factory|nofilter}}"]).is_err());
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
