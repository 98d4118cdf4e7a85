//! Where the protected places of this user and these settings are: whatever a step could use to see what it must not, or to
//! steer a later run. A place is protected together with every link on the way to it: who replaces one leads elsewhere.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

use super::guard::{Extent, Guard};
use super::walk::{as_far_as_real, walk};
use crate::git::{folders, key, worktree};
use crate::process::path;
use crate::serve::place;
use crate::settings::{self, Settings};
use crate::{private, provider, reach};

/// The protected places.
#[derive(Debug, Default)]
pub struct Guards {
    /// In the order in which they are asked. All places are real.
    pub all: Vec<Guard>,
    others: HashSet<PathBuf>,
}

impl Guards {
    /// Those of these settings; `factory` is a real path, `temp` the folder for temporary files as it is named.
    pub fn of(factory: &Path, settings: &Settings, temp: &Path) -> Guards {
        let mut guards = Guards::default();
        private::places().into_iter().for_each(|(place, what)| guards.add(Guard::hidden(place, what)));
        let itself = Extent::Itself;
        guards
            .add(Guard { read: itself, ..Guard::kept(temp.into(), "the folder of all private temp folders", itself) });
        guards.add_factory(factory, "the factory", None);
        guards.add(Guard::kept(settings.file.clone(), "the factory's settings", Extent::All));
        reach::own_home().into_iter().for_each(|home| guards.add(Guard::kept(home, "your home", itself)));
        let cache = reach::base("XDG_CACHE_HOME", ".cache").map(|cache| cache.join("kusaw"));
        cache.into_iter().for_each(|cache| {
            guards.add(Guard::kept(cache, "what kusaw prepares for launches", Extent::All));
        });
        programs()
            .into_iter()
            .for_each(|(place, what)| guards.add(Guard { program: true, ..Guard::kept(place, what, Extent::All) }));
        if geteuid().is_root() {
            // Nobody else can write there, and all that runs outside comes from it.
            let system = ["/usr", "/lib", "/lib64"].map(|place| Guard::kept(place.into(), "the system", Extent::All));
            system.into_iter().for_each(|guard| guards.add(guard));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        path::folders(&path).for_each(|folder| {
            guards.add(Guard { program: true, ..Guard::kept(folder, "a folder of PATH", Extent::Entries) });
        });
        for (name, repo) in &settings.repos {
            let place = worktree::place(&repo.path.value, factory, reach::own_home().as_deref());
            guards.add(Guard::kept(place.clone(), format!("repo {name}"), Extent::Nothing));
            for git in folders::control(&as_far_as_real(&place)) {
                guards.add(Guard::kept(git, format!("the git folder of repo {name}"), Extent::All));
            }
            // Who replaces it has its own key sign.
            let sign = repo.sign.iter().map(|sign| worktree::place(&sign.value, factory, reach::own_home().as_deref()));
            for key in sign.flat_map(|public| key::private(&public).into_iter().chain([public])) {
                guards.add(Guard::kept(key, format!("the key that signs for repo {name}"), Extent::All));
            }
        }
        guards
    }

    /// Another factory.
    pub fn add_other(&mut self, factory: &Path) {
        if self.others.insert(factory.into()) {
            let file = factory.join(settings::FILE);
            let fix = format!("name a folder that has nothing to do with it; remove {file:?} if a step left it there");
            self.add_factory(factory, "another factory", Some(fix));
        }
    }

    fn add_factory(&mut self, factory: &Path, name: &str, fix: Option<String>) {
        for (place, what, write) in [
            (factory.into(), "folder", Extent::Itself),
            (factory.join(settings::FILE), "settings", Extent::All),
            (factory.join("attempts"), "folder of attempts", Extent::All),
        ] {
            self.add(Guard { fix: fix.clone(), ..Guard::kept(place, format!("{name}'s {what}"), write) });
        }
        self.add(Guard::hidden(factory.join(place::FOLDER), &format!("the socket of {name}'s proxy")));
    }

    /// One whose place is a path as it is named.
    fn add(&mut self, guard: Guard) {
        for (link, _) in walk(&guard.place).links {
            let what = format!("a link to {}", guard.what);
            self.all.push(Guard { program: guard.program, ..Guard::kept(link, what, Extent::Itself) });
        }
        self.all.push(Guard { place: as_far_as_real(&guard.place), ..guard });
    }
}

/// The programs that are started outside, now or in a later run.
fn programs() -> Vec<(PathBuf, String)> {
    let mut programs = Vec::new();
    if let Ok(own) = std::env::current_exe() {
        let stage = own.with_file_name("kusaw-enter");
        programs.extend([(own, "kusaw itself".into()), (stage, "kusaw's own stage".into())]);
    }
    let agents = provider::ALL.iter().flat_map(|provider| provider.executables.iter().copied());
    for name in ["bwrap", "git", key::PROGRAM].into_iter().chain(agents) {
        programs.extend(path::find(name).map(|found| (found, format!("the program {name}"))));
    }
    for provider in provider::ALL {
        let roots = provider::installed(provider).map(|installed| installed.roots).unwrap_or_default();
        programs.extend(roots.into_iter().map(|root| (root, format!("what {} is installed in", provider.name))));
    }
    programs
}
