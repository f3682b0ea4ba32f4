//! How an encoder is used, by the files of Sentence Transformers in its folder: the pooling, and
//! what is put before queries and passages. What they leave open is that of the model's family.
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::embed::{EmbedderUse, Pooling};

const POOLING: &str = "1_Pooling/config.json";
const PROMPTS: &str = "config_sentence_transformers.json";

/// Names of the prompts that models have, the better one first.
const OF_QUERIES: [&str; 3] = ["query", "retrieval.query", "search_query"];
const OF_PASSAGES: [&str; 4] = ["document", "passage", "retrieval.passage", "search_document"];

#[derive(Deserialize)]
struct PoolingFile {
    #[serde(default, rename = "pooling_mode_mean_tokens")]
    mean: bool,
    #[serde(default, rename = "pooling_mode_cls_token")]
    first: bool,
    #[serde(default, rename = "pooling_mode_lasttoken")]
    last: bool,
}

#[derive(Deserialize)]
struct PromptsFile {
    #[serde(default)]
    prompts: BTreeMap<String, String>,
}

/// How the encoder in a folder is used; `name` stands for its family.
pub(super) fn declared(folder: &Path, name: &str) -> EmbedderUse {
    let mut how = EmbedderUse::for_model(name);
    if let Some(file) = read::<PoolingFile>(&folder.join(POOLING)) {
        how.pooling = match (file.first, file.last, file.mean) {
            (true, ..) => Pooling::First,
            (_, true, _) => Pooling::Last,
            (.., true) => Pooling::Mean,
            _ => how.pooling,
        };
    }
    if let Some(PromptsFile { prompts }) = read(&folder.join(PROMPTS)) {
        let named = |names: &[&str]| names.iter().find_map(|name| prompts.get(*name)).cloned();
        if let Some(query) = named(&OF_QUERIES) {
            how.query_prefix = query;
            how.passage_prefix = named(&OF_PASSAGES).unwrap_or_default();
        }
    }
    how
}

/// A file that may be absent; one that cannot be read is passed over with a warning.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = fs::read_to_string(path).ok()?;
    let read = serde_json::from_str(&text);
    read.inspect_err(|error| {
        let path = path.display();
        tracing::warn!("`{path}` is not read ({error}): the model's name says how it is used");
    })
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_the_folder_count_more_than_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let of = || declared(folder.path(), "bge-small-en-v1.5");
        let family = EmbedderUse::for_model("bge-small-en-v1.5");
        assert_eq!(of(), family);
        fs::create_dir(folder.path().join("1_Pooling")).unwrap();
        write(POOLING, r#"{"word_embedding_dimension": 8, "pooling_mode_mean_tokens": true}"#);
        assert_eq!(of(), EmbedderUse { pooling: Pooling::Mean, ..family.clone() });
        write(POOLING, "not JSON");
        write(PROMPTS, r#"{"prompts": {"query": "find: ", "passage": "text: "}}"#);
        let prefixes = ("find: ".to_owned(), "text: ".to_owned());
        assert_eq!((of().query_prefix, of().passage_prefix), prefixes);
        write(PROMPTS, r#"{"prompts": {}, "default_prompt_name": null}"#);
        assert_eq!(of(), family);
    }
}
