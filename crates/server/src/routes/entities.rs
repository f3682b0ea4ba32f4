//! Entities, and what the documents say of one.
use axum::Json;
use halma_core::{DateBound, Filter};
use halma_engine::{EntityQuery, ListedEntity, Timeline, TimelineQuery};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::{MayAskDocuments, run_queued};
use crate::json::Params;
use crate::limits::bounds;
use crate::pagination::{Items, limit};
use crate::problem::Problem;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TimelineParams {
    /// One of the names of the entity.
    name: String,
    /// Only what documents of this name say; `*` stands for any characters.
    document: Option<String>,
    /// Only what documents dated on this day or later say, as `2023-01-31`, `2023-01` or `2023`.
    #[param(value_type = Option<String>)]
    since: Option<DateBound>,
    /// Only what documents dated on this day or earlier say.
    #[param(value_type = Option<String>)]
    until: Option<DateBound>,
    /// Maximum number of events: 50 by default, at most 500.
    limit: Option<usize>,
}

impl TimelineParams {
    fn checked(self) -> Result<TimelineQuery, Problem> {
        let Self { name, document, since, until, limit: requested } = self;
        bounds::name("name", Some(&name))?;
        let documents = document.into_iter().collect();
        let filter = Filter { documents, since, until, ..Filter::default() };
        bounds::check_filter(&filter)?;
        Ok(TimelineQuery { entity: name, filter, limit: limit(requested)? })
    }
}

/// List what is dated of an entity: of facts, rows of tables and sentences that name it, in the order
/// of the dates.
#[utoipa::path(get, path = "/api/v1/entities/timeline", tag = "knowledge", params(TimelineParams),
    responses((status = 200, body = Timeline), (status = 404, body = Problem)))]
pub(crate) async fn timeline(
    MayAskDocuments(caller): MayAskDocuments,
    Params(params): Params<TimelineParams>,
) -> Result<Json<Timeline>, Problem> {
    let query = params.checked()?;
    run_queued(caller, move |caller| {
        Ok(Json(caller.workspace.engine().base().inspector().timeline(&query)?))
    })
    .await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EntityParams {
    /// Only entities of this kind, such as `person`.
    kind: Option<String>,
    /// Only entities with this text in a name; case is ignored.
    query: Option<String>,
    /// Maximum number of items: 50 by default, at most 500.
    limit: Option<usize>,
    /// `next` of the previous page.
    after: Option<String>,
}

/// List entities, those that most documents name first.
#[utoipa::path(get, path = "/api/v1/entities", tag = "knowledge", params(EntityParams),
    responses((status = 200, body = Items<ListedEntity>), (status = 401, body = Problem)))]
pub(crate) async fn list(
    MayAskDocuments(caller): MayAskDocuments,
    Params(params): Params<EntityParams>,
) -> Result<Json<Items<ListedEntity>>, Problem> {
    let EntityParams { kind, query: name, limit: requested, after } = params;
    let limit = limit(requested)?;
    for (field, text) in [("kind", &kind), ("query", &name), ("after", &after)] {
        bounds::name(field, text.as_deref())?;
    }
    run_queued(caller, move |caller| {
        let query = EntityQuery { kind, name };
        let mut entities = caller.workspace.engine().base().inspector().entities(&query)?;
        if let Some(after) = after {
            let last = entities.iter().position(|entity| entity.id.0 == after);
            entities.drain(..last.map_or(0, |last| last + 1));
        }
        entities.truncate(limit + 1);
        Ok(Json(Items::cut(entities, limit, |entity| entity.id.0.clone())))
    })
    .await
}
