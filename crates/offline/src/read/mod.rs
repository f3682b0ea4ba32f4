//! Task `read`: the answer as a span of the context.
mod answer_kinds;
pub(crate) mod cells;
mod closing;
mod compare;
pub(crate) mod confidence;
#[cfg(test)]
mod fitting;
mod score;
mod sides;
mod subject;
pub(crate) mod target;
pub(crate) mod text;
mod trained;

use std::collections::HashSet;

use halma_core::{AnswerKind, PassageReader, Question};
use serde::Deserialize;
use serde_json::json;

use self::score::{Candidate, Query, candidates};
use self::target::{Sort, Target};
use self::text::Text;
use self::trained::Readings;
use crate::input::{Exchange, Passage};
use crate::lexicon::Lexicon;
use crate::weights::{Weights, covered, mass};
use crate::words::Sentence;

#[derive(Debug, Deserialize)]
pub(crate) struct ReadInput {
    pub(crate) question: Question,
    #[serde(default)]
    pub(crate) context: Vec<Passage>,
    /// Earlier questions of the same run with their answers.
    #[serde(default)]
    pub(crate) history: Vec<Exchange>,
    /// The query whose result the context is.
    #[serde(default)]
    pub(crate) sql: Option<String>,
}

impl ReadInput {
    /// A question to be answered from passages alone.
    pub(crate) fn new(question: Question, context: Vec<Passage>) -> Self {
        Self { question, context, history: vec![], sql: None }
    }
}

/// An answer and the sentence that supports it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) rationale: String,
}

/// The share of the question's content that the context must cover; below it the answer would be
/// a guess.
const LEAST_COVERED: f32 = 0.3;

/// The result of a query is the answer: the values of a column, or a row: its first value and, in
/// brackets, the others.
fn query_result(input: &ReadInput) -> Option<Answer> {
    input.sql.as_ref()?;
    let value = |row: &Passage| {
        let cells = row.text.split("; ").map(|cell| Some(cell.split_once(": ")?.1));
        let cells: Vec<&str> = cells.collect::<Option<_>>()?;
        match cells.split_first()? {
            (value, []) => Some((*value).to_owned()),
            (first, others) if input.context.len() == 1 => {
                Some(format!("{first} ({})", others.join(", ")))
            }
            _ => None,
        }
    };
    let values: Option<Vec<String>> = input.context.iter().map(value).collect();
    // Whether there is none, or only none of what the question means, nobody can tell.
    if values.as_deref() == Some(&["0".to_owned()]) {
        return Some(abstain("No row of the table fits the question."));
    }
    let text = values.filter(|values| !values.is_empty())?.join(", ");
    Some(Answer { text, rationale: "It is computed by a query over a table.".into() })
}

/// In how many steps a question may be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Steps {
    Any,
    One,
}

/// Reads by rules, and with a trained reader where there is one.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) lexicon: &'a Lexicon,
    pub(crate) trained: Option<&'a dyn PassageReader>,
}

impl Reader<'_> {
    /// JSON of `answer` and `rationale`; an empty answer abstains.
    pub(crate) fn reply(&self, input: &ReadInput) -> String {
        let Answer { text, rationale } = self.read(input);
        json!({ "answer": text, "rationale": rationale }).to_string()
    }

    pub(crate) fn read(&self, input: &ReadInput) -> Answer {
        self.read_in(Steps::Any, input)
    }

    /// Reads a question that is a step of another one, and is not taken apart itself.
    fn read_step(&self, input: &ReadInput) -> Answer {
        self.read_in(Steps::One, input)
    }

    fn read_in(&self, steps: Steps, input: &ReadInput) -> Answer {
        let lexicon = self.lexicon;
        if let Some(answer) = query_result(input) {
            return answer;
        }
        let text = Text::new(&input.context, lexicon);
        let question = Sentence::new(&input.question.text, lexicon);
        let target = Target::new(&question, input.question.answer_kind, lexicon);
        let query = Query::new(&input.question.text, target, &text, lexicon);
        if let Some(answer) = compare::by_values(&query, &text, lexicon) {
            return answer;
        }
        if let Some(answer) = closing::close(input, &query, lexicon) {
            return answer;
        }
        if text.lines.is_empty() {
            return abstain("There is nothing to answer from.");
        }
        if let Some(answer) = cells::look_up(&question, &query.target, &input.context, lexicon) {
            return answer;
        }
        // Weights by rarity in the context would make a word it lacks the heaviest.
        let plain = mass(&question, &Weights::default());
        let share = covered(&plain, &all_stems(&text));
        if share < LEAST_COVERED {
            return abstain(&coverage(share));
        }
        if !input.question.options.is_empty() {
            return answer_kinds::pick(&input.question.options, &query, &text, lexicon);
        }
        if input.question.answer_kind == AnswerKind::Long {
            return answer_kinds::long_answer(&query, &text);
        }
        if let Some(answer) = compare::choose(&query, &text, lexicon) {
            return answer;
        }
        let is_yes_no = query.target.sort == Sort::YesNo;
        if steps == Steps::Any
            && let Some(answer) = closing::by_steps(self, input)
        {
            return answer;
        }
        if is_yes_no {
            return answer_kinds::judge(&query, &text, lexicon);
        }
        self.best_span(&query, &text)
    }

    /// The score of the best span of each line by rules.
    fn values(&self, query: &Query<'_>, text: &Text, gains: &[f32]) -> Vec<f32> {
        let mut values = vec![f32::MIN; text.lines.len()];
        for candidate in candidates(query, text, self.lexicon, None) {
            let gain = gains[text.lines[candidate.line].passage];
            values[candidate.line] = values[candidate.line].max(candidate.score(gain));
        }
        values
    }

    /// What the trained reader says of the passages in which the rules find the best spans.
    fn readings(&self, query: &Query<'_>, text: &Text, gains: &[f32]) -> Option<Readings> {
        let reader = self.trained?;
        Readings::new(reader, query.text, text, &self.values(query, text, gains))
    }

    fn best_span(&self, query: &Query<'_>, text: &Text) -> Answer {
        let subject = subject::subject(query, text, self.lexicon);
        if subject.missing {
            return abstain("No passage mentions what the question names.");
        }
        let readings = self.readings(query, text, &subject.gains);
        let mut best: Option<(f32, Candidate)> = None;
        for candidate in candidates(query, text, self.lexicon, readings.as_ref()) {
            let score = candidate.score(subject.gains[text.lines[candidate.line].passage]);
            if best.as_ref().is_none_or(|(highest, _)| score > *highest) {
                best = Some((score, candidate));
            }
        }
        match best {
            Some((_, Candidate { text: answer, line, .. })) => {
                let rationale = format!("“{}”", text.lines[line].sentence.text);
                Answer { text: answer, rationale }
            }
            None => {
                abstain("No sentence of the context holds a name, a date, a number or a phrase.")
            }
        }
    }
}

