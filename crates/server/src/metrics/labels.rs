//! The labels of metrics. Each takes few values: what clients send, such as a question, a path or
//! the name of a document, is never one.
use prometheus_client::encoding::EncodeLabelSet;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RequestLabels {
    pub(crate) method: &'static str,
    /// The pattern of the path.
    pub(crate) path: String,
    pub(crate) status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct PathLabel {
    pub(crate) path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct QuestionLabels {
    pub(crate) strategy: String,
    /// `answered`, `abstained`, `cancelled`, or the kind of the error.
    pub(crate) outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct StrategyLabel {
    pub(crate) strategy: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct CallLabels {
    pub(crate) model: String,
    /// `answered`, `cached`, `malformed` or `failed`.
    pub(crate) outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct ModelLabel {
    pub(crate) model: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct TokenLabels {
    pub(crate) model: String,
    /// `prompt` or `completion`.
    pub(crate) kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct SourceLabel {
    /// `text` for the base, or another source.
    pub(crate) source: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct OutcomeLabel {
    pub(crate) outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct WorkspaceLabel {
    pub(crate) workspace: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct LayerLabels {
    pub(crate) workspace: String,
    pub(crate) layer: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct VersionLabel {
    pub(crate) version: &'static str,
}
