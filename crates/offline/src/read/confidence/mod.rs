//! How likely a short answer of the offline model is right: whether its kind fits what the question
//! asks for, how much of the question the sentences around it cover, and how sure the trained
//! reader is.
mod mismatch;

use std::collections::HashSet;

use halma_core::text::numbers::CARDINALS;
use halma_core::text::support::TitledText;
use halma_core::{AnswerKind, PassageReader};

use super::score::{Query, before, grade};
use super::target::{Sort, Target};
use super::text::{Line, Text};
use super::{cells, compare};
use crate::decompose::chain;
use crate::input::Passage;
use crate::lexicon::Lexicon;
use crate::links::mentions;
use crate::lists::{is_listed, list};
use crate::spans::{Kind, Span, spans};
use crate::weights::{Weights, covered, mass};
use crate::words::{Sentence, Shape};

/// What is left of a sentence's share where the verb of the question is not in it.
const UNSAID: f32 = 0.7;

/// The margin in logits that stands for a trained reader's where there is none: an answer of rules
/// alone is sure only where its kind fits in full.
const UNREAD: f32 = 1.0;

/// The margin in logits of an answer of the last of several steps, at least.
const LINKED: f32 = 4.0;

/// What a confidence is made of; each is in `[0, 1]` but for `margin`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AnswerEvidence {
    /// How well the kind of the answer fits what is asked for.
    pub fit: f32,
    /// The share of the question's content words in the sentence of the answer and its title.
    pub sentence: f32,
    /// The same in all passages that the answer rests on.
    pub passages: f32,
    /// By how much the trained reader prefers the answer to no answer, in logits.
    pub margin: Option<f32>,
    /// By how much it prefers another span to the answer, in logits; 0 without one.
    pub rival: f32,
}

/// The evidence for a value that a rule has looked up.
const CERTAIN: AnswerEvidence =
    AnswerEvidence { fit: 1.0, sentence: 1.0, passages: 1.0, margin: None, rival: 0.0 };

impl AnswerEvidence {
    /// The probability that the answer is right, in `[0, 1]`: a logistic function with weights
    /// chosen on the working set of `demo/everyday` (docs/concepts/offline-model.md).
    pub fn confidence(&self) -> f32 {
        if self.fit < 0.5 {
            return 0.0;
        }
        let sum = -9.2
            + 2.0 * self.fit
            + 7.0 * self.sentence
            + 2.0 * self.passages
            + 0.25 * self.margin.unwrap_or(UNREAD).clamp(-8.0, 8.0)
            - 0.3 * self.rival.clamp(0.0, 8.0);
        1.0 / (1.0 + (-sum).exp())
    }
}

/// Compares an answer with the passages that it rests on. An answer to a question in another
/// language than English fits nothing: the rules know English alone.
pub(crate) fn evidence(
    lexicon: &Lexicon,
    reader: Option<&dyn PassageReader>,
    (question, answer): (&str, &str),
    passages: &[TitledText<'_>],
) -> AnswerEvidence {
    let words = Sentence::new(question, lexicon);
    if !is_english(&words) || answer.trim().is_empty() {
        return AnswerEvidence::default();
    }
    let target = Target::new(&words, AnswerKind::Short, lexicon);
    let passage = |p: &TitledText<'_>| Passage {
        title: p.title.to_owned(),
        text: p.text.to_owned(),
        ..Passage::default()
    };
    let passages: Vec<Passage> = passages.iter().map(passage).collect();
    let cell = cells::look_up(&words, &target, &passages, lexicon);
    if cell.is_some_and(|cell| cell.text == answer.trim()) {
        return CERTAIN;
    }
    let text = Text::new(&passages, lexicon);
    let query = Query::new(question, target.clone(), &text, lexicon);
    match compare::is_decided(&query, answer, &text, lexicon) {
        Some(true) => return CERTAIN,
        Some(false) => return AnswerEvidence::default(),
        None => {}
    }
    let question_target = QuestionTarget { mass: content(&words, &target), words, target };
    let mut best = AnswerEvidence::default();
    let mut place = None;
    for line in &text.lines {
        for span in spans_of(answer, &line.sentence, lexicon) {
            let evidence = question_target.compare(line, &span, (&text, lexicon));
            if evidence.fit + evidence.sentence > best.fit + best.sentence {
                (best, place) = (evidence, Some(line.passage));
            }
        }
    }
    let everything = text.lines.iter().flat_map(|line| stems(line, &text, lexicon)).collect();
    best.passages = covered(&question_target.mass, &everything);
    let is_year = |word: &str| word.len() == 4 && word.chars().all(|c| c.is_ascii_digit());
    let mut years = question.split(|c: char| !c.is_alphanumeric()).filter(|word| is_year(word));
    if years.any(|year| !passages.iter().any(|p| p.text.contains(year) || p.title.contains(year))) {
        best.fit = 0.0;
    }
    if let (Some(reader), Some(place)) = (reader, place) {
        let (margin, rival) = read(reader, question, answer, &passages[place]);
        (best.margin, best.rival) = (Some(margin), rival);
    }
    let linked = place.is_some_and(|place| is_linked(&text, place));
    if linked && chain(question, lexicon).len() > 1 {
        // The other steps are covered by the passages that lead to this one.
        best.sentence = best.sentence.max(best.passages);
        best.margin = best.margin.map(|margin| margin.max(LINKED));
        best.rival = 0.0;
    }
    best
}

