//! The catalogue of guarantees: `features/guarantees.md`, read as data.
//!
//! Every id a feature, a manifest or a report names is looked up here, together with the documentation's own words.
//! This module must never invent a guarantee: what is not in the table does not exist.

use std::path::Path;

use serde::Serialize;

/// What a row of the catalogue binds (see the table of kinds in `features/guarantees.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A sentence of the documentation, or what cannot be false while it is true.
    Must,
    /// What a command of the documentation prints or returns.
    Cli,
    /// Documented as not protected; the hole is as large as documented.
    Limit,
    /// Our reading where a sentence allows two.
    Interpretation,
    /// A format needed to observe.
    Contract,
    /// Promised by the reference beyond the documentation.
    Extra,
}

impl Kind {
    /// All kinds, in the order of the document.
    pub const ALL: [Self; 6] = [Self::Must, Self::Cli, Self::Limit, Self::Interpretation, Self::Contract, Self::Extra];

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The word in the catalogue and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Cli => "cli",
            Self::Limit => "limit",
            Self::Interpretation => "interpretation",
            Self::Contract => "contract",
            Self::Extra => "extra",
        }
    }

    /// Whether the row counts for a claim of conformance ("k of n musts hold").
    pub fn counts(self) -> bool {
        matches!(self, Self::Must | Self::Cli)
    }
}

/// One row of the catalogue.
#[derive(Clone, Debug)]
pub struct Guarantee {
    /// Stable id, such as `FS-07`.
    pub id: String,
    /// Letters of the platforms it holds on: L, W, M, N.
    pub platforms: String,
    /// What the row binds.
    pub kind: Kind,
    /// The guarantee in one sentence.
    pub text: String,
    /// The documentation's words it rests on; empty for extras.
    pub words: String,
}

impl Guarantee {
    /// The chapter: the letters before the dash.
    pub fn chapter(&self) -> &str {
        chapter(&self.id)
    }
}

/// All guarantees, in the order of the document.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    rows: Vec<Guarantee>,
    chapters: Vec<(String, String)>,
}

impl Catalogue {
    /// Reads `features/guarantees.md` below `root`.
    ///
    /// # Errors
    /// When the file cannot be read, or holds no row, or one id twice.
    pub fn read(root: &Path) -> Result<Self, String> {
        let path = root.join("features/guarantees.md");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Self::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Parses the Markdown table rows `| ID | on | kind | guarantee | words |`.
    ///
    /// # Errors
    /// When there is no row, an unknown kind, or one id twice.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rows: Vec<Guarantee> = Vec::new();
        let headings = text.lines().filter_map(|line| line.strip_prefix("## ")?.split_once(": "));
        let chapters = headings.map(|(chapter, title)| (chapter.to_owned(), title.to_owned())).collect();
        for line in text.lines() {
            let cells: Vec<&str> = line.trim().trim_matches('|').split(" | ").map(str::trim).collect();
            let [id, platforms, kind, text, words @ ..] = cells.as_slice() else {
                continue;
            };
            if !is_id(id) {
                continue;
            }
            let kind = Kind::parse(kind).ok_or_else(|| format!("{id}: unknown kind \"{kind}\""))?;
            let row = Guarantee {
                id: (*id).to_owned(),
                platforms: (*platforms).to_owned(),
                kind,
                text: (*text).trim_end_matches('|').trim().to_owned(),
                words: words.join(" | ").trim_matches('|').trim().to_owned(),
            };
            if rows.iter().any(|r| r.id == row.id) {
                return Err(format!("{id} stands there twice"));
            }
            rows.push(row);
        }
        if rows.is_empty() {
            return Err("no guarantee found".to_owned());
        }
        Ok(Self { rows, chapters })
    }

    /// The guarantee with this id.
    pub fn get(&self, id: &str) -> Option<&Guarantee> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// The chapters, in the order of the document: the letters of its ids and its title.
    pub fn chapters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.chapters.iter().map(|(chapter, title)| (chapter.as_str(), title.as_str()))
    }

    /// All guarantees, in the order of the document.
    pub fn iter(&self) -> impl Iterator<Item = &Guarantee> {
        self.rows.iter()
    }
}

/// The chapter of an id, or of `ID/case`: the letters before the dash.
pub fn chapter(id: &str) -> &str {
    id.split('-').next().unwrap_or(id)
}

/// Whether a word has the form of an id: capitals, a dash, two digits.
pub fn is_id(word: &str) -> bool {
    word.split_once('-').is_some_and(|(chapter, number)| {
        !chapter.is_empty()
            && chapter.bytes().all(|b| b.is_ascii_uppercase())
            && number.len() == 2
            && number.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rows_and_ignores_prose() {
        let text = "# x\n## FS: files\n| id | on |\n|---|---|\n| FS-07 | LWM | must | Nothing can be read. | The real home,~/.ssh |\n| FS-05 | LWM | extra | Nothing left. |  |\n";
        let catalogue = Catalogue::parse(text).unwrap();
        let row = catalogue.get("FS-07").unwrap();
        assert_eq!((row.kind, row.words.as_str(), row.chapter()), (Kind::Must, "The real home,~/.ssh", "FS"));
        assert_eq!(catalogue.get("FS-05").unwrap().words, "");
        assert_eq!(catalogue.iter().count(), 2);
        assert_eq!(catalogue.chapters().collect::<Vec<_>>(), [("FS", "files")]);
    }

    #[test]
    fn an_id_twice_is_an_error() {
        let row = "| FS-07 | L | must | a | b |\n";
        assert!(Catalogue::parse(&row.repeat(2)).unwrap_err().contains("twice"));
        assert!(Catalogue::parse("nothing").is_err());
    }
}
