//! Questions that the documents answer, for people who do not know yet what to ask.
use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use halma_core::Layer;
use halma_engine::{Engine, ListQuery};

use crate::access::MayAskDocuments;
use crate::app::Shared;
use crate::documents::{self, DocumentQuery};
use crate::limits::blocking::run_blocking;
use crate::pagination::Items;
use crate::problem::Problem;
use crate::workspace::DEFAULT;

/// How many questions are offered.
const MOST: usize = 4;

/// Documents that are looked at.
const DOCUMENTS: usize = 16;

/// Nodes of a document that are looked at.
const NODES: usize = 20;

/// The longest question that is offered, in characters.
const LONGEST: usize = 110;

/// List a few questions that the documents answer: those of `serve.examples` for the default
/// workspace, atoms that are questions, one of each document, or else questions about the documents'
/// titles.
#[utoipa::path(get, path = "/api/v1/examples", tag = "ask",
    responses((status = 200, body = Items<String>), (status = 401, body = Problem)))]
pub(crate) async fn examples(
    State(app): State<Shared>,
    MayAskDocuments(caller): MayAskDocuments,
) -> Result<Json<Items<String>>, Problem> {
    if caller.workspace.name == DEFAULT && !app.config.examples.is_empty() {
        return Ok(Json(Items::whole(app.config.examples.clone())));
    }
    run_blocking(move || {
        let query = DocumentQuery { query: None, state: None, limit: DOCUMENTS, after: None };
        let listed = documents::list(&caller.workspace, &query)?.items;
        let engine = caller.workspace.engine();
        let mut questions = vec![];
        for document in &listed {
            questions.extend(question_of(&engine, &document.name)?);
        }
        let mut titles = BTreeSet::new();
        for document in listed.iter().filter(|document| !document.title.is_empty()) {
            if questions.len() < MOST && titles.insert(&document.title) {
                questions.push(format!("What do the documents say about {}?", document.title));
            }
        }
        questions.truncate(MOST);
        Ok(Json(Items::whole(questions)))
    })
    .await
}

/// The first atom of a document that is a question.
fn question_of(engine: &Engine, document: &str) -> Result<Option<String>, Problem> {
    let query = ListQuery {
        layer: Layer::Atom,
        document: Some(document.to_owned()),
        after: None,
        limit: NODES,
    };
    let atoms = engine.base().inspector().list(&query)?.into_iter();
    let mut questions = atoms.filter(|atom| atom.document == document).map(|atom| atom.text);
    Ok(questions.find(|text| {
        text.trim_end().ends_with(['?', '？', '؟']) && text.chars().count() <= LONGEST
    }))
}
