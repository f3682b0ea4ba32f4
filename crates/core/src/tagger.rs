//! What a tagger of named entities is to Halma.
mod place;

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use self::place::{Marked, mentions};
use crate::{LlmError, Span};

/// An entity as a text names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Mention {
    /// As it stands in the text.
    pub text: String,
    /// `person`, `place`, `organisation`, `work`, `event`, `date`, `number`, or what the tagger
    /// calls it; `name` where it tells no kinds apart.
    pub kind: String,
    /// Where it stands, in characters of the text.
    pub span: Span,
    /// How sure the tagger is, between 0 and 1.
    pub score: f32,
}

/// How the entities of a text are found.
#[derive(Clone)]
pub enum Tagging {
    /// By asking the model of the role `tagger`, within the budget of the run and traced like
    /// every question to a model.
    Model,
    /// By what is no chat model.
    Tagger(Arc<dyn Tagger>),
}

/// Finds the entities that a text names.
#[async_trait]
pub trait Tagger: Send + Sync {
    /// Its name, for the trace and the fingerprint.
    fn name(&self) -> &str;

    /// The entities of a text in their order, none inside another.
    async fn entities(&self, text: &str) -> Result<Vec<Mention>, LlmError>;
}
