//! `conformance run`, up to the lab, and `conformance smoke`.

use std::path::Path;
use std::process::ExitCode;

use gherkin::Feature;

use super::arguments::{RunArgs, Share, SmokeArgs};
use super::inside;
use super::output::Outputs;
use super::prepared::{Prepared, read_manifest};
use crate::catalogue::Catalogue;
use crate::features::FEATURES;
use crate::host;
use crate::lab::installed;
use crate::lab::namespaces::run_inside;
use crate::lab::programs::Folder;

/// Runs what is selected. What is wrong with the command line or the manifest is told before anything is built.
///
/// # Errors
/// What is wrong with them, or cannot be built.
pub fn run(args: &RunArgs) -> Result<ExitCode, String> {
    let root = args.checkout.root()?;
    let catalogue = Catalogue::read(&root)?;
    let features = args.selection.selected(&root, &catalogue)?;
    let manifest = read_manifest(&root, &args.driver, &catalogue)?;
    let share = Share::of(features, &manifest, args)?;
    let mut prepared = Prepared::new(root, &args.driver, catalogue, manifest)?;
    let digest = host::digest_of_folder(&prepared.root.join(&args.selection.features));
    prepared.digests.extend(digest.map(|digest| ("features".to_owned(), digest)));
    prepared.supplies.agents = agents(&prepared.root, &share.features);
    let out =
        args.out.clone().unwrap_or_else(|| prepared.root.join("target/conformance").join(folder(&prepared, args)));
    let outputs = Outputs::create(&out)?;
    let files = outputs.files()?;
    let (supplies, inner) = (prepared.supplies.clone(), args.clone());
    let code = run_inside(&supplies, move |lab| {
        let code = inside::inside(lab, prepared, share, files, &inner);
        if inner.keep {
            crate::keep::shell();
        }
        code.unwrap_or_else(|message| {
            eprintln!("conformance: {message}");
            1
        })
    });
    outputs.finish()?;
    Ok(ExitCode::from(code))
}

/// Tries a driver.
///
/// # Errors
/// What is wrong with its manifest, or cannot be built.
pub fn smoke(args: &SmokeArgs) -> Result<ExitCode, String> {
    let root = args.checkout.root()?;
    let catalogue = Catalogue::read(&root)?;
    let manifest = read_manifest(&root, &args.driver, &catalogue)?;
    let prepared = Prepared::new(root, &args.driver, catalogue, manifest)?;
    let supplies = prepared.supplies.clone();
    Ok(ExitCode::from(run_inside(&supplies, |lab| crate::smoke::run(lab, &prepared.manifest))))
}

/// The name of the folder of a run's record: the driver's, that of features which are not the specification, and the shard.
fn folder(prepared: &Prepared, args: &RunArgs) -> String {
    let other =
        args.selection.features.file_name().filter(|name| *name != FEATURES).map(|name| name.display().to_string());
    let shard = args.shard.map(|shard| format!("{}-of-{}", shard.number, shard.of));
    let words: Vec<String> = [Some(prepared.manifest.name.clone()), other, shard].into_iter().flatten().collect();
    words.join("-")
}

/// The agents that scenarios let work, as far as they lie ready.
fn agents(root: &Path, features: &[Feature]) -> Vec<Folder> {
    let tags = features.iter().flat_map(|feature| {
        let rules = feature.rules.iter().flat_map(|rule| rule.scenarios.iter().flat_map(|s| &s.tags).chain(&rule.tags));
        rules.chain(&feature.tags)
    });
    installed::ready(root, tags.filter_map(|tag| tag.strip_prefix("agent:")))
}
