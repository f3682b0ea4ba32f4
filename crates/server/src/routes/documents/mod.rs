//! Documents: listed, read with their parts and text, deleted.
pub(super) mod file;
pub(super) mod uploads;

use std::collections::BTreeMap;

use axum::Json;
use axum::http::StatusCode;
use halma_core::{Hit, Layer, Metadata, MetadataError, NodeId};
use halma_engine::{Details, Engine, ListQuery, ListedNode};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::access::{MayAskDocuments, MayWriteDocuments, run_queued};
use crate::documents::{self, DocumentLine, DocumentQuery, document_id, find_upload};
use crate::json::{JsonBody, Params, Part};
use crate::limits::bounds;
use crate::pagination::{Items, limit};
use crate::problem::Problem;

/// List documents by name; uploads that are not built yet come first.
#[utoipa::path(get, path = "/api/v1/documents", tag = "documents", params(DocumentQuery),
    responses((status = 200, body = Items<DocumentLine>), (status = 401, body = Problem)))]
pub(crate) async fn list(
    MayAskDocuments(caller): MayAskDocuments,
    Params(query): Params<DocumentQuery>,
) -> Result<Json<Items<DocumentLine>>, Problem> {
    run_queued(caller, move |caller| documents::list(&caller.workspace, &query).map(Json)).await
}

/// A document with its parts.
#[derive(Serialize, ToSchema)]
pub(crate) struct DocumentDetail {
    id: String,
    /// The first one is displayed; the others are copies with the same text.
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
    /// Fields that a user gave to it.
    metadata: Metadata,
    /// Number of nodes of each layer.
    counts: BTreeMap<Layer, u64>,
    sections: Vec<SectionLine>,
    /// Whether the original file can be downloaded.
    original: bool,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SectionLine {
    id: NodeId,
    name: Option<String>,
    page: Option<u32>,
    /// Characters of the document's text.
    start: usize,
    end: usize,
}

const MAX_SECTIONS: usize = 2_000;

/// Read a document's description, counts and sections.
#[utoipa::path(get, path = "/api/v1/documents/{id}", tag = "documents",
    params(("id" = String, Path, description = "An id or a name")),
    responses((status = 200, body = DocumentDetail), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
) -> Result<Json<DocumentDetail>, Problem> {
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        let shown = engine.base().inspector().show(&document_id(&engine, &id)?)?;
        let Details::Document {
            names,
            format,
            url,
            date,
            author,
            language,
            warnings,
            metadata,
            parts,
            ..
        } = shown.details
        else {
            return Err(Problem::not_found("such document"));
        };
        let file = engine.originals().get(&shown.node.document);
        let query = ListQuery {
            layer: Layer::Section,
            document: Some(shown.node.document),
            after: None,
            limit: MAX_SECTIONS,
        };
        let sections = list_nodes(&engine, &query)?;
        Ok(Json(DocumentDetail {
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
            metadata,
            counts: parts,
            sections: sections.into_iter().map(SectionLine::from).collect(),
            original: file.is_some(),
        }))
    })
    .await
}

impl From<ListedNode> for SectionLine {
    fn from(listed: ListedNode) -> Self {
        let ListedNode { id, section: name, page, span, .. } = listed;
        Self { id, name, page, start: span.start, end: span.end }
    }
}

/// Nodes of the one document that the query names. In the query `*` stands for any characters, and
/// a document's name may contain one, so nodes of other documents are dropped.
fn list_nodes(engine: &Engine, query: &ListQuery) -> Result<Vec<ListedNode>, Problem> {
    let mut nodes = engine.base().inspector().list(query)?;
    nodes
        .retain(|node| node.document.is_empty() || Some(&node.document) == query.document.as_ref());
    Ok(nodes)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TextRange {
    /// The first character.
    start: Option<usize>,
    /// The character after the last one.
    end: Option<usize>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct DocumentText {
    text: String,
    /// Characters of the document's text.
    start: usize,
    end: usize,
    /// Characters of the document's whole text.
    length: usize,
    pages: Vec<PageRange>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PageRange {
    page: u32,
    start: usize,
    end: usize,
}

/// Characters of one response at most.
const MAX_CHARACTERS: usize = 1_000_000;

/// Read a document's text or a range of its characters, counted as citations count them.
#[utoipa::path(get, path = "/api/v1/documents/{id}/text", tag = "documents",
    params(("id" = String, Path, description = "An id or a name"), TextRange),
    responses((status = 200, body = DocumentText), (status = 404, body = Problem)))]
pub(crate) async fn text(
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
    Params(range): Params<TextRange>,
) -> Result<Json<DocumentText>, Problem> {
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        let shown = engine.base().inspector().show(&document_id(&engine, &id)?)?;
        let Details::Document { pages, .. } = shown.details else {
            return Err(Problem::not_found("such document"));
        };
        let length = shown.node.span.end;
        let end = range.end.unwrap_or(length).min(length);
        let start = range.start.unwrap_or(0).min(end);
        let end = end.min(start + MAX_CHARACTERS);
        let text = shown.node.text.chars().skip(start).take(end - start).collect();
        let ends = pages.iter().skip(1).map(|(_, at)| *at).chain([length]);
        let pages = pages.iter().zip(ends);
        let pages = pages.map(|((page, start), end)| PageRange { page: *page, start: *start, end });
        Ok(Json(DocumentText { text, start, end, length, pages: pages.collect() }))
    })
    .await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct NodeQuery {
    /// `chunk` by default.
    layer: Option<Layer>,
    /// Maximum number of items: 50 by default, at most 500.
    limit: Option<usize>,
    /// `next` of the previous page.
    after: Option<String>,
}

