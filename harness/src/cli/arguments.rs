//! The options of `run`, `list` and `smoke`, each of what it uses and of nothing else, and what they select.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use gherkin::Feature;

use crate::catalogue::Catalogue;
use crate::driver::{Manifest, expectation};
use crate::features::{self, FEATURES, Selection};
use crate::record::{Shard, Unclaimed};

/// The checkout, which every subcommand of these needs.
#[derive(Args, Clone, Debug)]
pub struct Checkout {
    /// The checkout.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/.."))]
    root: PathBuf,
}

impl Checkout {
    /// Its path.
    ///
    /// # Errors
    /// When it is not there.
    pub fn root(&self) -> Result<PathBuf, String> {
        fs::canonicalize(&self.root).map_err(|e| format!("--root {}: {e}", self.root.display()))
    }
}

/// Who is judged, and with which programs.
#[derive(Args, Clone, Debug)]
pub struct DriverArgs {
    /// Name of a manifest in harness/drivers, or the path of one.
    #[arg(long, default_value = "kusaw")]
    pub driver: String,
    /// Take the programs from this folder instead of building them.
    #[arg(long, value_name = "DIR")]
    pub programs: Option<PathBuf>,
    /// Another bubblewrap than the system's: a program, or a folder that `ci/bubblewrap` made.
    #[arg(long, value_name = "PATH")]
    pub bwrap: Option<PathBuf>,
}

/// A run of the suite.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    #[command(flatten)]
    pub driver: DriverArgs,
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Only this share of what is selected, such as 2/3; `conformance merge` makes one record of all.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Of what the driver does not claim, ask at most the first N scenarios of each guarantee; 0 = only what it claims.
    #[arg(long, value_name = "N")]
    pub unclaimed: Option<usize>,
    /// Scenarios at a time; default: four a core.
    #[arg(long, short)]
    pub jobs: Option<usize>,
    /// Leave the lab open afterwards, with a shell in it.
    #[arg(long)]
    pub keep: bool,
    /// A line a scenario.
    #[arg(long, short)]
    pub verbose: bool,
    /// Where the record and the report go.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub checkout: Checkout,
}

/// A list of what is selected.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// The generated page docs/guarantees.md.
    #[arg(long)]
    pub markdown: bool,
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub checkout: Checkout,
}

/// A smoke test.
#[derive(Args, Clone, Debug)]
pub struct SmokeArgs {
    #[command(flatten)]
    pub driver: DriverArgs,
    #[command(flatten)]
    pub checkout: Checkout,
}

/// Which scenarios.
#[derive(Args, Clone, Debug)]
pub struct SelectionArgs {
    /// Only these: an id (FS-07), a chapter (FS), or one case (FS-07/cannot-list-~-.ssh).
    #[arg(long = "id", value_name = "ID")]
    ids: Vec<String>,
    /// Only scenarios with this tag.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The features, a folder of the checkout: `features` is the specification, `e2e/agents` has real agents at work.
    #[arg(long, value_name = "DIR", default_value = features::FEATURES)]
    pub features: PathBuf,
}

impl SelectionArgs {
    /// The features with what is selected by id and tag; never nothing.
    ///
    /// # Errors
    /// What of it names nothing, with the nearest that does.
    pub fn selected(&self, root: &Path, catalogue: &Catalogue) -> Result<Vec<Feature>, String> {
        let mut features = features::read_in(root, &self.features)?;
        let selection = Selection { ids: self.ids.clone(), tags: self.tags.clone() };
        if let Some(unknown) = selection.unknown(&features, catalogue) {
            return Err(format!("{unknown}; `make conformance ARGS=list` lists them"));
        }
        match features::select(&mut features, &selection) {
            0 => Err(format!("no scenario is selected: none has all of {}", self.told().join(" "))),
            _ => Ok(features),
        }
    }

    /// The options that selected them; none = all of the specification.
    pub fn told(&self) -> Vec<String> {
        let ids = self.ids.iter().map(|id| format!("--id {id}"));
        let tags = self.tags.iter().map(|tag| format!("--tag {tag}"));
        let other = (self.features != Path::new(FEATURES)).then(|| format!("--features {}", self.features.display()));
        ids.chain(tags).chain(other).collect()
    }
}

/// What of the selected features a driver is asked, in this shard.
pub struct Share {
    /// The features with that.
    pub features: Vec<Feature>,
    /// Number of its scenarios.
    pub selected: usize,
    /// Number of the scenarios of all shards, if there are several.
    pub selected_in_all: Option<usize>,
    /// What was left out.
    pub unclaimed: Option<Unclaimed>,
}

impl Share {
    /// What is asked of what is selected; never nothing.
    ///
    /// # Errors
    /// When nothing is left, and why.
    pub fn of(mut features: Vec<Feature>, manifest: &Manifest, args: &RunArgs) -> Result<Self, String> {
        let all = features::cases(&features).len();
        let claimed = args.unclaimed.map(|most| features::leave_out_unclaimed(&mut features, manifest, most));
        let unclaimed = args.unclaimed.zip(claimed).map(|(most, left)| Unclaimed { most, left_out: all - left });
        let left = claimed.unwrap_or(all);
        if left == 0 {
            let name = &manifest.name;
            return Err(format!(
                "no scenario is selected: {name} claims none of them, and of the others --unclaimed asks none"
            ));
        }
        let mut position = 0;
        let selected = args.shard.map_or(left, |shard| {
            features::retain(&mut features, |_| {
                position += 1;
                shard.has(position - 1)
            })
        });
        match args.shard {
            Some(shard) if selected == 0 => {
                Err(format!("no scenario is selected: shard {shard} of {left} scenarios; ask for fewer shards"))
            }
            shard => Ok(Self { features, selected, selected_in_all: shard.map(|_| left), unclaimed }),
        }
    }
}

/// Whether every deviation that the manifest declares is one of a scenario that exists, selected or not.
///
/// # Errors
/// Those that are not, with the nearest scenario.
pub fn declared(root: &Path, manifest: &Manifest) -> Result<(), String> {
    if manifest.expect.is_empty() {
        return Ok(());
    }
    let cases = features::cases(&features::read(root)?);
    let stale = expectation::stale(manifest, &cases);
    if stale.is_empty() { Ok(()) } else { Err(stale.join("\n")) }
}
