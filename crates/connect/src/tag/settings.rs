//! `[tagger]`: what can be configured of a tagger, and the tagger it makes.
use std::path::PathBuf;
use std::sync::Arc;

use halma_core::{ConfigError, Llm, Prompts, Tagger};
use serde::{Deserialize, Serialize};

use super::{AskedTagger, Rules, TokenClassifier};
use crate::address::wrong;

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

/// The tagger as configured. `llm` is the model of the role `tagger`, best one that keeps no
/// replies (see [`AskedTagger::new`]); only `model` needs one. The error's `file` is left empty for whoever read the
/// configuration.
pub fn tagger(
    settings: &TaggerSettings,
    llm: Option<Arc<dyn Llm>>,
    prompts: &Arc<Prompts>,
) -> Result<Arc<dyn Tagger>, ConfigError> {
    match settings.kind {
        TaggerKind::Rules => Ok(Arc::new(Rules)),
        TaggerKind::Model => {
            let hint = "name one as `tagger` under [roles], or write `kind = \"rules\"`";
            let llm = llm.ok_or_else(|| wrong("kind", "no model plays the role `tagger`", hint))?;
            Ok(Arc::new(AskedTagger::new(llm, Arc::clone(prompts))))
        }
        TaggerKind::Onnx => {
            let hint = "point it at a folder with model.onnx, tokenizer.json and config.json";
            let path = settings.path.as_deref();
            let path = path.ok_or_else(|| wrong("path", "it is not set", hint))?;
            let model = TokenClassifier::open(path, None);
            Ok(Arc::new(model.map_err(|e| wrong("path", &e.to_string(), hint))?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PROMPTS;
    use crate::llm::extractive::Extractive;

    #[test]
    fn a_tagger_is_what_its_table_says() {
        let llm: Arc<dyn Llm> = Arc::new(Extractive::new());
        let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
        let make = |kind, path: Option<&str>| {
            let settings = TaggerSettings { kind, path: path.map(PathBuf::from) };
            tagger(&settings, Some(Arc::clone(&llm)), &prompts)
        };
        let name = |kind| make(kind, None).unwrap().name().to_owned();
        assert_eq!(name(TaggerKind::default()), "rules");
        assert_eq!(name(TaggerKind::Model), "model:extractive");
        let asked = TaggerSettings { kind: TaggerKind::Model, path: None };
        let error = tagger(&asked, None, &prompts).err().unwrap();
        assert!(error.key == "kind" && error.hint.contains("[roles]"), "{error}");
        for (path, words) in [(None, "not set"), (Some("/nowhere"), "model.onnx")] {
            let error = make(TaggerKind::Onnx, path).err().unwrap();
            assert!(error.key == "path" && error.reason.contains(words), "{error}");
        }
        assert!(serde_json::from_str::<TaggerSettings>(r#"{"knd": "rules"}"#).is_err());
    }
}