/// List the nodes that a document was turned into, in the order of its text.
#[utoipa::path(get, path = "/api/v1/documents/{id}/nodes", tag = "documents",
    params(("id" = String, Path, description = "An id or a name"), NodeQuery),
    responses((status = 200, body = Items<Hit>), (status = 404, body = Problem)))]
pub(crate) async fn nodes(
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
    Params(query): Params<NodeQuery>,
) -> Result<Json<Items<Hit>>, Problem> {
    bounds::name("after", query.after.as_deref())?;
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        let document = engine.base().inspector().show(&document_id(&engine, &id)?)?.node.document;
        let limit = limit(query.limit)?;
        let query = ListQuery {
            layer: query.layer.unwrap_or(Layer::Chunk),
            document: Some(document),
            after: query.after.as_deref().map(NodeId::from),
            limit: limit + 1,
        };
        let hits = list_nodes(&engine, &query)?.into_iter().map(into_hit).collect();
        Ok(Json(Items::cut(hits, limit, |hit: &Hit| hit.id.0.clone())))
    })
    .await
}

fn into_hit(listed: ListedNode) -> Hit {
    let ListedNode { id, layer, title, text, document, section, page, span, .. } = listed;
    let (parent, score, cosine, parts) = (None, 0.0, None, vec![]);
    Hit { id, layer, parent, document, title, section, page, text, score, cosine, parts, span }
}

/// Give a document other fields; those that it had are gone. Nothing is indexed again, and searches
/// and keys for some documents see the change at once.
#[utoipa::path(put, path = "/api/v1/documents/{id}/metadata", tag = "documents",
    operation_id = "set_metadata",
    params(("id" = String, Path, description = "An id or a name")), request_body = Metadata,
    responses((status = 200, body = Metadata), (status = 404, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn set_metadata(
    MayWriteDocuments(caller): MayWriteDocuments,
    Part(id): Part<String>,
    JsonBody(metadata): JsonBody<Metadata>,
) -> Result<Json<Metadata>, Problem> {
    bounds::name("id", Some(&id))?;
    let wrong = |e: MetadataError| Problem::unfit(e.to_string());
    metadata.check().map_err(wrong)?;
    if caller.documents().is_some_and(|documents| !documents.admits(&metadata)) {
        let detail = "with these fields this key could not see the document any more";
        return Err(Problem::new(StatusCode::FORBIDDEN, detail)
            .hint("keep the fields that the key asks for, or use a key without conditions"));
    }
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        let document = match find_upload(&engine, &id) {
            Some(upload) => upload.name,
            None => id,
        };
        caller.workspace.while_open(|| Ok(engine.set_metadata(&document, &metadata)?))?;
        Ok(Json(metadata))
    })
    .await
}

#[derive(Serialize, ToSchema)]
pub(crate) struct DeletedDocument {
    /// Number of removed nodes of each layer.
    removed: BTreeMap<Layer, u64>,
}

/// Delete a document and everything derived from it: nodes, vectors, cached replies, traces that
/// quote it, and the original file. For an upload that is not built yet, delete the file; a build that
/// is about to store it does not.
#[utoipa::path(delete, path = "/api/v1/documents/{id}", tag = "documents",
    params(("id" = String, Path)),
    responses((status = 200, body = DeletedDocument), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    MayWriteDocuments(caller): MayWriteDocuments,
    Part(id): Part<String>,
) -> Result<Json<DeletedDocument>, Problem> {
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        let deleted = if let Some(upload) = find_upload(&engine, &id) {
            // It may have become a document since its id was listed.
            let _hold = caller.workspace.builds.hold();
            engine.delete_named(&upload.name)?
        } else if engine.has_named(&id)? {
            // Copies under other names stay.
            let _hold = caller.workspace.builds.hold();
            engine.delete_named(&id)?
        } else {
            // By id, so that no name is taken for a pattern.
            let id = engine.base().inspector().show(&document_id(&engine, &id)?)?.node.id;
            // A running build is suspended and continues afterwards; not for what is not there.
            let _hold = caller.workspace.builds.hold();
            engine.delete(&[id.0])?
        };
        Ok(Json(DeletedDocument { removed: deleted.nodes }))
    })
    .await
}
