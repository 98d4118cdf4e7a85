//! Random moments of an attempt, at which its launcher is killed, until each phase was hit often enough. Pure, but for the
//! seed: who waits and kills is `scene`.

use std::collections::BTreeMap;
use std::time::Duration;

/// Where an attempt is when its launcher is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before the step's first act.
    Launch,
    /// Between its first and its last.
    Step,
    /// After its last, while its launcher has still to do.
    End,
    /// In the end, when no process of the step is there any more: what it has committed is taken over.
    Import,
}

impl Phase {
    /// Those of every attempt, in order.
    pub const ALL: [Self; 3] = [Self::Launch, Self::Step, Self::End];

    /// Those of an attempt whose step commits, in order.
    pub const COMMITTING: [Self; 3] = [Self::Launch, Self::Step, Self::Import];

    /// The word in features and records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Step => "step",
            Self::End => "end",
            Self::Import => "import",
        }
    }
}

/// Draws the moments.
#[derive(Clone, Debug)]
pub struct Moments {
    /// What they are drawn from.
    pub seed: u64,
    /// How many attempts there were.
    pub attempts: usize,
    state: u64,
    wanted: usize,
    phases: BTreeMap<Phase, Known>,
}

/// What is known of a phase.
#[derive(Clone, Copy, Debug)]
struct Known {
    hits: usize,
    /// Attempts on the way in which it is to be hit.
    aimed: usize,
    /// How long it usually lasts.
    lasts: Duration,
}

/// No more attempts than this are made for each hit that is wanted.
const TRIES: usize = 5;

impl Moments {
    /// To hit each of these phases so often.
    pub fn new(phases: &[Phase], wanted: usize, seed: u64) -> Self {
        let lasts = |phase: &Phase| match phase {
            // A guess, which the first attempts correct.
            Phase::Launch => 50,
            // A step without work, and what follows: no longer than it lasts on a fast host.
            Phase::Step => 20,
            Phase::End | Phase::Import => 4,
        };
        let known = |phase: &Phase| Known { hits: 0, aimed: 0, lasts: Duration::from_millis(lasts(phase)) };
        let phases = phases.iter().map(|phase| (*phase, known(phase))).collect();
        Self { seed, attempts: 0, state: seed, wanted, phases }
    }

    /// Whether a phase is one of those.
    pub fn has(&self, phase: Phase) -> bool {
        self.phases.contains_key(&phase)
    }

    /// A phase lasts so long, as an attempt has shown that nobody killed.
    pub fn measured(&mut self, phase: Phase, time: Duration) {
        self.phases.entry(phase).and_modify(|known| known.lasts = time);
    }

    /// The phase that the next attempt is to be killed in: the one that lacks most. None if nothing lacks, or too many
    /// attempts have failed.
    pub fn aim(&mut self) -> Option<Phase> {
        let lacks = |known: &Known| self.wanted.saturating_sub(known.hits + known.aimed);
        let all = self.phases.len();
        let (phase, known) = self.phases.iter_mut().max_by_key(|(_, known)| lacks(known))?;
        if self.wanted <= known.hits + known.aimed || self.attempts >= all * TRIES * self.wanted {
            return None;
        }
        known.aimed += 1;
        self.attempts += 1;
        Some(*phase)
    }

    /// A moment of the phase, from its beginning.
    pub fn moment(&mut self, phase: Phase) -> Duration {
        // splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let micros = self.phases.get(&phase).map_or(0, |known| known.lasts.as_micros() as u64).max(1);
        Duration::from_micros((mixed ^ (mixed >> 31)) % micros)
    }

    /// An attempt that aimed at a phase has hit one, or none.
    pub fn done(&mut self, aimed: Phase, hit: Option<Phase>) {
        self.phases.entry(aimed).and_modify(|known| known.aimed -= 1);
        hit.map(|phase| self.phases.entry(phase).and_modify(|known| known.hits += 1));
    }

    /// A phase has lasted so long.
    pub fn lasted(&mut self, phase: Phase, time: Duration) {
        self.phases.entry(phase).and_modify(|known| known.lasts = (known.lasts * 3 + time) / 4);
    }

    /// How often the phase was hit that was hit least.
    pub fn least(&self) -> usize {
        self.phases.values().map(|known| known.hits).min().unwrap_or_default()
    }

    /// How often each phase was hit, and how long it usually lasts.
    pub fn told(&self) -> String {
        let one = |(phase, known): (&Phase, &Known)| format!("{} {} ({:.1?})", phase.word(), known.hits, known.lasts);
        let told: Vec<String> = self.phases.iter().map(one).collect();
        format!("{} of {} attempts, seed {:016x}", told.join(", "), self.attempts, self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_is_aimed_at_until_it_was_hit_often_enough() {
        let mut moments = Moments::new(&Phase::ALL, 3, 1);
        while let Some(phase) = moments.aim() {
            moments.done(phase, Some(phase));
        }
        assert_eq!(moments.least(), 3);
        assert_eq!(moments.attempts, 9);
        let mut moments = Moments::new(&Phase::ALL, 3, 1);
        while let Some(phase) = moments.aim() {
            moments.done(phase, None);
        }
        assert_eq!(moments.attempts, 3 * TRIES * 3, "what cannot be hit is given up");
    }

    #[test]
    fn moments_lie_in_the_phase_and_come_again_with_the_seed() {
        let draw = |seed| {
            let mut moments = Moments::new(&Phase::ALL, 1, seed);
            std::array::from_fn::<_, 8, _>(|_| moments.moment(Phase::Launch))
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert!(draw(7).iter().all(|moment| *moment < Duration::from_millis(50)));
    }
}
