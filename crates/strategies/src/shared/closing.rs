//! The last reading of a strategy, which the rest of the work was for.
use halma_core::text::{Value as DateValue, Words, normalise_name, value_at, words};
use halma_core::{Answer, AnswerText, Cx, Error, LlmError, Prompt, Question, Result, parse_json};
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as ReadError, StrDeserializer};

use crate::shared::steps::{Reading, abstain, answer_from};

/// The plainest prompt there is, with a reply of one short field. The reply may also be the answer
/// alone: a model that is too small for JSON may well know it.
const PLAIN: Prompt<Reading> = Prompt { name: "closing/plain", parse: read_plain_reply };

/// Characters that a reply in prose has at most: more than this is not the answer alone.
const LONGEST_PROSE: usize = 300;

/// Asks for the closing answer, which the budget keeps a call back for. Where no reply to the
/// strategy's own prompt can be read, see [`read_plainly`].
pub(crate) async fn close(prompt: &Prompt<Reading>, variables: Value, cx: &Cx) -> Result<Reading> {
    match cx.reserve().ask(prompt, variables.clone()).await {
        Err(error @ Error::BadReply { .. }) => read_plainly(&error, &variables, cx).await,
        // A model's refusal may be about the words of the prompt; a server's is the same again.
        Err(error @ Error::Llm { source: LlmError::Refused { .. }, .. }) => {
            match read_plainly(&error, &variables, cx).await {
                Err(Error::Llm { .. }) => Err(error),
                reading => reading,
            }
        }
        reading => reading,
    }
    .map(|reading| compared(reading, &variables, cx))
}

/// The end of a strategy that found nothing to read, and why: an abstention, or, of a question that is
/// always answered, what the model says without passages.
pub(crate) async fn close_unread(reason: &str, question: &Question, cx: &Cx) -> Result<Answer> {
    cx.note(reason);
    if question.abstain {
        return Ok(abstain(reason));
    }
    let none: [&str; 0] = [];
    let variables = context! { question => Serde(question), context => none, history => none };
    let reading = match cx.reserve().ask(&PLAIN, variables).await {
        Err(error @ Error::BadReply { .. }) => unread(&error, cx),
        reading => Reading { rationale: reason.to_owned(), ..reading? },
    };
    Ok(answer_from(reading, &[]))
}

/// A reading with the other one of two things, where the dates in its own reasons say so: a small
/// model reads dates well and compares them badly.
fn compared(reading: Reading, variables: &Value, cx: &Cx) -> Reading {
    let question = variables.get_attr("question").and_then(|question| question.get_attr("text"));
    let question = question.unwrap_or_default();
    let sides = dated_sides(question.as_str().unwrap_or_default(), &reading.rationale);
    match sides.filter(|[_, other]| normalise_name(&reading.answer) == normalise_name(other)) {
        Some([side, other]) => {
            cx.note(format!("by the dates in the reasons it is `{side}` and not `{other}`"));
            Reading { answer: side.to_owned(), ..reading }
        }
        None => reading,
    }
}

/// The two things that a question such as `Which came out first, A or B?` compares, first the one
/// that the dates after their names in a text decide for.
fn dated_sides<'q>(question: &'q str, text: &str) -> Option<[&'q str; 2]> {
    let words = words(question);
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    // `born first, A or B`, but not `the first prize`.
    let says_first = format!("{},", question.trim_end_matches(['?', ' '])).contains(" first,");
    let is_first = says_first || any(&["earlier", "earliest", "older", "oldest", "sooner"]);
    let is_last = any(&["later", "latest", "newer", "younger", "recently"]);
    // `which film has the older director` dates neither film.
    if is_first == is_last || any(&["has", "have", "whose"]) {
        return None;
    }
    let (left, right) = question.trim_end_matches(['?', '.', ' ']).rsplit_once(" or ")?;
    // `… or B, was released first?`
    let side = right.rsplit_once(", ").filter(|(_, tail)| tail.starts_with(char::is_lowercase));
    let sides = [left.split_once(", ")?.1.trim(), side.map_or(right, |side| side.0).trim()];
    let (text, ends) = (text.to_ascii_lowercase(), any(&["die", "died", "end", "ended"]));
    let date = |at: usize| {
        let [side, other] = [at, 1 - at].map(|at| sides[at].to_ascii_lowercase());
        let after = &text[text.find(&side)? + side.len()..];
        let sentence = Words::new(&after[..after.find(&other).unwrap_or(after.len())]);
        let values = (0..sentence.words.len()).filter_map(|at| value_at(&sentence, at));
        let mut dates = values.filter_map(|(_, value)| match value {
            DateValue::Date(date) | DateValue::Year(date) => Some(date),
            DateValue::Number(_) => None,
        });
        if ends { dates.next_back() } else { dates.next() }
    };
    let (one, two) = (date(0)?, date(1)?);
    let is_one = (one < two) == is_first;
    (one.total_cmp(&two).is_ne()).then_some(if is_one { sides } else { [sides[1], sides[0]] })
}

