//! `kusaw config list`: which secrets there are, where they are from and what uses them, and which are missing. Never a value.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::attempt;
use crate::outcome::{Exit, Reason, Refusal};
use crate::settings::{Settings, attempts, inject};
use crate::store::Store;
use crate::store::name::{OfStep, mark, owner, shown, to_set};

/// Where the value of a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum From {
    /// In the secret store.
    Store,
    /// In `env:` of the step: nothing is secret there.
    Settings,
    /// Nowhere, and a step cannot run without it.
    Missing,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Row {
    name: String,
    from: From,
    /// Steps that get it, or what it is for.
    used_by: BTreeSet<String>,
    /// The folder's name and the digest of another factory that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
}

/// Prints the list: fine where nothing is missing.
///
/// # Errors
/// When the settings or the store cannot be read.
pub fn list(given: Option<PathBuf>, json: bool) -> Result<Exit, Refusal> {
    let rows = rows(given)?;
    let text = match json {
        true => serde_json::to_string_pretty(&rows).unwrap_or_default() + "\n",
        false => text(&rows),
    };
    // A reader that has gone away has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(Exit::of(rows.iter().all(|row| row.from != From::Missing)))
}

fn rows(given: Option<PathBuf>) -> Result<Vec<Row>, Refusal> {
    let factory = match (super::super::factory(given.clone()), given) {
        (Err(_), None) => None,
        (factory, _) => Some(attempt::load(&factory?)?),
    };
    let kept = Store::own().and_then(|store| store.names()).map_err(|e| Refusal::new(Reason::SecretStore, e))?;
    Ok(of(&kept, factory.as_ref().map(|(path, settings)| (path.as_path(), settings))))
}

/// By the mark of another factory that it belongs to, and by name.
type Rows<'a> = BTreeMap<(Option<&'a str>, String), (From, BTreeSet<String>)>;

fn of(kept: &[String], factory: Option<(&Path, &Settings)>) -> Vec<Row> {
    let own = factory.map(|(path, _)| mark(path));
    let mut rows = Rows::new();
    for name in kept {
        let of = owner(name).filter(|mark| own.as_deref() != Some(*mark));
        rows.entry((of, shown(name).to_owned())).or_insert((From::Store, BTreeSet::new()));
    }
    for (step, settings) in
        factory.iter().flat_map(|(_, settings)| settings.steps.iter().map(move |step| (step, settings)))
    {
        let (name, step) = step;
        for variable in step.env.keys() {
            let key = OfStep { step: name, variable }.to_string();
            rows.entry((None, key)).or_insert((From::Settings, BTreeSet::new()));
        }
        for ((of, key), (_, used_by)) in &mut rows {
            if of.is_none() && OfStep::parse(key).is_some_and(|one| one.step == name) {
                used_by.insert(name.clone());
            }
        }
        if !attempts::any_sandboxed(settings, step) {
            continue;
        }
        for one in inject::of(settings, step).unwrap_or_default() {
            let row = rows.entry((None, one.secret)).or_insert((From::Missing, BTreeSet::new()));
            row.1.insert(format!("{name} (inject {})", one.name));
        }
    }
    let row = |((of, name), (from, used_by)): ((Option<&str>, String), _)| Row {
        name,
        from,
        used_by,
        of: of.map(str::to_owned),
    };
    rows.into_iter().map(row).collect()
}

fn text(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or_default();
    let line = |row: &Row| {
        let from = match row.from {
            From::Store => "store",
            From::Settings => "kusaw.yaml",
            From::Missing => "MISSING",
        };
        let users = row.used_by.iter().cloned().collect::<Vec<_>>().join(", ");
        let what = match (&row.of, row.from) {
            (Some(of), _) => format!("of another factory: {of}"),
            (None, From::Missing) => format!("{users}; fix: {}", to_set(&row.name)),
            (None, _) if !row.used_by.is_empty() => users,
            (None, _) if row.name.starts_with("steps.") => "no step here has it".to_owned(),
            (None, _) => "used by no step here".to_owned(),
        };
        format!("{:<width$}  {from:<10}  {what}\n", row.name)
    };
    match rows {
        [] => "no secrets\n".to_owned(),
        rows => rows.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_where_and_for_what() {
        let yaml = "sandbox: {mode: required, network: allowlist, egress: {inject: provider}}\nsteps:\n  a: {prompt: x, env: {CI: '1'}}\n  b: {run: [x]}\n";
        let settings = crate::settings::read("kusaw.yaml".as_ref(), yaml.as_bytes()).unwrap();
        let factory = Path::new("/f");
        let of_step = |step, variable, factory: &str| OfStep { step, variable }.kept(factory.as_ref());
        let kept = ["OTHER".into(), of_step("b", "T", "/f"), of_step("gone", "T", "/f"), of_step("a", "T", "/g")];
        insta::assert_snapshot!(text(&of(&kept, Some((factory, &settings)))), @r"
        ANTHROPIC_API_KEY  MISSING     a (inject claude-code); fix: kusaw config set ANTHROPIC_API_KEY --secret
        OTHER              store       used by no step here
        steps.a.env.CI     kusaw.yaml  a
        steps.b.env.T      store       b
        steps.gone.env.T   store       no step here has it
        steps.a.env.T      store       of another factory: g-acafaa512feb5308710dc12b9d3b75e7
        ");
        insta::assert_snapshot!(text(&of(&kept[..1], None)), @"OTHER  store       used by no step here");
    }
}
