//! Uploads: streamed to a temporary file, checked, and only then moved to the originals.
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::multipart::{Field, MultipartError, MultipartRejection};
use axum::extract::{Multipart, State};
use axum::http::StatusCode;
use halma_core::{Metadata, MetadataFilter};
use halma_engine::{Engine, ServeConfig, safe_name};
use serde::{Deserialize, Serialize};
use tempfile::TempPath;
use tokio::io::AsyncWriteExt as _;
use utoipa::{IntoParams, ToSchema};

use crate::access::MayWriteDocuments;
use crate::app::Shared;
use crate::builds::RefusedFile;
use crate::json::Params;
use crate::limits::blocking::Lane;
use crate::problem::Problem;
use crate::workspace::Workspace;

/// Files of one request at most.
const MAX_FILES: usize = 10_000;

/// A client that sends more slowly than this is cut off, after a while that is given to each file.
const LEAST_BYTES_PER_SECOND: u64 = 4096;
const GRACE: Duration = Duration::from_mins(1);

/// Bytes of the field `path` at most.
const MAX_PATH: usize = 1_000;

/// Bytes of the field `metadata` at most.
const MAX_METADATA: usize = 100_000;

/// A form with a field `file` for each file; a field `path` names the folder of the files after it, a
/// field `metadata` says the fields that they get.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the form, which is read field by field")]
pub(crate) struct UploadForm {
    /// The folder of the files that follow.
    path: Option<String>,
    /// The fields of the files that follow, as a JSON object. Without it a file that replaces another
    /// keeps its fields.
    #[schema(value_type = Option<String>)]
    metadata: Option<String>,
    #[schema(value_type = Vec<String>, format = Binary)]
    file: Vec<u8>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UploadQuery {
    /// Replace files of the same name. Without it, one of other content is refused.
    #[serde(default)]
    replace: bool,
}

#[derive(Default, Serialize, ToSchema)]
pub(crate) struct UploadResult {
    accepted: Vec<AcceptedFile>,
    refused: Vec<RefusedFile>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AcceptedFile {
    name: String,
    bytes: u64,
    /// The name to use in `uploads` of a build.
    upload: String,
}

/// Upload files. Each is stored completely or not at all, and waits for a build.
#[utoipa::path(post, path = "/api/v1/documents", tag = "documents",
    params(UploadQuery),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 200, body = UploadResult), (status = 400, body = Problem),
        (status = 403, body = Problem), (status = 408, body = Problem),
        (status = 409, body = Problem), (status = 507, body = Problem)))]
pub(crate) async fn upload(
    State(app): State<Shared>,
    MayWriteDocuments(caller): MayWriteDocuments,
    Params(query): Params<UploadQuery>,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Json<UploadResult>, Problem> {
    let mut form = form.map_err(|rejection| {
        Problem::new(rejection.status(), rejection.body_text())
            .hint("send multipart/form-data with a field `file`")
    })?;
    let target = UploadTarget {
        engine: caller.workspace.engine(),
        documents: caller.documents().cloned(),
        lane: caller.lane(),
        workspace: Arc::clone(&caller.workspace),
        temporary: caller.workspace.uploads.clone(),
        max_bytes: app.config.max_upload_bytes,
        replace: query.replace,
    };
    let mut quota = target.quota(&app.config).await?;
    match tokio::fs::create_dir(&target.temporary).await {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => return Err(disk_problem(&e)),
        _ => {}
    }
    let (mut result, mut count) = (UploadResult::default(), 0);
    let mut place = UploadPlace::default();
    while let Some(field) = form.next_field().await.map_err(|e| form_problem(&e))? {
        match field.name() {
            Some("path") => {
                let path = read_text(field, "path", MAX_PATH).await?;
                path.trim_matches('/').clone_into(&mut place.folder);
            }
            Some("metadata") => {
                let text = read_text(field, "metadata", MAX_METADATA).await?;
                place.metadata = Some(parse_metadata(&text)?);
            }
            Some("file") => {
                count += 1;
                if count > MAX_FILES {
                    let detail = format!("more than {MAX_FILES} files in one request");
                    return Err(Problem::unfit(detail));
                }
                match target.store(field, &place, &mut quota).await? {
                    Ok(accepted) => result.accepted.push(accepted),
                    Err(refused) => result.refused.push(refused),
                }
            }
            _ => return Err(Problem::unfit("a field is not `file`, `path` or `metadata`")),
        }
    }
    if count == 0 {
        return Err(Problem::unfit("the form has no file").hint("send each as a field `file`"));
    }
    if result.accepted.is_empty() && result.refused.iter().all(|file| file.replaceable) {
        let detail = match result.refused.as_slice() {
            [one] => format!("there is another file named `{}`", one.name),
            _ => "there are other files of these names".to_owned(),
        };
        return Err(Problem::new(StatusCode::CONFLICT, detail).hint(TAKEN_HINT));
    }
    Ok(Json(result))
}

/// Where the files that follow go, and the fields that they get.
#[derive(Default)]
struct UploadPlace {
    folder: String,
    metadata: Option<Metadata>,
}

fn parse_metadata(text: &str) -> Result<Metadata, Problem> {
    let hint = "send an object such as {\"team\": \"legal\"}";
    let metadata: Metadata = serde_json::from_str(text)
        .map_err(|e| Problem::unfit(format!("`metadata` does not fit: {e}")).hint(hint))?;
    metadata.check().map_err(|e| Problem::unfit(e.to_string()).hint(hint))?;
    Ok(metadata)
}

async fn read_text(mut field: Field<'_>, name: &str, most: usize) -> Result<String, Problem> {
    let mut bytes = vec![];
    while let Some(piece) = next_piece(&mut field).await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > most {
            return Err(Problem::unfit(format!("`{name}` is too long")));
        }
    }
    String::from_utf8(bytes).map_err(|_| Problem::unfit(format!("`{name}` is not UTF-8")))
}

