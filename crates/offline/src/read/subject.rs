//! The subject of a question of one step, and the passages about it.
use std::collections::HashSet;

use super::score::Query;
use super::text::Text;
use crate::decompose::chain;
use crate::decompose::tokens::{Tag, tokens};
use crate::lexicon::Lexicon;
use crate::links::mentions;

/// What a span gains in a passage that the question names: the same fact of another thing looks
/// just as good. It undoes that chains of facts seldom end where they begin.
const ABOUT: f32 = 2.5;

/// Where to read.
pub(super) struct Subject {
    /// For each passage, what its spans gain.
    pub(super) gains: Vec<f32>,
    /// Nothing that the question names is spoken of anywhere.
    pub(super) missing: bool,
}

pub(super) fn subject(query: &Query<'_>, text: &Text, lexicon: &Lexicon) -> Subject {
    let all = text.titles.len();
    let plain = Subject { gains: vec![0.0; all], missing: false };
    if chain(query.text, lexicon).len() != 1 {
        return plain;
    }
    let asked_for = |at: usize| {
        let title = &text.titles[at].plain;
        !title.is_empty() && mentions(query.text, title)
    };
    let gains: Vec<f32> = (0..all).map(|at| if asked_for(at) { ABOUT } else { 0.0 }).collect();
    if gains.iter().any(|gain| *gain > 0.0) {
        return Subject { gains, missing: false };
    }
    let names = tokens(query.text, lexicon).into_iter().filter(|token| token.tag == Tag::Name);
    let wanted: HashSet<String> = names.flat_map(|name| lexicon.content(&name.text)).collect();
    let said = text.lines.iter().flat_map(|line| line.sentence.words.iter().map(|word| &word.stem));
    let titles = text.titles.iter().flat_map(|title| title.stems.iter());
    let missing = !wanted.is_empty() && !said.chain(titles).any(|stem| wanted.contains(stem));
    Subject { missing, ..plain }
}

#[cfg(test)]
mod tests {
    use halma_core::Question;

    use super::*;
    use crate::input::Passage;
    use crate::read::{ReadInput, read};

    fn answer(question: &str) -> String {
        let passage = |(title, text): (&str, &str)| Passage {
            title: title.into(),
            text: text.into(),
            ..Passage::default()
        };
        let context = [
            ("Orla Finch (painter)", "Orla Finch was born on 12 March 1929 in Varn."),
            ("Mara Quill", "Mara Quill (3 May 1931 – 7 June 1990) was a Danish painter."),
        ];
        let input = ReadInput::new(Question::new(question), context.map(passage).to_vec());
        read(&Lexicon::new(), &input).text
    }

    #[test]
    fn a_fact_is_read_in_the_passage_about_its_subject() {
        assert_eq!(answer("When was Mara Quill born?"), "3 May 1931");
        assert_eq!(answer("When was Orla Finch born?"), "12 March 1929");
    }

    #[test]
    fn nothing_is_read_of_what_no_passage_names() {
        assert_eq!(answer("When was Jon Brandt the painter born?"), "");
    }
}
