//! The path of a key in the settings, such as `steps.build.sandbox.allow_read[0]`, and where that stands in the file. The file
//! is looked at once more for that, and only when something is wrong with it: the types of the settings hold no places.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::Spanned;

use super::parse;

/// A key path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Key {
    parts: Vec<Part>,
    /// Whether it is about the last name itself, and not what stands behind it.
    is_name: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Name(String),
    Index(usize),
}

impl Key {
    /// A key at the top.
    pub fn new(name: &str) -> Key {
        Key::default().below(name)
    }

    /// A key below this one.
    pub fn below(&self, name: &str) -> Key {
        self.with(Part::Name(name.into()))
    }

    /// An entry of the list at this one, from 0.
    pub fn entry(&self, index: usize) -> Key {
        self.with(Part::Index(index))
    }

    /// The same, for what is wrong with the name of the key itself.
    pub fn itself(&self) -> Key {
        Key { is_name: true, ..self.clone() }
    }

    /// From the path that the parser names, in which a name with a dot looks like two.
    pub fn parse(path: &str) -> Key {
        let of_part = |part: &str| -> Vec<Part> {
            let (name, indices) = part.split_once('[').unwrap_or((part, ""));
            let indices = indices.split(['[', ']']).filter_map(|index| index.parse().ok()).map(Part::Index);
            [Part::Name(name.into())].into_iter().chain(indices).collect()
        };
        Key { parts: path.split('.').flat_map(of_part).collect(), is_name: false }
    }

    fn with(&self, part: Part) -> Key {
        Key { parts: self.parts.iter().cloned().chain([part]).collect(), is_name: false }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.parts.iter().enumerate().try_for_each(|(n, part)| match part {
            Part::Index(index) => write!(f, "[{index}]"),
            Part::Name(name) if n == 0 => f.write_str(name),
            Part::Name(name) => write!(f, ".{name}"),
        })
    }
}

/// The keys and values of a settings file, with their places.
#[derive(Debug, Default)]
pub struct Places(Node);

impl Places {
    /// Of a text that has been parsed before.
    pub fn of(text: &str) -> Places {
        Places(parse::yaml(text).unwrap_or_default())
    }

    /// Line and column of a key, from 1: of its value, if that is no block and begins in the same line; else of the key. Where
    /// it is not there, those of the nearest above it; zeros where nothing is.
    pub fn find(&self, key: &Key) -> (u64, u64) {
        let (mut node, mut at) = (&self.0, (0, 0));
        for (n, part) in key.parts.iter().enumerate() {
            let is_name = key.is_name && n + 1 == key.parts.len();
            let found = match (part, node) {
                (Part::Name(name), Node::Map(entries)) => {
                    let named = entries.iter().find(|(key, _)| key.value == *name);
                    named.map(|(key, value)| (of_entry(key, value, is_name), &value.value))
                }
                (Part::Index(index), Node::List(entries)) => entries.get(*index).map(|one| (place(one), &one.value)),
                _ => None,
            };
            let Some(found) = found else { break };
            (at, node) = found;
        }
        at
    }
}

fn of_entry(key: &Spanned<String>, value: &Spanned<Node>, is_name: bool) -> (u64, u64) {
    let (key, own) = (place(key), place(value));
    if is_name || key.0 != own.0 || matches!(value.value, Node::Map(_)) { key } else { own }
}

fn place<T>(of: &Spanned<T>) -> (u64, u64) {
    (of.referenced.line(), of.referenced.column())
}

/// Whatever stands in a file.
#[derive(Debug, Default)]
enum Node {
    Map(Vec<(Spanned<String>, Spanned<Node>)>),
    List(Vec<Spanned<Node>>),
    #[default]
    Leaf,
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

macro_rules! leaves {
    ($($visit:ident $of:ty,)*) => { $(fn $visit<E>(self, _: $of) -> Result<Node, E> { Ok(Node::Leaf) })* };
}

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("anything")
    }

    leaves! { visit_bool bool, visit_i64 i64, visit_u64 u64, visit_f64 f64, visit_str &str, visit_bytes &[u8], }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Node, D::Error> {
        Node::deserialize(from)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Map(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            entries.push(entry);
        }
        Ok(Node::List(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_where_its_value_begins() {
        let text = "sandbox:\n  allow_read: [~/a, ~/b]\n  allow_write:\n    - ~/c\nsteps:\n  a.b:\n    run:\n      - x\n    env: {A: 1, B: &v [2]}\n    handshake: *v\n";
        let places = Places::of(text);
        let sandbox = Key::new("sandbox");
        let step = Key::new("steps").below("a.b");
        for (key, at) in [
            (sandbox.below("allow_read").entry(1), (2, 21)),
            (sandbox.below("allow_write").entry(0), (4, 7)),
            (sandbox.clone(), (1, 1)),
            (step.clone(), (6, 3)),
            (step.below("run"), (7, 5)),
            (step.below("env").below("B"), (9, 23)),
            (step.below("env").below("B").itself(), (9, 17)),
            (step.below("env"), (9, 5)),
            (Key::parse("sandbox.allow_read[1]"), (2, 21)),
            (step.below("handshake"), (10, 16)),
            (step.below("prompt"), (6, 3)),
            (Key::new("repos"), (0, 0)),
        ] {
            assert_eq!(places.find(&key), at, "{key}");
        }
        assert_eq!(step.below("run").entry(0).to_string(), "steps.a.b.run[0]");
    }
}
