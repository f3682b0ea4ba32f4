//! Names by rule: capitalised runs of words with the small words inside them, titles in quotes,
//! dates and numbers. No model, no list of names.
use std::iter::once;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;

use crate::cjk::cjk_names;
use crate::sentences;
use crate::spelling::spelling;
use crate::values::{Value, value_at};
use crate::words::{Shape, Words, split_words};

/// Words that may stand in lower case inside a name, if a capital follows.
const PARTICLES: &[&str] = &[
    "of", "the", "de", "van", "von", "der", "den", "la", "le", "du", "del", "di", "da", "al", "el",
    "bin", "ibn", "y", "and", "for", "in", "dos", "das",
];

/// Particles that join so loosely that the name without them may be meant as well.
const LOOSE: &[&str] = &["and", "for", "in", "of", "the"];

/// Those that more often stand between two names than inside one.
const LOOSEST: &[&str] = &["and", "for", "in"];

/// What makes an adjective of a name it is joined to: `Oslo-born`.
const ADJECTIVES: &[&str] = &["born", "era", "led", "like", "made", "old", "run", "wide"];

/// Pairs of marks around a nickname.
const NICKNAME_MARKS: &str = "\"\" “” „“ „” «» »« '' ‘’ ‚‘ ()";

/// The longest nickname, in words.
const LONGEST_NICKNAME: usize = 3;

/// The longest title in quotes, in words.
const LONGEST_QUOTE: usize = 11;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NameKind {
    /// A capitalised run.
    Name,
    /// Something in quotation marks.
    Quoted,
    /// A date, a year or a number.
    Value(Value),
}

/// Something a text names. `range` is in bytes of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    pub range: Range<usize>,
    pub kind: NameKind,
}

