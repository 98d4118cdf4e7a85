//! The programs that are run: built from this checkout by cargo, or taken from a folder where they lie ready.
//!
//! The harness runs them; it never links to them.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::driver::Manifest;
use crate::driver::part::Part;

/// A file for the lab's `/opt/driver/bin`.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name there.
    pub name: String,
    /// Its content, opened on the real host: inside the lab its path may lead nowhere.
    pub file: Arc<File>,
}

/// A folder for the lab's `/opt/driver`.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Its name there.
    pub name: String,
    /// Where it lies on the real host.
    pub path: PathBuf,
}

impl Program {
    fn open(name: &str, path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Self { name: name.to_owned(), file: Arc::new(file) })
    }
}

/// Where programs come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Built from the checkout.
    Cargo,
    /// Ready in a folder (`--programs DIR`), for machines without a toolchain.
    Folder(PathBuf),
}

impl Source {
    /// What the suite itself brings: the probe, which runs inside sandboxes and so is static, and the saboteur.
    ///
    /// # Errors
    /// When one cannot be built or found.
    pub fn suite(&self, root: &Path) -> Result<Vec<Program>, String> {
        let programs = [("kusaw-probe", true), ("kusaw-saboteur", false)];
        programs.iter().map(|(name, is_static)| Program::open(name, &self.binary(root, name, *is_static)?)).collect()
    }

    /// What the manifest asks the harness to provide.
    ///
    /// # Errors
    /// When something cannot be built or found.
    pub fn provide(&self, root: &Path, manifest: &Manifest) -> Result<Vec<Program>, String> {
        manifest.provide.iter().filter_map(|part| self.part(root, part).transpose()).collect()
    }

    fn part(&self, root: &Path, part: &Part) -> Result<Option<Program>, String> {
        Ok(match (&part.cargo, &part.file) {
            (Some(name), _) => Some(Program::open(name, &self.binary(root, name, part.is_static)?)?),
            (None, Some(file)) => Some(Program::open(&part.name(), &root.join(file)).map_err(|e| {
                format!("provide: {e}; a path is one of the checkout, or begins with ./ and is one beside the manifest")
            })?),
            (None, None) => None, // a folder, or a program of the system
        })
    }

    /// The path of a program, which is built first where it comes from a checkout.
    ///
    /// # Errors
    /// When it cannot be built or found.
    pub fn binary(&self, root: &Path, name: &str, is_static: bool) -> Result<PathBuf, String> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name);
                if path.is_file() { Ok(path) } else { Err(format!("--programs: {} is not there", path.display())) }
            }
            Self::Cargo => build(root, name, is_static),
        }
    }
}

/// The set-user-ID programs of the system that the manifest names, as far as they are there: files of root, set-user-ID
/// already. The harness makes nothing set-user-ID that the system has not.
pub fn set_user_id(manifest: &Manifest) -> Vec<Program> {
    let named = manifest.provide.iter().filter_map(|part| part.set_user_id.as_deref());
    named.filter_map(|name| Program::open(name, &root_owned(name)?).ok()).collect()
}

fn root_owned(name: &str) -> Option<PathBuf> {
    let paths = ["/usr/bin", "/usr/local/bin", "/bin"].map(|folder| Path::new(folder).join(name));
    let is_it = |path: &PathBuf| {
        let meta = std::fs::metadata(path);
        meta.is_ok_and(|meta| meta.is_file() && meta.uid() == 0 && meta.mode() & SET_USER_ID != 0)
    };
    paths.into_iter().find(is_it)
}

/// S_ISUID, inode(7).
pub const SET_USER_ID: u32 = 0o4000;

/// The folders of the manifest that are there. One that is not blocks the driver, which is seen in the lab.
pub fn folders(root: &Path, manifest: &Manifest) -> Vec<Folder> {
    let named = |part: &Part| part.folder.as_ref().map(|path| Folder { name: part.name(), path: root.join(path) });
    manifest.provide.iter().filter_map(named).filter(|folder| folder.path.is_dir()).collect()
}

/// Another bubblewrap than the system's: a program, or a folder with one, its loader and its libraries.
///
/// # Errors
/// When there is none.
pub fn bubblewrap(path: &Path) -> Result<Vec<Program>, String> {
    let told = |e: std::io::Error| format!("--bwrap {}: {e}", path.display());
    if path.is_file() {
        return Ok(vec![Program::open(BUBBLEWRAP, path)?]);
    }
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(path).map_err(told)? {
        let entry = entry.map_err(told)?;
        programs.push(Program::open(&entry.file_name().to_string_lossy(), &entry.path())?);
    }
    if programs.iter().any(|program| program.name == BUBBLEWRAP) {
        return Ok(programs);
    }
    Err(format!("--bwrap {}: no {BUBBLEWRAP} is in it; `ci/bubblewrap RELEASE` makes such a folder", path.display()))
}

/// The name of the sandbox program that `--bwrap` replaces.
pub const BUBBLEWRAP: &str = "bwrap";

fn build(root: &Path, name: &str, is_static: bool) -> Result<PathBuf, String> {
    let mut cargo = escargot::CargoBuild::new().manifest_path(root.join("Cargo.toml")).package(name).bin(name);
    if is_static {
        cargo = cargo.args(["--config", &root.join("ci/static.toml").display().to_string()]);
    }
    let run = cargo.run().map_err(|e| format!("building {name}: {e}"))?;
    Ok(run.path().to_owned())
}
