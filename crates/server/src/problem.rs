//! Errors in one shape: `application/problem+json` (RFC 9457) with a hint and the request's id.
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use halma_core::{ConfigError, Error};
use halma_engine::{EngineError, KbError, SqlError, is_out_of_files};
use halma_store::pg::PgError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::keys::Scope;
use crate::limits::blocking::busy;

/// An error as reported to the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// The kind of problem, such as `urn:halma:not-found`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// A short summary.
    pub(crate) title: String,
    pub(crate) status: u16,
    /// What exactly is wrong.
    pub(crate) detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// The scope that the key lacks, with the kind `urn:halma:missing-scope`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missing_scope: Option<Scope>,
    /// The value of the header `x-request-id`, which also identifies the request in the log.
    pub(crate) request_id: String,
    /// For the header `retry-after`, in seconds; without, 5 where the server is busy.
    #[serde(skip)]
    pub(crate) retry_after: Option<u64>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Error").to_owned();
        let kind = format!("urn:halma:{}", title.to_lowercase().replace([' ', '\''], "-"));
        let (status, detail, request_id) = (status.as_u16(), detail.into(), String::new());
        let (hint, missing_scope, retry_after) = (None, None, None);
        Self { kind, title, status, detail, hint, missing_scope, request_id, retry_after }
    }

    /// The key of the request may not do this.
    pub(crate) fn missing_scope(scope: Scope) -> Self {
        let detail = format!("this key lacks the scope `{}`", scope.name());
        let problem = Self::new(StatusCode::FORBIDDEN, detail)
            .hint("use a key that has it; `halma keys create --scope …` creates one");
        let kind = "urn:halma:missing-scope".to_owned();
        Self { kind, missing_scope: Some(scope), ..problem }
    }

    /// The key of the request is for some of the documents, and `what` is about all of them.
    pub(crate) fn restricted_key(what: &str) -> Self {
        let detail =
            format!("this key is for some of the documents, and {what} is about all of them");
        let problem = Self::new(StatusCode::FORBIDDEN, detail)
            .hint("use a key that was created without `--where`");
        Self { kind: "urn:halma:restricted-key".to_owned(), ..problem }
    }

    /// When the same request can succeed.
    #[must_use]
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Self { hint: (!hint.is_empty()).then_some(hint), ..self }
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what}"))
    }

    /// The request is well-formed but cannot be processed.
    pub(crate) fn unfit(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    /// An internal error. Its message is logged and not sent, because it may contain paths.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!("{error:#}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "an internal error occurred")
            .hint("see the server's log for this request id")
    }

    /// A file or folder of the server could not be written.
    pub(crate) fn io(error: &std::io::Error) -> Self {
        Self::of_disk(error, error)
    }

    /// [`Problem::io`], with the error that names the file for the log.
    pub(crate) fn of_disk(error: &std::io::Error, logged: &dyn std::fmt::Display) -> Self {
        use std::io::ErrorKind::{FileTooLarge, NotFound, QuotaExceeded, StorageFull};
        match error.kind() {
            _ if is_out_of_files(error) => {
                tracing::error!("{logged}");
                busy("the server has as many files open as it may")
            }
            NotFound => {
                tracing::error!("{logged}");
                let detail = "the folder of the base, or a file in it, is gone: it was moved or \
                              deleted while the server was running";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
                    .hint("bring it back; the server's log names it for this request id")
            }
            StorageFull | QuotaExceeded | FileTooLarge => {
                tracing::error!("{logged}");
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "there is no space left on the disk")
                    .hint("free some space on the server and try again")
            }
            _ => Self::internal(logged),
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// The body is written by [`crate::security`], where the request's id is available.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ConfigError> for Problem {
    fn from(error: ConfigError) -> Self {
        // The file is one of the server's; its path is not sent to clients.
        let detail = match error.key.as_str() {
            "" => error.reason,
            key => format!("`{key}`: {}", error.reason),
        };
        Self::unfit(detail).hint(error.hint)
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Config(error) => error.into(),
            EngineError::Kb(error) => Self::from_kb(&error),
            EngineError::Run(error) => error.into(),
            EngineError::NoRun { .. } => Self::new(StatusCode::NOT_FOUND, error.to_string()),
            EngineError::RecordOfUpload { .. } => {
                Self::new(StatusCode::CONFLICT, error.to_string())
            }
            EngineError::Kg(_)
            | EngineError::Stored(_)
            | EngineError::Cache(_)
            | EngineError::CacheInUse { .. }
            | EngineError::Runtime(_)
            | EngineError::CallsKey(_)
            | EngineError::Keys(_)
            | EngineError::NoReplicaFolder { .. } => Self::internal(&error),
            EngineError::File { ref source, .. } => Self::of_disk(source, &error),
            EngineError::Shared(error) => error.into(),
        }
    }
}

