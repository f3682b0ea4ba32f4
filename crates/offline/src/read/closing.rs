//! The answer from earlier questions and answers: the last answer, or the side that wins.
use halma_core::Question;
use halma_core::text::{Value, normalise_name, value_at};

use super::compare::measure;
use super::score::Query;
use super::target::Sort;
use super::{Answer, ReadInput, Reader};
use crate::decompose::sides::comparison;
use crate::decompose::{chain, follow_up};
use crate::input::Exchange;
use crate::lexicon::Lexicon;
use crate::links::mentions;
use crate::words::Sentence;

/// `None` where the history does not decide the answer.
pub(super) fn close(input: &ReadInput, query: &Query<'_>, lexicon: &Lexicon) -> Option<Answer> {
    let history = &input.history;
    let last = history.last()?;
    let answer = last.answer.trim();
    let options = &input.question.options;
    if !options.is_empty() {
        let says = |option: &&String| {
            mentions(answer, option) || normalise_name(answer) == normalise_name(option)
        };
        return options.iter().find(says).map(|option| quote_answer(option, last));
    }
    if let Some(compared) = comparison(query.text, lexicon) {
        let answers = compared.things.each_ref().map(|thing| last_answer_about(thing, history));
        return compare_answers(&compared.things, answers, query, lexicon);
    }
    let verdict = is_verdict(answer);
    if query.target.sort == Sort::YesNo {
        return verdict.then(|| quote_answer(answer, last));
    }
    (!answer.is_empty() && !verdict).then(|| quote_answer(answer, last))
}

fn quote_answer(answer: &str, from: &Exchange) -> Answer {
    let rationale = format!("“{}” was answered with “{}”.", from.question, from.answer.trim());
    Answer { text: answer.to_owned(), rationale }
}

fn is_verdict(answer: &str) -> bool {
    ["yes", "no"].contains(&answer.trim_end_matches('.').to_lowercase().as_str())
}

/// The last answer in the chain of exchanges that starts at a thing: its director, his birthday.
fn last_answer_about<'h>(thing: &str, history: &'h [Exchange]) -> Option<&'h str> {
    let mut names = vec![thing.trim_start_matches("the ").to_owned()];
    let mut reached = None;
    for exchange in history {
        let answer = exchange.answer.trim();
        let about = |name: &String| mentions(&exchange.question, name);
        if !answer.is_empty() && names.iter().any(about) {
            names.push(answer.to_owned());
            reached = Some(answer);
        }
    }
    reached
}

fn compare_answers(
    things: &[String; 2],
    answers: [Option<&str>; 2],
    query: &Query<'_>,
    lexicon: &Lexicon,
) -> Option<Answer> {
    let [Some(a), Some(b)] = answers else { return None };
    let rationale = format!("`{}`: {a}; `{}`: {b}.", things[0], things[1]);
    let answer_with =
        |answer: &str| Some(Answer { text: answer.to_owned(), rationale: rationale.clone() });
    // `Was A or B born first?` begins like a yes/no question.
    let asks_same = ["both", "same", "share"]
        .iter()
        .any(|cue| (0..query.sentence.words.len()).any(|at| query.sentence.word(at) == *cue));
    if query.target.sort == Sort::YesNo && asks_same {
        let yes = if is_verdict(a) && is_verdict(b) {
            [a, b].iter().all(|answer| answer.to_lowercase().starts_with("yes"))
        } else {
            are_same(a, b, lexicon)
        };
        return answer_with(if yes { "yes" } else { "no" });
    }
    if is_verdict(a) && is_verdict(b) && !a.eq_ignore_ascii_case(b) {
        let first = a.to_lowercase().starts_with("yes");
        return answer_with(&things[usize::from(!first)]);
    }
    let (_, least) = measure(query)?;
    let (a, b) = (amount(a, lexicon)?, amount(b, lexicon)?);
    let order = a.partial_cmp(&b).filter(|order| order.is_ne())?;
    answer_with(&things[usize::from(order.is_lt() != least)])
}

