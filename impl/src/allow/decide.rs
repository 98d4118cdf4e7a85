//! What the entries of an attempt come to: mounts, or a typed refusal. Pure: ways that were gone and facts of the host in,
//! plain values out. No entry is ever granted by its written name, and none below a place that a step can write: what
//! lies there can be a link tomorrow, or in a moment (bubblewrap CVE-2026-87766, flatpak CVE-2024-42472).

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};

use kusaw_enter::place::Identity;

use super::entry::{Entry, Kind};
use super::facts::{Alone, Asked, Facts, Refused};
use super::shown::Shown;
use super::state::StateFile;
use crate::outcome::{Reason, Refusal};

/// Most mounts for entries. bubblewrap 0.8 reads the whole mount table for every mount: 300 take about 0.2 s, 500 twice as
/// long, 1,000 eight times.
pub const MOST: usize = 300;

/// What an attempt's entries come to. Each mount appears at its own, real path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    /// To mount read-only.
    pub read: Vec<PathBuf>,
    /// To mount writable.
    pub write: Vec<PathBuf>,
    /// Something empty comes over these.
    pub hide: Vec<PathBuf>,
    /// An entry shows the real home, so there is no private one.
    pub home_is_open: bool,
    /// Links on the way to entries, so that the written paths work inside.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Files of an agent's state, which are exchanged rather than mounted.
    pub files: Vec<StateFile>,
    /// Which file or folder each mount is of.
    pub identities: Vec<(PathBuf, Identity)>,
}

/// The mounts, or the first refusal.
pub fn allowed(asked: &[Asked], facts: &Facts) -> Result<Allowed, Refusal> {
    let mut allowed = Allowed::default();
    let mut links = BTreeSet::new();
    for (one, verdict) in asked.iter().zip(judge(asked, facts)) {
        let verdict = verdict.map_err(|refused| refused.of(&one.entry))?;
        if let Ok(end) = one.walk.end.as_ref()
            && one.is_file_of_state()
        {
            let named = PathBuf::from(&one.entry.written);
            allowed.files.push(StateFile { named, real: end.path.clone(), is: end.is });
            continue;
        }
        let is_mount = verdict != Verdict::Covered;
        match (verdict, one.entry.kind) {
            (Verdict::Mount(path), Kind::Read) => allowed.read.push(path),
            (Verdict::Mount(path), Kind::Write | Kind::State) => allowed.write.push(path),
            (Verdict::Covered, _) => {}
        }
        if let (true, Ok(end)) = (is_mount, &one.walk.end) {
            allowed.identities.push((end.path.clone(), end.is));
        }
        if facts.loose(&one.walk).is_none() {
            links.extend(one.walk.links.iter().cloned());
        }
    }
    few_enough(allowed.read.len() + allowed.write.len())?;
    let is_read = |path: &Path| allowed.read.iter().any(|read| read == path);
    // What lies in a hidden place is hidden with it, unless an entry shows it there.
    let is_shown = |path: &Path| {
        let hides = |above: &Path| above != path && facts.hide.iter().any(|place| place == above);
        path.ancestors().find(|above| is_read(above) || hides(above)).is_some_and(is_read)
    };
    allowed.hide = facts.hide.iter().filter(|place| is_shown(place)).cloned().collect();
    allowed.home_is_open =
        facts.home.as_deref().is_some_and(|home| is_shown(home) && !facts.hide.iter().any(|h| h == home));
    allowed.links = links.into_iter().collect();
    Ok(allowed)
}

/// Whether a launch can have so many mounts for entries.
pub fn few_enough(mounts: usize) -> Result<(), Refusal> {
    let what = || format!("allow_read and allow_write come to {mounts} mounts; {MOST} is the most");
    if mounts > MOST { Err(Refusal::new(Reason::TooManyPaths, what())) } else { Ok(()) }
}

/// What one entry comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// A mount of this real path.
    Mount(PathBuf),
    /// Nothing to do: another entry, or the system, has it already.
    Covered,
}

