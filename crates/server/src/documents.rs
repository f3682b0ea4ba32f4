//! The documents of a workspace, including uploads that are not built yet.
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use halma_core::{Layer, NodeId};
use halma_engine::{Engine, ListQuery, ListedNode, Original};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::builds::{Build, BuildState};
use crate::listing::Items;
use crate::problem::Problem;
use crate::workspace::Workspace;

/// Prefix of the id of an upload that is not a document yet.
const UPLOAD: &str = "upload-";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DocumentState {
    Indexed,
    /// A build that includes it is running.
    Building,
    /// Uploaded and not built yet.
    Queued,
    /// Some of the work on it failed; the next build retries it.
    Failed,
    /// It cannot be read.
    Refused,
}

/// A document in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DocumentLine {
    pub(crate) id: String,
    /// Its path below the folder of originals.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) format: String,
    pub(crate) state: DocumentState,
    /// Size of the original file, where it is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u64>,
    pub(crate) chunks: u64,
    pub(crate) atoms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) updated: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// Which documents are listed.
pub(crate) struct DocumentQuery {
    /// Part of a name.
    pub(crate) query: Option<String>,
    pub(crate) state: Option<DocumentState>,
    pub(crate) limit: usize,
    pub(crate) after: Option<String>,
}

/// Pending uploads first, by name; then the documents of the base by name.
pub(crate) fn list(
    workspace: &Workspace,
    query: &DocumentQuery,
) -> Result<Items<DocumentLine>, Problem> {
    let engine = workspace.engine();
    let builds = workspace.builds.list();
    let mut lines = vec![];
    let in_base = query.after.as_deref().filter(|after| !after.starts_with(UPLOAD));
    if in_base.is_none() {
        lines = pending_uploads(&engine, &builds)?;
        lines.retain(|line| query.matches(line));
        if let Some(after) = &query.after {
            let at = lines.iter().position(|line| line.id == *after).map_or(0, |at| at + 1);
            lines.drain(..at);
        }
    }
    let mut after = in_base.map(NodeId::from);
    while lines.len() <= query.limit {
        let page = ListQuery {
            layer: Layer::Document,
            document: query.query.as_ref().map(|part| format!("*{part}*")),
            after: after.take(),
            limit: query.limit + 1,
        };
        let listed = engine.base().inspector().list(&page)?;
        let last = listed.last().map(|listed| listed.id.clone());
        let full_page = listed.len() > query.limit;
        let listed = listed.into_iter().map(|listed| document_line(listed, &engine, &builds));
        lines.extend(listed.filter(|line| query.matches(line)));
        after = last.filter(|_| full_page);
        if after.is_none() {
            break;
        }
    }
    Ok(Items::cut(lines, query.limit, |line| line.id.clone()))
}

impl DocumentQuery {
    fn matches(&self, line: &DocumentLine) -> bool {
        self.query.as_ref().is_none_or(|part| line.name.contains(part.as_str()))
            && self.state.is_none_or(|state| state == line.state)
    }
}

/// Uploads that are not documents of the base.
fn pending_uploads(engine: &Engine, builds: &[Build]) -> Result<Vec<DocumentLine>, Problem> {
    let mut lines = vec![];
    for file in engine.originals().list() {
        if engine.base().inspector().find_document(&file.name)?.is_none() {
            lines.push(upload_line(&file, builds));
        }
    }
    Ok(lines)
}

fn upload_line(file: &Original, builds: &[Build]) -> DocumentLine {
    let (state, error) = match pending_state(file, builds) {
        Some(state) => (state, None),
        None => match builds.iter().find_map(|build| build.refusal(&file.name)) {
            Some(reason) => (DocumentState::Refused, Some(reason)),
            None => (DocumentState::Queued, None),
        },
    };
    DocumentLine {
        id: upload_id(&file.name),
        name: file.name.clone(),
        title: file.name.clone(),
        format: String::new(),
        state,
        bytes: Some(file.bytes),
        chunks: 0,
        atoms: 0,
        updated: file.modified.map(DateTime::from),
        error,
    }
}

/// The state of a file that a build still has to process; `None` when the last build that includes
/// it has ended after the upload.
fn pending_state(file: &Original, builds: &[Build]) -> Option<DocumentState> {
    let covering = builds.iter().find(|build| build.covers(&file.name));
    let Some(build) = covering else { return Some(DocumentState::Queued) };
    let uploaded: Option<DateTime<Utc>> = file.modified.map(DateTime::from);
    let later = build.started.is_some_and(|started| uploaded.is_some_and(|at| at > started));
    match build.state {
        BuildState::Running => Some(DocumentState::Building),
        BuildState::Queued | BuildState::Paused | BuildState::Cancelled => {
            Some(DocumentState::Queued)
        }
        BuildState::Done | BuildState::Failed => later.then_some(DocumentState::Queued),
    }
}

fn document_line(listed: ListedNode, engine: &Engine, builds: &[Build]) -> DocumentLine {
    let ListedNode { id, title, document, about, .. } = listed;
    let file = engine.originals().get(&document);
    let about = about.unwrap_or_else(|| halma_engine::ListedDocument {
        format: String::new(),
        parts: std::collections::BTreeMap::new(),
        units: std::collections::BTreeMap::new(),
    });
    let failed = about.units.get("failed").copied().unwrap_or_default();
    let part = |layer: Layer| about.parts.get(&layer).copied().unwrap_or_default();
    // A file that was uploaded again waits for the next build; a file without a build was indexed on
    // the command line.
    let has_build = |file: &Original| builds.iter().any(|build| build.covers(&file.name));
    let pending = file.as_ref().filter(|file| has_build(file));
    let state = match pending.and_then(|file| pending_state(file, builds)) {
        Some(state) => state,
        None if failed > 0 => DocumentState::Failed,
        None => DocumentState::Indexed,
    };
    DocumentLine {
        id: id.0,
        name: document,
        title,
        format: about.format,
        state,
        bytes: file.as_ref().map(|file| file.bytes),
        chunks: part(Layer::Chunk),
        atoms: part(Layer::Atom),
        updated: file.and_then(|file| file.modified).map(|at: SystemTime| at.into()),
        error: (failed > 0)
            .then(|| format!("{failed} units of work failed; build again to retry them")),
    }
}

fn upload_id(name: &str) -> String {
    format!("{UPLOAD}{}", &blake3::hash(name.as_bytes()).to_hex()[..16])
}

/// The upload with this id, if it is the id of an upload.
pub(crate) fn find_upload(engine: &Engine, id: &str) -> Option<Original> {
    let files = id.starts_with(UPLOAD).then(|| engine.originals().list())?;
    files.into_iter().find(|file| upload_id(&file.name) == id)
}

/// The id of an existing document, given its id or its name.
pub(crate) fn document_id(engine: &Engine, id: &str) -> Result<NodeId, Problem> {
    if let Some(id) = engine.base().inspector().find_document(id)? {
        return Ok(id);
    }
    let missing = || Problem::not_found("such document");
    id.starts_with("d-").then(|| NodeId::from(id)).ok_or_else(missing)
}
