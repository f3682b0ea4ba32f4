//! The arguments of the tools, as `tools.json` describes them.
use halma_core::{Filter, Layer, Mode};
use halma_engine::Verdict;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    pub(super) query: String,
    pub(super) layer: Option<Layer>,
    pub(super) mode: Option<Mode>,
    pub(super) filter: Option<Filter>,
    pub(super) limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrepArguments {
    pub(super) expression: String,
    pub(super) filter: Option<Filter>,
    pub(super) limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArguments {
    pub(super) document: String,
    pub(super) start: Option<usize>,
    pub(super) end: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimelineArguments {
    pub(super) entity: String,
    pub(super) filter: Option<Filter>,
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
