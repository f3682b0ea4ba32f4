//! Why a span is no answer to a question, whatever its kind: it says the opposite, belongs to
//! another name of the sentence, or is one of many things that are asked for.
use std::ops::Range;

use super::QuestionTarget;
use crate::lexicon::Lexicon;
use crate::lists::{is_listed, leads, list};
use crate::read::target::Sort;
use crate::read::text::Line;
use crate::spans::{Kind, Span, spans};
use crate::verbs::Form;
use crate::words::{Sentence, Shape};

impl QuestionTarget {
    /// Whether a span is no answer, whatever its kind.
    pub(super) fn is_mismatch(&self, line: &Line, span: &Span, lexicon: &Lexicon) -> bool {
        // The cell that is asked for is looked up; what else a row has is not asked for.
        line.is_row()
            || is_of_cells(line, span)
            || is_one_of_amounts(line, span)
            || is_end_of_range(line, span)
            || (span.kind == Kind::Name && !self.says_kind())
            || (self.target.sort == Sort::Thing && self.is_wrong_definition(span))
            || self.words.lower_words().iter().any(|word| is_listed("aggregates", word))
            || self.asks_many()
            || self.asks_opposite(line, lexicon)
            || self.is_nearer_to_another(line, span, lexicon)
    }

    /// Whether it asks for several things: `Which lamps are waterproof?`
    fn asks_many(&self) -> bool {
        let words = self.words.lower_words();
        let kind = words.windows(2).find(|pair| ["which", "what"].contains(&pair[0].as_str()));
        let is_plural = kind.is_some_and(|pair| {
            pair[1].ends_with('s') && !pair[1].ends_with("ss") && pair[1].len() > 3
        });
        is_plural && !self.asks(&["is", "was", "has"])
    }

    /// The stem of the verb that says what happens, where it is clear: after `who`, or the last word
    /// of a question with `did` or `was`. None of a verb that says little, such as `have`.
    pub(super) fn verb(&self, lexicon: &Lexicon) -> Option<String> {
        let words = self.words.lower_words();
        let helps = |word: &String| lexicon.verbs.form(word) == Some(Form::Auxiliary);
        let verb = if words.first()? == "who" && !words.get(1).is_some_and(helps) {
            words.get(1)?
        } else {
            let last = self.words.words.last()?;
            let word = words.last().filter(|_| last.shape == Shape::Lower && !last.stop)?;
            let does = words.iter().any(|word| ["do", "does", "did"].contains(&word.as_str()));
            let is_verb = does || (words.iter().any(helps) && lexicon.verbs.form(word).is_some());
            Some(word).filter(|_| is_verb)?
        };
        let base = lexicon.verbs.base(verb).unwrap_or(verb);
        (!is_listed("little", base)).then(|| lexicon.stem(base))
    }

    /// Whether another thing of the answer's kind stands nearer to a name that the question has:
    /// `signed for Acme by X, and for Globex by Y`.
    fn is_nearer_to_another(&self, line: &Line, span: &Span, lexicon: &Lexicon) -> bool {
        if !matches!(span.kind, Kind::Name | Kind::Date(_) | Kind::Year(_)) {
            return false;
        }
        let words = &line.sentence.words;
        let is_named = |at: usize| {
            let word = &words[at];
            let named = word.shape != Shape::Lower && !word.stop;
            named && self.words.words.iter().any(|other| other.stem == word.stem)
        };
        let names: Vec<usize> = (0..words.len()).filter(|at| is_named(*at)).collect();
        let distance = |of: &Range<usize>| {
            let to = |at: &usize| (at + 1).saturating_sub(of.end).max(of.start.saturating_sub(*at));
            names.iter().map(to).min().unwrap_or(usize::MAX)
        };
        let span_distance = distance(&span.words);
        let is_other = |other: &Span| {
            let (one, two) = (&other.words, &span.words);
            std::mem::discriminant(&other.kind) == std::mem::discriminant(&span.kind)
                && (one.end <= two.start || two.end <= one.start)
                && !one.clone().any(is_named)
        };
        let others = spans(&line.sentence, lexicon);
        others.iter().any(|other| is_other(other) && distance(&other.words) < span_distance)
    }

