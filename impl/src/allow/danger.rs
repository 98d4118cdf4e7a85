//! W2: what an entry opens although it should rather stay closed. It is granted as written all the same; the user is told
//! what, and what to write instead. A table of places and a pure function over it.

use std::path::{Path, PathBuf};

use super::entry::Kind;
use super::facts::{Asked, Facts};
use super::finding::finding;
use super::guard::{Extent, Guard};
use super::look::Look;
use super::walk::{What, as_far_as_real};
use crate::finding::Finding;
use crate::git::worktree;
use crate::reach;
use crate::settings::Settings;
use crate::warning::Warning;

/// The code in reports.
pub const CODE: &str = Warning::Opens.code();

const LOGIN: &str = "an agent's login";

/// Of the home: keys and logins.
const SECRETS: &[(&str, &str)] = &[
    (".ssh", "SSH keys"),
    (".gnupg", "GnuPG keys"),
    (".aws", "AWS credentials"),
    (".azure", "Azure credentials"),
    (".config/gcloud", "Google Cloud credentials"),
    (".kube", "Kubernetes credentials"),
    (".docker", "Docker credentials"),
    (".config/containers", "container registry credentials"),
    (".config/gh", "the GitHub login"),
    (".config/git/credentials", "git credentials"),
    (".git-credentials", "git credentials"),
    (".netrc", "passwords"),
    (".npmrc", "npm tokens"),
    (".pypirc", "PyPI tokens"),
    (".cargo/credentials.toml", "crates.io tokens"),
    (".gem/credentials", "RubyGems tokens"),
    (".m2/settings.xml", "Maven credentials"),
    (".gradle/gradle.properties", "Gradle credentials"),
    (".terraform.d/credentials.tfrc.json", "Terraform credentials"),
    (".config/age", "age keys"),
    (".config/sops", "age keys"),
    (".password-store", "passwords"),
    (".local/share/keyrings", "the keyring"),
    (".local/share/kwalletd", "the wallet"),
    (".mozilla", "browser data"),
    (".config/google-chrome", "browser data"),
    (".config/chromium", "browser data"),
    (".claude", LOGIN),
    (".claude.json", LOGIN),
    (".cursor", LOGIN),
    (".config/cursor", LOGIN),
    (".codex", LOGIN),
    (".gemini", LOGIN),
    (".bash_history", "the shell's history"),
    (".zsh_history", "the shell's history"),
];

/// Of the home: what is executed or obeyed outside, so not to be written.
const STARTED: &[(&str, &str)] = &[
    (".bashrc", "a shell start file"),
    (".bash_profile", "a shell start file"),
    (".bash_login", "a shell start file"),
    (".bash_logout", "a shell start file"),
    (".profile", "a shell start file"),
    (".zshrc", "a shell start file"),
    (".zshenv", "a shell start file"),
    (".zprofile", "a shell start file"),
    (".zlogin", "a shell start file"),
    (".config/fish", "shell start files"),
    (".xprofile", "a session start file"),
    (".config/autostart", "what the session starts"),
    (".config/systemd", "what the session starts"),
    (".config/environment.d", "what the session starts"),
    (".local/share/applications", "what the desktop starts"),
    (".local/share/systemd", "what the session starts"),
    (".local/bin", "programs"),
    (".gitconfig", "git's settings"),
    (".config/git", "git's settings"),
    (".vimrc", "an editor start file"),
    (".vim", "editor start files"),
    (".config/nvim", "editor start files"),
    (".vscode", "editor extensions"),
];

/// Of the home: so full of the above that it counts by itself, but not what lies in it.
const CROWDED: &[(&str, &str)] =
    &[(".config", "settings and logins of many programs"), (".local/share", "data and keys of many programs")];

/// Services of the host.
const SERVICES: &[(&str, &str)] = &[
    ("/run/docker.sock", "Docker's socket, which is as good as root"),
    ("/run/podman", "Podman's socket"),
    ("/run/containerd", "containerd's socket"),
    ("/run/dbus", "the system's D-Bus"),
    ("/run/systemd", "systemd's sockets"),
    ("/run/user", "the session's sockets"),
];

/// Of the machine: what to log in with.
const LOGINS: &[&str] = &["/etc/shadow", "/etc/gshadow", "/etc/ssl/private", "/etc/sudoers", "/etc/sudoers.d"];

