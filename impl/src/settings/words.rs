//! The few places of the settings where a word or a block may stand, and the rule that an empty value
//! is not the same as no value: `sandbox:` with nothing behind it must never be read as "not set".

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use serde_yaml::Spanned;

use super::{Mode, Sandbox};

/// For a key that may be left out but not left empty: null goes to the value's own reader, which refuses it.
pub fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// For a key whose value is one of a few words: an enumeration by itself would take `{WORD: }` as well.
pub fn word<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    from.deserialize_str(WordVisitor(PhantomData)).map(Some)
}

struct WordVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for WordVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a word")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<T, E> {
        T::deserialize(StrDeserializer::new(word))
    }
}

/// A step's `sandbox:`.
#[derive(Debug, Clone)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(untagged))]
pub enum StepSandbox {
    /// `off` or `required`.
    Word(Mode),
    /// A block; without `mode` it does not count as set.
    Block(Box<Sandbox>),
}

impl<'de> Deserialize<'de> for StepSandbox {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(StepSandboxVisitor)
    }
}

struct StepSandboxVisitor;

impl<'de> Visitor<'de> for StepSandboxVisitor {
    type Value = StepSandbox;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the word off, the word required, or a sandbox block")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<StepSandbox, E> {
        Mode::deserialize(StrDeserializer::new(word)).map(StepSandbox::Word)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StepSandbox, A::Error> {
        Sandbox::deserialize(MapAccessDeserializer::new(map)).map(|b| StepSandbox::Block(Box::new(b)))
    }
}

/// `egress.inject`: a list of entries, or the word `provider`.
#[derive(Debug, Clone, Default)]
pub enum Inject {
    /// Nothing.
    #[default]
    None,
    /// The step's provider knows.
    Provider,
    /// Spelled out.
    Entries(Vec<InjectEntry>),
}

impl Inject {
    /// Whether nothing is to be injected.
    pub fn is_none(&self) -> bool {
        match self {
            Inject::None => true,
            Inject::Provider => false,
            Inject::Entries(entries) => entries.is_empty(),
        }
    }
}

/// One key held outside, as it is written.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InjectEntry {
    /// What the summary and the doctor call it.
    #[cfg_attr(test, schemars(with = "String"))]
    pub name: Spanned<String>,
    /// Origin of the provider.
    pub upstream: String,
    /// Header that holds the key.
    #[serde(default = "authorization")]
    pub header: String,
    /// Its value, `{}` for the key; where it is left out, a bearer token in `authorization` and the key alone elsewhere.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub format: Option<String>,
    /// Variable that gets the local address.
    pub base_url_env: String,
    /// Behind the local address.
    #[serde(default)]
    pub base_path: String,
    /// Variable that gets the placeholder.
    pub key_env: String,
    /// Name in the secret store; that of `key_env` where it is left out.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub secret: Option<String>,
}

fn authorization() -> String {
    "authorization".into()
}

impl<'de> Deserialize<'de> for Inject {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(InjectVisitor)
    }
}

struct InjectVisitor;

impl<'de> Visitor<'de> for InjectVisitor {
    type Value = Inject;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of entries, or the word provider")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Inject, E> {
        match word {
            "provider" => Ok(Inject::Provider),
            _ => Err(E::unknown_variant(word, &["provider"])),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Inject, A::Error> {
        let entries = Vec::<InjectEntry>::deserialize(SeqAccessDeserializer::new(list))?;
        Ok(Inject::Entries(entries))
    }
}
