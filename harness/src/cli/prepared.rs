//! What is read and built on the real host before the lab is entered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::arguments::{self, DriverArgs};
use crate::catalogue::Catalogue;
use crate::driver::{Manifest, manifest};
use crate::host;
use crate::lab::programs::{self, Program, Source};
use crate::lab::root::Supplies;

/// What is read and built.
pub struct Prepared {
    /// The checkout.
    pub root: PathBuf,
    /// The catalogue.
    pub catalogue: Catalogue,
    /// The driver's manifest.
    pub manifest: Manifest,
    /// Where it lies, if it is none of the checkout's.
    pub beside: Option<PathBuf>,
    /// What goes into the lab.
    pub supplies: Supplies,
    /// Commit of the checkout.
    pub commit: Option<String>,
    /// Facts of the host.
    pub facts: BTreeMap<String, String>,
    /// SHA-256 of what was read: the manifest.
    pub digests: BTreeMap<String, String>,
}

/// Reads the manifest of the driver.
///
/// # Errors
/// What is wrong with it.
pub fn read_manifest(root: &Path, args: &DriverArgs, catalogue: &Catalogue) -> Result<Manifest, String> {
    let manifest = Manifest::read(root, &args.driver, catalogue)?;
    arguments::declared(root, &manifest)?;
    Ok(manifest)
}

impl Prepared {
    /// Builds what a driver needs.
    ///
    /// # Errors
    /// When a program cannot be built or found.
    pub fn new(root: PathBuf, args: &DriverArgs, catalogue: Catalogue, manifest: Manifest) -> Result<Self, String> {
        let source = args.programs.clone().map_or(Source::Cargo, Source::Folder);
        let supplies = Supplies {
            suite: source.suite(&root)?,
            programs: source.provide(&root, &manifest)?,
            set_user_id: programs::set_user_id(&manifest),
            folders: programs::folders(&root, &manifest),
            agents: Vec::new(),
            backend: manifest.backend.clone(),
            bubblewrap: args
                .bwrap
                .as_deref()
                .map(|path| other_bubblewrap(path, &manifest))
                .transpose()?
                .unwrap_or_default(),
        };
        let like = manifest.like.as_deref();
        let digests = [
            ("manifest", host::digest(&manifest::path(&root, &args.driver))),
            ("manifest/like", like.and_then(|name| host::digest(&manifest::path(&root, name)))),
        ];
        let digests = digests.into_iter().filter_map(|(name, digest)| Some((name.to_owned(), digest?))).collect();
        let is_own = !args.driver.ends_with(".yaml");
        let beside = if is_own { None } else { std::fs::canonicalize(&args.driver).ok() };
        let (commit, facts) = (host::commit(&root), host::facts());
        Ok(Self { commit, facts, root, catalogue, manifest, beside, supplies, digests })
    }
}

fn other_bubblewrap(path: &Path, manifest: &Manifest) -> Result<Vec<Program>, String> {
    match manifest.backend.as_deref() {
        Some(programs::BUBBLEWRAP) => programs::bubblewrap(path),
        _ => Err(format!("--bwrap: the driver {} does not start bubblewrap", manifest.name)),
    }
}