/// The verdict on each entry, in their order.
pub fn judge(asked: &[Asked], facts: &Facts) -> Vec<Result<Verdict, Refused>> {
    let alone: Vec<_> = asked.iter().map(|one| facts.alone(one)).collect();
    let mut order: Vec<(&Path, Kind, usize)> = Vec::new();
    for (i, verdict) in alone.iter().enumerate() {
        if let Ok(Alone::At(path)) = verdict {
            order.push((path, asked[i].entry.kind, i));
        }
    }
    // Outer ones first: they may cover inner ones. Of two at one place the stronger.
    order.sort_by_key(|(path, kind, i)| (path.components().count(), Reverse(*kind), *i));
    let mut shown = Shown::new(facts);
    let mounts: HashSet<usize> =
        order.into_iter().filter(|(path, kind, _)| shown.add(path, *kind)).map(|(_, _, i)| i).collect();
    let verdict = |(i, verdict)| match verdict {
        Ok(Alone::At(path)) if mounts.contains(&i) => Ok(Verdict::Mount(path)),
        Ok(Alone::At(_)) => Ok(Verdict::Covered),
        Ok(Alone::Loose(place, _)) if is_plain(&asked[i].entry) && shown.covers(&place, asked[i].entry.kind) => {
            Ok(Verdict::Covered)
        }
        Ok(Alone::Loose(place, outer)) => Err(loose(&place, &outer)),
        Err(refused) => Err(refused),
    };
    alone.into_iter().enumerate().map(verdict).collect()
}

/// A path with `..` in it may lead out of what covers its beginning.
fn is_plain(entry: &Entry) -> bool {
    !Path::new(&entry.written).components().any(|c| c == Component::ParentDir)
}

