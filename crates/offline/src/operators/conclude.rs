//! Task `conclude`: an answer from the answers to smaller questions.
use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use crate::input::Exchange;
use crate::lexicon::Lexicon;
use crate::read::{ReadInput, Reader};

#[derive(Debug, Deserialize)]
pub(crate) struct ConcludeInput {
    question: Question,
    #[serde(default)]
    history: Vec<AnsweredQuestion>,
}

/// `answer` is a sentence, `answers` the answers in it; `more` is the number of omitted answers.
#[derive(Debug, Default, Deserialize)]
struct AnsweredQuestion {
    question: String,
    #[serde(default)]
    answer: String,
    #[serde(default)]
    answers: Vec<String>,
    #[serde(default)]
    more: usize,
}

pub(crate) fn reply(lexicon: &Lexicon, input: &ConcludeInput) -> String {
    let answers = conclude(lexicon, input);
    json!({ "answer": answers.join(", "), "answers": answers }).to_string()
}

fn conclude(lexicon: &Lexicon, input: &ConcludeInput) -> Vec<String> {
    let question = &input.question;
    let Some(last) = input.history.last() else { return vec![] };
    let counts = question.text.trim_start().to_lowercase().starts_with("how many");
    let is_number = |text: &String| text.trim().starts_with(|c: char| c.is_ascii_digit());
    if counts && !last.answers.is_empty() && !last.answers.iter().all(is_number) {
        return vec![(last.answers.len() + last.more).to_string()];
    }
    let exchange = |one: &AnsweredQuestion| Exchange {
        question: one.question.clone(),
        // The answers without the sentence around them.
        answer: if one.answers.is_empty() { one.answer.clone() } else { one.answers.join(", ") },
    };
    let history = input.history.iter().map(exchange).collect();
    let input = ReadInput { history, ..ReadInput::new(question.clone(), vec![]) };
    let answer = Reader { lexicon, trained: None }.read(&input).text;
    match answer.as_str() {
        "" => vec![],
        all if all == last.answers.join(", ") => last.answers.clone(),
        one => vec![one.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn answers(question: &str, history: &[(&str, &[&str])]) -> Value {
        let history = history.iter().map(|(question, answers)| AnsweredQuestion {
            question: (*question).into(),
            answers: answers.iter().map(|text| (*text).into()).collect(),
            ..AnsweredQuestion::default()
        });
        let input = ConcludeInput { question: Question::new(question), history: history.collect() };
        let reply: Value = serde_json::from_str(&reply(&Lexicon::new(), &input)).unwrap();
        reply["answers"].clone()
    }

    #[test]
    fn the_last_answer_the_side_that_wins_or_the_number() {
        let sides: [(&str, &[&str]); 4] = [
            ("Who or what is Mara Quill?", &["Mara Quill"]),
            ("When was Mara Quill born?", &["3 May 1931"]),
            ("Who or what is Orla Finch?", &["Orla Finch"]),
            ("When was Orla Finch born?", &["12 March 1929"]),
        ];
        let older = "Who is older, Mara Quill or Orla Finch?";
        assert_eq!(answers(older, &sides), json!(["Orla Finch"]));
        let chain = "Who are the children of the keeper of Varn?";
        let several: &[&str] = &["Ada", "Ben"];
        let history: [(&str, &[&str]); 2] =
            [("Who is the keeper of Varn?", &["Ilse Thorn"]), ("Who are the children?", several)];
        assert_eq!(answers(chain, &history), json!(["Ada", "Ben"]));
        assert_eq!(answers("How many children has she?", &history), json!(["2"]));
        assert_eq!(answers("How many?", &[("How many children?", &["3"])]), json!(["3"]));
        assert_eq!(answers(chain, &[]), json!([]));
        assert_eq!(answers(chain, &[("Who?", &[])]), json!([]));
    }
}
