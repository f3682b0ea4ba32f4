//! The context as the reader sees it: sentences with their words, their subject and the parts of
//! a life that a bracket tells.
use std::collections::HashSet;

use halma_core::text::sentences;

use crate::input::Passage;
use crate::lexicon::Lexicon;
use crate::links::plain_title;
use crate::words::Sentence;

/// The stems that stand for the two ends of a life.
pub(crate) const BIRTH: &str = "birth";
pub(crate) const DEATH: &str = "die";

/// One sentence of one passage.
pub(crate) struct Line {
    /// Index of its passage in the context.
    pub(crate) passage: usize,
    /// Index within its passage.
    pub(crate) place: usize,
    pub(crate) sentence: Sentence,
    /// For each word, the end of a life it belongs to although no word says so:
    /// `(3 May 1901, Oslo – 4 June 1980)`.
    pub(crate) life: Vec<Option<&'static str>>,
}

/// A passage's title with the stems of its words.
pub(crate) struct Title {
    pub(crate) whole: String,
    pub(crate) plain: String,
    pub(crate) stems: Vec<String>,
}

impl Line {
    pub(crate) fn stems(&self) -> HashSet<String> {
        self.sentence.words.iter().map(|word| word.stem.clone()).collect()
    }

    /// Whether it is the row of a table: `Article: Oak bench; Stock: 12`.
    pub(crate) fn is_row(&self) -> bool {
        self.sentence.text.split("; ").filter(|cell| cell.contains(": ")).count() > 1
    }
}

pub(crate) struct Text {
    pub(crate) titles: Vec<Title>,
    pub(crate) lines: Vec<Line>,
}

impl Text {
    pub(crate) fn new(context: &[Passage], lexicon: &Lexicon) -> Self {
        let title = |passage: &Passage| Title {
            whole: passage.title.clone(),
            plain: plain_title(&passage.title).to_owned(),
            stems: lexicon.content(&passage.title),
        };
        let mut lines = vec![];
        for (i, passage) in context.iter().enumerate() {
            for (place, range) in sentences(&passage.text).into_iter().enumerate() {
                let sentence = Sentence::new(&passage.text[range], lexicon);
                let life = life(&sentence);
                lines.push(Line { passage: i, place, sentence, life });
            }
        }
        Self { titles: context.iter().map(title).collect(), lines }
    }

    /// The stems of a line and of its passage's title.
    pub(crate) fn titled_stems(&self, line: &Line) -> HashSet<String> {
        let mut stems = line.stems();
        stems.extend(self.titles[line.passage].stems.iter().cloned());
        stems
    }

    /// The lines of one passage.
    pub(crate) fn lines_of(&self, passage: usize) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.passage == passage)
    }
}

/// How many words after `born` or `died` still belong to it.
const TELLS: usize = 9;

/// What follows `born` or `died` belongs to it; in a bracket with years and a dash, what stands
/// before the dash belongs to the birth and what stands after it to the death.
fn life(sentence: &Sentence) -> Vec<Option<&'static str>> {
    let mut life = vec![None; sentence.words.len()];
    let mut now: Option<(&'static str, usize)> = None;
    for (i, word) in sentence.words.iter().enumerate() {
        now = match (word.stem.as_str(), sentence.word(i)) {
            (BIRTH, _) | (_, "b") => Some((BIRTH, i)),
            (DEATH, _) | (_, "d") => Some((DEATH, i)),
            _ => now.filter(|(_, from)| i - from <= TELLS),
        };
        life[i] = now.map(|(end, _)| end);
    }
    for (open, close) in brackets(&sentence.text) {
        let inside = &sentence.text[open..close];
        let years = inside.split(|c: char| !c.is_ascii_digit()).filter(|run| run.len() == 4);
        let dash = DASHES.iter().find_map(|dash| inside.find(dash));
        let Some(dash) = dash.filter(|_| years.count() > 0) else { continue };
        for (i, word) in sentence.words.iter().enumerate() {
            if (open..close).contains(&word.range.start) {
                life[i] = Some(if word.range.start > open + dash { DEATH } else { BIRTH });
            }
        }
    }
    life
}

const DASHES: &[&str] = &[" – ", " — ", " - ", "–", "—"];

/// Byte ranges of what stands in round brackets.
fn brackets(text: &str) -> Vec<(usize, usize)> {
    let mut ranges = vec![];
    let mut from = 0;
    while let Some(open) = text[from..].find('(').map(|i| i + from) {
        let close = text[open..].find(')').map_or(text.len(), |i| i + open);
        ranges.push((open, close));
        from = close.max(open + 1);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bracket_tells_both_ends_of_a_life() {
        let passage = Passage {
            title: "Mara Quill (painter)".into(),
            text: "Mara Quill (3 May 1901, Oslo – 4 June 1980) painted (a lot). It rained.".into(),
            ..Passage::default()
        };
        let text = Text::new(&[passage], &Lexicon::new());
        assert_eq!(text.titles[0].plain, "Mara Quill");
        assert_eq!(text.lines_of(0).count(), 2);
        let line = &text.lines[0];
        let tagged = |tag| {
            let words = (0..line.life.len()).filter(move |i| line.life[*i] == Some(tag));
            words.map(|i| line.sentence.word(i)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(tagged(BIRTH), "3 May 1901 Oslo");
        assert_eq!(tagged(DEATH), "4 June 1980");
    }

    #[test]
    fn words_tell_which_end_of_a_life_is_meant() {
        let line = Sentence::new("She was born in Oslo and died in Bergen.", &Lexicon::new());
        let tags = life(&line);
        assert_eq!((tags[4], tags[8]), (Some(BIRTH), Some(DEATH)));
    }
}
