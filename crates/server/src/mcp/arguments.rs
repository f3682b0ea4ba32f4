//! The arguments of the tools, as `tools.json` describes them.
use halma_core::{AnswerStyle, Filter, Layer, Mode};
use halma_engine::Verdict;
use serde::Deserialize;

use crate::asking::Turn;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskArguments {
    pub(super) question: String,
    #[serde(default)]
    pub(super) strategy: Option<String>,
    #[serde(default)]
    pub(super) history: Vec<Turn>,
    #[serde(default)]
    pub(super) answer_style: Option<AnswerStyle>,
    #[serde(default)]
    pub(super) filter: Option<Filter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    pub(super) query: String,
    #[serde(default)]
    pub(super) layer: Option<Layer>,
    #[serde(default)]
    pub(super) mode: Option<Mode>,
    #[serde(default)]
    pub(super) filter: Option<Filter>,
    #[serde(default)]
    pub(super) limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArguments {
    pub(super) document: String,
    #[serde(default)]
    pub(super) start: Option<usize>,
    #[serde(default)]
    pub(super) end: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {
    #[serde(default)]
    pub(super) query: Option<String>,
    #[serde(default)]
    pub(super) limit: Option<usize>,
    #[serde(default)]
    pub(super) after: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimelineArguments {
    pub(super) entity: String,
    #[serde(default)]
    pub(super) filter: Option<Filter>,
    #[serde(default)]
    pub(super) limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainArguments {
    pub(super) id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FeedbackArguments {
    pub(super) id: String,
    pub(super) verdict: Verdict,
    #[serde(default)]
    pub(super) correction: String,
    #[serde(default)]
    pub(super) note: String,
}