/// Whether an answer in any words can be of the kind that an English question asks for: a time, a
/// number of the things that are counted. Questions in other languages and for other kinds take any.
pub(crate) fn may_fit(lexicon: &Lexicon, question: &str, answer: &str, text: &Text) -> bool {
    let words = Sentence::new(question, lexicon);
    if !is_english(&words) {
        return true;
    }
    let target = Target::new(&words, AnswerKind::Short, lexicon);
    let question_target = QuestionTarget { mass: vec![], words, target };
    let said = Sentence::new(answer, lexicon);
    let numbers = (0..said.words.len()).filter(|at| is_number(&said, *at));
    match question_target.target.sort {
        _ if question_target.asks_money() => answer.chars().any(|c| c.is_ascii_digit()),
        Sort::Date | Sort::Year => {
            let mut all = said.lower_words().into_iter();
            answer.chars().any(|c| c.is_ascii_digit())
                || all.any(|word| is_listed("times", word.trim_end_matches('s')))
        }
        Sort::Number => numbers.into_iter().any(|at| {
            let stem = &said.words[at].stem;
            text.lines.iter().any(|line| {
                let same = (0..line.sentence.words.len())
                    .filter(|i| line.sentence.words[*i].stem == *stem);
                let span = |i| Span { words: i..i + 1, kind: Kind::Phrase };
                same.into_iter().any(|i| question_target.counts(line, &span(i)))
            })
        }),
        _ => true,
    }
}

/// Whether a word is a number in digits or letters.
fn is_number(sentence: &Sentence, at: usize) -> bool {
    let word = sentence.word(at).to_lowercase();
    sentence.words[at].shape == Shape::Digit
        || CARDINALS.contains(&word.as_str())
        || is_listed("multiples", &word)
}

/// The stems of a line and of its title, with those of irregular verbs: a builder is named by `built`.
fn stems(line: &Line, text: &Text, lexicon: &Lexicon) -> HashSet<String> {
    let mut stems = text.titled_stems(line);
    let words = line.sentence.lower_words().into_iter();
    stems.extend(words.filter_map(|word| Some(lexicon.stem(lexicon.verbs.base(&word)?))));
    stems
}

/// Whether another passage names the one in which the answer stands.
fn is_linked(text: &Text, place: usize) -> bool {
    let title = &text.titles[place].plain;
    !title.is_empty()
        && text.lines.iter().any(|l| l.passage != place && mentions(&l.sentence.text, title))
}

/// Whether the words of a question are English as far as can be seen.
fn is_english(question: &Sentence) -> bool {
    let foreign = question.lower_words().iter().any(|word| is_listed("foreign", word));
    !foreign && question.text.chars().all(|c| (c as u32) < 0x250 && c != '¿')
}

/// A question with what it asks for and its content words with their weights.
struct QuestionTarget {
    words: Sentence,
    target: Target,
    mass: Vec<(String, f32)>,
}

/// The content words of a question without the nouns that only say what kind of thing is meant:
/// that of the answer, and those before a relative clause (`the company that makes X`).
fn content(question: &Sentence, target: &Target) -> Vec<(String, f32)> {
    let mut mass = mass(question, &Weights::default());
    // `how high`
    let asks_how = question.word(target.at).eq_ignore_ascii_case("how");
    if let Some(degree) = question.words.get(target.at + 1).filter(|_| asks_how) {
        mass.retain(|(stem, _)| *stem != degree.stem);
    }
    let kind = matches!(target.sort, Sort::Date | Sort::Year | Sort::Place | Sort::Country);
    let next = question.words.get(target.at + 1).map(|word| &word.stem);
    let asks = ["which", "what"].contains(&question.word(target.at).to_lowercase().as_str());
    if kind || (asks && next == target.head.as_ref()) {
        mass.retain(|(stem, _)| Some(stem) != target.head.as_ref());
    }
    let relative = |at: usize| ["that", "who", "which", "whose"].contains(&question.word(at));
    let nouns = (1..question.words.len()).filter(|at| relative(*at));
    let nouns: Vec<&str> = nouns.map(|at| question.words[at - 1].stem.as_str()).collect();
    mass.retain(|(stem, _)| !nouns.contains(&stem.as_str()));
    mass
}