async fn next_piece(field: &mut Field<'_>) -> Result<Option<axum::body::Bytes>, Problem> {
    field.chunk().await.map_err(|e| form_problem(&e))
}

fn form_problem(error: &MultipartError) -> Problem {
    Problem::new(error.status(), error.body_text()).hint("send the request again")
}

const TAKEN: &str = "there is another file of this name";
const TAKEN_HINT: &str = "give it another name, or send it to `/api/v1/documents?replace=true`";

/// What the uploaded files of a workspace may still take. Requests at the same time do not know of
/// each other, so each may fill what is left.
struct Quota {
    files: u64,
    bytes: u64,
    limits: (u64, u64),
}

impl Quota {
    /// Counts a file, whose former version, if it had one, was of `replaced` bytes.
    fn take(&mut self, bytes: u64, replaced: Option<u64>) -> Result<(), Problem> {
        let files = self.files + u64::from(replaced.is_none());
        let bytes = self.bytes.saturating_sub(replaced.unwrap_or_default()) + bytes;
        let (most_files, most_bytes) = self.limits;
        let (what, key) = if files > most_files {
            (format!("{most_files} files"), "serve.max_workspace_files")
        } else if bytes > most_bytes {
            (format!("{most_bytes} bytes of files"), "serve.max_workspace_bytes")
        } else {
            (self.files, self.bytes) = (files, bytes);
            return Ok(());
        };
        let detail = format!("the workspace may hold {what}, and there would be more");
        Err(Problem::new(StatusCode::INSUFFICIENT_STORAGE, detail).hint(format!(
            "delete documents, or raise `{key}`; files sent before this one are kept"
        )))
    }
}

/// Where the files of a request go.
struct UploadTarget {
    engine: Arc<Engine>,
    /// What the fields of the caller's documents must meet.
    documents: Option<MetadataFilter>,
    lane: Lane,
    workspace: Arc<Workspace>,
    /// The folder of uploads in progress.
    temporary: PathBuf,
    /// Bytes of one file at most.
    max_bytes: u64,
    /// Whether a file of the same name is replaced.
    replace: bool,
}

impl UploadTarget {
    /// What the workspace holds already, also what the caller does not see.
    async fn quota(&self, config: &ServeConfig) -> Result<Quota, Problem> {
        let limits = (config.max_workspace_files, config.max_workspace_bytes);
        let engine = Arc::clone(&self.engine);
        self.lane
            .run(move || {
                let held = engine.originals().sizes();
                Ok(Quota { files: held.len() as u64, bytes: held.iter().sum(), limits })
            })
            .await
    }

    /// Stores one file, or says why it is refused; the outer error ends the request.
    async fn store(
        &self,
        mut field: Field<'_>,
        place: &UploadPlace,
        quota: &mut Quota,
    ) -> Result<Result<AcceptedFile, RefusedFile>, Problem> {
        let sent = field.file_name().unwrap_or_default();
        let folder = &place.folder;
        let sent = if folder.is_empty() { sent.to_owned() } else { format!("{folder}/{sent}") };
        let name = match safe_name(&sent) {
            Ok(name) => name,
            Err(reason) => {
                self.skip(&mut field).await?;
                return Ok(Err(RefusedFile::new(&sent, reason, "give the file a plain name")));
            }
        };
        let metadata = match self.fields(&name, place.metadata.as_ref()) {
            Ok(metadata) => metadata,
            Err(reason) => {
                self.skip(&mut field).await?;
                let hint = "send fields that this key may see, or use a key without conditions";
                return Ok(Err(RefusedFile::new(&name, reason, hint)));
            }
        };
        let Some((path, bytes)) = self.receive(&mut field).await? else {
            self.skip(&mut field).await?;
            let reason = format!("it is larger than {} bytes", self.max_bytes);
            let hint = "split it, or raise `serve.max_upload_bytes`";
            return Ok(Err(RefusedFile::new(&name, reason, hint)));
        };
        quota.take(bytes, self.engine.originals().get(&name).map(|former| former.bytes))?;
        let replace = self.replace;
        let (engine, workspace) = (Arc::clone(&self.engine), Arc::clone(&self.workspace));
        self.lane
            .run(move || {
                let content = std::fs::read(&path).map_err(|e| disk_problem(&e))?;
                if let Err(refused) = engine.base().recognise(&name, &content) {
                    return Ok(Err(RefusedFile::new(&name, refused.reason, &refused.hint)));
                }
                let former = engine.originals().find(&name).filter(|_| !replace);
                if let Some(former) = former
                    && std::fs::read(former).map_err(|e| disk_problem(&e))? != content
                {
                    let refused = RefusedFile::new(&name, TAKEN, TAKEN_HINT);
                    return Ok(Err(RefusedFile { replaceable: true, ..refused }));
                }
                let moved = workspace
                    .while_open(|| move_into_place(path, &name, (&engine, metadata.as_ref())))?;
                Ok(moved.map(|()| AcceptedFile { upload: name.clone(), name, bytes }))
            })
            .await
    }

