//! The engine: runs the selected features with cucumber, inside the lab, and judges every scenario.
//!
//! Cucumber's own pass and fail are not used: the verdict comes from what the scene kept. What cucumber could not run, a
//! step without a definition or one that broke, is an error.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::rc::Rc;
use std::time::Instant;

use cucumber::event::ScenarioFinished;
use cucumber::{World as _, cli, parser, writer};
use futures::FutureExt;
use gherkin::Feature;

use crate::driver::Manifest;
use crate::features::Case;
use crate::lab::{home, keyring, services};
use crate::record::{LaunchLine, Recorder, ScenarioLine, millis};
use crate::scene::Scene;
use crate::text::print;
use crate::verdict::{Course, Facts, judge};

/// How the run is shown while it runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// A line a scenario.
    pub verbose: bool,
    /// Number of scenarios.
    pub total: usize,
    /// Whether what the scenarios leave stays there to be looked at.
    pub keep: bool,
}

/// Runs the features, `jobs` scenarios at a time; the recorder comes back with a line for each.
///
/// # Errors
/// When the runtime cannot be started.
pub fn run(
    features: Vec<Feature>,
    manifest: &Manifest,
    recorder: Recorder,
    jobs: usize,
    progress: Progress,
) -> Result<Recorder, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    let recorder = Rc::new(RefCell::new(recorder));
    let (shared, manifest) = (Rc::clone(&recorder), manifest.clone());
    let began: Rc<RefCell<std::collections::HashMap<String, Instant>>> = Rc::default();
    let begin = Rc::clone(&began);
    let hook_began = Rc::clone(&began);
    let cucumber = Scene::cucumber::<&str>()
        .with_parser(Parsed)
        .with_writer(Silent)
        .with_default_cli()
        .max_concurrent_scenarios(jobs)
        .before(move |feature, rule, scenario, _| {
            let key = Case::of(feature, rule, scenario).name();
            begin.borrow_mut().insert(key, Instant::now());
            futures::future::ready(()).boxed_local()
        })
        .after(move |feature, rule, scenario, finished, scene| {
            let case = Case::of(feature, rule, scenario);
            let mut line = line(&case, &manifest, finished, scene.as_deref());
            if let (false, Some(scene)) = (progress.keep, &scene) {
                home::clear(&scene.nonce);
            }
            line.ms = hook_began.borrow().get(&case.name()).map_or(0, |t| millis(t.elapsed()));
            let mut recorder = shared.borrow_mut();
            progress.show(&line, recorder.lines.len() + 1);
            if let Err(e) = recorder.add(line) {
                eprintln!("conformance: the record cannot be written: {e}");
            }
            futures::future::ready(()).boxed_local()
        });
    let keys = keyring::Keys::add().map_err(|e| format!("the lab's keyrings: {e}"))?; // of this thread, which starts all
    let started = runtime.block_on(async {
        services::start()?;
        cucumber.run(features).await;
        Ok::<_, std::io::Error>(())
    });
    drop(keys);
    started.map_err(|e| format!("the lab's services: {e}"))?;
    progress.clear();
    Rc::try_unwrap(recorder).map(RefCell::into_inner).map_err(|_| "a scenario is still running".to_owned())
}

fn line(case: &Case, manifest: &Manifest, finished: &ScenarioFinished, scene: Option<&Scene>) -> ScenarioLine {
    let course = match (finished, scene) {
        (_, Some(scene)) if matches!(scene.course, Course::NotAsked(..)) => scene.course.clone(),
        (ScenarioFinished::StepSkipped, _) => Course::Broken("a step has no definition".to_owned()),
        (ScenarioFinished::StepFailed(_, _, error), _) => Course::Broken(plain(&error.to_string())),
        (ScenarioFinished::BeforeHookFailed(_), _) | (_, None) => {
            Course::Broken("the scenario did not start".to_owned())
        }
        (ScenarioFinished::StepPassed, Some(scene)) => scene.course.clone(),
    };
    let unfinished = scene.and_then(Scene::unfinished);
    let expectation = manifest.expectation(&case.id, &case.case, std::env::consts::OS);
    let expected = expectation.map(|e| (e.outcome.verdict(), e.told()));
    let left_out = manifest.leaves_out(&case.id, &case.case, std::env::consts::OS);
    let (verdict, why) = judge(&Facts {
        claimed: manifest.claims(&case.id, case.is_extra()),
        left_out: left_out.as_deref(),
        expected: expected.as_ref().map(|(verdict, why)| (*verdict, why.as_str())),
        course,
        unfinished: unfinished.as_deref(),
        findings: scene.map(|s| s.findings.as_slice()).unwrap_or_default(),
        controls: scene.map(|s| s.controls.as_slice()).unwrap_or_default(),
    });
    let mut line = ScenarioLine::new(case, verdict, why);
    if let Some(scene) = scene {
        line.findings.clone_from(&scene.findings);
        line.controls.clone_from(&scene.controls);
        line.launches = scene.launches.iter().map(LaunchLine::of).collect();
    }
    line
}

/// What a step said, without cucumber's words around it.
fn plain(error: &str) -> String {
    error.trim_start_matches("Step panicked. Captured output: ").to_owned()
}

impl Progress {
    fn show(self, line: &ScenarioLine, done: usize) {
        if self.verbose {
            let why = crate::text::line(line.why.as_bytes(), 2000);
            print(&format!("  {:<16} {} ({} ms): {why}\n", line.verdict.word(), line.name(), line.ms));
        } else if std::io::stderr().is_terminal() {
            eprint!(
                "\r\x1b[K  {done} of {} · {}/{}",
                self.total,
                line.id,
                crate::text::line(line.title.as_bytes(), 60)
            );
        }
    }

    fn clear(self) {
        if !self.verbose && std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
    }
}

/// Features that are parsed already.
struct Parsed;

impl cucumber::Parser<Vec<Feature>> for Parsed {
    type Cli = cli::Empty;
    type Output = futures::stream::Iter<std::vec::IntoIter<parser::Result<Feature>>>;

    fn parse(self, features: Vec<Feature>, _: cli::Empty) -> Self::Output {
        futures::stream::iter(features.into_iter().map(Ok).collect::<Vec<_>>())
    }
}

/// Cucumber's events are not shown: the `after` hook keeps everything.
struct Silent;

impl cucumber::Writer<Scene> for Silent {
    type Cli = cli::Empty;

    async fn handle_event(
        &mut self,
        _: parser::Result<cucumber::Event<cucumber::event::Cucumber<Scene>>>,
        _: &cli::Empty,
    ) {
    }
}

impl writer::Normalized for Silent {}
