//! Task `support`: whether the passages support an answer.
use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use crate::input::Passage;
use crate::links::mentions;
use crate::read::cells;
use crate::read::confidence::may_fit;
use crate::read::target::Target;
use crate::read::text::Text;
use crate::read::{ReadInput, Reader};
use crate::weights::{Weights, covered, mass};
use crate::words::Sentence;

#[derive(Debug, Deserialize)]
pub(crate) struct SupportInput {
    question: Question,
    answer: String,
    #[serde(default)]
    context: Vec<Passage>,
}

/// The least share of the question that the sentence with the answer must hold.
const LEAST: f32 = 0.3;

pub(crate) fn reply(reader: &Reader<'_>, input: &SupportInput) -> String {
    let (score, reason) = score(reader, input);
    json!({ "supported": score >= LEAST, "score": score, "reason": reason }).to_string()
}

fn score(reader: &Reader<'_>, input: &SupportInput) -> (f32, String) {
    let lexicon = reader.lexicon;
    let answer = input.answer.trim();
    if !answer.chars().any(char::is_alphanumeric) {
        return (0.0, "There is no answer.".into());
    }
    let opens = answer.to_lowercase();
    if let Some(verdict) = ["yes", "no"]
        .into_iter()
        .find(|word| opens.split(|c: char| !c.is_alphanumeric()).next() == Some(word))
    {
        return read_again(reader, input, verdict);
    }
    let text = Text::new(&input.context, lexicon);
    let question = Sentence::new(&input.question.text, lexicon);
    let target = Target::new(&question, input.question.answer_kind, lexicon);
    let cell = cells::look_up(&question, &target, &input.context, lexicon);
    if let Some(cell) = cell.filter(|cell| cell.text == answer) {
        return (1.0, cell.rationale);
    }
    let stated = lexicon.content(answer);
    let repeats = |stem: &String| question.words.iter().any(|word| word.stem == *stem);
    if !stated.is_empty() && stated.iter().all(repeats) {
        // Which of two things it is stands in no passage either.
        let offers =
            (0..question.words.len()).any(|at| question.word(at).eq_ignore_ascii_case("or"));
        return if offers {
            read_again(reader, input, answer)
        } else {
            (0.0, "The answer only repeats the question.".into())
        };
    }
    if !may_fit(lexicon, &input.question.text, answer, &text) {
        return (0.0, "The answer is of another kind than what is asked for.".into());
    }
    let mut rest = mass(&question, &Weights::default());
    rest.retain(|(stem, _)| !stated.contains(stem));
    let mut best = (0.0_f32, String::new());
    for line in &text.lines {
        let title = &text.titles[line.passage];
        let mut stems = line.stems();
        let said = mentions(&line.sentence.text, answer) || short(&line.sentence.text, answer);
        let all = !stated.is_empty() && stated.iter().all(|stem| stems.contains(stem));
        let titled = mentions(&title.plain, answer);
        // Half of an answer in other words is a hint, the answer itself is more.
        let whole = if said {
            1.0
        } else if all {
            0.9
        } else if titled {
            0.7
        } else {
            continue;
        };
        stems.extend(title.stems.iter().cloned());
        let share = if rest.is_empty() { 1.0 } else { covered(&rest, &stems) };
        if whole * share > best.0 {
            best = (whole * share, line.sentence.text.clone());
        }
    }
    match best {
        (score, line) if score > 0.0 => (score.min(1.0), format!("Said in “{line}”")),
        _ => (0.0, "No sentence with the answer speaks of what is asked.".into()),
    }
}

/// Names of fewer than three letters are words of their own or nothing.
fn short(line: &str, answer: &str) -> bool {
    let answer = answer.to_lowercase();
    let words = crate::words::split(line);
    answer.chars().count() < 3 && words.into_iter().any(|word| line[word].to_lowercase() == answer)
}

/// A verdict stands in no passage: the question is read once more.
fn read_again(reader: &Reader<'_>, input: &SupportInput, verdict: &str) -> (f32, String) {
    let again = reader.read(&ReadInput::new(input.question.clone(), input.context.clone()));
    let score = if again.text.eq_ignore_ascii_case(verdict) { 0.6 } else { 0.0 };
    (score, format!("Read again: `{}`. {}", again.text, again.rationale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::Lexicon;

    fn supported(question: &str, answer: &str, passages: &[(&str, &str)]) -> (bool, f64) {
        let passage = |(title, text): &(&str, &str)| Passage {
            title: (*title).into(),
            text: (*text).into(),
            ..Passage::default()
        };
        let input = SupportInput {
            question: Question::new(question),
            answer: answer.into(),
            context: passages.iter().map(passage).collect(),
        };
        let reader = Reader { lexicon: &Lexicon::new(), trained: None };
        let reply: serde_json::Value = serde_json::from_str(&reply(&reader, &input)).unwrap();
        (reply["supported"].as_bool().unwrap(), reply["score"].as_f64().unwrap())
    }

    const TIDE: &[(&str, &str)] = &[
        ("Low Tide", "Low Tide was painted by Mara Quill. It hangs in Varn."),
        ("Orla Finch", "Orla Finch sells boats."),
    ];

    #[test]
    fn an_answer_stands_where_the_question_does() {
        let question = "Who painted Low Tide?";
        assert!(supported(question, "Mara Quill", TIDE).0);
        assert!(supported(question, "It was Mara Quill who painted it", TIDE).0);
        assert!(!supported(question, "Orla Finch", TIDE).0);
        assert!(!supported(question, "Jon Brandt", TIDE).0);
        let (a, b) =
            (supported(question, "Mara Quill", TIDE).1, supported(question, "Varn", TIDE).1);
        assert!(a > b, "{a} {b}");
    }

    #[test]
    fn an_answer_of_another_kind_or_of_the_words_of_the_question_has_no_support() {
        let told =
            &[("Kettle", "E2 means that the filter is full. It has 3 lamps since May 2020.")];
        assert!(!supported("What is E2 on the kettle?", "E2", told).0);
        assert!(supported("What does E2 on the kettle mean?", "the filter is full", told).0);
        assert!(!supported("When was the kettle cleaned?", "filter is full", told).0);
        assert!(supported("How many lamps does the kettle have?", "3", told).0);
        assert!(!supported("How many filters does the kettle have?", "2020", told).0);
        assert!(!supported("Which is larger, kettle or filter?", "kettle", told).0);
    }

    #[test]
    fn yes_and_no_are_read_again() {
        let question = "Was Low Tide painted by Mara Quill?";
        assert!(supported(question, "yes", TIDE).0);
        assert!(!supported(question, "No.", TIDE).0);
    }

    #[test]
    fn nothing_supports_nothing() {
        for (question, answer) in [("Who?", ""), ("", "x"), ("Who painted it?", "…")] {
            assert!(!supported(question, answer, &[]).0);
        }
    }
}
