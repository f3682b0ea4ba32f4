//! Errors in one shape: `application/problem+json` (RFC 9457) with a hint and the request's id.
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use halma_core::{ConfigError, Error};
use halma_engine::{EngineError, KbError};
use serde::Serialize;
use utoipa::ToSchema;

/// What went wrong, told to whoever called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// A name for this kind of problem, as in `urn:halma:not-found`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// What happened, in a few words.
    pub(crate) title: String,
    pub(crate) status: u16,
    /// What it is about.
    pub(crate) detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// The value of the header `x-request-id`, by which the server's log tells more.
    pub(crate) request_id: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Error").to_owned();
        let kind = format!("urn:halma:{}", title.to_lowercase().replace([' ', '\''], "-"));
        let (status, detail, request_id) = (status.as_u16(), detail.into(), String::new());
        Self { kind, title, status, detail, hint: None, request_id }
    }

    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Self { hint: (!hint.is_empty()).then_some(hint), ..self }
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what}"))
    }

    /// The request is understood, and cannot be done as it is.
    pub(crate) fn unfit(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    /// A fault of the server. What it was is logged, not told: it may name paths.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!("{error:#}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "something went wrong inside the server")
            .hint("the server's log says more, beside this request's id")
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// The body is written by [`crate::security`], which knows the request's id.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ConfigError> for Problem {
    fn from(error: ConfigError) -> Self {
        // The file is one of the server's and nobody's business.
        let about = match error.key.as_str() {
            "" => error.reason,
            key => format!("`{key}`: {}", error.reason),
        };
        Self::unfit(about).hint(error.hint)
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Config(error) => error.into(),
            EngineError::Kb(error) => Self::of_base(&error),
            EngineError::Run(error) => error.into(),
            EngineError::Kg(_)
            | EngineError::Web(_)
            | EngineError::Cache(_)
            | EngineError::File { .. } => Self::internal(&error),
        }
    }
}

impl From<KbError> for Problem {
    fn from(error: KbError) -> Self {
        Self::of_base(&error)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let said = error.to_string();
        match error {
            Error::Spent(_) => Self::new(StatusCode::TOO_MANY_REQUESTS, said)
                .hint("allow more calls, tokens, money or time and ask again"),
            Error::BadReply { .. } | Error::Llm { .. } | Error::Source { .. } => {
                tracing::warn!("{said}");
                Self::new(StatusCode::BAD_GATEWAY, said)
                    .hint("it is the model or the source behind the server; try again later")
            }
            Error::MissingRequirement(_) => Self::unfit(said).hint("choose another strategy"),
            Error::Knowledge(source) => match source.downcast_ref::<KbError>() {
                Some(error) => Self::of_base(error),
                None => Self::internal(&source),
            },
            Error::Prompt(_) => Self::internal(&said),
        }
    }
}

impl Problem {
    fn of_base(error: &KbError) -> Self {
        match error {
            KbError::NoNode { .. } | KbError::NoMerge { .. } => {
                Self::new(StatusCode::NOT_FOUND, error.to_string())
            }
            KbError::NoDocument { said } => Self::not_found(&format!("document {said}")),
            KbError::BadGlob { .. }
            | KbError::Sql { .. }
            | KbError::SqlNotRead { .. }
            | KbError::SqlTooLong { .. }
            | KbError::SqlTooLarge
            | KbError::NotSearched { .. } => Self::unfit(error.to_string()),
            KbError::Embed { .. } | KbError::BadVectors { .. } => {
                Self::new(StatusCode::BAD_GATEWAY, error.to_string())
            }
            KbError::NoSpace { .. } | KbError::Full { .. } => {
                tracing::error!("{error}");
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "no space is left for the base")
            }
            _ => Self::internal(error),
        }
    }
}