/// Reads the same passages, or the same answers to sub-questions, with a plain prompt. Where this
/// is in vain as well, or there is nothing to read, the reading is empty and says why: what was
/// found is not lost to an error.
pub(crate) async fn read_plainly(error: &Error, variables: &Value, cx: &Cx) -> Result<Reading> {
    let list = |name: &str| match variables.get_attr(name) {
        Ok(value) if value.len().is_some_and(|len| len > 0) => value,
        _ => Value::from(Vec::<Value>::new()),
    };
    let (context, history) = (list("context"), list("history"));
    if context.len() == Some(0) && history.len() == Some(0) {
        return Ok(unread(error, cx));
    }
    cx.note(format!("{error}: asking for the answer alone"));
    let question = variables.get_attr("question").unwrap_or_default();
    let reading = cx.reserve().ask(&PLAIN, context! { question, context, history }).await;
    match reading {
        Err(again @ (Error::BadReply { .. } | Error::Spent(_))) => Ok(unread(&again, cx)),
        reading => reading,
    }
}

/// A reading as JSON, or an answer in prose, from which is left out what models put around answers.
fn read_plain_reply(text: &str) -> std::result::Result<Reading, String> {
    parse_json(text).or_else(|complaint| {
        let prose = text.trim();
        let is_broken = prose.contains(['{', '}']) || prose.starts_with('[');
        if prose.is_empty() || is_broken || prose.chars().count() > LONGEST_PROSE {
            return Err(complaint);
        }
        let AnswerText(answer) = serde_json::from_str(prose).or_else(|_| {
            let text: StrDeserializer<'_, ReadError> = prose.into_deserializer();
            AnswerText::deserialize(text).map_err(|error| error.to_string())
        })?;
        Ok(Reading { answer, rationale: String::new() })
    })
}

/// The reading of a model that gives no answer: empty, with the reason.
pub(crate) fn unread(error: &Error, cx: &Cx) -> Reading {
    cx.note(format!("there is no answer: {error}"));
    let rationale = "The model gave no reply that could be read as an answer.".to_owned();
    Reading { answer: String::new(), rationale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_reply_is_read_as_json_or_as_the_answer_itself() {
        for (text, answer) in [
            (r#"{"answer": "Ilse Thorn"}"#, "Ilse Thorn"),
            ("Ilse Thorn", "Ilse Thorn"),
            ("It was Ilse Thorn, of Norway.\n", "It was Ilse Thorn, of Norway."),
            ("```\nIlse Thorn\n```", "Ilse Thorn"),
            ("Final answer: Ilse Thorn", "Ilse Thorn"),
            ("The answer is: Ilse Thorn", "Ilse Thorn"),
            ("<think>Thorn?</think>Ilse Thorn", "Ilse Thorn"),
            (r#""Ilse Thorn""#, "Ilse Thorn"),
            ("1911", "1911"),
            ("true", "yes"),
            ("null", ""),
            ("Unknown.", ""),
            ("The passages do not mention an architect.", ""),
            ("I'm sorry, but I can't help with that.", ""),
        ] {
            let read = read_plain_reply(text).map(|reading| reading.answer);
            assert_eq!(read.as_deref(), Ok(answer), "{text}");
        }
    }

    #[test]
    fn broken_json_and_long_prose_are_not_an_answer() {
        let long = "The lighthouse stands by the sea. ".repeat(10);
        for text in ["", " ", "{", r#"{"rationale": "Ilse Thorn"}"#, r#"["Ilse", "#, &long] {
            assert!(read_plain_reply(text).is_err(), "{text}");
        }
    }

    #[test]
    fn dates_decide_between_two_things() {
        let told = "Passage [2] says that Low Tide was shown on 26 February 2010. Passage [1] says \
                    that High Noon, a film, is of 1929.";
        for (question, expected) in [
            ("Which film came out first, Low Tide or High Noon?", Some(["High Noon", "Low Tide"])),
            ("Which is newer, High noon or Low Tide?", Some(["Low Tide", "High noon"])),
            ("Which film, Low Tide or High Noon, is older?", Some(["High Noon", "Low Tide"])),
            ("Which film has the older director, Low Tide or High Noon?", None),
            ("Which film came out first, Low Tide or Rain?", None),
            ("Which film is better, Low Tide or High Noon?", None),
            ("Which film won the first prize, Low Tide or High Noon?", None),
        ] {
            assert_eq!(dated_sides(question, told), expected, "{question}");
        }
        let lives = "Ada Quill (3 May 1900 – 2 June 1950). Orla Finch (1899 – 7 July 1960).";
        let died = "Who died first, Ada Quill or Orla Finch?";
        assert_eq!(dated_sides(died, lives), Some(["Ada Quill", "Orla Finch"]));
        let older = "Who is older, Ada Quill or Orla Finch?";
        assert_eq!(dated_sides(older, lives), Some(["Orla Finch", "Ada Quill"]));
    }
}
