//! Accepting candidates by a verifier: what the passages support and nothing known contradicts.
use std::collections::BTreeMap;
use std::sync::Arc;

use halma_core::text::normalise_name;
use halma_core::{
    Cx, Error, Hit, Layer, Meter, Mode, Prompt, Query, Question, UnlessFailed as _,
    UnlessSpent as _, UsageTotal,
};
use halma_kb::{CandidateState, Check, Decision, Feedback, FeedbackCandidate, KbError};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::engine::{ContextOptions, Engine, OffRuntime};
use crate::error::EngineError;

const VERIFY: Prompt<Verdict> = Prompt::json("feedback/verify");

/// Known facts that a candidate is compared with.
const MAX_FACTS: usize = 8;

/// Who decides.
const VERIFIER: &str = "verifier";

#[derive(Deserialize)]
struct Verdict {
    supported: bool,
    score: Option<f32>,
    contradicted: Option<bool>,
    #[serde(default)]
    reason: String,
}

/// What a verifier did with the candidates of feedback.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct VerifiedFeedback {
    pub feedback: Feedback,
    /// Numbers of the candidates that are accepted now.
    pub accepted: Vec<usize>,
    /// Those that a person has to decide about, with the reason.
    pub deferred: Vec<DeferredCandidate>,
    pub usage: UsageTotal,
}

/// A candidate that a verifier did not accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DeferredCandidate {
    pub candidate: usize,
    pub reason: String,
}

impl Engine {
    /// Checks the pending candidates of feedback by the model of role `judge`, and accepts those
    /// that their passages support by at least `feedback.verify_score` and that nothing in the base
    /// contradicts: facts, and answers that were accepted before. Nothing is accepted while other
    /// feedback says otherwise. A call that fails holds its candidate back.
    pub async fn verify_feedback(
        &self,
        id: &str,
        parent: Option<Arc<Meter>>,
    ) -> Result<VerifiedFeedback, EngineError> {
        let feedback = self.base().feedback(id)?;
        if !feedback.contradicts.is_empty() {
            let others = feedback.contradicts.join("`, `");
            return Err(KbError::Contradicted { id: id.to_owned(), others }.into());
        }
        let cx = self.context(ContextOptions { parent, ..ContextOptions::default() });
        let (mut checks, mut accepted, mut deferred) = (BTreeMap::new(), vec![], vec![]);
        for candidate in &feedback.candidates {
            if candidate.state != CandidateState::Pending {
                continue;
            }
            let number = candidate.number;
            match self.check_candidate(candidate, &cx).await {
                Ok(check) => {
                    accepted.push(number);
                    checks.insert(number, check);
                }
                Err((check, reason)) => {
                    checks.extend(check.map(|check| (number, check)));
                    deferred.push(DeferredCandidate { candidate: number, reason });
                }
            }
        }
        let mut feedback = self.base().check_feedback(id, &checks)?;
        if !accepted.is_empty() {
            let decision = self.decision(accepted.clone(), Some(VERIFIER.to_owned()));
            let decision = Decision { checks, ..decision };
            feedback = self.accept_feedback(id, decision).await?;
        }
        Ok(VerifiedFeedback { feedback, accepted, deferred, usage: cx.trace().usage() })
    }

    /// What speaks for a candidate, or why it is held back.
    async fn check_candidate(
        &self,
        candidate: &FeedbackCandidate,
        cx: &Cx,
    ) -> Result<Check, (Option<Check>, String)> {
        let defer = |reason: String| (None, reason);
        if candidate.answer.trim().is_empty() {
            return Err(defer("it has no answer that could be checked".into()));
        }
        let failed = |error: Error| defer(format!("it could not be checked: {error}"));
        let question = candidate.question.clone();
        let base = OffRuntime::new(self.base());
        let accepted =
            base.run(move |base| async move { base.known_answers(&question).await }).await;
        let accepted =
            accepted.map_err(|error| defer(format!("it could not be checked: {error}")))?;
        let form = normalise_name(&candidate.answer);
        let other = |answer: &String| normalise_name(answer) != form;
        if let Some(accepted) =
            accepted.iter().find(|accepted| accepted.is_same && other(&accepted.answer))
        {
            let (answer, feedback) = (&accepted.answer, &accepted.feedback);
            let reason = format!("feedback `{feedback}` has another accepted answer: {answer}");
            return Err(defer(reason));
        }
        let mut passages: Vec<Hit> = vec![];
        for source in &candidate.sources {
            passages.push(cx.get(source).await.map_err(failed)?);
        }
        let facts = facts_near(candidate, cx).await.map_err(failed)?;
        let variables = context! {
            question => Serde(&Question::new(candidate.question.as_str())),
            answer => &candidate.answer,
            context => Serde(&passages),
            facts => facts,
        };
        let verdict = cx.ask(&VERIFY, variables).await.unless_failed(cx, "it is held back");
        let Some(verdict) = verdict.unless_spent().map_err(failed)? else {
            return Err(defer("the model gave no verdict that could be read".into()));
        };
        let least = self.config().feedback.verify_score;
        let score = verdict.score.unwrap_or(if verdict.supported { 1.0 } else { 0.0 });
        let check = Check { score, reason: verdict.reason.trim().to_owned() };
        let reason = if verdict.contradicted == Some(true) {
            format!("what is known contradicts it: {}", check.reason)
        } else if !verdict.supported || score.is_nan() || score < least {
            format!("its passages support it by {score:.2}, not {least:.2}: {}", check.reason)
        } else {
            return Ok(check);
        };
        Err((Some(check), reason))
    }
}

/// Facts of the base about what a candidate is about, as sentences.
async fn facts_near(candidate: &FeedbackCandidate, cx: &Cx) -> Result<Vec<String>, Error> {
    if cx.catalog().await?.count(Layer::Fact) == 0 {
        return Ok(vec![]);
    }
    let text = format!("{} {}", candidate.question, candidate.answer);
    let query = Query::new(vec![text], Layer::Fact, Mode::Hybrid, MAX_FACTS);
    let lists = cx.search(&query).await?;
    Ok(lists.into_iter().flatten().map(|hit| hit.text).collect())
}
