//! A question that the web UI offers.
use serde::Serialize;
use utoipa::ToSchema;

/// A question that is offered.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Suggestion {
    pub question: String,
    /// The strategy that answers it; the default one if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
}

impl From<String> for Suggestion {
    fn from(question: String) -> Self {
        Self { question, strategy: None }
    }
}
