//! A run, inside the lab: the scenarios, the record, the report, the exit code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::arguments::{RunArgs, Share};
use super::output::Files;
use super::prepared::Prepared;
use crate::driver::expectation::{Deviation, Expectation};
use crate::engine::{self, Progress};
use crate::lab::programs::Folder;
use crate::lab::root::Supplies;
use crate::lab::{DRIVER, DRIVER_BIN, Lab, OTHER_BUBBLEWRAP, PROBE, UID};
use crate::record::{RECORD, Recorder, Run, millis};
use crate::scene::{CONTEXT, Context};
use crate::{available, features, host, smoke};

/// Runs the selected features; the exit code.
pub fn inside(lab: &Lab, prepared: Prepared, share: Share, mut files: Files, args: &RunArgs) -> Result<u8, String> {
    let Prepared { catalogue, manifest, beside, supplies, commit, mut facts, digests: mut all_digests, .. } = prepared;
    let Share { mut features, selected, selected_in_all, unclaimed } = share;
    if let Some(version) = lab.backend.as_deref().and_then(|b| host::first_line(b, &["--version"])) {
        facts.insert("backend".to_owned(), version);
    }
    let blocked = available::why_not(lab, &manifest);
    features::mark_not_asked(&mut features, &manifest, &catalogue, blocked.as_deref());
    all_digests.extend(digests(&supplies, lab));
    let deviates = |entry: &&Expectation| entry.outcome != Deviation::NotClaimed;
    let here = manifest.expect.iter().filter(deviates).filter(|entry| entry.is_on(std::env::consts::OS));
    let run = Run {
        record: RECORD,
        harness: format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
        commit,
        driver: manifest.name.clone(),
        manifest: beside,
        driver_version: smoke::version(&manifest),
        driver_kind: manifest.kind,
        homepage: manifest.homepage.clone(),
        about: manifest.about.clone(),
        sources: manifest.sources.clone(),
        start: lab.start.word().to_owned(),
        uid: UID,
        host: facts,
        digests: all_digests,
        started: humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string(),
        selected,
        selection: args.selection.told(),
        shard: args.shard,
        selected_in_all,
        unclaimed,
        expect: here.map(|entry| entry.id.clone()).collect(),
        merged: Vec::new(),
    };
    let recorder = Recorder::begin(files.record()?, &run).map_err(|e| format!("the record: {e}"))?;
    if CONTEXT.set(Context { manifest: manifest.clone(), lab: lab.clone() }).is_err() {
        return Err("a run was prepared twice".to_owned());
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.unwrap_or(4 * cores).max(1);
    let progress = Progress { verbose: args.verbose, total: selected, keep: args.keep };
    let began = Instant::now();
    let mut recorder = engine::run(features, &manifest, recorder, jobs, progress)?;
    let ms = millis(began.elapsed());
    if recorder.lines.len() != selected {
        let run = recorder.lines.len(); // a record without an end, and no report: nobody takes it for whole
        return Err(format!("{selected} scenarios were selected, {run} are in the record; run the suite again"));
    }
    recorder.end(ms).map_err(|e| format!("the record: {e}"))?;
    let mut lines = std::mem::take(&mut recorder.lines);
    lines.sort_by(|a, b| (&a.id, a.line).cmp(&(&b.id, b.line)));
    files.tell(&run, &lines, &catalogue, ms)
}

fn digests(supplies: &Supplies, lab: &Lab) -> BTreeMap<String, String> {
    let own = supplies.programs.iter().map(|p| (p.name.clone(), PathBuf::from(DRIVER_BIN).join(&p.name)));
    let other = supplies
        .bubblewrap
        .iter()
        .map(|p| (format!("bubblewrap/{}", p.name), Path::new(OTHER_BUBBLEWRAP).join(&p.name)));
    let backend = lab.backend.iter().map(|path| ("backend".to_owned(), path.clone()));
    let folder = |f: &Folder| Some((f.name.clone(), host::digest_of_folder(&Path::new(DRIVER).join(&f.name))?));
    let folders = supplies.folders.iter().filter_map(folder);
    own.chain(other)
        .chain(backend)
        .filter_map(|(name, path)| Some((name, host::digest(&path)?)))
        .chain(folders)
        .chain(host::digest_of_probe(Path::new(PROBE)).map(|digest| ("probe".to_owned(), digest)))
        .collect()
}
