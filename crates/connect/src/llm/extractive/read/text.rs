//! The context as the reader sees it: sentences with their words, their subject and the parts of
//! a life that a bracket tells.
use halma_core::text::sentences;

use super::super::input::Passage;
use super::super::lexicon::Lexicon;
use super::super::links::plain_title;
use super::super::words::Sentence;

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
    pub(crate) plain: String,
    pub(crate) stems: Vec<String>,
}

pub(crate) struct Text {
    pub(crate) titles: Vec<Title>,
    pub(crate) lines: Vec<Line>,
}

impl Text {
    pub(crate) fn new(context: &[Passage], lexicon: &Lexicon) -> Self {
        let title = |passage: &Passage| Title {
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

    /// The lines of one passage.
    pub(crate) fn of(&self, passage: usize) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.passage == passage)
    }
}

/// Reads brackets with years: what stands before their dash belongs to the birth, what stands
/// after it to the death; without a dash `born` and `died` say which.
fn life(sentence: &Sentence) -> Vec<Option<&'static str>> {
    let mut life = vec![None; sentence.words.len()];
    let text = &sentence.text;
    let mut from = 0;
    while let Some(open) = text[from..].find('(').map(|i| i + from) {
        let close = text[open..].find(')').map_or(text.len(), |i| i + open);
        from = close.max(open + 1);
        let inside = &text[open..close];
        let years = inside.split(|c: char| !c.is_ascii_digit()).filter(|run| run.len() == 4);
        if years.count() == 0 {
            continue;
        }
        let dash = [" – ", " — ", " - ", "–", "—"].iter().find_map(|dash| inside.find(dash));
        for (i, word) in sentence.words.iter().enumerate() {
            if (open..close).contains(&word.range.start) {
                life[i] = match dash {
                    Some(dash) if word.range.start > open + dash => Some(DEATH),
                    Some(_) => Some(BIRTH),
                    None if inside.contains("died") || inside.contains("d. ") => Some(DEATH),
                    None if inside.contains("born") || inside.contains("b. ") => Some(BIRTH),
                    None => None,
                };
            }
        }
    }
    life
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
        assert_eq!(text.of(0).count(), 2);
        let line = &text.lines[0];
        let tagged = |tag| {
            let words = (0..line.life.len()).filter(move |i| line.life[*i] == Some(tag));
            words.map(|i| line.sentence.word(i)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(tagged(BIRTH), "3 May 1901 Oslo");
        assert_eq!(tagged(DEATH), "4 June 1980");
    }
}