    /// The fields that a file gets; `None` leaves those it has. Those who see some documents add
    /// only such; files of records are not among them, since each record says its own name.
    fn fields(&self, name: &str, sent: Option<&Metadata>) -> Result<Option<Metadata>, String> {
        let Some(documents) = &self.documents else { return Ok(sent.cloned()) };
        let extension = name.rsplit('.').next().unwrap_or_default().to_lowercase();
        if matches!(extension.as_str(), "json" | "jsonl" | "ndjson") {
            return Err("a key for some documents cannot upload files of records".to_owned());
        }
        let own = match sent {
            Some(sent) => sent.clone(),
            None => self.engine.originals().metadata(name).unwrap_or_default(),
        };
        let fields = documents.required().overlaid(&own);
        fields.check().map_err(|e| e.to_string())?;
        if documents.admits(&fields) {
            return Ok(Some(fields));
        }
        Err("its fields are outside of the documents that this key may see".to_owned())
    }

    /// Writes a file to a temporary one; `None` when it is too large.
    async fn receive(&self, field: &mut Field<'_>) -> Result<Option<(TempPath, u64)>, Problem> {
        let failed = |e: std::io::Error| disk_problem(&e);
        let temporary = tempfile::NamedTempFile::new_in(&self.temporary).map_err(failed)?;
        let (file, path) = temporary.into_parts();
        let mut file = tokio::fs::File::from_std(file);
        let (mut bytes, began) = (0, Instant::now());
        while let Some(piece) = next_piece(field).await? {
            bytes += piece.len() as u64;
            if bytes > self.max_bytes {
                return Ok(None);
            }
            let allowed = GRACE + Duration::from_secs(bytes / LEAST_BYTES_PER_SECOND);
            if began.elapsed() > allowed {
                let detail = "the file comes too slowly";
                return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, detail)
                    .hint(format!("send at least {LEAST_BYTES_PER_SECOND} bytes a second")));
            }
            file.write_all(&piece).await.map_err(failed)?;
        }
        file.sync_all().await.map_err(failed)?;
        Ok(Some((path, bytes)))
    }

    /// Reads to the end of a field, so that the next one can be read. A field that is much too long
    /// ends the request.
    async fn skip(&self, field: &mut Field<'_>) -> Result<(), Problem> {
        let mut bytes = 0;
        while let Some(piece) = next_piece(field).await? {
            bytes += piece.len() as u64;
            if bytes > self.max_bytes {
                let detail = format!("a file is much larger than {} bytes", self.max_bytes);
                return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
                    .hint("`serve.max_upload_bytes` is the limit"));
            }
        }
        Ok(())
    }
}

fn move_into_place(
    path: TempPath,
    name: &str,
    (engine, metadata): (&Engine, Option<&Metadata>),
) -> Result<Result<(), RefusedFile>, Problem> {
    let originals = engine.originals().dir();
    let target = originals.join(name);
    let taken = || {
        let reason = "this name is taken by a document that this key does not see";
        Ok(Err(RefusedFile::new(name, reason, "give the file another name")))
    };
    if engine.hides(name)? {
        return taken();
    }
    if target.is_dir() {
        return Ok(Err(RefusedFile::new(name, "a folder has this name", "rename the file")));
    }
    let folder = target.parent().unwrap_or(originals);
    if std::fs::create_dir_all(folder).is_err() {
        return Ok(Err(RefusedFile::new(name, "a file has the name of its folder", "rename it")));
    }
    let persist = |target: &Path| {
        path.persist(target).map_err(|e| e.error)?;
        // So that a power failure does not take the name away that was answered with 200.
        std::fs::File::open(folder)?.sync_all()
    };
    let put = engine.originals().put(name, metadata, persist);
    if put.map_err(|e| disk_problem(&e))? { Ok(Ok(())) } else { taken() }
}

fn disk_problem(error: &std::io::Error) -> Problem {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => {
            tracing::error!("cannot store an upload: {error}");
            Problem::new(StatusCode::INSUFFICIENT_STORAGE, "there is no space left for the file")
        }
        _ => Problem::internal(error),
    }
}
