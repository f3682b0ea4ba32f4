//! Uploads: streamed to a temporary file, looked at, and only then put among the originals.
use std::path::Path;

use axum::Json;
use axum::extract::multipart::{Field, MultipartError, MultipartRejection};
use axum::extract::{Multipart, State};
use axum::http::StatusCode;
use halma_engine::{Originals, recognise, safe_name};
use serde::Serialize;
use tokio::io::AsyncWriteExt as _;
use utoipa::ToSchema;

use crate::access::MayWrite;
use crate::app::Shared;
use crate::beside::beside;
use crate::problem::Problem;

/// Files of one request at most.
const MOST: usize = 10_000;

/// Characters of the field `path` at most.
const LONGEST_PATH: usize = 1_000;

/// What is sent: `file` once for each file, and `path` before them for the folder they go to.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(crate) struct Upload {
    /// The folder that the files behind it go to.
    path: Option<String>,
    #[schema(value_type = Vec<String>, format = Binary)]
    file: Vec<u8>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Uploaded {
    accepted: Vec<Accepted>,
    refused: Vec<Refused>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Accepted {
    name: String,
    bytes: u64,
    /// What a build names it by.
    upload: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Refused {
    name: String,
    reason: String,
    hint: String,
}

impl Refused {
    fn new(name: &str, reason: impl Into<String>, hint: &str) -> Self {
        Self { name: name.to_owned(), reason: reason.into(), hint: hint.to_owned() }
    }
}

/// Takes files. Each is there as a whole or not at all, and waits until it is built.
#[utoipa::path(post, path = "/api/v1/documents", tag = "documents",
    request_body(content = Upload, content_type = "multipart/form-data"),
    responses((status = 200, body = Uploaded), (status = 400, body = Problem),
        (status = 403, body = Problem)))]
pub(crate) async fn upload(
    State(app): State<Shared>,
    MayWrite(caller): MayWrite,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Json<Uploaded>, Problem> {
    let mut form = form.map_err(|rejection| {
        Problem::new(rejection.status(), rejection.body_text())
            .hint("send multipart/form-data with a field `file`")
    })?;
    let parts = caller.workspace.uploads();
    let originals = caller.workspace.engine().originals().clone();
    let failed = |e: std::io::Error| Problem::internal(&e);
    tokio::fs::create_dir_all(&parts).await.map_err(failed)?;
    let (mut uploaded, mut folder) =
        (Uploaded { accepted: vec![], refused: vec![] }, String::new());
    let mut count = 0;
    while let Some(field) = form.next_field().await.map_err(|e| broken(&e))? {
        match field.name() {
            Some("path") => folder = path_field(field).await?,
            Some("file") => {
                count += 1;
                if count > MOST {
                    return Err(Problem::unfit(format!("more than {MOST} files in one request")));
                }
                let named = field.file_name().unwrap_or_default().to_owned();
                let place = (&originals, parts.as_path());
                match take(field, (&named, &folder), place, app.config.max_upload_bytes).await? {
                    Ok(accepted) => uploaded.accepted.push(accepted),
                    Err(refused) => uploaded.refused.push(refused),
                }
            }
            _ => return Err(Problem::unfit("a field is neither `file` nor `path`")),
        }
    }
    if count == 0 {
        return Err(Problem::unfit("there is no file").hint("send each as a field `file`"));
    }
    Ok(Json(uploaded))
}

async fn path_field(mut field: Field<'_>) -> Result<String, Problem> {
    let mut bytes = vec![];
    while let Some(piece) = field.chunk().await.map_err(|e| broken(&e))? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > LONGEST_PATH {
            return Err(Problem::unfit("`path` is too long"));
        }
    }
    let text = String::from_utf8(bytes).map_err(|_| Problem::unfit("`path` is not UTF-8"))?;
    Ok(text.trim_matches('/').to_owned())
}

fn broken(error: &MultipartError) -> Problem {
    Problem::new(error.status(), error.body_text()).hint("send the request again")
}

/// Takes one file; the outer error ends the request.
async fn take(
    mut field: Field<'_>,
    (named, folder): (&str, &str),
    (originals, parts): (&Originals, &Path),
    most: u64,
) -> Result<Result<Accepted, Refused>, Problem> {
    let whole = if folder.is_empty() { named.to_owned() } else { format!("{folder}/{named}") };
    let failed = |e: std::io::Error| of_disk(&e);
    let name = match safe_name(&whole) {
        Ok(name) => name,
        Err(reason) => {
            drained(&mut field, most).await?;
            return Ok(Err(Refused::new(&whole, reason, "give the file a plain name")));
        }
    };
    let temporary = tempfile::NamedTempFile::new_in(parts).map_err(failed)?;
    let (file, path) = temporary.into_parts();
    let mut file = tokio::fs::File::from_std(file);
    let mut bytes = 0;
    while let Some(piece) = field.chunk().await.map_err(|e| broken(&e))? {
        bytes += piece.len() as u64;
        if bytes > most {
            drained(&mut field, most).await?;
            let reason = format!("it is larger than {most} bytes");
            let hint = "split it, or raise `serve.max_upload_bytes`";
            return Ok(Err(Refused::new(&name, reason, hint)));
        }
        file.write_all(&piece).await.map_err(failed)?;
    }
    file.sync_all().await.map_err(failed)?;
    drop(file);
    let originals = originals.clone();
    beside(move || {
        let content = std::fs::read(&path).map_err(|e| of_disk(&e))?;
        if let Err(refused) = recognise(&name, &content) {
            return Ok(Err(Refused::new(&name, refused.reason, &refused.hint)));
        }
        let target = originals.dir().join(&name);
        if target.is_dir() {
            return Ok(Err(Refused::new(&name, "a folder has this name", "rename the file")));
        }
        let folder = target.parent().unwrap_or(originals.dir());
        if std::fs::create_dir_all(folder).is_err() {
            return Ok(Err(Refused::new(&name, "a file has the name of its folder", "rename it")));
        }
        path.persist(&target).map_err(|e| of_disk(&e.error))?;
        Ok(Ok(Accepted { upload: name.clone(), name, bytes }))
    })
    .await
}

/// Reads to the end of a field, so that the next one can be read. One that never ends is an end
/// of the request.
async fn drained(field: &mut Field<'_>, most: u64) -> Result<(), Problem> {
    let mut bytes = 0;
    while let Some(piece) = field.chunk().await.map_err(|e| broken(&e))? {
        bytes += piece.len() as u64;
        if bytes > most {
            let said = format!("a file is much larger than {most} bytes");
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, said)
                .hint("`serve.max_upload_bytes` is the limit"));
        }
    }
    Ok(())
}

fn of_disk(error: &std::io::Error) -> Problem {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => {
            tracing::error!("an upload: {error}");
            Problem::new(StatusCode::INSUFFICIENT_STORAGE, "no space is left for the file")
        }
        _ => Problem::internal(error),
    }
}
