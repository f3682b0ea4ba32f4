//! How much cosines say about the text of a base. An embedder gives every text a vector, also one in
//! a language that it cannot read; then all cosines are near each other and their order is noise. A
//! base can measure that itself: a sentence of a passage should lead to the passage.
use std::collections::HashMap;
use std::sync::Arc;

use halma_core::text::sentences;
use halma_core::{EmbedRole, Layer, Vector};

use super::{GROWN, LEAST_CHUNKS, PASSAGES, QUESTIONS, spread};
use crate::error::run_blocking;
use crate::lexical::LexicalQuery;
use crate::memory::memory_index::index_rows;
use crate::store::{ChunkRecord, Row, StoreReader};
use crate::vectors::{cosine, embed_texts};
use crate::{Base, BuildContext, DenseTrust, KbError};

/// Fewer queries than these say nothing.
const LEAST_QUERIES: usize = 16;

/// Bytes of a query, at least: eight Chinese characters, or some words.
const LEAST_BYTES: usize = 24;

/// Characters of a query, at most.
const MAX_CHARS: usize = 300;

fn key(embedder: u8) -> String {
    format!("trust {embedder}")
}

impl StoreReader<'_> {
    /// How much the cosines of an embedder say; `None` where that has not been measured.
    pub(crate) fn dense_trust(&self, embedder: u8) -> heed::Result<Option<DenseTrust>> {
        self.meta(&key(embedder))
    }
}

impl Base {
    /// How much the cosines of the embedder in use say about the text of this base; `None` without
    /// vectors, and where it has not been measured.
    pub fn dense_trust(&self) -> Result<Option<DenseTrust>, KbError> {
        self.store.read(|reader| {
            let Some((number, _)) = reader.active_embedder()? else { return Ok(None) };
            reader.dense_trust(number)
        })
    }
}

/// What is searched, and what for.
struct Sample {
    embedder: u8,
    chunks: u64,
    passages: Vec<Row>,
    /// Passages with a part of each.
    queries: Vec<(Row, String)>,
}

/// Measures how often a part of a passage leads to the passage first, once a base is large enough
/// and again when it has grown. A failing embedder is no reason to fail: the next run tries again.
pub(in crate::build) async fn measure_trust(context: &Arc<BuildContext>) -> Result<(), KbError> {
    let Some(embedder) = context.embedder.clone() else { return Ok(()) };
    let Some(sample) = context.store().read(|reader| sample(reader, embedder.model()))? else {
        return Ok(());
    };
    let texts: Vec<&str> = sample.queries.iter().map(|(_, text)| text.as_str()).collect();
    let vectors = match embed_texts(embedder.as_ref(), &texts, EmbedRole::Query).await {
        Ok(vectors) => vectors,
        Err(error) => {
            tracing::warn!(
                "it cannot be measured how well the embedder understands these texts: {error}"
            );
            return Ok(());
        }
    };
    let context = Arc::clone(context);
    run_blocking("measuring cosines", move || {
        let store = context.store();
        let dense = store.read(|reader| count_by_cosine(reader, &sample, &vectors))?;
        let index = store.read(|reader| index_rows(reader, Layer::Chunk, &sample.passages))??;
        let mut bm25 = 0;
        for (row, text) in &sample.queries {
            let query = LexicalQuery { text, added: &[] };
            let hits = index.search(&query, 1, None)?;
            bm25 += u32::from(hits.iter().any(|(hit, _)| hit == row));
        }
        let count = |list: usize| u32::try_from(list).unwrap_or(u32::MAX);
        let trust = DenseTrust {
            queries: count(sample.queries.len()),
            passages: count(sample.passages.len()),
            dense,
            bm25,
            chunks: sample.chunks,
        };
        store.write(|writer| writer.set_meta(&key(sample.embedder), &trust))
    })
    .await
}

