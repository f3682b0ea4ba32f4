//! Documents: lists, one with its parts, its text, what was made of it, its end.
use std::collections::BTreeMap;

use axum::Json;
use halma_core::{Hit, Layer, NodeId};
use halma_engine::{Details, ListQuery, Listed};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::access::{MayAsk, MayWrite};
use crate::beside::beside;
use crate::documents::{self, DocumentLine, DocumentState, document_id, upload_of};
use crate::json::{Params, Part};
use crate::listing::{Items, limit};
use crate::problem::Problem;
use crate::schema;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Part of a name.
    query: Option<String>,
    state: Option<DocumentState>,
    /// At most so many; 50 by default, 500 at most.
    limit: Option<usize>,
    /// `next` of the page before.
    after: Option<String>,
}

/// Documents by name; what waits to be built comes first.
#[utoipa::path(get, path = "/api/v1/documents", tag = "documents", params(Wanted),
    responses((status = 200, body = Items<DocumentLine>), (status = 401, body = Problem)))]
pub(crate) async fn list(
    MayAsk(caller): MayAsk,
    Params(wanted): Params<Wanted>,
) -> Result<Json<Items<DocumentLine>>, Problem> {
    let Wanted { query, state, after, .. } = wanted;
    let wanted = documents::Wanted { query, state, limit: limit(wanted.limit), after };
    beside(move || documents::list(&caller.workspace, &wanted).map(Json)).await
}

/// A document with what it is made of.
#[derive(Serialize, ToSchema)]
pub(crate) struct WholeDocument {
    id: String,
    /// The first is the one shown; the others hold the same text.
    names: Vec<String>,
    title: String,
    format: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// Characters of its text.
    length: usize,
    url: Option<String>,
    date: Option<String>,
    author: Option<String>,
    language: Option<String>,
    warnings: Vec<String>,
    /// Nodes of each layer.
    #[schema(value_type = std::collections::HashMap<String, u64>)]
    counts: BTreeMap<Layer, u64>,
    sections: Vec<SectionLine>,
    /// Whether the original can be had.
    original: bool,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SectionLine {
    id: String,
    name: Option<String>,
    page: Option<u32>,
    /// Characters of the document's text.
    start: usize,
    end: usize,
}

const SECTIONS: usize = 2_000;

/// A document with what it is made of.
#[utoipa::path(get, path = "/api/v1/documents/{id}", tag = "documents",
    params(("id" = String, Path, description = "An id, or a name")),
    responses((status = 200, body = WholeDocument), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAsk(caller): MayAsk,
    Part(id): Part<String>,
) -> Result<Json<WholeDocument>, Problem> {
    beside(move || {
        let engine = caller.workspace.engine();
        let shown = engine.base().inspector().show(&document_id(&engine, &id)?)?;
        let Details::Document {
            names, format, url, date, author, language, warnings, parts, ..
        } = shown.details
        else {
            return Err(Problem::not_found("such document"));
        };
        let file = engine.originals().get(&shown.node.document);
        let sections = listed(&engine, Layer::Section, &shown.node.document, (None, SECTIONS))?;
        Ok(Json(WholeDocument {
            id: shown.node.id.0,
            names,
            title: shown.node.title,
            format,
            bytes: file.as_ref().map(|file| file.bytes),
            length: shown.node.span.end,
            url,
            date,
            author,
            language,
            warnings,
            counts: parts,
            sections: sections.into_iter().map(SectionLine::from).collect(),
            original: file.is_some(),
        }))
    })
    .await
}

impl From<Listed> for SectionLine {
    fn from(listed: Listed) -> Self {
        let Listed { id, section: name, page, span, .. } = listed;
        Self { id: id.0, name, page, start: span.start, end: span.end }
    }
}

fn listed(
    engine: &halma_engine::Engine,
    layer: Layer,
    document: &str,
    (after, limit): (Option<NodeId>, usize),
) -> Result<Vec<Listed>, Problem> {
    // A name may hold a `*`, which stands for anything here: what belongs to others is left out.
    let query = ListQuery { layer, document: Some(document.to_owned()), after, limit };
    let mut found = engine.base().inspector().list(&query)?;
    found.retain(|listed| listed.document.is_empty() || listed.document == document);
    Ok(found)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Range {
    /// The first character.
    start: Option<usize>,
    /// The character behind the last one.
    end: Option<usize>,
}

#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the interface's words")]
pub(crate) struct Text {
    text: String,
    /// Characters of the whole text.
    start: usize,
    end: usize,
    /// Of the whole text.
    length: usize,
    pages: Vec<PageRange>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PageRange {
    page: u32,
    start: usize,
    end: usize,
}

/// Of a text so many characters are given at a time, at most.
const LONGEST: usize = 1_000_000;

/// A document's text, whole or in part, as citations count its characters.
#[utoipa::path(get, path = "/api/v1/documents/{id}/text", tag = "documents",
    params(("id" = String, Path, description = "An id, or a name"), Range),
    responses((status = 200, body = Text), (status = 404, body = Problem)))]
pub(crate) async fn text(
    MayAsk(caller): MayAsk,
    Part(id): Part<String>,
    Params(range): Params<Range>,
) -> Result<Json<Text>, Problem> {
    beside(move || {
        let engine = caller.workspace.engine();
        let shown = engine.base().inspector().show(&document_id(&engine, &id)?)?;
        let Details::Document { pages, .. } = shown.details else {
            return Err(Problem::not_found("such document"));
        };
        let length = shown.node.span.end;
        let end = range.end.unwrap_or(length).min(length);
        let start = range.start.unwrap_or(0).min(end);
        let end = end.min(start + LONGEST);
        let text = shown.node.text.chars().skip(start).take(end - start).collect();
        let ends = pages.iter().skip(1).map(|(_, at)| *at).chain([length]);
        let pages = pages.iter().zip(ends);
        let pages = pages.map(|((page, start), end)| PageRange { page: *page, start: *start, end });
        Ok(Json(Text { text, start, end, length, pages: pages.collect() }))
    })
    .await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OfLayer {
    /// `chunk` where none is named.
    #[param(value_type = Option<String>)]
    layer: Option<Layer>,
    /// At most so many; 50 by default, 500 at most.
    limit: Option<usize>,
    /// `next` of the page before.
    after: Option<String>,
}

/// What was made of a document, by layer, in the order of the text.
#[utoipa::path(get, path = "/api/v1/documents/{id}/nodes", tag = "documents",
    params(("id" = String, Path, description = "An id, or a name"), OfLayer),
    responses((status = 200, body = Items<schema::Hit>), (status = 404, body = Problem)))]
