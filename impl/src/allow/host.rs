//! Reads the facts that the entries are judged by: where the protected places of this user and these settings are, and
//! where entries lead. Whatever a step could use to steer a later run is one of them.

use std::fs;
use std::path::{Path, PathBuf};

use super::entry::{self, Entry};
use super::facts::{Asked, Facts};
use super::guard::{Extent, Guard};
use super::walk::{Walk, as_far_as_real, walk};
use crate::attempt::worktree;
use crate::backend::bubblewrap;
use crate::process::path;
use crate::settings::{self, Settings};
use crate::{private, provider, reach};
use nix::errno::Errno;

/// The user's home, if it is known.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

/// Where the entries lead.
pub fn ask(entries: Vec<Entry>, factory: &Path) -> Vec<Asked> {
    let home = home();
    let nowhere = || Walk { places: Vec::new(), links: Vec::new(), end: Err(Errno::ENOENT) };
    let asked = entries.into_iter().map(|entry| {
        let walk = entry.place(factory, home.as_deref()).map_or_else(nowhere, |place| walk(&place));
        Asked { entry, walk }
    });
    asked.collect()
}

/// The facts for these settings; `factory` is a real path.
pub fn facts(factory: &Path, settings: &Settings) -> Facts {
    let temp = as_far_as_real(&std::env::temp_dir());
    let mut facts = Facts {
        guards: guards(factory, settings, &temp),
        attempts: factory.join("attempts"),
        hidden: bubblewrap::hidden(),
        hide: private_places(),
        home: home().map(|home| as_far_as_real(&home)),
        ..Facts::default()
    };
    facts.hide.push(temp.clone());
    facts.temp = temp;
    let mut writes = ask(entry::all_writes(settings), factory);
    facts.guards.extend(writes.iter().flat_map(|one| other_factories(&one.walk, factory)));
    // Outer ones first: what lies in one that is writable does not count by where it leads.
    let home = home();
    writes.sort_by_key(|one| one.entry.place(factory, home.as_deref()).map(|place| place.components().count()));
    for one in writes {
        let place = facts.place(&one);
        facts.writable.extend(place);
    }
    facts
}

/// What must not be seen and is there: kusaw's data folder as a whole, so that nothing made in it later appears, and what
/// links lead to out of it.
fn private_places() -> Vec<PathBuf> {
    let inner = private::ALL.iter().filter_map(|(name, _)| private::place(name));
    let places = private::data().into_iter().chain(inner).map(|place| as_far_as_real(&place));
    places.filter(|place| place.exists()).collect()
}

fn guards(factory: &Path, settings: &Settings, temp: &Path) -> Vec<Guard> {
    let mut guards = Vec::new();
    for (name, what) in private::ALL {
        guards.extend(private::place(name).map(|place| Guard::hidden(as_far_as_real(&place), what)));
    }
    let itself = Extent::Itself;
    guards.push(Guard { read: itself, ..Guard::kept(temp.into(), "the folder of all private temp folders", itself) });
    guards.extend(factory_guards(factory, "the factory"));
    guards.extend(home().map(|home| Guard::kept(as_far_as_real(&home), "your home", itself)));
    let cache = reach::base("XDG_CACHE_HOME", ".cache").map(|cache| as_far_as_real(&cache.join("kusaw")));
    guards.extend(cache.map(|cache| Guard::kept(cache, "what kusaw prepares for launches", Extent::All)));
    guards.extend(programs().into_iter().map(|(place, what)| Guard::kept(place, what, Extent::All)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = path::folders(&path).map(|folder| as_far_as_real(&folder));
    guards.extend(folders.map(|folder| Guard::kept(folder, "a folder of PATH", Extent::Entries)));
    for (name, repo) in &settings.repos {
        let place = worktree::place(&repo.path.value, factory, home().as_deref());
        let git = git_folders(&as_far_as_real(&place)).into_iter();
        guards.extend(git.map(|git| Guard::kept(git, format!("the git folder of repo {name}"), Extent::All)));
    }
    guards
}

fn factory_guards(factory: &Path, name: &str) -> [Guard; 3] {
    [
        Guard::kept(factory.into(), format!("{name}'s folder"), Extent::Itself),
        Guard::kept(factory.join(settings::FILE), format!("{name}'s settings"), Extent::All),
        Guard::kept(factory.join("attempts"), format!("{name}'s folder of attempts"), Extent::All),
    ]
}

/// Factories that an entry lies in, or would be.
fn other_factories(walk: &Walk, own: &Path) -> Vec<Guard> {
    let Ok(end) = &walk.end else { return Vec::new() };
    let above = end.path.ancestors().filter(|above| *above != own && above.join(settings::FILE).exists());
    above.flat_map(|above| factory_guards(above, "another factory")).collect()
}

/// The programs that are started outside, now or in a later run.
fn programs() -> Vec<(PathBuf, String)> {
    let mut programs = Vec::new();
    if let Ok(own) = std::env::current_exe().and_then(|own| own.canonicalize()) {
        let stage = as_far_as_real(&own.with_file_name("kusaw-enter"));
        programs.extend([(own, "kusaw itself".into()), (stage, "kusaw's own stage".into())]);
    }
    let agents = provider::ALL.iter().map(|provider| provider.executable);
    for name in ["bwrap", "git"].into_iter().chain(agents) {
        let found = path::find(name).and_then(|found| found.canonicalize().ok());
        programs.extend(found.map(|real| (real, format!("the program {name}"))));
    }
    for provider in provider::ALL {
        let root = provider::installed(provider).and_then(|(_, root)| root);
        programs.extend(root.map(|root| (root, format!("what {} is installed in", provider.executable))));
    }
    programs
}

/// Where a repository's control files are: its .git, and the git folder that a linked worktree's leads to. Of a bare one itself.
fn git_folders(repo: &Path) -> Vec<PathBuf> {
    let git = repo.join(".git");
    match fs::metadata(&git) {
        Ok(meta) if meta.is_file() => [git.clone()].into_iter().chain(common_folder(repo, &git)).collect(),
        Ok(_) => vec![as_far_as_real(&git)],
        Err(_) if repo.join("HEAD").is_file() => vec![repo.into()],
        Err(_) => Vec::new(),
    }
}

/// gitrepository-layout(5): "gitdir: PATH", and there a file with the path of the common folder.
fn common_folder(repo: &Path, git: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(git).ok()?;
    let own = repo.join(text.strip_prefix("gitdir:")?.trim());
    let common = fs::read_to_string(own.join("commondir")).map_or_else(|_| own.clone(), |to| own.join(to.trim()));
    common.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_git_folders_of_every_kind_of_repository_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(at("main/.git/worktrees/w")).unwrap();
        fs::create_dir_all(at("linked")).unwrap();
        fs::create_dir_all(at("bare")).unwrap();
        fs::write(at("linked/.git"), "gitdir: ../main/.git/worktrees/w\n").unwrap();
        fs::write(at("main/.git/worktrees/w/commondir"), "../..\n").unwrap();
        fs::write(at("bare/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(git_folders(&at("main")), [at("main/.git")]);
        assert_eq!(git_folders(&at("linked")), [at("linked/.git"), at("main/.git")]);
        assert_eq!(git_folders(&at("bare")), [at("bare")]);
        assert!(git_folders(&at("main/.git/worktrees")).is_empty());
    }
}