/// `None` where there is nothing to measure, or no need to.
fn sample(reader: &StoreReader<'_>, model: &str) -> heed::Result<Option<Sample>> {
    let chunks = reader.count(Layer::Chunk)?;
    let Some((embedder, _)) = reader.embedder(model)? else { return Ok(None) };
    let former = reader.dense_trust(embedder)?;
    if chunks < LEAST_CHUNKS
        || former.is_some_and(|former| chunks < former.chunks.saturating_mul(GROWN))
        || !reader.has_vectors(embedder, Layer::Chunk)?
    {
        return Ok(None);
    }
    // A build that was interrupted has embedded a part of them.
    let (mut passages, mut queries) = (vec![], vec![]);
    for row in spread(reader, Layer::Chunk, PASSAGES)? {
        passages.extend(reader.vector(embedder, Layer::Chunk, row)?.map(|_| row));
    }
    // Rows of a table look alike: that a part of one leads to another says nothing of the embedder.
    let mut texts = vec![];
    for row in &passages {
        let record = reader.node::<ChunkRecord>(*row)?;
        texts.extend(record.filter(|record| record.text.is_none()).map(|record| (*row, record)));
    }
    for (row, record) in texts.iter().step_by(texts.len().div_ceil(QUESTIONS).max(1)) {
        queries.extend(part(&reader.chunk_text(record)?).map(|part| (*row, part)));
    }
    let sample = Sample { embedder, chunks, passages, queries };
    Ok((sample.queries.len() >= LEAST_QUERIES).then_some(sample))
}

/// The second sentence of a text, or a later one that is long enough; of a text of one sentence its
/// second half. The first sentence may be an atom that says as much as the text.
fn part(text: &str) -> Option<String> {
    let ranges = sentences(text);
    let is_long = |part: &&str| part.len() >= LEAST_BYTES;
    let part = match ranges.as_slice() {
        [] => None,
        [only] => {
            let only = &text[only.clone()];
            let middle = only.char_indices().nth(only.chars().count() / 2)?.0;
            // From the next word on, where there are spaces between words.
            let half = &only[middle..];
            let half = half.find(char::is_whitespace).map_or(half, |at| half[at..].trim_start());
            Some(half).filter(is_long)
        }
        [_, rest @ ..] => rest.iter().map(|range| &text[range.clone()]).find(is_long),
    };
    part.map(|part| part.chars().take(MAX_CHARS).collect())
}

/// The queries whose own passage is the nearest.
fn count_by_cosine(
    reader: &StoreReader<'_>,
    sample: &Sample,
    vectors: &[Vector],
) -> heed::Result<u32> {
    let mut passages = HashMap::new();
    for row in &sample.passages {
        passages.extend(reader.vector(sample.embedder, Layer::Chunk, *row)?.map(|v| (*row, v)));
    }
    let mut count = 0;
    for ((source, _), query) in sample.queries.iter().zip(vectors) {
        let Some(passage) = passages.get(source) else { continue };
        let least = cosine(query, passage);
        // Ties by row, as in searches.
        let is_nearer = |(row, passage): &(&Row, &Vector)| {
            let near = cosine(query, passage);
            near > least || near >= least && *row < source
        };
        count += u32::from(!passages.iter().any(|pair| is_nearer(&pair)));
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn a_part_of_a_passage_is_its_second_sentence_or_half_of_the_only_one() {
        let of = |text: &str| part(text).unwrap_or_default();
        assert_eq!(
            of("One two three. He left. Four, five and six are numbers. Seven."),
            "Four, five and six are numbers."
        );
        assert_eq!(
            of("One two three four five six seven eight nine ten eleven twelve thirteen."),
            "nine ten eleven twelve thirteen."
        );
        assert_eq!(of("他来了。她在二〇二〇年走了回家。"), "她在二〇二〇年走了回家。");
        assert_eq!(of("国家机关工作人员利用职务上的便利受贿"), "用职务上的便利受贿");
        assert_eq!(part("Short. It is."), None);
    }
}