/// Of the machine: what it starts and obeys.
const OBEYED: &[&str] = &["/etc", "/var/spool/cron"];

/// The same, but only root can write there, or others have their own folders in it.
const OBEYED_BY_ROOT: &[&str] = &["/boot", "/opt", "/usr", "/var/lib"];

/// A place that is better not opened.
#[derive(Debug, Clone)]
pub struct Danger {
    place: PathBuf,
    what: String,
    /// Told for this kind of entry, and a stronger one.
    from: Kind,
    /// Told also where an entry only lies in it.
    within: bool,
    /// It stays closed, which is always told.
    closed: bool,
    /// An agent's state may be in it all the same.
    of_agents: bool,
}

/// All of them on this host, for these settings; `factory` is a real path.
pub fn all(factory: &Path, settings: &Settings, facts: &Facts) -> Vec<Danger> {
    let danger = |place: PathBuf, what: &str| Danger {
        place,
        what: what.into(),
        from: Kind::Read,
        within: true,
        closed: false,
        of_agents: false,
    };
    let home = facts.home.as_ref();
    let whole = |home: &PathBuf| danger(home.clone(), "your home with its keys, logins and start files");
    let mut all: Vec<Danger> = home.map(|home| Danger { within: false, ..whole(home) }).into_iter().collect();
    all.extend(SERVICES.iter().map(|(place, what)| danger(place.into(), what)));
    let run = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|run| run.is_absolute());
    all.extend(run.map(|run| danger(as_far_as_real(&run), "the session's sockets")));
    if Path::new("/run/WSL").exists() {
        all.extend(["/run/WSL", "/mnt"].map(|place| danger(place.into(), "Windows")));
    }
    all.extend(LOGINS.iter().map(|place| danger(place.into(), "the machine's passwords and keys")));
    let of_root = if facts.is_root { OBEYED_BY_ROOT } else { &[] };
    let obeyed =
        |place: &&str| Danger { from: Kind::Write, ..danger(place.into(), "what the system starts and obeys") };
    all.extend(OBEYED.iter().chain(of_root).map(obeyed));
    let homes = facts.is_root.then(|| Danger { within: false, ..danger("/home".into(), "the homes of users") });
    all.extend(homes);
    let closed = facts.guards.iter().filter(|guard| guard.read == Extent::All);
    let told = |guard: &Guard| danger(guard.place.clone(), &format!("{}, which stays closed", guard.what));
    all.extend(closed.map(|guard| Danger { closed: true, ..told(guard) }));
    all.push(danger(factory.join("attempts"), "the folders of all attempts"));
    for (name, repo) in &settings.repos {
        let place = worktree::place(&repo.path.value, factory, reach::own_home().as_deref());
        all.push(Danger { of_agents: true, ..danger(as_far_as_real(&place), &format!("the repo {name}")) });
    }
    let Some(home) = home else { return all };
    let below = |(name, what): &(&str, &str)| danger(home.join(name), what);
    all.extend(SECRETS.iter().map(|one| Danger { of_agents: one.1 == LOGIN, ..below(one) }));
    all.extend(CROWDED.iter().map(|one| Danger { within: false, ..below(one) }));
    all.extend(STARTED.iter().map(|one| Danger { from: Kind::Write, ..below(one) }));
    all
}

/// What of the agent's state would be open there, if it is anything but an agent's.
pub fn of_state(path: &Path, dangers: &[Danger]) -> Option<String> {
    let others: Vec<Danger> = dangers.iter().filter(|danger| !danger.of_agents).cloned().collect();
    covered(Kind::State, path, &others).into_iter().next()
}

/// W2 for one entry, if there is something to tell; without a look, by the names of places alone.
pub fn warning(asked: &Asked, dangers: &[Danger], look: Option<&mut Look>) -> Option<Finding> {
    let Asked { entry, walk } = asked;
    let end = walk.end.as_ref().ok()?;
    let mut told = match end.path == Path::new("/") {
        true => vec!["covers the whole machine".into()],
        false => covered(entry.kind, &end.path, dangers),
    };
    let mut fix = match told.is_empty() {
        true => "name a folder without it",
        false => "remove the entry, or name only the folders and files in it that the step needs",
    };
    if end.what == What::Socket {
        told.push("is a socket: whoever can read it can connect to it".into());
        fix = "remove the entry, unless the step is to use that service";
    }
    if let Some(look) = look.filter(|_| end.what == What::Folder) {
        let found = look.at(&end.path);
        told.extend(holds("a socket, and read-only does not stop a connection", &found.sockets));
        if entry.kind == Kind::Write {
            let runs = "a checkout: what a step writes into its hooks and config runs when you use git there";
            told.extend(holds(runs, &found.checkouts));
        }
    }
    let what = told.join("; ");
    (!told.is_empty()).then(|| finding(CODE, entry, what, fix))
}