fn loose(place: &Path, outer: &Path) -> Refused {
    let why = format!("{} lies in {}, which a step can write: it can become a link", place.display(), outer.display());
    let fix = format!("name {} itself, or move what is needed out of it", outer.display());
    Refused::new(Reason::StepWritablePath, why, fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allow::guard::{Extent, Guard};
    use crate::allow::walk::{End, Walk, What};
    use nix::errno::Errno;

    /// A way without links, to a folder that is there.
    fn plain(path: &str) -> Walk {
        let mut places: Vec<PathBuf> = Path::new(path).ancestors().map(PathBuf::from).collect();
        places.pop();
        places.reverse();
        Walk {
            places,
            links: Vec::new(),
            end: Ok(End { path: path.into(), what: What::Folder, is: Identity::default() }),
        }
    }

    fn entry(kind: Kind, written: &str) -> Entry {
        let name = if kind == Kind::Read { "allow_read" } else { "allow_write" };
        Entry { key: format!("sandbox.{name}"), kind, written: written.into() }
    }

    fn read(path: &str) -> Asked {
        Asked { entry: entry(Kind::Read, path), walk: plain(path).into() }
    }

    fn write(path: &str) -> Asked {
        Asked { entry: entry(Kind::Write, path), walk: plain(path).into() }
    }

    /// `written` leads over the link `link`, with `target` in it, to `real`.
    fn linked(kind: Kind, written: &str, link: &str, target: &str, real: &str) -> Asked {
        let mut walk = plain(real);
        walk.places.splice(0..0, plain(link).places);
        walk.links.push((link.into(), target.into()));
        Asked { entry: entry(kind, written), walk: walk.into() }
    }

    fn facts(writable: &[&str]) -> Facts {
        Facts {
            guards: vec![
                Guard::hidden("/h/d/store".into(), "the secret store"),
                Guard::kept("/f".into(), "the factory's folder", Extent::Itself),
                Guard::kept("/f/attempts".into(), "the factory's folder of attempts", Extent::All),
            ],
            writable: writable.iter().map(PathBuf::from).collect(),
            attempts: ["/f/attempts".into(), "/g/attempts".into()].into(),
            temp: "/var/tmp".into(),
            hidden: vec!["/usr/src".into(), "/usr/local/src".into()],
            hide: vec!["/h/d/store".into(), "/var/tmp".into()],
            home: Some("/h".into()),
            is_root: false,
        }
    }

    fn shown(asked: &[Asked], writable: &[&str]) -> String {
        match allowed(asked, &facts(writable)) {
            Ok(Allowed { read, write, hide, home_is_open, links, .. }) => {
                format!("read {read:?} write {write:?} hide {hide:?} home {home_is_open} links {links:?}")
            }
            Err(refusal) => format!("{refusal}\n{}", refusal.fix()),
        }
    }

    #[test]
    fn what_another_entry_covers_takes_no_mount_and_weakens_nothing() {
        for (asked, mounts) in [
            (vec![write("/a"), read("/a/b")], r#"read [] write ["/a"]"#),
            (vec![read("/a/b"), write("/a"), read("/a/b/c")], r#"read [] write ["/a"]"#),
            (vec![write("/a/b"), read("/a"), read("/a/c"), read("/a/b/c")], r#"read ["/a"] write ["/a/b"]"#),
            (vec![read("/a"), write("/a")], r#"read [] write ["/a"]"#),
            (vec![read("/a"), read("/a"), read("/ab")], r#"read ["/a", "/ab"] write []"#),
            (vec![read("/usr/share/x"), write("/usr/share/y")], r#"read [] write ["/usr/share/y"]"#),
            (vec![read("/usr/src/x"), read("/usr/local")], r#"read ["/usr/src/x", "/usr/local"] write []"#),
            (vec![read("/usr/local/src/x"), read("/usr/local")], r#"read ["/usr/local"] write []"#),
            (vec![read("/var"), read("/var/tmp/x")], r#"read ["/var", "/var/tmp/x"] write []"#),
        ] {
            let shown = shown(&asked, &[]);
            assert!(shown.starts_with(mounts), "{asked:#?}\n{shown}");
        }
    }

    #[test]
    fn an_open_home_keeps_what_is_protected_hidden() {
        insta::assert_snapshot!(shown(&[read("/h")], &[]), @r#"read ["/h"] write [] hide ["/h/d/store"] home true links []"#);
        insta::assert_snapshot!(shown(&[read("/h/d")], &[]), @r#"read ["/h/d"] write [] hide ["/h/d/store"] home false links []"#);
    }

    #[test]
    fn a_link_is_followed_to_its_end_and_made_inside() {
        insta::assert_snapshot!(shown(&[linked(Kind::Read, "/h/l", "/h/l", "/srv/x", "/srv/x")], &[]), @r#"read ["/srv/x"] write [] hide [] home false links [("/h/l", "/srv/x")]"#);
    }

    #[test]
    fn what_is_refused_names_entry_key_and_fix() {
        insta::assert_snapshot!(shown(&[read("/")], &[]), @r#"
        protected-path: sandbox.allow_read: "/": it is the whole machine
        name the folders that the step needs
        "#);
        insta::assert_snapshot!(shown(&[read("/h/d/store/x")], &[]), @r#"
        protected-path: sandbox.allow_read: "/h/d/store/x": it lies in the secret store
        remove the entry, or name a folder that has nothing to do with the secret store
        "#);
        insta::assert_snapshot!(shown(&[linked(Kind::Read, "/l", "/l", "/h/d/store", "/h/d/store")], &[]), @r#"
        protected-path: sandbox.allow_read: "/l": it is the secret store
        remove the entry, or name a folder that has nothing to do with the secret store
        "#);
        insta::assert_snapshot!(shown(&[write("/h")], &[]), @r#"
        protected-path: sandbox.allow_write: "/h": it holds the secret store (/h/d/store)
        name a folder in it that does not hold the secret store
        "#);
        insta::assert_snapshot!(shown(&[write("/f/attempts/a/artifacts")], &[]), @r#"
        protected-path: sandbox.allow_write: "/f/attempts/a/artifacts": it lies in the factory's folder of attempts
        remove the entry, or name a folder that has nothing to do with the factory's folder of attempts
        "#);
        insta::assert_snapshot!(shown(&[read("/var/tmp/kusaw-1/tmp")], &[]), @r#"
        protected-path: sandbox.allow_read: "/var/tmp/kusaw-1/tmp": it lies in an attempt's private temp folder
        remove the entry
        "#);
        insta::assert_snapshot!(shown(&[read("/proc/self/root")], &[]), @r#"
        unmountable-path: sandbox.allow_read: "/proc/self/root": /proc and /dev are the sandbox's own, and devices cannot be opened through a mount
        name a file or folder elsewhere
        "#);
        insta::assert_snapshot!(shown(&[write("/sys/fs/cgroup")], &[]), @r#"
        unmountable-path: sandbox.allow_write: "/sys/fs/cgroup": what is written in /sys changes the machine
        name it in allow_read
        "#);
        let walk = Walk { end: Err(Errno::ELOOP), ..plain("/w/loop") };
        let lost = Asked { entry: entry(Kind::Write, "w/loop/x"), walk: walk.into() };
        insta::assert_snapshot!(shown(&[lost], &[]), @r#"
        unresolved-path: sandbox.allow_write: "w/loop/x": /w/loop: ELOOP: Too many symbolic links encountered
        name a path that is there and can be reached, or remove the entry
        "#);
    }

    #[test]
    fn below_what_a_step_can_write_nothing_is_followed() {
        // The entry's own attempt has it writable anyway.
        let planted = || linked(Kind::Read, "/w/sub", "/w/sub", "/h/.ssh", "/h/.ssh");
        insta::assert_snapshot!(shown(&[write("/w"), planted()], &["/w"]), @r#"read [] write ["/w"] hide [] home false links []"#);
        // Another step's: refused, wherever it leads.
        insta::assert_snapshot!(shown(&[planted()], &["/w"]), @r#"
        step-writable-path: sandbox.allow_read: "/w/sub": /w/sub lies in /w, which a step can write: it can become a link
        name /w itself, or move what is needed out of it
        "#);
        insta::assert_snapshot!(shown(&[read("/f/attempts/b/worktrees/demo/x")], &[]), @r#"
        step-writable-path: sandbox.allow_read: "/f/attempts/b/worktrees/demo/x": /f/attempts/b/worktrees/demo/x lies in /f/attempts/b/worktrees/demo, which a step can write: it can become a link
        name /f/attempts/b/worktrees/demo itself, or move what is needed out of it
        "#);
        let up = Asked { entry: entry(Kind::Read, "/w/sub/../../h/.ssh"), ..planted() };
        assert!(shown(&[write("/w"), up], &["/w"]).starts_with("step-writable-path"));
        let others = linked(Kind::Read, "/g/attempts/b/artifacts/l", "/g/attempts/b/artifacts/l", "/h/.ssh", "/h/.ssh");
        assert!(shown(&[others], &[]).starts_with("step-writable-path"));
        for fine in
            ["/w", "/g/attempts/b/artifacts", "/f/attempts/b/artifacts", "/f/attempts/b/worktrees/demo", "/f/attempts"]
        {
            assert!(shown(&[read(fine)], &["/w"]).starts_with("read"), "{fine}");
        }
    }

    #[test]
    fn only_what_is_not_covered_counts() {
        let many = |n: usize| (0..n).map(|i| read(&format!("/a/{i}"))).collect::<Vec<_>>();
        assert!(allowed(&many(MOST), &facts(&[])).is_ok());
        assert_eq!(allowed(&many(MOST + 1), &facts(&[])).unwrap_err().reason, Reason::TooManyPaths);
        let covered: Vec<Asked> = many(5_000).into_iter().chain([read("/a")]).collect();
        assert_eq!(allowed(&covered, &facts(&[])).unwrap().read, [Path::new("/a")]);
    }
}
