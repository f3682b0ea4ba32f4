//! The five RAGAs criteria (Es et al., 2024), each asked of the judge step by step. What cannot be
//! computed is left out and named with its reason.
use std::collections::BTreeMap;

use halma_core::{Cx, EmbedRole, Embedder, Error, Prompt, Result, text};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::claims::{distinct, numbers, supported_share};
use crate::metrics::{Criteria, mean_precision, share};

const ANSWERED_QUESTIONS: Prompt<AnsweredQuestions> = Prompt::json("judge/asked");
const USEFUL: Prompt<Useful> = Prompt::json("judge/useful");
const NEEDED: Prompt<Needed> = Prompt::json("judge/needed");

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceText {
    pub title: String,
    pub text: String,
}

/// What is assessed.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub question: &'a str,
    pub answer: &'a str,
    /// Best first.
    pub passages: &'a [SourceText],
    /// A right answer, where one is known.
    pub reference: Option<&'a str>,
}

/// The criteria, and why some of them are missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Assessed {
    pub criteria: Criteria,
    /// What could not be computed: by the criterion's name, why.
    pub left_out: BTreeMap<String, String>,
    /// For what the judge's replies could not be read, also when asked for again: by the
    /// criterion's name, what was wrong with the last one.
    pub unreadable: BTreeMap<String, String>,
}

impl Assessed {
    fn put(&mut self, name: &str, value: Result<CriterionValue>) -> Result<Option<f64>> {
        match value {
            Ok(Ok(value)) => return Ok(Some(value)),
            Ok(Err(reason)) => self.left_out.insert(name.to_owned(), reason.to_owned()),
            Err(Error::BadReply { reason, .. }) => self.unreadable.insert(name.to_owned(), reason),
            Err(error) => return Err(error),
        };
        Ok(None)
    }
}

/// A value, or why there is none.
type CriterionValue = std::result::Result<f64, &'static str>;

/// Asks the judge about all five criteria; without an embedder the second is left out.
///
/// # Errors
///
/// What ends any run: a spent budget, a model that does not reply. A reply that does not fit only
/// leaves its criterion out.
pub async fn assess(
    cx: &Cx,
    evidence: &Evidence<'_>,
    embedder: Option<&dyn Embedder>,
) -> Result<Assessed> {
    let cx = cx.span("assess");
    let mut all = Assessed::default();
    let faithfulness = faithfulness(&cx, evidence).await;
    all.criteria.faithfulness = all.put("faithfulness", faithfulness)?;
    let relevancy = answer_relevancy(&cx, evidence, embedder).await;
    all.criteria.answer_relevancy = all.put("answer_relevancy", relevancy)?;
    let precision = context_precision(&cx, evidence).await;
    all.criteria.context_precision = all.put("context_precision", precision)?;
    let recall = context_recall(&cx, evidence).await;
    all.criteria.context_recall = all.put("context_recall", recall)?;
    let relevancy = context_relevancy(&cx, evidence).await;
    all.criteria.context_relevancy = all.put("context_relevancy", relevancy)?;
    Ok(all)
}

const NO_PASSAGES: &str = "there are no passages";
pub(super) const NO_ANSWER: &str = "there is no answer";

async fn faithfulness(cx: &Cx, evidence: &Evidence<'_>) -> Result<CriterionValue> {
    let Evidence { question, answer, passages, .. } = *evidence;
    if answer.trim().is_empty() {
        return Ok(Err(NO_ANSWER));
    }
    if passages.is_empty() {
        return Ok(Err(NO_PASSAGES));
    }
    let share = supported_share(&cx.span("faithfulness"), question, answer, passages).await?;
    Ok(share.ok_or("the answer states nothing"))
}

/// The mean cosine of the question with those that the answer would answer; 0 for an evasive one.
async fn answer_relevancy(
    cx: &Cx,
    evidence: &Evidence<'_>,
    embedder: Option<&dyn Embedder>,
) -> Result<CriterionValue> {
    let Evidence { question, answer, passages, .. } = *evidence;
    if answer.trim().is_empty() {
        return Ok(Err(NO_ANSWER));
    }
    let Some(embedder) = embedder else { return Ok(Err("there is no embedder")) };
    let cx = cx.span("answer relevancy");
    let variables = context! { answer, passages => Serde(passages) };
    let asked = cx.ask_checked(&ANSWERED_QUESTIONS, variables, some_question).await?;
    if asked.evasive {
        return Ok(Ok(0.0));
    }
    let texts: Vec<&str> =
        std::iter::once(question).chain(asked.questions.iter().map(String::as_str)).collect();
    let vectors = embedder.embed(&texts, EmbedRole::Query).await;
    let vectors =
        vectors.map_err(|source| Error::Llm { model: embedder.model().to_owned(), source })?;
    let Some((of_question, others)) = vectors.split_first() else {
        return Ok(Err("the embedder gave no vectors"));
    };
    let cosines =
        others.iter().map(|other| text::similarity::cosine(of_question, other).clamp(0.0, 1.0));
    let sum: f64 = cosines.sum();
    #[expect(clippy::cast_precision_loss, reason = "a handful of questions")]
    let mean = sum / others.len().max(1) as f64;
    cx.note(format!("answer relevancy {mean:.3} by {}", embedder.model()));
    Ok(Ok(mean))
}

fn some_question(asked: &AnsweredQuestions) -> std::result::Result<(), String> {
    if !asked.evasive && asked.questions.iter().all(|question| question.trim().is_empty()) {
        return Err("`questions` is empty, and the answer is not called evasive".into());
    }
    Ok(())
}

/// Against the reference where there is one, else against the answer that was given.
async fn context_precision(cx: &Cx, evidence: &Evidence<'_>) -> Result<CriterionValue> {
    let Evidence { question, passages, .. } = *evidence;
    let answer = evidence.reference.unwrap_or(evidence.answer);
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
    Ok(mean_precision(&useful).ok_or(NO_PASSAGES))
}

async fn context_recall(cx: &Cx, evidence: &Evidence<'_>) -> Result<CriterionValue> {
    let Some(reference) = evidence.reference.filter(|reference| !reference.trim().is_empty())
    else {
        return Ok(Err("there is no reference answer"));
    };
    if evidence.passages.is_empty() {
        return Ok(Err(NO_PASSAGES));
    }
    let cx = cx.span("context recall");
    let share = supported_share(&cx, evidence.question, reference, evidence.passages).await?;
    Ok(share.ok_or("the reference states nothing"))
}

async fn context_relevancy(cx: &Cx, evidence: &Evidence<'_>) -> Result<CriterionValue> {
    let mut sentences: Vec<String> = vec![];
    for SourceText { text, .. } in evidence.passages {
        sentences.extend(text::sentences(text).into_iter().map(|range| text[range].to_owned()));
    }
    if sentences.is_empty() {
        return Ok(Err(NO_PASSAGES));
    }
    let count = sentences.len();
    let variables = context! { question => evidence.question, sentences };
    let check = |reply: &Needed| numbers(&reply.needed, count);
    let reply = cx.span("context relevancy").ask_checked(&NEEDED, variables, check).await?;
    Ok(Ok(share(distinct(&reply.needed), count)))
}
