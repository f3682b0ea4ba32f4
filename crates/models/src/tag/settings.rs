//! `[tagger]`: what can be configured of a tagger.
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaggerKind {
    /// What looks like a name, a title, a date or a number; no model.
    #[default]
    Rules,
    /// The model of the role `tagger` is asked.
    Model,
    /// A token classifier from a file.
    Onnx,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaggerSettings {
    pub kind: TaggerKind,
    /// `onnx`: a folder with `model.onnx`, `tokenizer.json` and `config.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}
