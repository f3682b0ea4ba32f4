//! The vectors of recent queries. A run searches the same words several times (its
//! question before each fall-back, in every layer, once more by the next strategy), and a local
//! embedder takes ten times as long for a text as the search itself.
use std::num::NonZeroUsize;

use halma_core::{EmbedRole, Embedder, Vector};
use lru::LruCache;
use parking_lot::Mutex;

use crate::KbError;
use crate::vectors::{embed_once, other_dimensions};

/// Number of texts that are cached: some 2 MB with vectors of 384 numbers.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(1_024).expect("it is above 0");

/// Vectors by embedder and text, the latest.
pub(crate) struct QueryVectorCache(Mutex<LruCache<(String, String), Vector>>);

impl Default for QueryVectorCache {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(CAPACITY)))
    }
}

impl QueryVectorCache {
    /// One vector for each text that has words; what is not known yet is embedded in one call.
    pub(crate) async fn vectors(
        &self,
        embedder: &dyn Embedder,
        dimensions: u32,
        texts: &[String],
    ) -> Result<Vec<Option<Vector>>, KbError> {
        let model = embedder.model();
        let mut vectors = self.cached(model, texts);
        let mut unknown: Vec<&str> = vec![];
        for (text, vector) in texts.iter().zip(&vectors) {
            let needed = vector.is_none() && !text.trim().is_empty();
            if needed && !unknown.contains(&text.as_str()) {
                unknown.push(text);
            }
        }
        if unknown.is_empty() {
            return Ok(vectors);
        }
        let computed = embed_once(embedder, &unknown, EmbedRole::Query).await?;
        // All have the same length.
        let length = computed.first().map_or(0, Vec::len);
        if u32::try_from(length) != Ok(dimensions) {
            return Err(other_dimensions(model, length, dimensions as usize));
        }
        let mut cache = self.0.lock();
        for (text, vector) in unknown.into_iter().zip(computed) {
            for (place, _) in vectors.iter_mut().zip(texts).filter(|(_, other)| *other == text) {
                *place = Some(vector.clone());
            }
            cache.put((model.to_owned(), text.to_owned()), vector);
        }
        Ok(vectors)
    }

    fn cached(&self, model: &str, texts: &[String]) -> Vec<Option<Vector>> {
        let mut cache = self.0.lock();
        let vector = |text: &String| cache.get(&(model.to_owned(), text.clone())).cloned();
        texts.iter().map(vector).collect()
    }
}

#[cfg(test)]
mod tests {

    use async_trait::async_trait;
    use halma_core::LlmError;
    use parking_lot::Mutex;

    use super::*;

    /// Gives a text's length, and records what it was asked.
    #[derive(Default)]
    struct Lengths(Mutex<Vec<Vec<String>>>);

    #[async_trait]
    impl Embedder for Lengths {
        fn model(&self) -> &'static str {
            "lengths"
        }

        async fn embed(&self, texts: &[&str], _: EmbedRole) -> Result<Vec<Vector>, LlmError> {
            self.0.lock().push(texts.iter().map(ToString::to_string).collect());
            #[expect(clippy::cast_precision_loss, reason = "short texts")]
            let lengths = texts.iter().map(|text| vec![text.len() as f32]);
            Ok(lengths.collect())
        }
    }

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(ToString::to_string).collect()
    }

    #[tokio::test]
    async fn a_text_is_embedded_once() {
        let (cache, embedder) = (QueryVectorCache::default(), Lengths::default());
        let all = texts(&["reef", " ", "tide", "reef"]);
        let vectors = cache.vectors(&embedder, 1, &all).await.unwrap();
        assert_eq!(vectors, [Some(vec![4.0]), None, Some(vec![4.0]), Some(vec![4.0])]);
        let again = texts(&["tide", "storm"]);
        let vectors = cache.vectors(&embedder, 1, &again).await.unwrap();
        assert_eq!(vectors, [Some(vec![4.0]), Some(vec![5.0])]);
        let batches = embedder.0.lock();
        assert_eq!(*batches, [texts(&["reef", "tide"]), texts(&["storm"])]);
    }

    #[tokio::test]
    async fn vectors_that_do_not_fit_are_refused_and_not_kept() {
        let (cache, embedder) = (QueryVectorCache::default(), Lengths::default());
        let refused = cache.vectors(&embedder, 2, &texts(&["reef"])).await.unwrap_err();
        assert!(refused.to_string().contains("--rebuild embedder"), "{refused}");
        assert!(cache.vectors(&embedder, 1, &texts(&["reef"])).await.is_ok());
        assert_eq!(embedder.0.lock().len(), 2);
    }
}