/// What `text` names, sentence by sentence, in the order in which it stands there. A run with a
/// loose particle is given whole and in its parts (`Guild of Arms in Oslo`, `Guild of Arms`,
/// `Oslo`), a name within a title in quotes in addition to the title.
///
/// A single capitalised word at the head of a sentence is a name only where the text has it with a
/// capital elsewhere, too.
pub fn names(text: &str) -> Vec<Name> {
    let sentences: Vec<(usize, Words<'_>)> =
        sentences(text).into_iter().map(|at| (at.start, Words::new(&text[at]))).collect();
    let mut elsewhere: Vec<&str> =
        sentences.iter().flat_map(|(_, words)| inner_capitals(words)).collect();
    elsewhere.sort_unstable();
    let mut names = vec![];
    for (start, words) in &sentences {
        let mut here: Vec<Name> = vec![];
        let mut push = |range: &Range<usize>, kind: NameKind| {
            let bytes = words.bytes(range);
            let range = start + bytes.start..start + bytes.end;
            here.push(Name { range, kind });
        };
        let runs = name_runs(words);
        for run in &runs {
            if *run == (0..1) && elsewhere.binary_search(&words.word(0)).is_err() {
                continue;
            }
            for part in parts_at(words, run, LOOSEST) {
                push(&part, NameKind::Name);
            }
            push(run, NameKind::Name);
            // It may be a place.
            let mut bracketed = run.clone().filter(|at| [" (", ") "].contains(&words.gap(*at)));
            if let (Some(open), Some(close)) = (bracketed.next(), bracketed.next()) {
                push(&(open + 1..close + 1), NameKind::Name);
            }
        }
        let is_nickname = |quote: &Range<usize>| {
            runs.iter().any(|run| run.start < quote.start && quote.end < run.end)
        };
        for quote in quotes(words).into_iter().filter(|quote| !is_nickname(quote)) {
            push(&quote, NameKind::Quoted);
        }
        for (range, value) in values(words) {
            push(&range, NameKind::Value(value));
        }
        if !words.text.is_ascii() {
            let marked = cjk_names(&words.text).into_iter();
            here.extend(marked.map(|range| Name {
                range: start + range.start..start + range.end,
                kind: NameKind::Quoted,
            }));
        }
        here.sort_by_key(|name| (name.range.start, name.range.end));
        here.dedup_by(|b, a| a.range == b.range);
        names.extend(here);
    }
    names
}

/// The words with a capital that do not open the sentence.
fn inner_capitals<'w>(words: &'w Words<'_>) -> impl Iterator<Item = &'w str> {
    let capital = |at: &usize| words.words[*at].shape == Shape::Capital;
    (1..words.words.len()).filter(capital).map(|at| words.word(at))
}

fn values(words: &Words<'_>) -> Vec<(Range<usize>, Value)> {
    let mut values = vec![];
    let mut at = 0;
    while at < words.words.len() {
        let value = if words.words[at].shape == Shape::Lower { None } else { value_at(words, at) };
        let Some((range, value)) = value else {
            at += 1;
            continue;
        };
        at = range.end;
        values.push((range, value));
    }
    values
}

/// Capitalised runs of a sentence, as ranges of its words.
pub fn name_runs(words: &Words<'_>) -> Vec<Range<usize>> {
    let mut runs = vec![];
    let mut at = 0;
    while at < words.words.len() {
        if opens_name(words, at) && value_at(words, at).is_none() {
            let end = end_of_name(words, at);
            runs.push(at..end);
            at = end;
        } else {
            at += 1;
        }
    }
    runs
}

/// Whether word `at` can open a name: `The` and its like cannot at the head of a sentence.
fn opens_name(words: &Words<'_>, at: usize) -> bool {
    let word = &words.words[at];
    word.shape == Shape::Capital && !(word.stop && (at == 0 || word.range.len() < 3))
}

fn end_of_name(words: &Words<'_>, start: usize) -> usize {
    let all = &words.words;
    let mut end = start + 1;
    while end < all.len() {
        if let Some(last) = nickname_end(words, end - 1) {
            end = last + 2;
            continue;
        }
        if !joined(words, end - 1) {
            break;
        }
        let mut next = end;
        while next < all.len()
            && next < end + 3
            && all[next].shape == Shape::Lower
            && PARTICLES.contains(&words.word(next))
            && words.gap(next) == " "
        {
            next += 1;
        }
        let goes_on = next < all.len()
            && match all[next].shape {
                Shape::Capital => true,
                Shape::Digit => next == end && words.word(next).len() < 4,
                Shape::Lower => next == end && hyphened(words, end),
            };
        if !goes_on {
            break;
        }
        end = next + 1;
    }
    end
}

/// The last word of a nickname that follows a word and has a name after it, as in
/// `William "Bill" Gates`. What stands in brackets and in capitals is a party or a place.
fn nickname_end(words: &Words<'_>, at: usize) -> Option<usize> {
    let open = words.gap(at).strip_prefix(' ').filter(|open| !open.is_empty())?;
    let mut ends = at + 1..(at + 1 + LONGEST_NICKNAME).min(words.words.len() - 1);
    ends.find(|last| {
        let marks = words.gap(*last).strip_suffix(' ').map(|close| format!("{open}{close}"));
        marks.is_some_and(|marks| NICKNAME_MARKS.split(' ').any(|pair| pair == marks))
            && [*last, last + 1].iter().all(|at| words.words[*at].shape == Shape::Capital)
            && (open != "(" || words.word(*last).contains(char::is_lowercase))
    })
}

/// Whether the word is the second half of a given name, as in `Min-ho`.
fn hyphened(words: &Words<'_>, at: usize) -> bool {
    let word = words.word(at);
    words.gap(at - 1) == "-" && word.chars().count() <= 4 && !ADJECTIVES.contains(&word)
}

/// Whether nothing but a blank, a hyphen, an apostrophe or an initial's stop follows the word.
fn joined(words: &Words<'_>, at: usize) -> bool {
    let gap = words.gap(at);
    let initial = words.word(at).chars().count() <= 2
        || ["Jr", "Sr", "St", "Dr", "Mr", "Mrs", "Mt", "Ft"].contains(&words.word(at));
    [" ", "-", " & ", "/", "–", "'", "’", ": "].contains(&gap) || (gap == ". " && initial)
}

/// The parts of a run between its loose particles; none where it has none.
pub fn loose_parts(words: &Words<'_>, run: &Range<usize>) -> Vec<Range<usize>> {
    parts_at(words, run, LOOSE)
}

fn parts_at(words: &Words<'_>, run: &Range<usize>, particles: &[&str]) -> Vec<Range<usize>> {
    let mut parts = vec![];
    let mut start = run.start;
    for at in run.clone() {
        let loose = words.words[at].shape == Shape::Lower && particles.contains(&words.word(at));
        if loose {
            if start < at {
                parts.push(start..at);
            }
            start = at + 1;
        }
    }
    if start > run.start && start < run.end {
        parts.push(start..run.end);
    }
    parts
}

/// What stands in quotation marks, as ranges of words.
pub fn quotes(words: &Words<'_>) -> Vec<Range<usize>> {
    let mut ranges = vec![];
    let mut open: Option<usize> = None;
    let (mut straight, mut low) = (false, false);
    let marks = |(_, c): &(usize, char)| matches!(c, '"' | '“' | '”' | '„' | '«' | '»');
    for (i, c) in words.text.char_indices().filter(marks) {
        // `“` opens in English and closes what `„` has opened; `»` opens in `»German«` books.
        let opens = match c {
            '"' => !straight,
            '“' => !low,
            '«' | '»' => open.is_none(),
            c => c == '„',
        };
        match c {
            '"' => straight = !straight,
            '„' => low = true,
            '“' | '”' => low = false,
            _ => {}
        }
        if opens {
            open = Some(i);
        } else {
            let Some(start) = open.take() else { continue };
            let from = words.words.partition_point(|word| word.range.start < start);
            let to = words.words.partition_point(|word| word.range.end <= i);
            if from < to && to - from <= LONGEST_QUOTE {
                ranges.push(from..to);
            }
        }
    }
    ranges
}

/// A name in the form by which names are compared: lower case, no accents, no punctuation, no
/// leading article, single blanks.
pub fn normalise_name(name: &str) -> String {
    let name = spelling(name);
    let mut out = String::with_capacity(name.len());
    for range in split_words(&name) {
        let start = out.len();
        if start > 0 {
            out.push(' ');
        }
        for c in name[range].chars() {
            match c {
                'A'..='Z' => out.push(c.to_ascii_lowercase()),
                'a'..='z' | '0'..='9' => out.push(c),
                '.' | ',' | '\'' | '’' => {}
                c => push_folded(c, &mut out),
            }
        }
        if out.len() == start + usize::from(start > 0) {
            out.truncate(start);
        }
    }
    for article in ["the ", "a ", "an "] {
        if out.len() > article.len() && out.starts_with(article) {
            out.drain(..article.len());
            break;
        }
    }
    out
}

/// The Latin letters that are no plain letter with an accent, each with what it is compared as.
const FOLDED: &str = "æae đd ðd ħh ıi łl ŀl ŋn øo œoe ßss ŧt þth";

/// A text in small letters without accents.
pub fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push_folded(c, &mut out));
    out
}

