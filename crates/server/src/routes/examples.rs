//! Questions that the documents answer, for people who do not know yet what to ask.
use axum::Json;
use axum::extract::State;
use halma_core::Layer;
use halma_engine::{Engine, ListQuery, SearchRequest};

use crate::access::MayAskDocuments;
use crate::app::{Shared, Suggestion};
use crate::documents::{self, DocumentQuery};
use crate::limits::blocking::run_blocking;
use crate::pagination::Items;
use crate::problem::Problem;
use crate::workspace::DEFAULT;

/// How many questions are offered.
const MAX_QUESTIONS: usize = 4;

/// Documents that are looked at.
const MAX_DOCUMENTS: usize = 16;

/// Nodes of a document that are looked at.
const MAX_NODES: usize = 20;

/// The longest question that is offered, in characters.
const MAX_CHARACTERS: usize = 110;

/// How many passages may be found for a question until one of its own document is among them.
const MAX_PASSAGES: usize = 3;

/// List a few questions that the documents answer: those of `serve.examples` for the default
/// workspace, those of the demo, or atoms that are questions and whose own document is found for
/// them, one of each document. Without such atoms the list is empty.
#[utoipa::path(get, path = "/api/v1/examples", tag = "ask",
    responses((status = 200, body = Items<Suggestion>), (status = 401, body = Problem)))]
pub(crate) async fn examples(
    State(app): State<Shared>,
    MayAskDocuments(caller): MayAskDocuments,
) -> Result<Json<Items<Suggestion>>, Problem> {
    if caller.workspace.name == DEFAULT {
        let configured: Vec<_> = app.config.examples.iter().cloned().map(Into::into).collect();
        let offered = if configured.is_empty() { app.demo.clone() } else { Some(configured) };
        if let Some(offered) = offered {
            return Ok(Json(Items::whole(offered)));
        }
    }
    let engine = caller.workspace.engine();
    let candidates = run_blocking(move || {
        let query = DocumentQuery { limit: Some(MAX_DOCUMENTS), ..DocumentQuery::default() };
        let engine = caller.workspace.engine();
        let listed = documents::list(&caller.workspace, &query)?.items.into_iter();
        let questions =
            listed.map(|document| Ok((question_of(&engine, &document.name)?, document.name)));
        questions.collect::<Result<Vec<_>, Problem>>()
    })
    .await?;
    let mut offered = vec![];
    for (question, document) in candidates {
        let Some(question) = question else { continue };
        if offered.len() < MAX_QUESTIONS && finds(&engine, &question, &document).await? {
            offered.push(question.into());
        }
    }
    Ok(Json(Items::whole(offered)))
}

/// The first atom of a document that is a question.
fn question_of(engine: &Engine, document: &str) -> Result<Option<String>, Problem> {
    let query = ListQuery {
        layer: Layer::Atom,
        document: Some(document.to_owned()),
        after: None,
        limit: MAX_NODES,
    };
    let atoms = engine.base().inspector().list(&query)?.into_iter();
    let mut questions = atoms.filter(|atom| atom.document == document).map(|atom| atom.text);
    Ok(questions.find(|text| {
        text.trim_end().ends_with(['?', '？', '؟']) && text.chars().count() <= MAX_CHARACTERS
    }))
}

/// Whether a search for the question finds the document that it was taken from. A search costs no
/// call of a model, so that offering questions is free.
async fn finds(engine: &Engine, question: &str, document: &str) -> Result<bool, Problem> {
    let (text, limit) = (question.to_owned(), Some(MAX_PASSAGES));
    let hits = engine.search(SearchRequest { text, limit, ..SearchRequest::default() }).await?;
    Ok(hits.iter().any(|hit| hit.document == document))
}