/// One country, one name, or one within the other.
fn are_same(a: &str, b: &str, lexicon: &Lexicon) -> bool {
    if let (Some(one), Some(other)) = (lexicon.country(a), lexicon.country(b)) {
        return one == other;
    }
    mentions(a, b) || mentions(b, a) || normalise_name(a) == normalise_name(b)
}

/// The first date or number of an answer.
fn amount(answer: &str, lexicon: &Lexicon) -> Option<f64> {
    let sentence = Sentence::new(answer, lexicon);
    let values = (0..sentence.words.len()).filter_map(|at| value_at(&sentence.plain, at));
    values
        .map(|(_, value)| match value {
            Value::Date(amount) | Value::Year(amount) | Value::Number(amount) => amount,
        })
        .next()
}

/// Longer chains are read in one go.
const MAX_STEPS: usize = 4;

/// `None` without a trained reader, for questions of one step, and where a step has no answer.
pub(super) fn by_steps(reader: &Reader<'_>, input: &ReadInput) -> Option<Answer> {
    reader.trained?;
    let question = &input.question;
    let steps = chain(&question.text, reader.lexicon);
    if !input.history.is_empty() || !(2..=MAX_STEPS).contains(&steps.len()) {
        return None;
    }
    let mut history: Vec<Exchange> = vec![];
    while let Some(next) = follow_up::next(&question.text, &history, reader.lexicon) {
        let step = ReadInput::new(Question::new(&next), input.context.clone());
        let answer = reader.read_step(&step).text;
        if answer.is_empty() || history.len() == MAX_STEPS {
            return None;
        }
        history.push(Exchange { question: next, answer });
    }
    let closing = ReadInput { history, ..ReadInput::new(question.clone(), vec![]) };
    Some(reader.read_step(&closing)).filter(|answer| !answer.text.is_empty())
}

#[cfg(test)]
mod tests {
    use halma_core::Question;

    use super::*;
    use crate::read::read;

    fn closed(question: &str, history: &[(&str, &str)]) -> String {
        let exchange = |(question, answer): &(&str, &str)| Exchange {
            question: (*question).into(),
            answer: (*answer).into(),
        };
        let history = history.iter().map(exchange).collect();
        let input = ReadInput { history, ..ReadInput::new(Question::new(question), vec![]) };
        read(&Lexicon::new(), &input).text
    }

    #[test]
    fn the_last_answer_of_a_chain_answers() {
        let who = ("Who directed Low Tide?", "Mara Quill");
        let question = "Where was the director of Low Tide born?";
        assert_eq!(closed(question, &[who, ("Where was Mara Quill born?", "Varn")]), "Varn");
        assert_eq!(closed(question, &[who, ("Where was Mara Quill born?", "")]), "");
        assert_eq!(closed(question, &[]), "");
    }

    #[test]
    fn the_answers_of_two_sides_are_compared() {
        let born = [
            ("When was Mara Quill born?", "3 May 1931"),
            ("When was Orla Finch born?", "12 March 1929"),
        ];
        assert_eq!(closed("Who is older, Mara Quill or Orla Finch?", &born), "Orla Finch");
        assert_eq!(closed("Who is younger, Mara Quill or Orla Finch?", &born), "Mara Quill");
        let directors = [
            ("Who is the director of Low Tide?", "Mara Quill"),
            ("Who is the director of High Noon?", "Orla Finch"),
            born[0],
            born[1],
        ];
        let older = "Which film has the director who is older, Low Tide or High Noon?";
        assert_eq!(closed(older, &directors), "High Noon");
        let from = [
            ("Which country is Mara Quill from?", "Danish"),
            ("Which country is Orla Finch from?", "Denmark"),
        ];
        assert_eq!(closed("Are Mara Quill and Orla Finch from the same country?", &from), "yes");
        let both = [("Is Mara Quill a painter?", "yes"), ("Is Orla Finch a painter?", "no")];
        assert_eq!(closed("Are Mara Quill and Orla Finch both painters?", &both), "no");
        assert_eq!(closed("Are Mara Quill and Orla Finch both painters?", &both[..1]), "");
    }
}