impl QuestionTarget {
    fn compare(
        &self,
        line: &Line,
        span: &Span,
        (text, lexicon): (&Text, &Lexicon),
    ) -> AnswerEvidence {
        let organisations: HashSet<&str> = list("organisation").collect();
        let fit = match self.target.sort {
            // Whether something holds, and how it is done, no span says.
            Sort::YesNo => 0.0,
            _ if self.asks_how() => 0.0,
            _ if self.is_mismatch(line, span, lexicon) => 0.0,
            _ if self.asks_money() => f32::from(u8::from(is_money(line, span))),
            Sort::Number if is_part_of_number(line, span) => 0.0,
            Sort::Number => f32::from(u8::from(self.counts(line, span))),
            Sort::Thing if self.target.head.is_none() => 0.6,
            // `the third working day`
            Sort::Date | Sort::Year if span.kind == Kind::Phrase && has_time(line, span) => 0.6,
            // `in cabinet 4`
            Sort::Place if span.kind == Kind::Phrase && follows_place(line, span) => 0.6,
            _ => grade(&self.target, line, span, &organisations),
        };
        let mut stems = stems(line, text, lexicon);
        stems.extend(line.life.iter().flatten().map(|&end| end.to_owned()));
        let mut sentence = covered(&self.mass, &stems);
        if self.verb(lexicon).is_some_and(|verb| !stems.contains(&verb)) {
            sentence *= UNSAID;
        }
        AnswerEvidence { fit, sentence, ..AnswerEvidence::default() }
    }

    fn asks(&self, listed: &[&str]) -> bool {
        self.words.lower_words().iter().any(|word| listed.contains(&word.as_str()))
    }

    /// Whether it asks for a way to do something: `How do I reset it?`
    fn asks_how(&self) -> bool {
        let word = |at: usize| self.words.words.get(at).map(|_| self.words.word(at).to_lowercase());
        let at = self.target.at;
        let helps = ["do", "does", "did", "can", "could", "should", "is", "are", "to"];
        word(at).is_some_and(|word| word == "how")
            && word(at + 1).is_some_and(|next| helps.contains(&next.as_str()))
    }

    fn asks_money(&self) -> bool {
        cells::asks_money(&self.words.lower_words())
    }

    /// Whether a number stands with the noun that is counted.
    fn counts(&self, line: &Line, span: &Span) -> bool {
        let words = &line.sentence.words;
        let number = matches!(span.kind, Kind::Number(_))
            || span.words.clone().any(|at| is_number(&line.sentence, at));
        let near = span.words.start.saturating_sub(2)..(span.words.end + 4).min(words.len());
        let head = self.target.head.as_ref();
        number && head.is_none_or(|head| words[near].iter().any(|word| word.stem == *head))
    }
}

/// The places of an answer in a sentence. A number within a date is not a place.
fn spans_of(answer: &str, sentence: &Sentence, lexicon: &Lexicon) -> Vec<Span> {
    let parts = Sentence::new(answer, lexicon);
    let lower = |s: &Sentence, at: usize| s.word(at).to_lowercase();
    let (length, all) = (parts.words.len(), sentence.words.len());
    if length == 0 || length > all {
        return vec![];
    }
    let sentence_spans = spans(sentence, lexicon);
    let within_date = |words: &std::ops::Range<usize>| {
        sentence_spans.iter().any(|other| {
            let larger = other.words.len() > words.len();
            let inside = other.words.start <= words.start && words.end <= other.words.end;
            matches!(other.kind, Kind::Date(_)) && larger && inside
        })
    };
    let same = |start: &usize| (0..length).all(|i| lower(sentence, start + i) == lower(&parts, i));
    let starts = (0..=all - length).filter(same);
    let answer_spans = starts.map(|start| {
        let words = start..start + length;
        let kind = sentence_spans.iter().find(|span| span.words == words).map(|span| span.kind);
        Span { words, kind: kind.unwrap_or(Kind::Phrase) }
    });
    let dated = |span: &Span| !matches!(span.kind, Kind::Year(_)) && within_date(&span.words);
    answer_spans.filter(|span| !dated(span)).collect()
}

