//! Taggers of named entities: rules, and a token classifier from a file. A chat model in their
//! place is asked by core.
mod classes;
mod onnx;
mod rules;

use std::path::PathBuf;
use std::sync::Arc;

use halma_core::{ConfigError, Tagging};
use halma_net::address::wrong;
use serde::{Deserialize, Serialize};

pub use onnx::TokenClassifier;
pub use rules::Rules;

/// Which tagger.
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

/// `[tagger]`: what can be configured of a tagger.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaggerSettings {
    pub kind: TaggerKind,
    /// `onnx`: a folder with `model.onnx`, `tokenizer.json` and `config.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}

/// How entities are found, as configured. The error's `file` is left empty for the caller that
/// read the configuration.
pub fn tagger(settings: &TaggerSettings) -> Result<Tagging, ConfigError> {
    match settings.kind {
        TaggerKind::Rules => Ok(Tagging::Tagger(Arc::new(Rules::default()))),
        TaggerKind::Model => Ok(Tagging::Model),
        TaggerKind::Onnx => {
            let hint = "point it at a folder with model.onnx, tokenizer.json and config.json";
            let path = settings.path.as_deref();
            let path = path.ok_or_else(|| wrong("path", "it is not set", hint))?;
            let model = TokenClassifier::open(path, None);
            Ok(Tagging::Tagger(Arc::new(model.map_err(|e| wrong("path", &e.to_string(), hint))?)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tagger_is_what_its_table_says() {
        let make = |kind, path: Option<&str>| {
            tagger(&TaggerSettings { kind, path: path.map(PathBuf::from) })
        };
        let by = make(TaggerKind::default(), None).unwrap();
        assert!(matches!(by, Tagging::Tagger(tagger) if tagger.name() == "rules"));
        assert!(matches!(make(TaggerKind::Model, None), Ok(Tagging::Model)));
        for (path, words) in [(None, "not set"), (Some("/nowhere"), "model.onnx")] {
            let error = make(TaggerKind::Onnx, path).err().unwrap();
            assert!(error.key == "path" && error.reason.contains(words), "{error}");
        }
        assert!(serde_json::from_str::<TaggerSettings>(r#"{"knd": "rules"}"#).is_err());
    }
}
