//! The documentation as sentences, and which guarantees quote each.

use crate::catalogue::{Catalogue, Guarantee};

/// A part of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A heading.
    Heading(String),
    /// A sentence, or a key of the settings with its value.
    Sentence(String),
}

/// The document's blocks, in order.
pub fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    for paragraph in paragraphs(document) {
        let item = paragraph.strip_prefix("- ");
        let text = item.unwrap_or(&paragraph);
        match () {
            () if is_key(text) && text.ends_with(':') => {}
            () if item.is_some() || is_key(text) || text.ends_with(['.', ':']) => {
                blocks.extend(sentences(text).map(Block::Sentence));
            }
            () => blocks.push(Block::Heading(text.to_owned())),
        }
    }
    blocks
}

/// By block, the guarantees that quote it: each at every place where its words stand, which can be across two sentences.
pub fn covered<'a>(blocks: &[Block], catalogue: &'a Catalogue) -> Vec<Vec<&'a Guarantee>> {
    let mut whole = String::new();
    let mut ranges = Vec::new();
    for block in blocks {
        let begin = whole.len();
        if let Block::Sentence(text) = block {
            whole.push_str(&without_blanks(text));
        }
        ranges.push(begin..whole.len());
    }
    let mut covered = vec![Vec::new(); blocks.len()];
    for guarantee in catalogue.iter().filter(|guarantee| !guarantee.words.is_empty()) {
        let words = without_blanks(&guarantee.words);
        let places: Vec<_> = whole.match_indices(&words).map(|(at, found)| at..at + found.len()).collect();
        for (block, range) in covered.iter_mut().zip(&ranges) {
            if places.iter().any(|place| place.start < range.end && range.start < place.end) {
                block.push(guarantee);
            }
        }
    }
    covered
}

/// Lines, those together over which a sentence goes on.
fn paragraphs(document: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let is_prose = |text: &str| text.starts_with("- ") || text.contains(". ");
    for line in document.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match paragraphs.last_mut().filter(|last| is_prose(last) && !last.ends_with('.')) {
            Some(item) => *item = format!("{item} {line}"),
            None => paragraphs.push(line.to_owned()),
        }
    }
    paragraphs
}

/// The sentences of a text, in which items of a list can stand on one line.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    let text = text.replace(".- ", ". ").replace(". - ", ". ");
    let sentences: Vec<String> = text.split_inclusive(". ").map(|sentence| sentence.trim().to_owned()).collect();
    sentences.into_iter()
}

/// A key of the settings: a word in small letters and a colon.
fn is_key(text: &str) -> bool {
    let word = text.split(':').next().unwrap_or_default();
    word.len() < text.len() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

/// What is left of text from which blanks were lost here and there.
fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '`').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_keys_and_sentences_are_told_apart() {
        let text = "macOS: signing\nA. b is so.\nsandbox:\nmode: off # x\n- one (\ntwo). three.- four,\nfive. - six.\n- four.\n";
        let sentence = |text: &str| Block::Sentence(text.to_owned());
        let expected =
            ["A.", "b is so.", "mode: off # x", "one ( two).", "three.", "four, five.", "six.", "four."].map(sentence);
        let all = blocks(text);
        assert_eq!(all[0], Block::Heading("macOS: signing".to_owned()));
        assert_eq!(all[1..], expected);
    }

    #[test]
    fn words_cover_every_sentence_that_they_touch() {
        let catalogue = Catalogue::parse("| FS-01 | L | must | a | it is`so`. And |\n").unwrap();
        let covered = covered(&blocks("It is. Now it is so. And more.\nit is so. Andante.\n"), &catalogue);
        assert_eq!(covered.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 1, 1, 1]);
    }
}
