//! The lint over this checkout: its features, its manifests, its generated pages, and who links to whom.

#![allow(clippy::unwrap_used)] // helpers of tests, which clippy does not see as tests

use std::path::{Path, PathBuf};

use kusaw_conformance::catalogue::Catalogue;
use kusaw_conformance::driver::{Manifest, manifest};
use kusaw_conformance::traceability::{self, Column};
use kusaw_conformance::{features, lint, page};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn nothing(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn features_are_in_order() {
    let catalogue = Catalogue::read(&root()).unwrap();
    // Each folder is a book of its own: the specification, and what real agents do.
    for folder in [features::FEATURES, "e2e/agents"] {
        let features = features::read_in(&root(), Path::new(folder)).unwrap();
        nothing(&lint::features(&features, &catalogue));
        for feature in &features {
            let path = feature.path.clone().unwrap();
            let text = std::fs::read_to_string(root().join(&path)).unwrap();
            nothing(&lint::tables(&path.display().to_string(), &text));
        }
    }
}

#[test]
fn manifests_are_in_order() {
    let catalogue = Catalogue::read(&root()).unwrap();
    let features = features::read(&root()).unwrap();
    let manifests: Vec<Manifest> =
        manifest::names(&root()).iter().map(|name| Manifest::read(&root(), name, &catalogue).unwrap()).collect();
    let names: Vec<String> = manifests.iter().map(|manifest| manifest.name.clone()).collect();
    assert_eq!(names, manifest::names(&root()), "a manifest is called as its file");
    nothing(&lint::manifests(&manifests, &features, &catalogue));
}

#[test]
fn generated_pages_are_current() {
    let (features, catalogue) = (features::read(&root()).unwrap(), Catalogue::read(&root()).unwrap());
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
    // The verdicts are those of the run that the README shows: the page is the same on every machine.
    let verdicts = Column::shown(&read("README.md"));
    assert!(verdicts.verdicts.len() > 100, "README.md shows no whole run");
    let trace = traceability::page(&read("docs/os-sandbox.md"), &catalogue, &features::cases(&features), &[verdicts]);
    for (name, page) in [
        ("docs/guarantees.md", page::guarantees(&features, &catalogue)),
        ("docs/traceability.md", trace),
        ("docs/schemas/driver.json", page::driver_schema()),
        ("docs/schemas/record.json", page::record_schema()),
    ] {
        let written = std::fs::read_to_string(root().join(name)).unwrap_or_default();
        assert!(page == written, "{name} is not current: make pages");
    }
}

#[test]
fn the_catalogue_quotes_the_documentation() {
    let document = std::fs::read_to_string(root().join("docs/os-sandbox.md")).unwrap();
    nothing(&traceability::unfound(&document, &Catalogue::read(&root()).unwrap()));
}

/// The README shows a real run: its counts are those of the features.
#[test]
fn the_readme_counts_what_is_there() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (features, catalogue) = (features::read(&root()).unwrap(), Catalogue::read(&root()).unwrap());
    let mut all = 0;
    for (feature, rule) in features.iter().flat_map(|f| f.rules.iter().map(move |rule| (f, rule))) {
        let id = rule.tags.iter().find(|t| catalogue.get(t).is_some()).unwrap();
        let extras = rule.scenarios.iter().filter(|s| s.tags.iter().any(|t| t == "extra")).count();
        let musts = rule.scenarios.len() - extras;
        // What needs a program that is not on every machine may be moot on the one that the README shows.
        let tagged = |tags: &[String]| tags.iter().any(|t| t.starts_with("if-installed:"));
        let optional = rule.scenarios.iter().filter(|s| tagged(&s.tags)).count();
        // The README's run is one on Linux; a look-alike is asked there all the same.
        let on_fixtures = feature.tags.iter().chain(&rule.tags).any(|tag| tag == "fixture");
        let is_asked = on_fixtures || catalogue.get(id).unwrap().platforms.contains('L');
        let row = |moot: usize| {
            let (word, of_musts, held) =
                if is_asked { ("holds", musts, extras - moot) } else { ("not-applicable", 0, 0) };
            let counts =
                if extras > 0 { format!("{of_musts}/{musts}+{held}/{extras}") } else { format!("{of_musts}/{musts}") };
            format!("    {id:<7} {word:<16} {counts:>12}  ")
        };
        assert!((0..=optional).any(|moot| readme.contains(&row(moot))), "README.md has no row \"{}\"", row(0));
        all += rule.scenarios.len();
    }
    let count = catalogue.iter().count();
    for words in [format!(" {all} scenarios in "), format!("has {count} guarantees")] {
        assert!(readme.contains(&words), "README.md does not say \"{words}\"");
    }
}

/// Which of our own packages a package depends on, by Cargo.lock.
fn own_dependencies(package: &str) -> Vec<String> {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let own = ["kusaw", "kusaw-conformance", "kusaw-enter", "kusaw-probe"];
    let entry = lock.split("[[package]]").find(|p| p.contains(&format!("name = \"{package}\"\n"))).unwrap();
    let dependencies = entry.split_once("dependencies = [").map_or("", |(_, list)| list);
    let names = dependencies.lines().map(|l| l.trim().trim_matches([',', '"'].as_slice()).to_owned());
    names.filter(|name| own.contains(&name.as_str())).collect()
}

#[test]
fn nobody_links_to_whom_it_judges() {
    assert_eq!(own_dependencies("kusaw-conformance"), Vec::<String>::new());
    assert_eq!(own_dependencies("kusaw-probe"), Vec::<String>::new());
    assert_eq!(own_dependencies("kusaw-enter"), Vec::<String>::new());
    assert_eq!(own_dependencies("kusaw"), ["kusaw-enter"], "the format of the job that the stage gets");
}

#[test]
fn no_step_knows_a_driver() {
    for entry in std::fs::read_dir(root().join("harness/src/steps")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("manifest.name"), "{} branches on a driver's name", path.display());
    }
}
