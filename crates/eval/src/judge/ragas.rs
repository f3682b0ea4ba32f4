//! The five RAGAs criteria (Es et al., 2024), each asked of the judge step by step.
use halma_core::{Cx, EmbedRole, Embedder, Error, Prompt, Result, text};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::scheme::{Finding, NO_ANSWER};
use crate::figures::mean;
use crate::metrics::share;

const STATEMENTS: Prompt<Statements> = Prompt::json("judge/statements");
const SUPPORT: Prompt<Support> = Prompt::json("judge/support");
const ANSWERED_QUESTIONS: Prompt<AnsweredQuestions> = Prompt::json("judge/asked");
const USEFUL: Prompt<Useful> = Prompt::json("judge/useful");
const NEEDED: Prompt<Needed> = Prompt::json("judge/needed");

#[derive(Deserialize)]
struct Statements {
    statements: Vec<String>,
}

#[derive(Deserialize)]
struct Support {
    supported: Vec<usize>,
}

#[derive(Deserialize)]
struct AnsweredQuestions {
    questions: Vec<String>,
    evasive: bool,
}

#[derive(Deserialize)]
struct Useful {
    useful: Vec<usize>,
}

#[derive(Deserialize)]
struct Needed {
    needed: Vec<usize>,
}

/// A passage that an answer was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SourceText {
    pub(crate) title: String,
    pub(crate) text: String,
}

/// An answer with what it was made from.
pub(super) struct Evidence<'a> {
    pub(super) question: &'a str,
    pub(super) answer: &'a str,
    /// Best first.
    pub(super) passages: &'a [SourceText],
    /// A right answer, where one is given.
    pub(super) reference: Option<&'a str>,
}

const NO_PASSAGES: &str = "there are no passages";

