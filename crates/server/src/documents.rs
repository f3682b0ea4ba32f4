//! The documents of a workspace, including uploads that are not built yet.
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use halma_core::{Layer, Metadata, NodeId};
use halma_engine::{Engine, ListedNode, Original, may_hold_records};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::builds::{BuildState, Coverage};
use crate::limits::bounds;
use crate::pagination::{Items, limit};
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
    /// Fields that a user gave to it.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub(crate) metadata: Metadata,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) updated: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// Which documents are listed.
#[derive(Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DocumentQuery {
    /// Part of a name.
    pub(crate) query: Option<String>,
    pub(crate) state: Option<DocumentState>,
    /// Maximum number of items: 50 by default, at most 500.
    pub(crate) limit: Option<usize>,
    /// `next` of the previous page.
    pub(crate) after: Option<String>,
}

/// Where a page of a list begins: after a name, which stays a place in the list when what it named
/// is gone.
enum Cursor {
    Upload(String),
    Document(String),
}

const AFTER_UPLOAD: &str = "upload:";
const AFTER_DOCUMENT: &str = "document:";

impl Cursor {
    fn parse(text: &str) -> Result<Self, Problem> {
        let upload = text.strip_prefix(AFTER_UPLOAD).map(|name| Self::Upload(name.to_owned()));
        let document = || Some(Self::Document(text.strip_prefix(AFTER_DOCUMENT)?.to_owned()));
        upload.or_else(document).ok_or_else(|| {
            Problem::unfit("`after` is not the `next` of a list").hint("omit it for the first page")
        })
    }

    fn after(line: &DocumentLine) -> String {
        let is_upload = line.id.starts_with(UPLOAD);
        format!("{}{}", if is_upload { AFTER_UPLOAD } else { AFTER_DOCUMENT }, line.name)
    }
}

/// Pending uploads and copies first, by name; then the documents of the base by name. Each document
/// is looked at once, whatever the filter.
pub(crate) fn list(
    workspace: &Workspace,
    query: &DocumentQuery,
) -> Result<Items<DocumentLine>, Problem> {
    bounds::name("query", query.query.as_deref())?;
    bounds::name("after", query.after.as_deref())?;
    let limit = limit(query.limit)?;
    let engine = workspace.engine();
    let builds = workspace.builds.list();
    let builds = Coverage::new(&builds);
    let cursor = query.after.as_deref().map(Cursor::parse).transpose()?;
    let mut lines = vec![];
    let after = match cursor {
        Some(Cursor::Document(name)) => Some(name),
        uploads => {
            // One that is looked for by its name is found as a document, by that of a copy, too.
            lines = pending_uploads(&engine, &builds, query.query.is_none())?;
            if let Some(Cursor::Upload(name)) = uploads {
                lines.retain(|line| line.name > name);
            }
            lines.retain(|line| query.matches(line));
            None
        }
    };
    let pattern = query.query.as_ref().map(|part| format!("*{part}*"));
    let mut visit = |listed| {
        if lines.len() <= limit {
            let line = document_line(listed, &engine, &builds);
            if query.matches(&line) {
                lines.push(line);
            }
        }
        lines.len() <= limit
    };
    let inspector = engine.base().inspector();
    inspector.visit_documents(pattern.as_deref(), after.as_deref(), &mut visit)?;
    Ok(Items::cut(lines, limit, Cursor::after))
}

impl DocumentQuery {
    fn matches(&self, line: &DocumentLine) -> bool {
        self.query.as_ref().is_none_or(|part| line.name.contains(part.as_str()))
            && self.state.is_none_or(|state| state == line.state)
    }
}

/// Uploads that are not documents of the base; among `all`, also those with the text of another one.
fn pending_uploads(
    engine: &Engine,
    builds: &Coverage<'_>,
    all: bool,
) -> Result<Vec<DocumentLine>, Problem> {
    let mut lines = vec![];
    for file in engine.originals().list() {
        let line = || upload_line(&file, builds);
        let line = match engine.base().inspector().shown_name(&file.name)? {
            Some(shown) if all && shown != file.name => DocumentLine {
                state: DocumentState::Indexed,
                error: Some(format!("same text as `{shown}`")),
                ..line()
            },
            None if !is_stored_as_records(&file, builds) => line(),
            _ => continue,
        };
        let metadata = engine.originals().metadata(&file.name).unwrap_or_default();
        lines.push(DocumentLine { metadata, ..line });
    }
    Ok(lines)
}

/// Whether a build has made the records of a file into documents, which are listed in its place.
fn is_stored_as_records(file: &Original, builds: &Coverage<'_>) -> bool {
    may_hold_records(&file.name)
        && pending_state(file, builds).is_none()
        && builds.refusal(&file.name).is_none()
}

fn upload_line(file: &Original, builds: &Coverage<'_>) -> DocumentLine {
    let (state, error) = match pending_state(file, builds) {
        Some(state) => (state, None),
        None => match builds.refusal(&file.name) {
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
        metadata: Metadata::default(),
        updated: file.modified.map(DateTime::from),
        error,
    }
}

/// The state of a file that a build still has to process; `None` when the last build that includes
/// it has ended after the upload.
fn pending_state(file: &Original, builds: &Coverage<'_>) -> Option<DocumentState> {
    let Some(build) = builds.newest(&file.name) else { return Some(DocumentState::Queued) };
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

fn document_line(listed: ListedNode, engine: &Engine, builds: &Coverage<'_>) -> DocumentLine {
    let ListedNode { id, title, document, about, .. } = listed;
    let file = engine.originals().get(&document);
    let about = about.unwrap_or_else(|| halma_engine::ListedDocument {
        format: String::new(),
        metadata: Metadata::default(),
        parts: std::collections::BTreeMap::new(),
        units: std::collections::BTreeMap::new(),
    });
    let failed = about.units.get("failed").copied().unwrap_or_default();
    let part = |layer: Layer| about.parts.get(&layer).copied().unwrap_or_default();
    // A file that was uploaded again waits for the next build; a file without a build was indexed on
    // the command line.
    let pending = file.as_ref().filter(|file| builds.newest(&file.name).is_some());
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
        metadata: about.metadata,
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

/// What is encoded in the name of a document that stands in an address or a header.
pub(crate) const IN_NAMES: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
