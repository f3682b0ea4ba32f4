//! The files of a model, where exporters put them, and what its `config.json` says.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::OnnxError;

/// The most tokens that a text is read by, whatever the model could take: what nearly all of them
/// were trained with.
const MAX_TOKENS: usize = 512;

/// The files of a model's folder.
pub(crate) struct Files {
    pub(crate) graph: PathBuf,
    pub(crate) tokenizer: PathBuf,
    /// The folder's name, which is the model's.
    pub(crate) name: String,
    config: PathBuf,
    settings: ModelConfig,
}

/// The part of `config.json` that is used.
#[derive(Default, Deserialize)]
struct ModelConfig {
    #[serde(default)]
    id2label: BTreeMap<String, String>,
    #[serde(default)]
    max_position_embeddings: Option<usize>,
    #[serde(default)]
    pad_token_id: Option<u32>,
    #[serde(default)]
    model_type: String,
}

impl Files {
    /// The files at a folder (`model.onnx` or `onnx/model.onnx` in it), or at an `.onnx` file.
    pub(crate) fn at(path: &Path) -> Result<Self, OnnxError> {
        let absent = |file| OnnxError::Absent { path: path.to_owned(), file };
        let graph = if path.is_file() {
            path.to_owned()
        } else {
            let places = [path.join("model.onnx"), path.join("onnx/model.onnx")];
            places.into_iter().find(|place| place.is_file()).ok_or(absent("model.onnx"))?
        };
        let graph_folder = graph.parent().unwrap_or(Path::new("."));
        // Exporters put the graph into a folder of its own, below that of the tokenizer.
        let above = graph_folder.parent().filter(|_| graph_folder.ends_with("onnx"));
        let folders: Vec<&Path> = std::iter::once(graph_folder).chain(above).collect();
        let find = |name: &str| {
            folders.iter().map(|folder| folder.join(name)).find(|place| place.is_file())
        };
        let tokenizer = find("tokenizer.json").ok_or(absent("tokenizer.json"))?;
        let folder = tokenizer.parent().unwrap_or(graph_folder);
        let name = folder.canonicalize().ok();
        let name = name.as_deref().and_then(Path::file_name);
        let name = name.map_or_else(|| "model".into(), |name| name.to_string_lossy().into_owned());
        let config = find("config.json").unwrap_or_else(|| folder.join("config.json"));
        let settings = if config.is_file() { read(&config)? } else { ModelConfig::default() };
        Ok(Self { graph, tokenizer, name, config, settings })
    }

    /// The names of the model's classes in order, empty where `config.json` has none.
    pub(crate) fn labels(&self) -> Result<Vec<String>, OnnxError> {
        let mut labels = vec![None; self.settings.id2label.len()];
        for (id, label) in &self.settings.id2label {
            let place = id.parse::<usize>().ok().and_then(|id| labels.get_mut(id));
            let place =
                place.ok_or_else(|| self.wrong(format!("`id2label` has the key `{id}`")))?;
            *place = Some(label.clone());
        }
        let labels: Option<Vec<String>> = labels.into_iter().collect();
        labels.ok_or_else(|| self.wrong("`id2label` names a class twice".into()))
    }

    /// How many tokens a text may have, the special ones included.
    pub(crate) fn max_tokens(&self) -> usize {
        let positions = self.settings.max_position_embeddings.unwrap_or(MAX_TOKENS);
        // Models of this family count positions from after the padding token.
        let first = match self.settings.pad_token_id {
            Some(pad) if self.settings.model_type.contains("roberta") => pad as usize + 1,
            _ => 0,
        };
        positions.saturating_sub(first).min(MAX_TOKENS)
    }

    pub(crate) fn pad(&self) -> u32 {
        self.settings.pad_token_id.unwrap_or(0)
    }

    /// An error about `config.json`.
    pub(crate) fn wrong(&self, reason: String) -> OnnxError {
        OnnxError::Config { path: self.config.clone(), reason }
    }
}

fn read(path: &Path) -> Result<ModelConfig, OnnxError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| OnnxError::Io { path: path.to_owned(), source })?;
    serde_json::from_str(&text)
        .map_err(|e| OnnxError::Config { path: path.to_owned(), reason: e.to_string() })
}
