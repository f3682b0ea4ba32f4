//! A reranker and a tagger that go by words alone.
use std::collections::BTreeSet;

use async_trait::async_trait;
use halma_core::text::{Words, content_words, name_runs};
use halma_core::{LlmError, Mention, Reranker, Span, Tagger};

/// A text's score is the share of the query's content words that it holds.
pub struct Overlap;

#[async_trait]
impl Reranker for Overlap {
    fn name(&self) -> &'static str {
        "overlap"
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, LlmError> {
        let wanted: BTreeSet<String> = content_words(query).into_iter().collect();
        let share = |text: &&str| {
            let words: BTreeSet<String> = content_words(text).into_iter().collect();
            #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
            let share = wanted.intersection(&words).count() as f32 / wanted.len().max(1) as f32;
            share
        };
        Ok(texts.iter().map(share).collect())
    }
}

/// Every run of capitalised words is a name.
pub struct Capitals;

#[async_trait]
impl Tagger for Capitals {
    fn name(&self) -> &'static str {
        "capitals"
    }

    async fn entities(&self, text: &str) -> Result<Vec<Mention>, LlmError> {
        let words = Words::new(text);
        let mention = |run: std::ops::Range<usize>| {
            let bytes = words.bytes(&run);
            let start = text[..bytes.start].chars().count();
            let named = text[bytes].to_owned();
            let end = start + named.chars().count();
            Mention { text: named, kind: "name".into(), span: Span { start, end }, score: 1.0 }
        };
        Ok(name_runs(&words).into_iter().map(mention).collect())
    }
}
