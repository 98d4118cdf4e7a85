//! A change of what bubblewrap is told, and how the saboteur is told about it.

use serde::{Deserialize, Serialize};

/// One change, or several at once.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Changes {
    /// One.
    One(Change),
    /// Several, where one without the other would not start.
    All(Vec<Change>),
}

impl Changes {
    /// All of them.
    pub fn all(&self) -> &[Change] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::All(all) => all,
        }
    }

    /// What is wrong with them, if something is.
    pub fn wrong(&self) -> Option<&'static str> {
        let too_long = (self.told().len() > ROOM).then_some("bubblewrap: too long");
        self.all().iter().find_map(Change::wrong).or(too_long)
    }

    /// As the saboteur reads them: each ends with U+001D.
    pub fn told(&self) -> Vec<u8> {
        self.all().iter().flat_map(|change| change.told().into_iter().chain([0x1d])).collect()
    }
}

/// One of the three: `drop`, `weaken` with `to`, `add`. A pattern is an option with its first operands; in a word, `*` is any
/// name or part of one, `**` any text. It meets every option that begins with it, in every start of bubblewrap that has one; the others are left alone.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The options to leave out.
    #[serde(default)]
    pub drop: Vec<String>,
    /// The options to replace.
    #[serde(default)]
    pub weaken: Vec<String>,
    /// By what: `$1` is the option's first operand.
    #[serde(default)]
    pub to: Vec<String>,
    /// An option more, before what makes mounts read-only.
    #[serde(default)]
    pub add: Vec<String>,
    /// Only where bubblewrap starts this: `step` or `git`; otherwise both.
    #[serde(rename = "in", default)]
    pub of: Option<Of>,
}

/// What kusaw starts in bubblewrap.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// An attempt's step: the stage.
    Step,
    /// A git of the factory's.
    Git,
}

impl Change {
    /// What is wrong with it, if something is.
    pub fn wrong(&self) -> Option<&'static str> {
        let given = [&self.drop, &self.weaken, &self.add].into_iter().filter(|words| !words.is_empty()).count();
        match () {
            () if given != 1 => Some("bubblewrap: one of drop, weaken and add"),
            () if self.weaken.is_empty() != self.to.is_empty() => Some("bubblewrap: weaken needs `to`, and only it"),
            () => None,
        }
    }

    /// The pattern of the options that it is about.
    pub fn pattern(&self) -> &[String] {
        if self.drop.is_empty() { &self.weaken } else { &self.drop }
    }

    /// As the saboteur reads it: words that end with U+001F, lists that end with U+001E.
    fn told(&self) -> Vec<u8> {
        let of = match self.of {
            None => "both",
            Some(Of::Step) => "step",
            Some(Of::Git) => "git",
        };
        let lists = match () {
            () if !self.drop.is_empty() => vec![vec!["drop", of], words(&self.drop)],
            () if !self.weaken.is_empty() => vec![vec!["weaken", of], words(&self.weaken), words(&self.to)],
            () => vec![vec!["add", of], words(&self.add)],
        };
        let told = |list: Vec<&str>| list.iter().map(|word| format!("{word}\u{1f}")).collect::<String>() + "\u{1e}";
        lists.into_iter().map(told).collect::<String>().into_bytes()
    }
}

/// Room for it in the saboteur's program.
const ROOM: usize = 900;

fn words(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}
