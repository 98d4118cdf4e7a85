//! The reference's source with all faults in it, each only in force where it is named: a pure function of texts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use regex::Regex;

use super::fault::Fault;

/// How a source asks whether a fault is in force.
fn asked(fault: &str) -> String {
    format!("kusaw_fault::is(\"{fault}\")")
}

/// Makes all edits, fault by fault; where two meet, the second finds what the first has left.
///
/// # Errors
/// All edits whose text does not stand exactly once in its file: which fault, which file, and who edited it before.
pub fn apply(files: &mut BTreeMap<PathBuf, String>, faults: &[Fault]) -> Result<(), Vec<String>> {
    let mut wrong = Vec::new();
    let mut before: BTreeMap<&PathBuf, Vec<&str>> = BTreeMap::new();
    for (fault, edit) in faults.iter().flat_map(|fault| fault.edits.iter().map(move |edit| (fault, edit))) {
        let mut say = |what: String| wrong.push(format!("{}: {}: {what}", fault.name, edit.file.display()));
        let Some(text) = files.get_mut(&edit.file) else {
            say("no such file".to_owned());
            continue;
        };
        let found: Vec<_> = finder(&edit.find).find_iter(text).map(|m| m.range()).collect();
        if let [place] = &found[..] {
            let instead = edit.instead.trim().replace("FAULT", &asked(&fault.name));
            text.replace_range(place.clone(), &instead);
            before.entry(&edit.file).or_default().push(&fault.name);
        } else {
            let others =
                before.get(&edit.file).map_or(String::new(), |n| format!(" (edited before: {})", n.join(", ")));
            let first = edit.find.trim().lines().next().unwrap_or_default();
            say(format!("`find` stands {} times in it: {first}{others}", found.len()));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Finds a text, whatever white space its lines begin with.
fn finder(text: &str) -> Regex {
    let lines: Vec<_> = text.trim().lines().map(|line| regex::escape(line.trim())).collect();
    Regex::new(&lines.join("\n *")).unwrap_or_else(|e| unreachable!("escaped text is a pattern: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply_all(source: &str, yaml: &str) -> Result<String, String> {
        let file = PathBuf::from("impl/a.rs");
        let mut files = BTreeMap::from([(file.clone(), source.to_owned())]);
        let faults: Vec<Fault> = serde_yaml::from_str(yaml).unwrap();
        apply(&mut files, &faults).map_err(|wrong| wrong.join("\n"))?;
        Ok(files.remove(&file).unwrap())
    }

    fn fault(name: &str, find: &str, instead: &str) -> String {
        let edit = format!("{{file: impl/a.rs, find: {find:?}, instead: {instead:?}}}");
        format!("- {{name: {name}, breaks: FS-01, how: x, edits: [{edit}]}}\n")
    }

    #[test]
    fn the_same_place_can_have_two_faults() {
        let one = fault("one", "\"--strict\",\n", "if FAULT { \"--x\" } else { \"--strict\" },");
        let two = fault("two", "{ \"--strict\" }", "{ if FAULT { \"--y\" } else { \"--strict\" } }");
        assert_eq!(
            apply_all("f(\n    \"--strict\",\n)", &format!("{one}{two}")).unwrap(),
            "f(\n    if kusaw_fault::is(\"one\") { \"--x\" } else { if kusaw_fault::is(\"two\") { \"--y\" } else { \"--strict\" } },\n)"
        );
    }

    #[test]
    fn indentation_does_not_count() {
        assert_eq!(
            apply_all("    if a {\n        b();\n    }\n", &fault("x", "if a {\n  b();\n}", "FAULT")).unwrap(),
            { "    kusaw_fault::is(\"x\")\n" }
        );
    }

    #[test]
    fn what_does_not_stand_there_once_is_an_error_that_names_both() {
        let told = apply_all("a a", &fault("x", "a", "FAULT")).unwrap_err();
        assert_eq!(told, "x: impl/a.rs: `find` stands 2 times in it: a");
        let told = apply_all("a", &format!("{}{}", fault("x", "a", "FAULT"), fault("y", "a b", ""))).unwrap_err();
        assert_eq!(told, "y: impl/a.rs: `find` stands 0 times in it: a b (edited before: x)");
    }
}
