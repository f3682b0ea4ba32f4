//! Atoms of a chunk: a model's questions or the chunk's own sentences, each with its place.
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use halma_core::text::{content_words, sentences};

use crate::store::{AtomDraft, TextPlace};

/// Leading pronouns that stand for what the title names.
const PRONOUNS: &[&str] = &["it", "he", "she", "they"];
/// The same, owning something.
const OWNING: &[&str] = &["its", "his", "her", "their"];
/// Leading words that leave open what is spoken of.
const POINTING: &[&str] = &["this", "these", "that", "those", "there", "the"];

/// A chunk as atoms are made of it.
#[derive(Debug, Clone)]
pub(crate) struct AtomSource {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) place: TextPlace,
    /// Whether `text` is the document's text at `place`, so that parts of it have a place, too.
    pub(crate) verbatim: bool,
}

impl AtomSource {
    /// The characters of the document that a range of the text's bytes stands for.
    fn span(&self, range: Range<usize>) -> (usize, usize) {
        if !self.verbatim {
            return self.place.chars;
        }
        let start = self.place.chars.0 + self.text[..range.start].chars().count();
        (start, start + self.text[range].chars().count())
    }

    /// Its sentences, each understandable without the others. A row of a table is one.
    pub(crate) fn sentence_atoms(&self, limit: usize) -> Vec<AtomDraft> {
        if !self.verbatim {
            let text = with_title(self.text.trim(), &self.title);
            return vec![AtomDraft { text, span: self.place.chars }];
        }
        let mut atoms: Vec<AtomDraft> = vec![];
        let mut seen = HashSet::new();
        for range in sentences(&self.text) {
            let range = without_marks(&self.text, range);
            let text = with_title(&self.text[range.clone()], &self.title);
            if !text.is_empty() && seen.insert(text.clone()) && atoms.len() < limit {
                atoms.push(AtomDraft { text, span: self.span(range) });
            }
        }
        atoms
    }

    /// A model's questions without empties and repeats, each with the sentence that shares most
    /// of its content words; the whole chunk when none shares half of them.
    pub(crate) fn question_atoms(&self, questions: Vec<String>, limit: usize) -> Vec<AtomDraft> {
        let sentences: Vec<(Range<usize>, BTreeSet<String>)> = sentences(&self.text)
            .into_iter()
            .map(|range| (range.clone(), content_words(&self.text[range]).into_iter().collect()))
            .collect();
        let mut seen = HashSet::new();
        let questions = questions.into_iter().map(|question| question.trim().to_owned());
        let fresh = questions.filter(|q| !q.is_empty() && seen.insert(q.to_lowercase()));
        let atom = |text: String| {
            let span = self.best(&text, &sentences);
            AtomDraft { text, span }
        };
        fresh.take(limit).map(atom).collect()
    }

    fn best(&self, text: &str, sentences: &[(Range<usize>, BTreeSet<String>)]) -> (usize, usize) {
        let wanted: BTreeSet<String> = content_words(text).into_iter().collect();
        let mut best: Option<(usize, &Range<usize>)> = None;
        for (range, words) in sentences {
            let shared = wanted.intersection(words).count();
            if shared * 2 >= wanted.len() && shared > best.map_or(0, |(max, _)| max) {
                best = Some((shared, range));
            }
        }
        best.map_or(self.place.chars, |(_, range)| self.span(range.clone()))
    }
}

/// A sentence without the Markdown around it: a heading's line, a bullet.
fn without_marks(text: &str, range: Range<usize>) -> Range<usize> {
    let mut start = range.start;
    while text[start..range.end].starts_with('#') {
        let line = text[start..range.end].find('\n').map_or(range.end, |at| start + at + 1);
        start = line;
    }
    let bare = text[start..range.end].trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '-' | '*' | '+' | '•' | '>')
    });
    range.end - bare.len()..range.end
}

/// The sentence with the title in the place of a leading pronoun, or before it where it only
/// points at what it is about.
fn with_title(sentence: &str, title: &str) -> String {
    let sentence = sentence.trim();
    // `Jaws (film)` is spoken of as Jaws.
    let name = title.split(" (").next().unwrap_or(title).trim();
    let end = sentence.find(|c: char| !c.is_alphabetic()).unwrap_or(sentence.len());
    let first = sentence[..end].to_lowercase();
    let rest = &sentence[end..];
    if name.is_empty() || sentence.is_empty() {
        return sentence.to_owned();
    }
    let is_in = |list: &[&str]| list.contains(&first.as_str());
    if is_in(PRONOUNS) && rest.starts_with(' ') {
        return format!("{name}{rest}");
    }
    if is_in(OWNING) && rest.starts_with(' ') {
        return format!("{name}'s{rest}");
    }
    let pointing = is_in(PRONOUNS) || is_in(OWNING) || is_in(POINTING);
    if pointing && !sentence.contains(name) {
        format!("{title}: {sentence}")
    } else {
        sentence.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> AtomSource {
        let chars = (100, 100 + text.chars().count());
        let place = TextPlace { bytes: (0, text.len()), chars };
        AtomSource { title: "Jaws (film)".into(), text: text.into(), place, verbatim: true }
    }

    fn texts(atoms: &[AtomDraft]) -> Vec<&str> {
        atoms.iter().map(|atom| atom.text.as_str()).collect()
    }

    #[test]
    fn the_title_takes_the_place_of_a_pronoun() {
        let text = "# Jaws\n\nIt was shot at sea. Its score won a prize. The film made money. \
                    The shark in Jaws was called Bruce. Spielberg was 27. Spielberg was 27.";
        let atoms = source(text).sentence_atoms(24);
        assert_eq!(
            texts(&atoms),
            [
                "Jaws was shot at sea.",
                "Jaws's score won a prize.",
                "Jaws (film): The film made money.",
                "The shark in Jaws was called Bruce.",
                "Spielberg was 27.",
            ]
        );
        assert_eq!(atoms[0].span, (108, 127));
        assert_eq!(source(text).sentence_atoms(2).len(), 2);
    }

    #[test]
    fn a_question_points_at_its_sentence() {
        let source = source("Ürsula lives here. Steven Spielberg directed Jaws. Robert Shaw died.");
        let questions = vec![
            "Who directed Jaws?".to_owned(),
            " ".into(),
            "who directed jaws?".into(),
            "What colour was the boat?".into(),
        ];
        let atoms = source.question_atoms(questions, 24);
        assert_eq!(texts(&atoms), ["Who directed Jaws?", "What colour was the boat?"]);
        assert_eq!(atoms[0].span, (119, 150));
        assert_eq!(atoms[1].span, source.place.chars);
    }

    #[test]
    fn a_row_of_a_table_is_one_atom_with_the_row_as_its_place() {
        let row =
            AtomSource { verbatim: false, ..source("Name: Zarxio; Maker: Sandoz. Year: 2015") };
        let atoms = row.sentence_atoms(24);
        assert_eq!(texts(&atoms), ["Name: Zarxio; Maker: Sandoz. Year: 2015"]);
        assert_eq!(atoms[0].span, row.place.chars);
    }
}
