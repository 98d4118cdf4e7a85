//! The lint over this checkout: its features, its manifests, its generated pages, and who links to whom.

use std::path::{Path, PathBuf};

use kusaw_conformance::catalogue::Catalogue;
use kusaw_conformance::driver::{Manifest, manifest};
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
    let features = features::read(&root()).unwrap();
    nothing(&lint::features(&features, &catalogue));
    for feature in &features {
        let path = feature.path.clone().unwrap();
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        nothing(&lint::tables(&path.display().to_string(), &text));
    }
}

#[test]
fn manifests_are_in_order() {
    let catalogue = Catalogue::read(&root()).unwrap();
    let features = features::read(&root()).unwrap();
    let manifests: Vec<Manifest> =
        manifest::names(&root()).iter().map(|name| Manifest::read(&root(), name, &catalogue).unwrap()).collect();
    nothing(&lint::manifests(&manifests, &features, &catalogue));
}

#[test]
fn generated_pages_are_current() {
    let guarantees = page::guarantees(&features::read(&root()).unwrap(), &Catalogue::read(&root()).unwrap());
    for (name, page) in [
        ("docs/guarantees.md", guarantees),
        ("docs/schemas/driver.json", page::driver_schema()),
        ("docs/schemas/record.json", page::record_schema()),
    ] {
        let written = std::fs::read_to_string(root().join(name)).unwrap_or_default();
        assert!(page == written, "{name} is not current: make pages");
    }
}

#[test]
fn the_harness_links_to_no_implementation() {
    let manifest = std::fs::read_to_string(root().join("harness/Cargo.toml")).unwrap();
    let names = ["kusaw ", "kusaw=", "kusaw.", "kusaw-enter", "kusaw-probe", "../impl", "../probes"];
    let dependencies = manifest.split_once("[dependencies]").unwrap().1;
    for name in names {
        assert!(
            !dependencies.lines().any(|l| l.starts_with(name) || l.contains(&format!("path = \"{name}"))),
            "{name}"
        );
    }
}

#[test]
fn no_step_knows_a_driver() {
    for entry in std::fs::read_dir(root().join("harness/src/steps")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("manifest.name"), "{} branches on a driver's name", path.display());
    }
}
