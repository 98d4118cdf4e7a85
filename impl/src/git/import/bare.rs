//! Git folders of our own: everything that git obeys in them is written here. Those of a step are only ever shown as parts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::boxed::Shown;
use super::code::{Code, Fault};
use crate::git::record::Record;
use crate::git::store::Store;

/// In the store's import folder.
const VIEW: &str = "view";

/// The step's objects and refs, as a git in the box sees them.
///
/// # Errors
/// When our own folder cannot be made.
pub fn view(store: &Store, record: &Record) -> Result<View, Fault> {
    let at = store.import().join(VIEW);
    make(&at, record, &record.refs).map_err(Fault::failed(at.display()))?;
    let git = store.git();
    let mut parts = vec![(git.join("objects"), "objects"), (git.join("refs"), "refs")];
    for (name, is_there) in [("packed-refs", Path::is_file as fn(&Path) -> bool), ("reftable", Path::is_dir)] {
        if is_there(&git.join(name)) {
            place(&at.join(name), is_there(Path::new("/"))).map_err(Fault::failed(at.display()))?;
            parts.push((git.join(name), name));
        }
    }
    for (part, _) in &parts {
        if !part.exists() {
            return Err(Fault::new(Code::StoreFile, format!("{}: it is gone", part.display())));
        }
    }
    Ok(View { at, parts, objects: folders_of_objects(record) })
}

/// See [`view`].
#[derive(Debug)]
pub struct View {
    at: PathBuf,
    parts: Vec<(PathBuf, &'static str)>,
    objects: Vec<PathBuf>,
}

impl View {
    /// For the box.
    pub fn shown(&self) -> Shown<'_> {
        Shown { git: &self.at, parts: self.parts.clone(), objects: &self.objects }
    }
}

/// The real object folders that are there: one that the repository borrows from may be on a disk that is away. git passes it
/// over as well, and what is in no other is missing then.
pub fn folders_of_objects(record: &Record) -> Vec<PathBuf> {
    let there = |(number, folder): &(usize, &PathBuf)| *number == 0 || folder.is_dir();
    record.objects.iter().enumerate().filter(there).map(|(_, folder)| folder.clone()).collect()
}

/// A bare repository without objects and refs. `refs` is how it keeps them.
///
/// # Errors
/// Those of the file system.
pub fn make(at: &Path, record: &Record, refs: &str) -> io::Result<()> {
    ["objects/info", "objects/pack", "refs/heads"].iter().try_for_each(|name| fs::create_dir_all(at.join(name)))?;
    fs::write(at.join("HEAD"), "ref: refs/heads/none\n")?;
    // What speeds reading up is read as well, and is the step's: nothing of it but objects and the
    // indexes of packs. Nothing made here outlives a crash.
    let mut config = String::from(
        "[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n\tcommitGraph = false\n\tmultiPackIndex = false\n\
         \tfsync = none\n[pack]\n\tuseBitmaps = false\n\treadReverseIndex = false\n\tallowPackReuse = false\n[extensions]\n",
    );
    let format = if record.format == "sha256" { "sha256" } else { "sha1" };
    config.push_str(&format!("\tobjectFormat = {format}\n"));
    if refs == "reftable" {
        config.push_str("\trefStorage = reftable\n");
    }
    fs::write(at.join("config"), config)?;
    // Where a shallow clone ends: nothing is missing there.
    let shallow = record.common.join("shallow");
    if shallow.is_file() {
        fs::copy(shallow, at.join("shallow"))?;
    }
    Ok(())
}

/// Something to mount on.
fn place(at: &Path, folder: bool) -> io::Result<()> {
    if folder { fs::create_dir_all(at) } else { fs::write(at, "") }
}