impl Evidence<'_> {
    /// The share of the answer's statements that follow from the passages.
    pub(super) async fn faithfulness(&self, cx: &Cx) -> Result<Finding> {
        if self.passages.is_empty() {
            return Ok(Err(NO_PASSAGES));
        }
        let share = self.supported_share(&cx.span("faithfulness"), self.answer).await?;
        Ok(share.ok_or("the answer states nothing"))
    }

    /// How near the questions that the answer answers are to the one that was asked: the mean
    /// cosine; 0 for an evasive answer.
    pub(super) async fn answer_relevancy(
        &self,
        cx: &Cx,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Finding> {
        let Some(embedder) = embedder else { return Ok(Err("there is no embedder")) };
        let cx = cx.span("answer relevancy");
        let variables = context! { answer => self.answer, passages => Serde(self.passages) };
        let reply = cx.ask_checked(&ANSWERED_QUESTIONS, variables, some_question).await?;
        if reply.evasive {
            return Ok(Ok(0.0));
        }
        let questions = reply.questions.iter().map(String::as_str);
        let texts: Vec<&str> = std::iter::once(self.question).chain(questions).collect();
        let vectors = embedder.embed(&texts, EmbedRole::Query).await;
        let vectors =
            vectors.map_err(|source| Error::Llm { model: embedder.model().to_owned(), source })?;
        let Some((question, others)) = vectors.split_first() else {
            return Ok(Err("the embedder gave no vectors"));
        };
        let cosines =
            others.iter().map(|other| text::similarity::cosine(question, other).clamp(0.0, 1.0));
        let mean = mean(cosines).unwrap_or(0.0);
        cx.note(format!("answer relevancy {mean:.3} by {}", embedder.model()));
        Ok(Ok(mean))
    }

    /// Whether useful passages come before useless ones: against the reference where there is one,
    /// else against the answer that was given.
    pub(super) async fn context_precision(&self, cx: &Cx) -> Result<Finding> {
        let Self { question, passages, .. } = *self;
        let answer = self.reference.unwrap_or(self.answer);
        if passages.is_empty() {
            return Ok(Err(NO_PASSAGES));
        }
        if answer.trim().is_empty() {
            return Ok(Err(NO_ANSWER));
        }
        let variables = context! { question, answer, passages => Serde(passages) };
        let check = |reply: &Useful| numbers(&reply.useful, passages.len());
        let reply = cx.span("context precision").ask_checked(&USEFUL, variables, check).await?;
        let useful: Vec<bool> = (1..=passages.len()).map(|i| reply.useful.contains(&i)).collect();
        Ok(Ok(mean_precision(&useful)))
    }

    /// The share of the reference's statements that the passages hold.
    pub(super) async fn context_recall(&self, cx: &Cx) -> Result<Finding> {
        let Some(reference) = self.reference.filter(|reference| !reference.trim().is_empty())
        else {
            return Ok(Err("there is no reference answer"));
        };
        if self.passages.is_empty() {
            return Ok(Err(NO_PASSAGES));
        }
        let share = self.supported_share(&cx.span("context recall"), reference).await?;
        Ok(share.ok_or("the reference states nothing"))
    }

    /// The share of the passages' sentences that the question needs.
    pub(super) async fn context_relevancy(&self, cx: &Cx) -> Result<Finding> {
        let mut sentences: Vec<String> = vec![];
        for SourceText { text, .. } in self.passages {
            sentences.extend(text::sentences(text).into_iter().map(|range| text[range].to_owned()));
        }
        if sentences.is_empty() {
            return Ok(Err(NO_PASSAGES));
        }
        let count = sentences.len();
        let variables = context! { question => self.question, sentences };
        let check = |reply: &Needed| numbers(&reply.needed, count);
        let reply = cx.span("context relevancy").ask_checked(&NEEDED, variables, check).await?;
        Ok(Ok(share(distinct(&reply.needed), count)))
    }

    /// The share of an answer's statements that follow from the passages; `None` when it states
    /// nothing.
    async fn supported_share(&self, cx: &Cx, answer: &str) -> Result<Option<f64>> {
        let reply = cx.ask(&STATEMENTS, context! { question => self.question, answer }).await?;
        let statements: Vec<String> =
            reply.statements.into_iter().filter(|statement| !statement.trim().is_empty()).collect();
        if statements.is_empty() {
            return Ok(None);
        }
        let count = statements.len();
        let variables = context! { statements, passages => Serde(self.passages) };
        let check = |reply: &Support| numbers(&reply.supported, count);
        let reply = cx.ask_checked(&SUPPORT, variables, check).await?;
        Ok(Some(share(distinct(&reply.supported), count)))
    }
}

fn some_question(reply: &AnsweredQuestions) -> std::result::Result<(), String> {
    if !reply.evasive && reply.questions.iter().all(|question| question.trim().is_empty()) {
        return Err("`questions` is empty, and the answer is not called evasive".into());
    }
    Ok(())
}

/// Whether the numbers are places in a list of `count`, counted from 1.
fn numbers(numbers: &[usize], count: usize) -> std::result::Result<(), String> {
    match numbers.iter().find(|number| **number == 0 || **number > count) {
        Some(stray) => Err(format!("{stray} is not one of the numbers 1 to {count}")),
        None => Ok(()),
    }
}

fn distinct(numbers: &[usize]) -> usize {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len()
}

/// The mean of the precisions at the places of the useful passages, best passage first: 1 when
/// all useful ones come first, 0 when none is useful.
fn mean_precision(useful: &[bool]) -> f64 {
    let places = (1..).zip(useful).filter(|(_, useful)| **useful).map(|(place, _)| place);
    let precisions = (1..).zip(places).map(|(useful, place)| share(useful, place));
    mean(precisions).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn useful_passages_should_come_first() {
        for (useful, precision) in [
            ([true, true, false], 1.0),
            ([false, true, false], 0.5),
            ([true, false, true], f64::midpoint(1.0, 2.0 / 3.0)),
            ([false, false, false], 0.0),
        ] {
            assert!((mean_precision(&useful) - precision).abs() < 1e-9, "{useful:?}");
        }
    }
}
