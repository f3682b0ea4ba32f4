//! The two sides of a comparison: the passages about each, and the values in them.
use std::collections::HashSet;

use halma_core::text::similarity::jaccard;

use super::score::Query;
use super::text::{Line, Text, Title};
use crate::decompose::sides::{ComparisonKind, comparison};
use crate::lexicon::Lexicon;
use crate::links::{mentions, plain_title};
use crate::lists::is_listed;
use crate::spans::{Kind, Span, spans};

/// One side of a comparison.
pub(crate) struct Side {
    /// As the question names it, without brackets.
    pub(crate) name: String,
    /// Indices of the passages about it, the most relevant first.
    pub(crate) passages: Vec<usize>,
    /// Whether the passages are about it as a whole, by their title.
    is_title: bool,
}

/// The two sides of the comparison in the question, if it is of this kind.
pub(crate) fn compared(
    query: &Query<'_>,
    kind: ComparisonKind,
    text: &Text,
    lexicon: &Lexicon,
) -> Option<[Side; 2]> {
    let comparison =
        comparison(query.text, lexicon).filter(|comparison| comparison.kind == kind)?;
    let name = |thing: &String| plain_title(thing.trim_start_matches("the ")).to_owned();
    Some(comparison.things.each_ref().map(|thing| side(name(thing), text, lexicon)))
}

fn side(name: String, text: &Text, lexicon: &Lexicon) -> Side {
    let named = || text.lines.iter().find(|line| mentions(&line.sentence.text, &name));
    let titled = titled(&name, text, lexicon);
    let first = titled.or_else(|| named().map(|line| line.passage));
    // Chunks of one document share their title; any of them may hold the answer.
    let same_title = |&i: &usize| {
        first.is_some_and(|at| i != at && text.titles[i].plain == text.titles[at].plain)
    };
    let passages = first.into_iter().chain((0..text.titles.len()).filter(same_title)).collect();
    Side { name, passages, is_title: titled.is_some() }
}

/// The passage whose title shares most with the name.
fn titled(name: &str, text: &Text, lexicon: &Lexicon) -> Option<usize> {
    let stems: HashSet<String> = lexicon.content(name).into_iter().collect();
    let share = |title: &Title| jaccard(&stems, &title.stems.iter().cloned().collect());
    let shares = text.titles.iter().map(share).enumerate();
    let best = shares.filter(|(_, share)| *share >= 0.5).max_by(|a, b| {
        // The first of several equal ones.
        a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))
    });
    best.map(|(i, _)| i)
}

/// The lines about a side: all of a passage with its title, else those that name it, with the
/// sentences that go on with a pronoun.
fn lines_about<'a>(side: &'a Side, text: &'a Text) -> impl Iterator<Item = &'a Line> + 'a {
    let lines = side.passages.iter().flat_map(|&passage| text.lines_of(passage));
    lines
        .scan(false, |about, line| {
            let first = line.sentence.words.first().map(|_| line.sentence.word(0).to_lowercase());
            let goes_on = line.place > 0 && first.is_some_and(|word| is_listed("pronouns", &word));
            *about = mentions(&line.sentence.text, &side.name) || (*about && goes_on);
            Some((*about || side.is_title).then_some(line))
        })
        .flatten()
}

/// The spans in the lines about a side, with these lines.
pub(crate) fn side_spans<'a>(
    side: &'a Side,
    text: &'a Text,
    lexicon: &'a Lexicon,
) -> impl Iterator<Item = (&'a Line, Span)> + 'a {
    lines_about(side, text)
        .flat_map(|line| spans(&line.sentence, lexicon).into_iter().map(move |span| (line, span)))
}

/// The first country in the passages about a side.
pub(crate) fn country(side: &Side, text: &Text, lexicon: &Lexicon) -> Option<&'static str> {
    side_spans(side, text, lexicon)
        .filter(|(_, span)| span.kind == Kind::Country)
        .find_map(|(line, span)| lexicon.country(line.sentence.slice(&span.words)))
}