fn holds(what: &str, places: &[PathBuf]) -> Option<String> {
    let first = places.first()?;
    let more = if places.len() > 1 { format!(" and {} more", places.len() - 1) } else { String::new() };
    Some(format!("holds {what}: {first:?}{more}"))
}

/// Most places named for one entry.
const MOST: usize = 5;

fn covered(kind: Kind, path: &Path, dangers: &[Danger]) -> Vec<String> {
    let dangers = || dangers.iter().filter(|danger| danger.from <= kind);
    let outermost = |danger: &&Danger| {
        let has_outer = |outer: &Danger| {
            danger.place != outer.place && danger.place.starts_with(&outer.place) && outer.place.starts_with(path)
        };
        danger.closed || !dangers().any(has_outer)
    };
    let told = dangers().filter_map(|danger| {
        if danger.place.starts_with(path) {
            return Some(danger).filter(outermost).map(|danger| format!("covers {}", danger.what));
        }
        (danger.within && path.starts_with(&danger.place)).then(|| format!("lies in {}", danger.what))
    });
    let mut told: Vec<String> = told.collect();
    told.dedup();
    let more = told.len().saturating_sub(MOST);
    told.truncate(MOST);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(kind: Kind, path: &str) -> String {
        told_to(false, kind, path)
    }

    fn told_to(is_root: bool, kind: Kind, path: &str) -> String {
        let facts = Facts {
            is_root,
            home: Some("/home/dev".into()),
            guards: vec![Guard::hidden("/home/dev/.local/share/kusaw/store".into(), "the secret store")],
            ..Facts::default()
        };
        let yaml = b"repos: {demo: {path: /srv/demo}}\nsteps: {s: {run: [x]}}";
        let settings = crate::settings::read("k".as_ref(), yaml).unwrap();
        covered(kind, path.as_ref(), &all("/srv/f".as_ref(), &settings, &facts)).join("; ")
    }

    #[test]
    fn what_covers_or_lies_in_a_dangerous_place_is_told() {
        for (path, what) in [
            ("/home/dev/.ssh", "covers SSH keys"),
            ("/home/dev/.ssh/id", "lies in SSH keys"),
            ("/home/dev/.config/gh/hosts.yml", "lies in the GitHub login"),
            ("/home/dev/.config", "covers settings and logins of many programs"),
            ("/run/docker.sock", "covers Docker's socket, which is as good as root"),
            ("/srv/demo/src", "lies in the repo demo"),
            ("/srv", "covers the folders of all attempts; covers the repo demo"),
        ] {
            assert_eq!(told(Kind::Read, path), what, "{path}");
        }
        assert_eq!(
            told(Kind::Read, "/home"),
            "covers your home with its keys, logins and start files; covers the secret store, which stays closed"
        );
        for fine in ["/home/dev/data", "/opt/data", "/home/dev/.config/nvim", "/home/dev/.bashrc", "/usr/share"] {
            assert_eq!(told(Kind::Read, fine), "", "{fine}");
        }
        assert_eq!(told(Kind::Write, "/home/dev/.bashrc"), "covers a shell start file");
        assert_eq!(told(Kind::Read, "/etc"), "covers the machine's passwords and keys");
        assert_eq!(told(Kind::Write, "/etc/cron.d"), "lies in what the system starts and obeys");
    }

    #[test]
    fn root_is_told_what_only_root_can_open() {
        for (kind, path, what) in [
            (Kind::Write, "/usr/local/share/x", "lies in what the system starts and obeys"),
            (Kind::Write, "/opt", "covers what the system starts and obeys"),
            (Kind::Write, "/var/lib/x", "lies in what the system starts and obeys"),
            (Kind::Read, "/home", "covers the homes of users; covers the secret store, which stays closed"),
        ] {
            assert_eq!(told_to(true, kind, path), what, "{path}");
        }
        assert_eq!(told(Kind::Write, "/opt/data"), "");
        assert_eq!(told_to(true, Kind::Read, "/opt/data"), "");
    }
}
