//! Wall time and CPU of whole process trees, the programs taking turns. What a program does not reap itself is reparented to
//! the bench (PR_SET_CHILD_SUBREAPER), waited for and counted.

use std::io::{self, Read};
use std::process::{Child, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::prctl::set_child_subreaper;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};

use crate::programs::Program;
use crate::report::median;

/// Between two launches, for the kernel to put away the last one.
const PAUSE: Duration = Duration::from_millis(6);

/// For what a program leaves behind to end.
const LEFT: Duration = Duration::from_secs(5);

/// Launches that only warm the caches.
const WARM: usize = 3;

/// One launch, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    pub wall: f64,
    pub cpu: f64,
    /// Of the wall time, until the step starts, and after its end; of what is not marked, nothing.
    pub before: f64,
    pub after: f64,
}

impl Sample {
    /// From the step's start to its end.
    pub fn step(&self) -> f64 {
        self.wall - self.before - self.after
    }
}

/// Fills the samples of all programs, one place a round. One that does not do what it should ends the bench.
pub fn rounds(programs: &mut [Program], rounds: usize) -> io::Result<()> {
    set_child_subreaper(true)?;
    for round in 0..WARM + rounds {
        for program in &mut *programs {
            let turn = round < WARM || (round - WARM).is_multiple_of(program.every);
            let sample = if turn { launch(program)? } else { None };
            if round >= WARM {
                program.samples.push(sample);
            }
        }
    }
    Ok(())
}

/// Nothing of what cannot be launched here.
fn launch(program: &mut Program) -> io::Result<Option<Sample>> {
    let Some(command) = &mut program.command else { return Ok(None) };
    sleep(PAUSE);
    if program.marked {
        command.stdout(Stdio::piped());
    }
    let (used_before, began) = (used()?, Instant::now());
    let mut child = command.spawn()?;
    let marks = marks(&mut child)?;
    let status: ExitStatus = child.wait()?;
    let ended = Instant::now();
    if status.code() != Some(program.exit_code) || program.marked != marks.is_some() {
        let what = format!("{}: {status}, not {}, or no marks: {command:?}", program.name, program.exit_code);
        return Err(io::Error::other(what));
    }
    reap_the_rest(program.name)?;
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let (before, after) = marks.map_or((0.0, 0.0), |(start, end)| (ms(start - began), ms(ended - end)));
    let sample = Sample { wall: ms(ended - began), cpu: used()? - used_before, before, after };
    if let Some(tidy) = &mut program.tidy {
        tidy.status()?;
    }
    Ok(Some(sample))
}

/// When the first byte and the last came through the pipe, if there is one.
fn marks(child: &mut Child) -> io::Result<Option<(Instant, Instant)>> {
    let Some(mut pipe) = child.stdout.take() else { return Ok(None) };
    let (mut byte, mut marks) = ([0], None);
    while pipe.read(&mut byte)? > 0 {
        let now = Instant::now();
        marks = Some((marks.map_or(now, |(first, _)| first), now));
    }
    Ok(marks)
}

/// Waits for what has become a child of the bench.
pub fn reap_the_rest(name: &str) -> io::Result<()> {
    let began = Instant::now();
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => return Ok(()),
            Ok(WaitStatus::StillAlive) if began.elapsed() > LEFT => {
                return Err(io::Error::other(format!("{name} leaves processes behind")));
            }
            Ok(WaitStatus::StillAlive) => sleep(Duration::from_millis(1)),
            waited => drop(waited?),
        }
    }
}

/// CPU of all children that have been waited for, and of theirs.
fn used() -> io::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let ms = |time: TimeVal| time.num_microseconds() as f64 / 1000.0;
    Ok(ms(usage.user_time()) + ms(usage.system_time()))
}

/// The median over the rounds in which both were launched, of what `of` makes of the two.
pub fn paired(program: &Program, yardstick: &Program, of: impl Fn(Sample, Sample) -> f64) -> Option<f64> {
    let pairs = program.samples.iter().zip(&yardstick.samples).filter_map(|(a, b)| a.zip(*b));
    median(pairs.map(|(a, b)| of(a, b)))
}