impl From<PgError> for Problem {
    fn from(error: PgError) -> Self {
        tracing::error!("{error}");
        busy("the database of the base is not reached")
    }
}

impl From<KbError> for Problem {
    fn from(error: KbError) -> Self {
        Self::from_kb(&error)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let detail = error.to_string();
        match error {
            Error::Spent(_) => Self::new(StatusCode::TOO_MANY_REQUESTS, detail)
                .hint("allow more calls, tokens, money or time and ask again"),
            Error::BadReply { .. } | Error::Llm { .. } | Error::Source { .. } => {
                tracing::warn!("{detail}");
                Self::new(StatusCode::BAD_GATEWAY, detail)
                    .hint("the model or source that the server calls failed; try again later")
            }
            Error::MissingRequirement(_) => Self::unfit(detail).hint("choose another strategy"),
            Error::Knowledge(source) => match source.downcast_ref::<KbError>() {
                Some(KbError::NoNode { .. }) => {
                    busy("a passage was replaced or deleted while the question was answered")
                }
                Some(error) => Self::from_kb(error),
                None => Self::internal(&source),
            },
            Error::Prompt(_) => Self::internal(&detail),
        }
    }
}

impl Problem {
    fn from_kb(error: &KbError) -> Self {
        match error {
            KbError::NoNode { .. } | KbError::NoMerge { .. } | KbError::NoFeedback { .. } => {
                Self::new(StatusCode::NOT_FOUND, error.to_string())
            }
            KbError::NoEntity { name } => Self::not_found(&format!("entity `{name}`")),
            KbError::NoDocument { unknown } => Self::not_found(&format!("document {unknown}")),
            KbError::Sql(SqlError::Load { .. } | SqlError::Start { .. }) => Self::internal(error),
            KbError::Upstream(error) => {
                tracing::error!("{error}");
                busy("the database of the base is not reached")
            }
            KbError::TooManyReaders { .. } => busy("too many requests read the base at once"),
            KbError::Sql(SqlError::Busy) => busy(&error.to_string()),
            KbError::Contradicted { .. } => Self::new(StatusCode::CONFLICT, error.to_string())
                .hint("reject one of them, or send `despite`"),
            KbError::Restricted => Self::new(StatusCode::FORBIDDEN, error.to_string()),
            KbError::BadExpression(_)
            | KbError::InvalidPattern { .. }
            | KbError::Metadata(_)
            | KbError::EmptyPattern
            | KbError::NoCandidate { .. }
            | KbError::Sql(_)
            | KbError::NotSearched { .. } => Self::unfit(error.to_string()),
            // The reason holds the address of the embedder and what its server replied.
            KbError::Embed { model, .. } => {
                tracing::warn!("{error}");
                Self::new(StatusCode::BAD_GATEWAY, format!("the embedder `{model}` failed"))
                    .hint("try again later; the server's log has the reason for this request id")
            }
            KbError::BadVectors { .. } | KbError::OtherDimensions { .. } => {
                Self::new(StatusCode::BAD_GATEWAY, error.to_string())
            }
            KbError::NoSpace { .. } | KbError::Full { .. } => {
                tracing::error!("{error}");
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "there is no space left for the base")
            }
            KbError::Io { source, .. } => Self::of_disk(source, error),
            _ => Self::internal(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn a_full_disk_is_told_apart_from_other_failures_and_no_path_is_sent() {
        for (kind, status) in [
            (ErrorKind::StorageFull, 507),
            (ErrorKind::QuotaExceeded, 507),
            (ErrorKind::PermissionDenied, 500),
            (ErrorKind::NotFound, 503),
        ] {
            let (path, source) = ("/srv/halma".into(), Error::from(kind));
            let problem = Problem::from(EngineError::File { path, source });
            assert_eq!(problem.status, status);
            assert!(!problem.detail.contains("/srv"), "{}", problem.detail);
        }
    }
}
