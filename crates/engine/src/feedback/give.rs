//! Feedback through an engine: given for a stored run, listed, decided on.
use chrono::Utc;
use halma_core::ConfigError;
use halma_core::text::thousands;
use halma_kb::{Decision, Feedback, FeedbackDraft, FeedbackQuery, Verdict};

use super::candidates::candidates;
use crate::engine::{Engine, OffRuntime};
use crate::error::EngineError;
use crate::storage::traces::StoredTrace;

/// A longer correction or note is refused, in characters.
pub const LONGEST_CORRECTION: usize = 4_000;
pub const LONGEST_NOTE: usize = 4_000;

/// Records that are read at a time by [`Engine::feedback`].
const PAGE: usize = 1_000;

/// What a person says of the answer of a run.
#[derive(Debug, Clone)]
pub struct FeedbackRequest {
    /// Id of the run's trace.
    pub run: String,
    pub verdict: Verdict,
    /// What the answer should be; empty where nothing is corrected.
    pub correction: String,
    pub note: String,
    /// Id of the API key that says it; `None` without keys and on the command line.
    pub key: Option<String>,
}

impl Engine {
    /// Stores feedback on a run, with what of it may become knowledge.
    pub fn give_feedback(&self, request: FeedbackRequest) -> Result<Feedback, EngineError> {
        let missing = || EngineError::NoRun { id: request.run.clone() };
        let run = self.traces().get(&request.run).ok_or_else(missing)?;
        self.give_feedback_on(&run, request)
    }

    /// [`Engine::give_feedback`] on a run that was read already.
    pub fn give_feedback_on(
        &self,
        run: &StoredTrace,
        request: FeedbackRequest,
    ) -> Result<Feedback, EngineError> {
        check_length("the correction", &request.correction, LONGEST_CORRECTION)?;
        check_length("the note", &request.note, LONGEST_NOTE)?;
        let correction = request.correction.trim().to_owned();
        let answer = run.body.answer.as_ref();
        let cited = answer.iter().flat_map(|answer| &answer.citations);
        let at_ms = u64::try_from(Utc::now().timestamp_millis()).unwrap_or_default();
        Ok(self.base().add_feedback(&FeedbackDraft {
            run: run.head.id.clone(),
            question: run.head.question.clone(),
            answer: answer.map(|answer| answer.text.clone()).unwrap_or_default(),
            strategy: run.head.strategy.clone(),
            verdict: request.verdict,
            candidates: candidates(run, request.verdict, &correction),
            correction,
            note: request.note.trim().to_owned(),
            by: request.key.unwrap_or_default(),
            at_ms,
            documents: run.head.documents.clone(),
            cited: cited.map(|citation| citation.node.clone()).collect(),
        })?)
    }

    /// All feedback, newest first, read a page at a time: with the id of each run, whose trace may
    /// be deleted by now ([`crate::TraceStore::get`]). For collecting what a model is trained on.
    pub fn feedback(&self) -> impl Iterator<Item = Result<Feedback, EngineError>> + '_ {
        let mut after: Option<String> = None;
        let mut ended = false;
        let pages = std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let query =
                FeedbackQuery { after: after.clone(), limit: PAGE, ..FeedbackQuery::default() };
            let page = self.base().list_feedback(&query);
            ended = page.as_ref().map_or(true, |page| page.len() < PAGE);
            if let Ok(page) = &page {
                after = page.last().map(|last| last.id.clone()).or(after.take());
            }
            Some(match page {
                Ok(page) => page.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(EngineError::from(error))],
            })
        });
        pages.flatten()
    }

    /// Accepts candidates as knowledge ([`halma_kb::Base::accept_feedback`]).
    pub async fn accept_feedback(
        &self,
        id: &str,
        decision: Decision,
    ) -> Result<Feedback, EngineError> {
        let id = id.to_owned();
        let base = OffRuntime::new(self.base());
        let accepted =
            base.run(move |base| async move { base.accept_feedback(&id, &decision).await });
        Ok(accepted.await?)
    }

    /// A decision of now.
    pub fn decision(&self, candidates: Vec<usize>, key: Option<String>) -> Decision {
        let at = u64::try_from(Utc::now().timestamp()).unwrap_or_default();
        Decision { candidates, by: key.unwrap_or_default(), at, ..Decision::default() }
    }
}

fn check_length(what: &str, text: &str, limit: usize) -> Result<(), ConfigError> {
    let length = text.chars().count();
    if length <= limit {
        return Ok(());
    }
    Err(ConfigError {
        file: "the feedback".into(),
        key: what.trim_start_matches("the ").into(),
        reason: format!(
            "{what} is {} characters long; the limit is {}",
            thousands(length as u64),
            thousands(limit as u64)
        ),
        hint: "say it in fewer words".into(),
    })
}
