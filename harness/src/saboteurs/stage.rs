//! Where faults are put in force: each in a run of the suite of its own, as a process of its own.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::change::Changes;
use super::enumeration::{self, Told};
use super::fault::Fault;
use super::judge::{self, NoRecord, SOUND};
use super::results::Results;
use super::tree::Programs;
use crate::apart;
use crate::record::{Record, millis};
use crate::text::print;

/// A run with a fault in force is over by then, or ended by force: a run takes seconds; where every scenario of a guarantee waits in
/// vain, as for processes that outlive their launcher, some minutes.
const BOUND: Duration = Duration::from_secs(300);

/// The programs, and where their runs leave what they say.
pub struct Stage {
    /// The checkout.
    pub root: PathBuf,
    folder: PathBuf,
    programs: Programs,
}

impl Stage {
    /// Runs lie in `folder`.
    pub fn new(root: PathBuf, folder: PathBuf, programs: Programs) -> Self {
        Self { root, folder, programs }
    }

    /// Without any fault, every guarantee that is used must hold, or a failure would prove nothing.
    ///
    /// # Errors
    /// When it does not.
    pub fn baseline(&self, faults: &[&Fault]) -> Result<(), String> {
        let mut ids: Vec<&str> = faults.iter().map(|fault| fault.breaks.as_str()).chain(SOUND).collect();
        ids.sort_unstable();
        ids.dedup();
        print(&format!("the copy without any fault: {} guarantees and scenarios that must hold\n", ids.len()));
        // All guarantees at once take their time: only what may not end has a bound.
        let record = self.conformance("no-fault", None, &ids, Duration::MAX).map_err(|e| e.why)?;
        let not: Vec<String> = judge::not_sound(&record.scenarios);
        if !not.is_empty() {
            return Err(format!("no fault is in force, and yet:\n  {}\nmend that first", not.join("\n  ")));
        }
        Ok(())
    }

    /// Puts each in force, `jobs` at a time; what came of it is in the results, on the terminal and on disk, at once.
    ///
    /// # Errors
    /// When the results cannot be written.
    pub fn faults(&self, faults: &[&Fault], jobs: usize, results: Results) -> Result<Results, String> {
        let (next, results) = (AtomicUsize::new(0), Mutex::new(results));
        let work = || -> Result<(), String> {
            while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                let began = Instant::now();
                let ids: Vec<&str> = judge::sound(fault).chain([fault.breaks.as_str()]).collect();
                let record = self.conformance(&fault.name, Some(fault), &ids, BOUND);
                let row = judge::row(fault, record.map(|record| record.scenarios), millis(began.elapsed()));
                print(&row.line());
                results.lock().unwrap_or_else(PoisonError::into_inner).add(row)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
            let over =
                workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| Err("a worker panicked".into())));
            over.collect::<Vec<_>>().into_iter().collect::<Result<(), String>>()
        })?;
        Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// What bubblewrap is told without any fault: each option of each kind of start.
    ///
    /// # Errors
    /// When that is not seen.
    pub fn told(&self) -> Result<BTreeSet<Told>, String> {
        let run = self.run("told", None, Some(&enumeration::note()), &enumeration::STARTS)?;
        let (mut command, look) = (run.command, run.out.join("look.sh"));
        std::fs::write(&look, enumeration::look()).map_err(|e| format!("{}: {e}", look.display()))?;
        let shell = File::open(&look).map_err(|e| format!("{}: {e}", look.display()))?;
        command.arg("--keep").stdin(shell);
        let ended = apart::run(command, &run.said, BOUND).map_err(|e| format!("{}: {e}", run.said.display()));
        let _ = std::fs::remove_dir_all(&run.programs);
        if ended?.is_none() {
            return Err(format!("not over after {} s: {}", BOUND.as_secs(), run.said.display()));
        }
        let not = judge::not_sound(&Record::read(&run.out)?.scenarios);
        if !not.is_empty() {
            return Err(format!("no fault is in force, and yet:\n  {}", not.join("\n  ")));
        }
        let text = std::fs::read_to_string(&run.said).map_err(|e| format!("{}: {e}", run.said.display()))?;
        let told = enumeration::read(&text);
        if told.is_empty() {
            return Err(format!("nothing was seen of what bubblewrap is told: {}", run.said.display()));
        }
        Ok(told)
    }

    /// Runs the suite on the programs with this fault in force; its record.
    fn conformance(
        &self,
        name: &str,
        fault: Option<&Fault>,
        ids: &[&str],
        bound: Duration,
    ) -> Result<Record, NoRecord> {
        let change = fault.and_then(|fault| fault.bubblewrap.as_ref()).map(Changes::told);
        let run = self.run(name, fault.filter(|fault| !fault.edits.is_empty()), change.as_deref(), ids)?;
        let ended = apart::run(run.command, &run.said, bound).map_err(|e| format!("{}: {e}", run.said.display()));
        let _ = std::fs::remove_dir_all(&run.programs);
        if ended?.is_none() {
            let why = format!("not over after {} s: {}", bound.as_secs(), run.said.display());
            return Err(NoRecord { why, late: true });
        }
        Record::read(&run.out).map_err(|e| format!("{e}; what it said: {}", run.said.display()).into())
    }

    /// A run, ready to be started, on programs of its own: with this fault in them, and the saboteur in bubblewrap's place if it
    /// is told something.
    fn run(&self, name: &str, fault: Option<&Fault>, change: Option<&[u8]>, ids: &[&str]) -> Result<Run, String> {
        let programs = self.folder.join("programs").join(name);
        let out = self.folder.join("runs").join(name);
        let _ = std::fs::remove_dir_all(&out);
        std::fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
        self.programs.write(&programs, fault)?;
        let own = std::env::current_exe().map_err(|e| format!("own path: {e}"))?;
        let mut command = Command::new(own);
        command.arg("run").arg("--root").arg(&self.root).arg("--programs").arg(&programs).arg("--out").arg(&out);
        if let Some(change) = change {
            let folder = programs.join("bubblewrap");
            self.programs.write_bubblewrap(&folder, change)?;
            command.arg("--bwrap").arg(folder);
        }
        command.args(ids.iter().flat_map(|id| ["--id", id])).stdin(Stdio::null());
        let said = out.join("said.txt");
        Ok(Run { command, programs, out, said })
    }
}

/// A run that can be started.
struct Run {
    command: Command,
    /// Its programs, to be removed afterwards.
    programs: PathBuf,
    /// Where its record goes.
    out: PathBuf,
    /// Where what it says goes.
    said: PathBuf,
}