/// [`Reader::read`] by rules alone.
#[cfg(test)]
pub(crate) fn read(lexicon: &Lexicon, input: &ReadInput) -> Answer {
    Reader { lexicon, trained: None }.read(input)
}

fn abstain(reason: &str) -> Answer {
    Answer { text: String::new(), rationale: reason.to_owned() }
}

/// Why nothing is read from passages with this share of the question's words.
fn coverage(share: f32) -> String {
    match (share * 100.0).round() {
        0.0 => "The context covers none of the question.".to_owned(),
        percent => format!("The context covers only {percent} % of the question."),
    }
}

fn all_stems(text: &Text) -> HashSet<String> {
    let words = text.lines.iter().flat_map(|line| line.sentence.words.iter());
    let titles = text.titles.iter().flat_map(|title| title.stems.iter().cloned());
    words.map(|word| word.stem.clone()).chain(titles).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage((title, text): (&str, &str)) -> Passage {
        Passage { title: title.into(), text: text.into(), ..Passage::default() }
    }

    fn input(question: Question) -> ReadInput {
        let context = [
            (
                "Low Tide",
                "Low Tide is a Danish film of 1974. It was directed by Mara Quill and won \
                          40 prizes.",
            ),
            (
                "Mara Quill",
                "Mara Quill (3 May 1931 – 7 June 1990) was a Danish painter and film \
                            director. She was born in Lower Saxby and taught sculpture.",
            ),
            ("High Noon Mill", "High Noon Mill is a film of 1981, directed by Orla Finch."),
            ("Orla Finch", "Orla Finch (born 12 March 1929) is a Welsh director."),
        ];
        ReadInput::new(question, context.map(passage).to_vec())
    }

    fn answer(question: &str) -> String {
        read(&Lexicon::new(), &input(Question::new(question))).text
    }

    #[test]
    fn spans_are_read_by_sort() {
        assert_eq!(answer("Who directed the film Low Tide?"), "Mara Quill");
        assert_eq!(answer("Where was the director of Low Tide born?"), "Lower Saxby");
        assert_eq!(answer("When did the director of Low Tide die?"), "7 June 1990");
        assert_eq!(answer("How many prizes did Low Tide win?"), "40");
    }

    #[test]
    fn sides_are_compared() {
        assert_eq!(answer("Which film came out first, Low Tide or High Noon Mill?"), "Low Tide");
        assert_eq!(answer("Are Mara Quill and Orla Finch from the same country?"), "no");
        assert_eq!(answer("Are Mara Quill and Orla Finch both directors?"), "yes");
    }

    #[test]
    fn it_abstains_without_support() {
        let lexicon = Lexicon::new();
        let empty = ReadInput::new(Question::new("Who painted it?"), vec![]);
        assert_eq!(read(&lexicon, &empty).text, "");
        let far = read(&lexicon, &input(Question::new("How deep is Lake Ontario in winter?")));
        assert_eq!(far.text, "");
        assert!(far.rationale.contains("covers none of the question"), "{}", far.rationale);
        assert_eq!(coverage(0.004), "The context covers none of the question.");
        assert_eq!(coverage(0.24), "The context covers only 24 % of the question.");
    }

    #[test]
    fn the_answer_has_the_requested_form() {
        let long =
            Question { answer_kind: AnswerKind::Long, ..Question::new("Who is Mara Quill?") };
        let answer = read(&Lexicon::new(), &input(long)).text;
        assert!(answer.starts_with("Mara Quill (3 May 1931"), "{answer}");
        let options = vec!["Orla Finch".into(), "Mara Quill".into()];
        let picked = Question { options, ..Question::new("Who directed Low Tide?") };
        assert_eq!(read(&Lexicon::new(), &input(picked)).text, "Mara Quill");
    }
}