    /// Whether it says what kind of answer it asks for: `first flight of X` may ask for a date or a
    /// place.
    fn says_kind(&self) -> bool {
        let has_word =
            self.asks(&["who", "whom", "whose", "what", "which", "where", "when", "how", "why"]);
        has_word || self.words.lower_words().first().is_some_and(|noun| leads(noun).is_some())
    }

    /// Whether a sentence says the opposite of what is asked for.
    fn asks_opposite(&self, line: &Line, lexicon: &Lexicon) -> bool {
        let has = |sentence: &Sentence, listed: &str| {
            let stems: Vec<String> = listed.split(' ').map(|word| lexicon.stem(word)).collect();
            sentence.words.iter().any(|word| stems.contains(&word.stem))
        };
        let says = |one: &str, other: &str| {
            let (question, line) = (&self.words, &line.sentence);
            has(question, one) && !has(question, other) && has(line, other) && !has(line, one)
        };
        let mut pairs = list("opposites").filter_map(|pair| pair.split_once(" | "));
        pairs.any(|(one, other)| says(one, other) || says(other, one))
    }

    /// Whether a name stands for what a thing is: `What is a lease?`
    fn is_wrong_definition(&self, span: &Span) -> bool {
        let text = self.words.text.to_lowercase();
        let defines = text.starts_with("what is a ") || text.starts_with("what is an ");
        defines && matches!(span.kind, Kind::Name | Kind::Quoted | Kind::Country)
    }
}

/// Whether a span is one of several amounts of money in its sentence: which of them is meant, the
/// words between them say.
fn is_one_of_amounts(line: &Line, span: &Span) -> bool {
    let sentence = &line.sentence;
    let currency = |at: usize| is_listed("currencies", &sentence.word(at).to_lowercase());
    let amounts = sentence.words.iter().enumerate().filter(|&(at, word)| {
        let signed = sentence.text[..word.range.start].ends_with(['€', '$', '£', '¥']);
        let named = (at.saturating_sub(1)..(at + 2).min(sentence.words.len())).any(currency);
        word.shape == Shape::Digit && (signed || named)
    });
    let is_number = span.words.clone().any(|at| sentence.words[at].shape == Shape::Digit);
    is_number && amounts.count() > 1
}

/// Whether a span is only the end of what it stands in: `from 3 to 14 August`.
fn is_end_of_range(line: &Line, span: &Span) -> bool {
    let (words, start) = (&line.sentence.words, span.words.start);
    let word = |back: usize| Some(line.sentence.word(start.checked_sub(back)?).to_lowercase());
    let to = |word: String| ["to", "until", "till", "and", "through"].contains(&word.as_str());
    let dash = start > 0 && ["–", "-", "—"].contains(&line.sentence.gap(start - 1).trim());
    let begins = |at: usize| words[at].shape == Shape::Digit;
    matches!(span.kind, Kind::Date(_))
        && ((dash && begins(start - 1))
            || (start > 1 && word(1).is_some_and(to) && begins(start - 2)))
}

/// Whether a span goes over several cells of a row or has two amounts.
fn is_of_cells(line: &Line, span: &Span) -> bool {
    let words = &line.sentence.words;
    let range = words[span.words.start].range.start..words[span.words.end - 1].range.end;
    let numbers = words[span.words.clone()].iter().filter(|word| word.shape == Shape::Digit);
    // `38 euros within the country and 71 euros` is two answers.
    let is_two = numbers.count() > 1 && !matches!(span.kind, Kind::Date(_));
    let text = &line.sentence.text[range];
    // `euros: 52.00`
    let is_money = list("currencies").any(|currency| text.starts_with(currency));
    text.contains("; ") || (text.contains(": ") && !is_money) || (is_two && text.contains(" and "))
}
