//! Where a word is: in files of the host, and in the argv and environment of processes while they run. It is looked for as it
//! is; nothing is changed.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

/// Between two looks at all processes.
const LOOK: Duration = Duration::from_millis(2);

/// How much of a file is looked at together.
const PIECE: usize = 64 << 10;

/// How many files there are below some folders, and those that hold the word. Links are not followed; what goes away meanwhile
/// is not there.
pub fn files<'a>(roots: impl IntoIterator<Item = &'a Path>, word: &[u8]) -> (usize, Vec<PathBuf>) {
    let mut waiting: Vec<PathBuf> = roots.into_iter().map(Path::to_owned).collect();
    let (mut files, mut found) = (0, Vec::new());
    while let Some(path) = waiting.pop() {
        let Ok(meta) = path.symlink_metadata() else { continue };
        if meta.is_dir() {
            waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if meta.is_file() {
            files += 1;
            found.extend(holds(&path, word).then_some(path));
        }
    }
    (files, found)
}

fn holds(path: &Path, word: &[u8]) -> bool {
    let Ok(mut file) = File::open(path) else { return false };
    let (mut bytes, mut kept) = (vec![0; PIECE], 0);
    while let Ok(more @ 1..) = file.read(&mut bytes[kept..]) {
        let all = kept + more;
        if has(&bytes[..all], word) {
            return true;
        }
        // The word may begin here and end in the next piece.
        kept = all.min(word.len() - 1);
        bytes.copy_within(all - kept..all, 0);
    }
    false
}

fn has(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|part| part == word)
}

/// Looks at the processes of the host, again and again.
#[derive(Debug)]
pub struct Watch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Sightings>,
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct Sightings {
    /// Where the word was: `argv of NAME`, `environment of NAME`.
    pub places: BTreeSet<String>,
    /// The names of all processes whose environment was looked at.
    pub looked_at: BTreeSet<String>,
}

impl Watch {
    /// Begins.
    pub fn begin(word: &str) -> Self {
        let (stop, word) = (Arc::new(AtomicBool::new(false)), word.as_bytes().to_owned());
        let ended = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut seen = Sightings::default();
            while !ended.load(Ordering::Relaxed) {
                look(&word, &mut seen);
                sleep(LOOK);
            }
            seen
        });
        Self { stop, thread }
    }

    /// Ends, and says what was seen.
    ///
    /// # Errors
    /// When it broke.
    pub fn end(self) -> Result<Sightings, String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "the watch broke".to_owned())
    }
}

fn look(word: &[u8], seen: &mut Sightings) {
    let own = fs::read_link("/proc/self/ns/pid").ok();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let place = entry.path();
        let read = |name: &str| fs::read(place.join(name)).unwrap_or_default();
        let argv = read("cmdline");
        let end = argv.iter().position(|byte| *byte == 0).unwrap_or(argv.len());
        let name = String::from_utf8_lossy(&argv[..end]).into_owned();
        if has(&argv, word) {
            seen.places.insert(format!("argv of {name}"));
        }
        // In a sandbox is the step, which has it.
        let environment = read("environ");
        if environment.is_empty() || fs::read_link(place.join("ns/pid")).ok() != own {
            continue;
        }
        if has(&environment, word) {
            seen.places.insert(format!("environment of {name}"));
        }
        seen.looked_at.insert(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_across_two_pieces_is_found_and_in_an_argv_too() {
        let folder = std::env::temp_dir().join(format!("search-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        for (name, before) in [("a", 0), ("b", PIECE - 3), ("c", 2 * PIECE - 3)] {
            fs::write(folder.join(name), [&vec![b'.'; before], b"canary".as_slice()].concat()).unwrap();
        }
        fs::write(folder.join("none"), "canar").unwrap();
        let (files, found) = files([folder.as_path()], b"canary");
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!((files, found.len()), (4, 3));
        let watch = Watch::begin("canary-of-this-test");
        let mut child = std::process::Command::new("sh");
        let child = child.args(["-c", "sleep 0.2; :", "canary-of-this-test"]).env("C", "canary-of-this-test");
        assert!(child.status().unwrap().success());
        let seen = watch.end().unwrap();
        assert!(["argv of sh", "environment of sh"].iter().all(|place| seen.places.contains(*place)), "{seen:?}");
    }
}
