//! The copy of the reference that the faults are made in, and its programs.
//!
//! It lies below target/, with a target folder of its own. The checkout itself is never changed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::fault::Fault;
use super::patch;
use crate::lab::Lab;
use crate::lab::programs::Source;

/// Asks which fault is in force; a package of its own, so that program and stage ask alike.
const IN_FORCE: &str = include_str!("../../saboteur/in_force.rs");
const PACKAGE: &str = "[package]\nname = \"kusaw-fault\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";

/// What begins the room for a name in a program; `in_force.rs` and the saboteur have the same.
const MARK: &[u8] = b"kusaw: the fault in force is: ";

/// The reference's programs with all faults in them, none in force, and what the suite brings.
#[derive(Debug)]
pub struct Programs(Vec<Program>);

#[derive(Debug)]
struct Program {
    name: &'static str,
    bytes: Vec<u8>,
    /// Where the room behind the mark begins, if it asks: looked for once, as there are 60 MB to search.
    room: Option<usize>,
}

/// The reference's own, in which a fault's name is written.
const SABOTAGED: [(&str, bool); 2] = [("kusaw", false), ("kusaw-enter", true)];

/// Reads the texts of impl/ below `root`.
///
/// # Errors
/// When one cannot be read.
pub fn sources(root: &Path) -> Result<BTreeMap<PathBuf, String>, String> {
    let mut files = BTreeMap::new();
    collect(root, Path::new("impl"), &mut files).map_err(|e| format!("impl/: {e}"))?;
    Ok(files)
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        match () {
            () if entry.file_type()?.is_dir() => collect(root, &path, files)?,
            () => drop(files.insert(path, fs::read_to_string(entry.path())?)),
        }
    }
    Ok(())
}

/// Makes the copy with all faults and builds its programs.
///
/// # Errors
/// When an edit does not apply, or it does not build.
pub fn build(root: &Path, tree: &Path, faults: &[Fault]) -> Result<Programs, String> {
    let mut files = sources(root)?;
    patch::apply(&mut files, faults).map_err(|wrong| wrong.join("\n"))?;
    for manifest in ["impl/Cargo.toml", "impl/enter/Cargo.toml"] {
        let path = if manifest == "impl/Cargo.toml" { "fault" } else { "../fault" };
        let text = files.get_mut(Path::new(manifest)).ok_or_else(|| format!("{manifest} is not there"))?;
        *text = text.replace("[dependencies]\n", &format!("[dependencies]\nkusaw-fault = {{ path = \"{path}\" }}\n"));
    }
    files.insert("impl/fault/Cargo.toml".into(), PACKAGE.to_owned());
    files.insert("impl/fault/src/lib.rs".into(), IN_FORCE.to_owned());
    for name in ["Cargo.toml", "Cargo.lock", "ci/static.toml", "docs/schemas/kusaw.json"] {
        let text = fs::read_to_string(root.join(name)).map_err(|e| format!("{name}: {e}"))?;
        files.insert(name.into(), text);
    }
    if let Some(workspace) = files.get_mut(Path::new("Cargo.toml")) {
        let members = |line: &str| match line {
            _ if line.starts_with("members = ") => "members = [\"impl\", \"impl/enter\", \"impl/fault\"]\n".to_owned(),
            _ => format!("{line}\n"),
        };
        *workspace = workspace.lines().map(members).collect();
    }
    write(tree, &files).map_err(|e| format!("{}: {e}", tree.display()))?;
    compile(tree)?;
    let mut programs = Vec::new();
    for (from, list) in [(tree, SABOTAGED), (root, [("kusaw-probe", true), ("kusaw-saboteur", false)])] {
        for (name, is_static) in list {
            let path = Source::Cargo.binary(from, name, is_static)?;
            let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            programs.push(Program { name, room: room(&bytes)?, bytes });
        }
    }
    Ok(Programs(programs))
}

/// Compiles the reference once, aloud: a fault that does not compile is told in the compiler's own words.
fn compile(tree: &Path) -> Result<(), String> {
    let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--package", "kusaw", "--package", "kusaw-enter"]).current_dir(tree);
    match cargo.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("the faults do not compile; the copy lies in {}", tree.display())),
        Err(e) => Err(format!("cargo: {e}")),
    }
}

/// Writes what differs, so that only that is built again, and removes what is no more.
fn write(tree: &Path, files: &BTreeMap<PathBuf, String>) -> io::Result<()> {
    for (name, text) in files {
        let path = tree.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        fs::create_dir_all(path.parent().unwrap_or(tree))?;
        fs::write(&path, text)?;
    }
    let mut there = BTreeMap::new();
    collect(tree, Path::new("impl"), &mut there)?;
    there.keys().filter(|name| !files.contains_key(*name)).try_for_each(|name| fs::remove_file(tree.join(name)))
}

impl Programs {
    /// Writes them into `folder`, with this fault in force, and `bwrap` beside them where the fault is bubblewrap's.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&self, folder: &Path, fault: Option<&Fault>) -> Result<(), String> {
        let error = |e: io::Error| format!("{}: {e}", folder.display());
        fs::create_dir_all(folder).map_err(error)?;
        let mut told = 0;
        for program in &self.0 {
            let asks = SABOTAGED.iter().any(|(own, _)| *own == program.name);
            let fault = fault.filter(|_| asks && program.room.is_some());
            told += usize::from(fault.is_some());
            let bytes = program.told(fault.map_or(b"", |fault| fault.name.as_bytes()));
            place(&folder.join(program.name), &bytes).map_err(error)?;
        }
        if fault.is_some() && told == 0 {
            return Err("neither kusaw nor its stage asks which fault is in force".to_owned());
        }
        Ok(())
    }

    /// Writes the saboteur into `folder` as `bwrap`, told of a change, and bubblewrap itself beside it.
    ///
    /// # Errors
    /// When there is no bubblewrap, or they cannot be written.
    pub fn write_bubblewrap(&self, folder: &Path, change: &[u8]) -> Result<(), String> {
        let error = |e: io::Error| format!("{}: {e}", folder.display());
        fs::create_dir_all(folder).map_err(error)?;
        let saboteur = self.0.iter().find(|program| program.name == "kusaw-saboteur");
        let saboteur =
            saboteur.filter(|program| program.room.is_some()).ok_or("kusaw-saboteur has no room for a change")?;
        place(&folder.join("bwrap"), &saboteur.told(change)).map_err(error)?;
        let real = Lab::which("bwrap").ok_or("bwrap is not installed: make setup")?;
        fs::copy(&real, folder.join("real")).map(drop).map_err(error)
    }
}

impl Program {
    /// Its bytes, with what is in force written into them.
    fn told(&self, what: &[u8]) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if let Some(room) = self.room {
            bytes[room..][..what.len()].copy_from_slice(what);
        }
        bytes
    }
}

/// Where the room behind the mark begins, if a program has one.
fn room(program: &[u8]) -> Result<Option<usize>, String> {
    let found = program.windows(MARK.len()).enumerate().filter(|(_, window)| *window == MARK).map(|(at, _)| at);
    match found.collect::<Vec<_>>()[..] {
        [] => Ok(None),
        [at] => Ok(Some(at + MARK.len())),
        _ => Err("the mark of the fault in force stands more than once in a program".to_owned()),
    }
}

fn place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}
