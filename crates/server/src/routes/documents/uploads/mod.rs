//! Uploads: streamed to a temporary file, checked, and only then moved to the originals.
mod place;
mod reading;
mod target;
mod writer;

use axum::Json;
use axum::extract::multipart::MultipartRejection;
use axum::extract::{Multipart, State};
use axum::http::StatusCode;
use halma_core::Metadata;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use self::place::TAKEN_HINT;
use self::reading::{ReadTimeout, read_text};
use self::target::UploadTarget;
use crate::access::MayWriteDocuments;
use crate::app::Shared;
use crate::builds::RefusedFile;
use crate::json::Params;
use crate::json::from_json;
use crate::limits::upload_quota::QuotaLimits;
use crate::problem::Problem;

/// Files of one request at most.
const MAX_FILES: usize = 10_000;

/// Fields of one request at most: a `path` and a `metadata` for each file.
const MAX_FIELDS: usize = 3 * MAX_FILES;

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
    let target = UploadTarget::new(&caller, app.config.max_upload_bytes, query.replace);
    let (quota, timeout) = (target.quota(&app.config).await?, ReadTimeout::default());
    let mut state = UploadState { place: UploadPlace::default(), quota, timeout };
    match tokio::fs::create_dir(&caller.workspace.uploads).await {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => return Err(Problem::io(&e)),
        _ => {}
    }
    let (mut result, mut count, mut fields) = (UploadResult::default(), 0, 0);
    // A field for the files after it, of which none has come yet.
    let mut waiting = None;
    while let Some(field) = state.timeout.field(&mut form).await? {
        fields += 1;
        if fields > MAX_FIELDS {
            return Err(Problem::unfit(format!("more than {MAX_FIELDS} fields in one request")));
        }
        match field.name() {
            Some("path") => {
                waiting = Some("path");
                let path = read_text(field, ("path", MAX_PATH), &mut state.timeout).await?;
                path.trim_matches('/').clone_into(&mut state.place.folder);
            }
            Some("metadata") => {
                waiting = Some("metadata");
                let text = read_text(field, ("metadata", MAX_METADATA), &mut state.timeout).await?;
                state.place.metadata = Some(parse_metadata(&text)?);
            }
            Some("file") => {
                (count, waiting) = (count + 1, None);
                if count > MAX_FILES {
                    let detail = format!("more than {MAX_FILES} files in one request");
                    return Err(Problem::unfit(detail));
                }
                match target.store(field, &mut state).await? {
                    Ok(accepted) => result.accepted.push(accepted),
                    Err(refused) => result.refused.push(refused),
                }
            }
            _ => return Err(Problem::unfit("a field is not `file`, `path` or `metadata`")),
        }
    }
    if let Some(field) = waiting.filter(|_| count > 0) {
        let detail = format!("`{field}` comes after the last file, and applies to none of them");
        let hint =
            "the files are stored without it: send them again after it, with `?replace=true`";
        return Err(Problem::unfit(detail).hint(hint));
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

/// How far a form is read.
struct UploadState {
    place: UploadPlace,
    quota: QuotaLimits,
    timeout: ReadTimeout,
}

/// Where the files that follow go, and the fields that they get.
#[derive(Default)]
struct UploadPlace {
    folder: String,
    metadata: Option<Metadata>,
}

fn parse_metadata(text: &str) -> Result<Metadata, Problem> {
    let hint = "send an object such as {\"team\": \"legal\"}";
    let value = serde_json::from_str(text).map_err(|_| "it is not valid JSON".to_owned());
    let metadata: Metadata = value
        .and_then(from_json)
        .map_err(|reason| Problem::unfit(format!("`metadata`: {reason}")).hint(hint))?;
    metadata.check().map_err(|e| Problem::unfit(e.to_string()).hint(hint))?;
    Ok(metadata)
}