fn push_folded(c: char, out: &mut String) {
    for c in c.to_lowercase().filter(|c| !matches!(c, '\u{300}'..='\u{36f}')) {
        let plain = once(c).nfd().next().filter(char::is_ascii);
        match FOLDED.split(' ').find_map(|pair| pair.strip_prefix(c)) {
            Some(folded) => out.push_str(folded),
            None => out.push(plain.unwrap_or(c)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names_in(text: &str) -> Vec<&str> {
        let names = names(text).into_iter().filter(|n| !matches!(n.kind, NameKind::Value(_)));
        names.map(|name| &text[name.range]).collect()
    }

    #[test]
    fn names_are_runs_with_their_particles() {
        assert_eq!(
            names_in("The mill of J. Brandt joined the Guild of Arms in Lower Saxby."),
            ["J. Brandt", "Guild of Arms", "Guild of Arms in Lower Saxby", "Lower Saxby"]
        );
        assert_eq!(
            names_in("It belongs to Pak Min-ho\nnow. The Oslo-born singer left."),
            ["Pak Min-ho", "Oslo"]
        );
        assert_eq!(names_in("On May 3, 1974 she read “low tide” aloud."), ["low tide"]);
    }

    #[test]
    fn a_name_with_a_nickname_is_one() {
        for name in [
            "William \"Bill\" Gates",
            "Karl-Heinz „Kalle“ Rummenigge",
            "Dwayne “The Rock” Johnson",
            "Paul ‘Bear’ Bryant",
            "Edson «Pelé» Arantes",
        ] {
            assert_eq!(names_in(&format!("There {name} spoke.")), [name]);
        }
        assert_eq!(normalise_name("William \"Bill\" Gates"), "william bill gates");
        assert_eq!(names_in("There Joseph (Joe) Biden spoke."), ["Joseph (Joe) Biden", "Joe"]);
        assert_eq!(names_in("There Merkel (CDU) Scholz met."), ["Merkel", "CDU", "Scholz"]);
        assert_eq!(names_in("In it Ann Berg \"Low Tide\" read."), ["Ann Berg", "Low Tide"]);
        assert_eq!(names_in("There Bo (Norway) and Al."), ["Bo", "Norway", "Al"]);
    }

    #[test]
    fn a_name_is_one_in_whatever_code_points_it_is_written() {
        for (written, name) in [
            ("Rene\u{301} Descartes", "René Descartes"),
            ("Max Quer\u{ad}balken", "Max Querbalken"),
            ("Ju\u{308}rgen Mu\u{308}ller", "Jürgen Müller"),
        ] {
            assert_eq!(names_in(&format!("There {written} spoke.")), [written]);
            assert_eq!(normalise_name(written), normalise_name(name));
        }
        assert_eq!(normalise_name("Ｂｏ Carl"), "bo carl");
        assert_eq!(normalise_name("CO₂"), normalise_name("CO2"));
        assert_eq!(normalise_name("דָּוִד"), "דוד");
    }

    #[test]
    fn values_are_told_with_what_they_are() {
        let values: Vec<NameKind> = names("Born June 8, 1951 in 3 towns.")
            .into_iter()
            .map(|name| name.kind)
            .filter(|kind| matches!(kind, NameKind::Value(_)))
            .collect();
        assert!(matches!(values[0], NameKind::Value(Value::Date(_))), "{values:?}");
        assert_eq!(values[1], NameKind::Value(Value::Number(3.0)));
    }

    #[test]
    fn spellings_of_one_name_are_one() {
        for (a, b) in [
            ("The Beatles", "beatles"),
            ("Sinéad O'Connor", "Sinead O’Connor"),
            ("U.S. Army", "US Army"),
            ("Łódź", "Lodz"),
            ("Jean-Luc  Godard's", "Jean Luc Godard"),
        ] {
            assert_eq!(normalise_name(a), normalise_name(b), "{a}");
        }
        assert_eq!(normalise_name("The"), "the");
        assert_eq!(normalise_name("?!"), "");
    }

    proptest! {
        #[test]
        fn ranges_are_in_order_and_on_letters(text in "[A-Za-zÉé0-9 .,'\"“”\\n-]{0,60}") {
            for name in names(&text) {
                prop_assert!(!text[name.range.clone()].is_empty());
            }
            let once = normalise_name(&text);
            prop_assert_eq!(once.trim(), once.as_str());
        }
    }
}
