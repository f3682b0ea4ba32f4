//! Feedback on answers, and decisions about what becomes knowledge of it.
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use halma_core::{Budget, Meter};
use halma_engine::{
    CandidateState, Decision, Engine, Feedback, FeedbackQuery, FeedbackRequest, Verdict,
    VerifiedFeedback,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use utoipa::{IntoParams, ToSchema};

use crate::access::{Caller, MayAskDocuments, MayWriteDocuments, run_queued};
use crate::app::Shared;
use crate::json::{JsonBody, Params, Part};
use crate::limits::bounds;
use crate::pagination::{Items, limit};
use crate::problem::Problem;
use crate::usage::UsageCounter;

/// Under what calls of the verifier are counted.
const USAGE: &str = "feedback";

/// What a person says of an answer.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GiveFeedback {
    /// Id of the run: `id` of the answer and of its trace.
    pub(crate) run: String,
    pub(crate) verdict: Verdict,
    /// What the answer should be.
    #[serde(default)]
    pub(crate) correction: String,
    /// Anything else about the answer.
    #[serde(default)]
    pub(crate) note: String,
}

/// Stores what a caller says of a run that it may see.
pub(crate) fn give(caller: &Caller, request: GiveFeedback) -> Result<Feedback, Problem> {
    let GiveFeedback { run, verdict, correction, note } = request;
    bounds::feedback(&correction, &note)?;
    let engine = caller.workspace.engine();
    let trace = engine.traces().get(&run).filter(|trace| caller.sees_trace(&trace.head));
    let trace = trace.ok_or_else(|| {
        Problem::not_found("such run").hint("its trace may have been deleted; ask again")
    })?;
    let key = caller.key_id().map(str::to_owned);
    let request = FeedbackRequest { run, verdict, correction, note, key };
    Ok(engine.give_feedback_on(&trace, request)?)
}

/// Say whether an answer is right, and what it should be.
#[utoipa::path(post, path = "/api/v1/feedback", tag = "feedback", request_body = GiveFeedback,
    responses((status = 201, body = Feedback), (status = 404, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn add(
    MayAskDocuments(caller): MayAskDocuments,
    JsonBody(request): JsonBody<GiveFeedback>,
) -> Result<(StatusCode, Json<Feedback>), Problem> {
    let given = run_queued(caller, move |caller| give(&caller, request)).await?;
    Ok((StatusCode::CREATED, Json(given)))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListFeedback {
    /// Only feedback on this run.
    run: Option<String>,
    /// Only feedback that this key gave or decided about; `verifier` is one of them.
    by: Option<String>,
    /// Only feedback with this text in question, answer, correction, note or a candidate; case is
    /// ignored.
    about: Option<String>,
    verdict: Option<Verdict>,
    /// Only feedback with a candidate in this state.
    state: Option<CandidateState>,
    /// Whether other feedback says otherwise.
    contradicted: Option<bool>,
    /// Maximum number of items: 50 by default, at most 500.
    limit: Option<usize>,
    /// `next` of the previous page.
    after: Option<String>,
}

/// List feedback, newest first.
#[utoipa::path(get, path = "/api/v1/feedback", tag = "feedback", params(ListFeedback),
    responses((status = 200, body = Items<Feedback>), (status = 401, body = Problem)))]
pub(crate) async fn list(
    MayAskDocuments(caller): MayAskDocuments,
    Params(query): Params<ListFeedback>,
) -> Result<Json<Items<Feedback>>, Problem> {
    for (name, text) in
        [("run", &query.run), ("by", &query.by), ("about", &query.about), ("after", &query.after)]
    {
        bounds::name(name, text.as_deref())?;
    }
    run_queued(caller, move |caller| {
        let limit = limit(query.limit)?;
        let given_by = caller.key_id().filter(|_| !caller.sees_all_feedback()).map(str::to_owned);
        if given_by.is_some() && query.by.is_some() && query.by != given_by {
            return Ok(Json(Items::whole(vec![])));
        }
        let fields = FeedbackQuery {
            after: query.after,
            limit: limit + 1,
            by: query.by,
            given_by,
            about: query.about,
            run: query.run,
            verdict: query.verdict,
            state: query.state,
            contradicted: query.contradicted,
        };
        let feedback = caller.workspace.engine().base().list_feedback(&fields)?;
        Ok(Json(Items::cut(feedback, limit, |one| one.id.clone())))
    })
    .await
}

/// The engine, if the caller may see this feedback.
async fn visible(caller: &Caller, id: &str) -> Result<(Arc<Engine>, Feedback), Problem> {
    bounds::name("id", Some(id))?;
    let (caller, id) = (caller.clone(), id.to_owned());
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        let feedback = engine.base().feedback(&id)?;
        if !caller.sees_all_feedback() && caller.key_id() != Some(feedback.by.as_str()) {
            return Err(Problem::not_found("such feedback"));
        }
        Ok((engine, feedback))
    })
    .await
}

