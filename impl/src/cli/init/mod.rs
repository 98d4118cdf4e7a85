//! `kusaw init`: a first kusaw.yaml, with comments, to be changed by its user, and the schema beside it by which editors complete
//! it. What is there already stays, whatever it is.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::outcome::{Exit, Reason, Refusal};
use crate::settings::{FILE, schema};

/// What is written.
const EXAMPLE: &str = include_str!("kusaw.yaml");

/// The name that the first line of the example gives the schema.
const SCHEMA: &str = ".kusaw.schema.json";

/// Writes it into the folder, or the working folder.
///
/// # Errors
/// When there is one already, or it cannot be written.
pub fn init(folder: Option<PathBuf>) -> Result<Exit, Refusal> {
    let folder = folder.unwrap_or_default();
    let path = folder.join(FILE);
    if let Err(e) = write(&path, EXAMPLE) {
        let (what, fix) = match e.kind() {
            io::ErrorKind::AlreadyExists => {
                let fix = "kusaw validate says what is wrong with it; kusaw init --factory DIR writes one into another folder";
                ("it is there already, and stays as it is".to_owned(), fix)
            }
            _ => (e.to_string(), "go into a folder of yours that is there, or name one with --factory DIR"),
        };
        let refusal = Refusal::new(Reason::BadSettings, format!("{}: {what}", path.display()));
        return Err(Refusal { fix: Some(fix.into()), ..refusal });
    }
    // One of an earlier version is only for editors, and its user's to renew: kusaw schema.
    let schema = match write(&folder.join(SCHEMA), schema::TEXT) {
        Ok(()) => format!(", and {SCHEMA}, by which editors complete it"),
        Err(_) => String::new(),
    };
    let said = format!(
        "written: {}, with a step fix{schema}\nnext: in it, at repos.demo.path, name a git repository of yours; then: kusaw validate\n",
        path.display()
    );
    // A reader that has gone away has seen enough.
    let _ = io::stdout().write_all(said.as_bytes());
    Ok(Exit::Fine)
}

/// A new file and no other: neither a link is followed, nor is anything replaced.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).inspect_err(|_| {
        // Half of it would be read as settings.
        let _ = fs::remove_file(path);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{self, Mode, Network};
    use std::os::unix::fs::symlink;

    #[test]
    fn the_example_is_right_and_boxed() {
        let settings = settings::read(FILE.as_ref(), EXAMPLE.as_bytes()).unwrap();
        assert_eq!((settings.sandbox.mode, settings.sandbox.network), (Some(Mode::Required), Some(Network::Allowlist)));
        assert!(settings.steps.contains_key("fix") && settings.repos.contains_key("demo"));
        assert!(EXAMPLE.lines().all(|line| line.chars().count() <= 120));
    }

    #[test]
    fn what_is_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (file, elsewhere) = (folder.path().join(FILE), folder.path().join("elsewhere"));
        fs::write(&file, "mine").unwrap();
        assert!(init(Some(folder.path().into())).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        fs::remove_file(&file).unwrap();
        symlink(&elsewhere, &file).unwrap();
        assert!(init(Some(folder.path().into())).is_err());
        assert!(!elsewhere.exists());
        fs::remove_file(&file).unwrap();
        assert!(init(Some(folder.path().into())).is_ok());
        assert_eq!(fs::read_to_string(&file).unwrap(), EXAMPLE);
        assert_eq!(fs::read_to_string(folder.path().join(SCHEMA)).unwrap(), schema::TEXT);
        assert!(EXAMPLE.starts_with(&format!("# yaml-language-server: $schema={SCHEMA}\n")));
    }
}