pub(crate) async fn nodes(
    MayAsk(caller): MayAsk,
    Part(id): Part<String>,
    Params(wanted): Params<OfLayer>,
) -> Result<Json<Items<Hit>>, Problem> {
    beside(move || {
        let engine = caller.workspace.engine();
        let document = engine.base().inspector().show(&document_id(&engine, &id)?)?.node.document;
        let (layer, limit) = (wanted.layer.unwrap_or(Layer::Chunk), limit(wanted.limit));
        let after = wanted.after.as_deref().map(NodeId::from);
        let found = listed(&engine, layer, &document, (after, limit + 1))?;
        let hits = found.into_iter().map(as_hit).collect();
        Ok(Json(Items::cut(hits, limit, |hit: &Hit| hit.id.0.clone())))
    })
    .await
}

fn as_hit(listed: Listed) -> Hit {
    let Listed { id, layer, title, text, document, section, page, span, .. } = listed;
    let (parent, score, cosine, parts) = (None, 0.0, None, vec![]);
    Hit { id, layer, parent, document, title, section, page, text, score, cosine, parts, span }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Removed {
    /// Nodes that went, by layer.
    #[schema(value_type = std::collections::HashMap<String, u64>)]
    removed: BTreeMap<Layer, u64>,
}

/// Deletes a document with everything made of it: nodes, vectors, kept replies, traces that quote
/// it, and the original. Of an upload that is not built yet, the file.
#[utoipa::path(delete, path = "/api/v1/documents/{id}", tag = "documents",
    params(("id" = String, Path)),
    responses((status = 200, body = Removed), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    MayWrite(caller): MayWrite,
    Part(id): Part<String>,
) -> Result<Json<Removed>, Problem> {
    beside(move || {
        let engine = caller.workspace.engine();
        if let Some(upload) = upload_of(&engine, &id) {
            engine.originals().remove(&[upload.name]).map_err(|e| Problem::internal(&e))?;
            return Ok(Json(Removed { removed: BTreeMap::new() }));
        }
        // By id, so that no name is taken for a pattern.
        let id = engine.base().inspector().show(&document_id(&engine, &id)?)?.node.id;
        let deleted = engine.delete(&[id.0])?;
        Ok(Json(Removed { removed: deleted.nodes }))
    })
    .await
}
