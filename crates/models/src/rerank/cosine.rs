//! The embedder in a reranker's place: no second model reads the pair, so that it finds nothing
//! that the search has not found.
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::try_join;
use halma_core::{EmbedRole, Embedder, LlmError, Reranker};

/// Scores a text by the cosine of its vector and the query's.
///
/// A score is `max(0, cosine)`: below zero a cosine says no more than that the two have nothing to
/// do with each other, and above it the scale of thresholds is kept, which a map of [-1, 1] onto
/// [0, 1] would not do.
pub struct Cosine {
    name: String,
    embedder: Arc<dyn Embedder>,
}

impl Cosine {
    /// Its name is `cosine:` followed by the embedder's.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { name: format!("cosine:{}", embedder.model()), embedder }
    }
}

#[async_trait]
impl Reranker for Cosine {
    fn name(&self) -> &str {
        &self.name
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, LlmError> {
        if texts.is_empty() {
            return Ok(vec![]);
        }
        let query = [query];
        let query = self.embedder.embed(&query, EmbedRole::Query);
        let (query, vectors) =
            try_join(query, self.embedder.embed(texts, EmbedRole::Passage)).await?;
        let wrong = |what: String| LlmError::refused(format!("`{}` {what}", self.name));
        let [query] = query.as_slice() else {
            return Err(wrong(format!("got {} vectors for one query", query.len())));
        };
        if vectors.len() != texts.len() {
            return Err(wrong(format!("got {} vectors for {} texts", vectors.len(), texts.len())));
        }
        let score = |vector: &Vec<f32>| {
            if vector.len() != query.len() {
                return Err(wrong("got vectors of different lengths".into()));
            }
            let cosine: f32 = vector.iter().zip(query).map(|(a, b)| a * b).sum();
            // Rounding may put it a little above one.
            Ok(cosine.clamp(0.0, 1.0))
        };
        vectors.iter().map(score).collect()
    }
}

#[cfg(test)]
mod tests {
    use halma_core::Vector;

    use super::*;

    /// A text is its own vector: `1 0` for instance.
    struct Literal;

    #[async_trait]
    impl Embedder for Literal {
        fn model(&self) -> &'static str {
            "literal"
        }

        async fn embed(&self, texts: &[&str], _: EmbedRole) -> Result<Vec<Vector>, LlmError> {
            let vector = |text: &&str| text.split(' ').map(|x| x.parse().unwrap()).collect();
            Ok(texts.iter().map(vector).collect())
        }
    }

    #[tokio::test]
    async fn a_score_is_the_cosine_and_never_below_zero() {
        let cosine = Cosine::new(Arc::new(Literal));
        assert_eq!(cosine.name(), "cosine:literal");
        let scores = cosine.rerank("1 0", &["0.6 0.8", "-1 0", "1 0", "0 1"]).await.unwrap();
        assert_eq!(scores, [0.6, 0.0, 1.0, 0.0]);
        assert!(cosine.rerank("1 0", &[]).await.unwrap().is_empty());
        let error = cosine.rerank("1 0", &["1 0 0"]).await.unwrap_err().to_string();
        assert!(error.contains("cosine:literal") && error.contains("lengths"), "{error}");
    }
}
