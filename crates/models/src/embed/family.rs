//! How the common families of embedders are used: what is put before a query and a passage, and
//! which tokens the vector is made of. An embedder used otherwise gives no error, only worse
//! vectors.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{EmbedRole, Embedder, LlmError, Vector};
use serde::{Deserialize, Serialize};

/// Which tokens of a text its vector is made of, where a graph gives one for each token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean of all tokens.
    #[default]
    Mean,
    /// The first token, which stands for the whole text.
    First,
    /// The last token.
    Last,
}

/// How an embedder is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmbedderUse {
    /// Put before each query and each passage.
    pub query_prefix: String,
    pub passage_prefix: String,
    pub pooling: Pooling,
}

/// The task that embedders with instructions are given.
const TASK: &str = "Given a question, retrieve passages that answer it";

/// The families: what all names hold, what is put before a query and a passage, pooling. The
/// first that fits counts. Prefixes are those with which the models were trained, by their cards.
const FAMILIES: &[(&[&str], &str, &str, Pooling)] = &[
    (&["e5", "mistral"], "Instruct: {task}\nQuery: ", "", Pooling::Last),
    (&["e5", "instruct"], "Instruct: {task}\nQuery: ", "", Pooling::Mean),
    (&["e5-"], "query: ", "passage: ", Pooling::Mean),
    (&["bge-m3"], "", "", Pooling::First),
    (&["bge-", "-zh"], "为这个句子生成表示以用于检索相关文章：", "", Pooling::First),
    (&["bge-"], "Represent this sentence for searching relevant passages: ", "", Pooling::First),
    (&["qwen3", "embed"], "Instruct: {task}\nQuery:", "", Pooling::Last),
    (&["nomic-embed-text"], "search_query: ", "search_document: ", Pooling::Mean),
    (
        &["mxbai-embed"],
        "Represent this sentence for searching relevant passages: ",
        "",
        Pooling::First,
    ),
    (&["arctic-embed", "v2"], "query: ", "", Pooling::First),
    (&["arctic-embed2"], "query: ", "", Pooling::First),
    (
        &["arctic-embed"],
        "Represent this sentence for searching relevant passages: ",
        "",
        Pooling::First,
    ),
    (&["embeddinggemma"], "task: search result | query: ", "title: none | text: ", Pooling::Mean),
    (
        &["jina-embeddings-v3"],
        "Represent the query for retrieving evidence documents: ",
        "Represent the document for retrieval: ",
        Pooling::Mean,
    ),
    (&["gte-qwen"], "Instruct: {task}\nQuery: ", "", Pooling::Last),
    (&["gte-", "v1.5"], "", "", Pooling::First),
    (&["gte-multilingual"], "", "", Pooling::First),
    (&["gte-modernbert"], "", "", Pooling::First),
];

impl EmbedderUse {
    /// By the name of the model; names of no family, as `text-embedding-3-small` or
    /// `all-MiniLM-L6-v2`, stand for no prefixes and the mean.
    pub fn for_model(name: &str) -> Self {
        let name = name.to_lowercase();
        let fits = |(parts, ..): &&(&[&str], &str, &str, Pooling)| {
            parts.iter().all(|part| name.contains(part))
        };
        FAMILIES.iter().find(fits).map_or_else(Self::default, |(_, query, passage, pooling)| Self {
            query_prefix: query.replace("{task}", TASK),
            passage_prefix: (*passage).to_owned(),
            pooling: *pooling,
        })
    }

    /// The embedder, used in this way. With prefixes it has a name of its own, as its vectors are
    /// of another space than those without.
    pub fn apply(self, inner: Arc<dyn Embedder>) -> Arc<dyn Embedder> {
        if self.query_prefix.is_empty() && self.passage_prefix.is_empty() {
            return inner;
        }
        let name =
            format!("{} [{:?}, {:?}]", inner.model(), self.query_prefix, self.passage_prefix);
        Arc::new(Prefixed { inner, name, how: self })
    }
}

struct Prefixed {
    inner: Arc<dyn Embedder>,
    name: String,
    how: EmbedderUse,
}

#[async_trait]
impl Embedder for Prefixed {
    fn model(&self) -> &str {
        &self.name
    }

    async fn embed(&self, texts: &[&str], role: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        let prefix = match role {
            EmbedRole::Query => &self.how.query_prefix,
            EmbedRole::Passage => &self.how.passage_prefix,
        };
        if prefix.is_empty() {
            return self.inner.embed(texts, role).await;
        }
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.inner.embed(&texts, role).await
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    #[derive(Default)]
    struct Recorder(Mutex<Vec<String>>);

    #[async_trait]
    impl Embedder for Recorder {
        fn model(&self) -> &'static str {
            "intfloat/e5-small"
        }

        async fn embed(&self, texts: &[&str], _: EmbedRole) -> Result<Vec<Vector>, LlmError> {
            self.0.lock().extend(texts.iter().map(|&text| text.to_owned()));
            Ok(texts.iter().map(|_| vec![1.0]).collect())
        }
    }

    #[tokio::test]
    async fn queries_and_passages_get_their_prefixes_and_the_embedder_a_name_of_its_own() {
        let recorder = Arc::new(Recorder::default());
        let inner: Arc<dyn Embedder> = Arc::clone(&recorder) as Arc<dyn Embedder>;
        let embedder = EmbedderUse::for_model(inner.model()).apply(inner);
        embedder.embed(&["Who?"], EmbedRole::Query).await.unwrap();
        embedder.embed(&["Ada."], EmbedRole::Passage).await.unwrap();
        assert_eq!(*recorder.0.lock(), ["query: Who?", "passage: Ada."]);
        assert_eq!(embedder.model(), r#"intfloat/e5-small ["query: ", "passage: "]"#);
    }

    #[test]
    fn families_are_known_by_name() {
        let pooling = |name: &str| EmbedderUse::for_model(name).pooling;
        let query = |name: &str| EmbedderUse::for_model(name).query_prefix;
        assert_eq!(query("intfloat/multilingual-e5-large"), "query: ");
        assert!(query("intfloat/e5-mistral-7b-instruct").starts_with("Instruct: "));
        assert_eq!(pooling("intfloat/e5-mistral-7b-instruct"), Pooling::Last);
        assert_eq!(pooling("BAAI/bge-small-en-v1.5"), Pooling::First);
        assert_eq!(query("bge-m3"), "");
        assert_eq!(pooling("Qwen/Qwen3-Embedding-0.6B"), Pooling::Last);
        assert_eq!(query("snowflake-arctic-embed-l-v2.0"), "query: ");
        assert_eq!(query("snowflake-arctic-embed2"), "query: ");
        assert!(query("snowflake-arctic-embed-m-v1.5").starts_with("Represent"));
        assert_eq!(query("google/embeddinggemma-300m"), "task: search result | query: ");
        assert_eq!(pooling("Alibaba-NLP/gte-Qwen2-7B-instruct"), Pooling::Last);
        assert_eq!(pooling("Alibaba-NLP/gte-large-en-v1.5"), Pooling::First);
        assert_eq!(pooling("thenlper/gte-large"), Pooling::Mean);
        for plain in ["text-embedding-3-large", "text-embedding-ada-002", "all-MiniLM-L6-v2"] {
            assert_eq!(EmbedderUse::for_model(plain), EmbedderUse::default(), "{plain}");
        }
    }
}