/// Read feedback with its candidates.
#[utoipa::path(get, path = "/api/v1/feedback/{id}", tag = "feedback",
    params(("id" = String, Path)),
    responses((status = 200, body = Feedback), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
) -> Result<Json<Feedback>, Problem> {
    Ok(Json(visible(&caller, &id).await?.1))
}

/// Which candidates a decision is about.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decide {
    /// Numbers of candidates, from 1; all by default. An empty list is refused.
    #[serde(default, deserialize_with = "some_numbers")]
    candidates: Vec<usize>,
    /// Accept although other feedback says otherwise.
    #[serde(default)]
    despite: bool,
}

/// A list that is not empty: a client that has selected none does not decide about all.
fn some_numbers<'de, D: Deserializer<'de>>(numbers: D) -> Result<Vec<usize>, D::Error> {
    let numbers = Vec::deserialize(numbers)?;
    if numbers.is_empty() {
        return Err(D::Error::custom("the list is empty; omit it to decide about all"));
    }
    Ok(numbers)
}

impl Decide {
    fn decision(self, engine: &Engine, caller: &Caller) -> Result<Decision, Problem> {
        bounds::candidates(&self.candidates)?;
        let decision = engine.decision(self.candidates, caller.key_id().map(str::to_owned));
        Ok(Decision { despite: self.despite, ..decision })
    }
}

/// Accept candidates as knowledge: the next search finds them.
#[utoipa::path(post, path = "/api/v1/feedback/{id}/accept", tag = "feedback",
    params(("id" = String, Path)), request_body = Decide,
    responses((status = 200, body = Feedback), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn accept(
    MayWriteDocuments(caller): MayWriteDocuments,
    Part(id): Part<String>,
    JsonBody(request): JsonBody<Decide>,
) -> Result<Json<Feedback>, Problem> {
    let (engine, _) = visible(&caller, &id).await?;
    let decision = request.decision(&engine, &caller)?;
    let queue = &caller.workspace.models;
    Ok(Json(queue.run_async(engine.accept_feedback(&id, decision)).await??))
}

/// Reject candidates; what was accepted of them is taken back.
#[utoipa::path(post, path = "/api/v1/feedback/{id}/reject", tag = "feedback",
    params(("id" = String, Path)), request_body = Decide,
    responses((status = 200, body = Feedback), (status = 404, body = Problem)))]
pub(crate) async fn reject(
    MayWriteDocuments(caller): MayWriteDocuments,
    Part(id): Part<String>,
    JsonBody(request): JsonBody<Decide>,
) -> Result<Json<Feedback>, Problem> {
    let (engine, _) = visible(&caller, &id).await?;
    let decision = request.decision(&engine, &caller)?;
    run_queued(caller, move |_| Ok(Json(engine.base().reject_feedback(&id, &decision)?))).await
}

/// Take back what was accepted, without a trace in the base.
#[utoipa::path(post, path = "/api/v1/feedback/{id}/undo", tag = "feedback",
    params(("id" = String, Path)), request_body = Decide,
    responses((status = 200, body = Feedback), (status = 404, body = Problem)))]
pub(crate) async fn undo(
    MayWriteDocuments(caller): MayWriteDocuments,
    Part(id): Part<String>,
    JsonBody(request): JsonBody<Decide>,
) -> Result<Json<Feedback>, Problem> {
    let (engine, _) = visible(&caller, &id).await?;
    let decision = request.decision(&engine, &caller)?;
    run_queued(caller, move |_| Ok(Json(engine.base().undo_feedback(&id, &decision)?))).await
}

/// Let a model check the pending candidates, and accept those that hold.
#[utoipa::path(post, path = "/api/v1/feedback/{id}/verify", tag = "feedback",
    params(("id" = String, Path)),
    responses((status = 200, body = VerifiedFeedback), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(crate) async fn verify(
    State(app): State<Shared>,
    MayWriteDocuments(caller): MayWriteDocuments,
    Part(id): Part<String>,
) -> Result<Json<VerifiedFeedback>, Problem> {
    let (engine, _) = visible(&caller, &id).await?;
    let meter = Arc::new(match app.allowance.admit(caller.key.as_deref()).await? {
        Some(daily) => Meter::within(Budget::default(), daily),
        None => Meter::unlimited(),
    });
    let under = (caller.key_id().unwrap_or_default(), USAGE);
    let mut counter = UsageCounter::new(&caller.workspace, under, Arc::clone(&meter))
        .in_metrics(&app.metrics.verification_usage);
    let work = caller.workspace.models.run_async(engine.verify_feedback(&id, Some(meter)));
    let verified = counter.during(work).await??;
    counter.finish(Some(verified.usage));
    Ok(Json(verified))
}

/// Delete feedback with everything that was accepted of it.
#[utoipa::path(delete, path = "/api/v1/feedback/{id}", tag = "feedback",
    params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    MayWriteDocuments(caller): MayWriteDocuments,
    Part(id): Part<String>,
) -> Result<StatusCode, Problem> {
    let (engine, _) = visible(&caller, &id).await?;
    run_queued(caller, move |_| {
        engine.base().delete_feedback(&id)?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}