/// Whether a span has a unit of time or the name of a day or a month.
fn has_time(line: &Line, span: &Span) -> bool {
    let mut words = span.words.clone().map(|at| line.sentence.word(at).to_lowercase());
    words.any(|word| is_listed("times", word.trim_end_matches('s')))
}

/// Whether a number is no whole one: `six` of `six-sided`, `hundred` of `more than a hundred`.
fn is_part_of_number(line: &Line, span: &Span) -> bool {
    line.sentence.gap(span.words.end - 1) == "-"
        || is_listed("multiples", &line.sentence.word(span.words.start).to_lowercase())
}

/// Whether a word for a place precedes a span.
fn follows_place(line: &Line, span: &Span) -> bool {
    let before = before(line, span);
    before.is_some_and(|word| ["in", "at", "on", "behind", "under"].contains(&word.as_str()))
}

/// Whether a span is an amount with its currency.
fn is_money(line: &Line, span: &Span) -> bool {
    let sentence = &line.sentence;
    let from = sentence.words[span.words.start].range.start;
    let to = sentence.words[span.words.end - 1].range.end;
    let before = sentence.text[..from].chars().rev().find(|c| !c.is_whitespace());
    let after = sentence.text[to..].split_whitespace().next().unwrap_or_default().to_lowercase();
    let after = after.trim_matches([',', '.', ';', ')', '(']).to_owned();
    let inside = sentence.text[from..to].to_lowercase();
    // `Price in euros: 52.00`: the head of a column names the currency.
    let head = sentence.text[..from].trim_end().strip_suffix(':').unwrap_or_default();
    let head = head.rsplit([';', '\n']).next().unwrap_or_default().to_lowercase();
    let currency = |word: &str| is_listed("currencies", word.trim_matches([':', '(', ')']));
    let digits = inside.chars().any(|c| c.is_ascii_digit());
    digits
        && (before.is_some_and(|c| "€$£¥".contains(c))
            || currency(&after)
            || inside.split_whitespace().chain(head.split_whitespace()).any(currency))
}

/// By how much an answer is preferred to none, and the best span to it.
fn read(reader: &dyn PassageReader, question: &str, answer: &str, passage: &Passage) -> (f32, f32) {
    let text = format!("{}. {}", passage.title, passage.text);
    let Ok(readings) = reader.read(question, &[&text]) else { return (0.0, 0.0) };
    let Some(reading) = readings.first() else { return (0.0, 0.0) };
    let places = text.match_indices(answer).map(|(at, matched)| at..at + matched.len());
    let scores = places.filter_map(|range| reading.score(&range));
    let Some(score) = scores.max_by(f32::total_cmp) else { return (-8.0, 8.0) };
    let best = reading.best(1).first().map_or(score, |span| span.score);
    (score, best - score)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confidence(question: &str, answer: &str, text: &str) -> f32 {
        let passage = TitledText { title: "Lease", text };
        evidence(&Lexicon::new(), None, (question, answer), &[passage]).confidence()
    }

    #[test]
    fn an_answer_of_the_wrong_kind_is_never_sure() {
        let text = "The lease with Acme began on 5 April 2016. The rent is 900 euros a month. \
            Acme has a six-page lease and has ended more than a hundred leases.";
        assert!(confidence("What is the rent of the lease?", "900", text) > 0.5);
        for (question, answer) in [
            ("What is the rent of the lease?", "5 April 2016"),
            ("How many leases began in 2016?", "5"),
            ("Who won the lease in 2016?", "5 April 2016"),
            ("Wer ist Acme?", "Acme"),
            ("Is the rent 900 euros?", "900"),
            ("How many leases are there?", "six"),
            ("How many leases did Acme end?", "hundred"),
        ] {
            assert!(confidence(question, answer, text) < 0.5, "{question}");
        }
    }

    #[test]
    fn a_question_that_the_passages_do_not_cover_is_not_sure() {
        let text = "Acme was founded by Ada Quill in 1931.";
        assert!(confidence("Who founded Acme?", "Ada Quill", text) > 0.8);
        assert!(confidence("Which painter founded Acme?", "Ada Quill", text) > 0.8);
        assert!(confidence("What is Acme?", "founded", text) < 0.85);
        assert!(confidence("Who won the world cup in 2018?", "Ada Quill", text) < 0.1);
    }
}
