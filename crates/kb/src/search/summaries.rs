//! Summaries of chunks and tables, and what the document says before a chunk, as evidence for the
//! chunks themselves: a question may share its words with the summary only.
use std::collections::HashMap;

use halma_core::{Edge, Layer, Mode, Query};

use super::Search;
use super::ranker::Ranked;
use crate::store::{Row, RowMap, RowRecord, StoreReader, SummaryRecord, TableRecord};
use crate::{GraphSettings, KbError, SearchSettings};

/// The lexical index of summaries is made in memory by the first search after every build: of more
/// of them than these only the vectors are compared when chunks are searched.
pub(super) const MAX_INDEXED_SUMMARIES: u64 = 50_000;

/// Characters of a summary that a part of a score says it came through.
const SHOWN: usize = 80;

/// The chunks that the summaries nearest to one text lead to, each once, best first, with the
/// score of the summary and its row.
#[derive(Default)]
pub(crate) struct SummaryEvidence {
    pub(crate) dense: Vec<(Row, f32, Row)>,
    pub(crate) bm25: Vec<(Row, f32, Row)>,
}

/// Whether a search looks at summaries as well: those of chunks in the modes that add up layers.
pub(super) fn looks_at_summaries(
    query: &Query,
    search: &SearchSettings,
    graph: &GraphSettings,
) -> bool {
    let weight = match query.mode {
        Mode::Hybrid => search.summaries,
        Mode::Graph => graph.summaries,
        Mode::Bm25 | Mode::Dense => 0.0,
    };
    weight > 0.0 && query.layer == Layer::Chunk
}

impl Search<'_> {
    /// What summaries say about chunks, for each text; `depth` summaries of each kind are looked
    /// at.
    pub(crate) fn by_summaries(&self, depth: usize) -> Result<Vec<SummaryEvidence>, KbError> {
        let texts = &self.query.texts;
        let (indexes, matrices) = (&self.indexes, &self.matrices);
        let is_loaded =
            indexes.contains_key(&Layer::Summary) || matrices.contains_key(&Layer::Summary);
        if self.query.layer != Layer::Chunk || !is_loaded {
            return Ok(texts.iter().map(|_| SummaryEvidence::default()).collect());
        }
        let mut evidence = vec![];
        for (text, dense) in texts.iter().zip(self.near_rows(Layer::Summary, depth)) {
            let bm25 = if indexes.contains_key(&Layer::Summary) {
                self.bm25(Layer::Summary, text, depth)?
            } else {
                vec![]
            };
            evidence.push(self.store.read(|reader| {
                let (dense, bm25) = (self.led_to(reader, dense)?, self.led_to(reader, bm25)?);
                Ok(SummaryEvidence { dense, bm25 })
            })?);
        }
        Ok(evidence)
    }

    fn led_to(
        &self,
        reader: &StoreReader<'_>,
        summaries: Vec<(Row, f32)>,
    ) -> heed::Result<Vec<(Row, f32, Row)>> {
        let admitted = self.admitted(Layer::Chunk);
        let mut chunks: Vec<(Row, f32, Row)> = vec![];
        for (summary, score) in summaries {
            for chunk in chunks_of(reader, summary)? {
                if admitted.admits(chunk) && chunks.iter().all(|(seen, ..)| *seen != chunk) {
                    chunks.push((chunk, score, summary));
                }
            }
        }
        Ok(chunks)
    }

    /// Says in the part `summaries` of each score through which summary it came.
    pub(crate) fn name_summaries(
        &self,
        reader: &StoreReader<'_>,
        ranked: &mut [Ranked],
        evidence: &SummaryEvidence,
    ) -> heed::Result<()> {
        let pairs = evidence.bm25.iter().chain(&evidence.dense);
        let by_chunk: HashMap<Row, Row> =
            pairs.map(|(chunk, _, summary)| (*chunk, *summary)).collect();
        // Further down there are no hits.
        for one in ranked.iter_mut().take(self.query.limit.saturating_mul(2)) {
            let part = one.parts.iter_mut().find(|part| part.name == SUMMARIES);
            if let (Some(part), Some(summary)) = (part, by_chunk.get(&one.row))
                && let Some(record) = reader.node::<SummaryRecord>(*summary)?
            {
                part.through = record.text.chars().take(SHOWN).collect();
            }
        }
        Ok(())
    }
}

/// The name of the part of a score that summaries give.
pub(crate) const SUMMARIES: &str = "summaries";

impl SummaryEvidence {
    /// What each chunk gets, from 0 to `dense` plus `bm25`: cosines from 0 for the last of the list
    /// to `dense` for the first, BM25 as a share of the best.
    pub(crate) fn shares(&self, dense: f32, bm25: f32) -> RowMap<f32> {
        let mut shares: RowMap<f32> = RowMap::default();
        let first = self.dense.first().map_or(0.0, |(_, score, _)| *score);
        let last = self.dense.last().map_or(0.0, |(_, score, _)| *score);
        for (chunk, score, _) in &self.dense {
            let share = if first > last { (score - last) / (first - last) } else { 1.0 };
            *shares.entry(*chunk).or_default() += dense * share;
        }
        let highest = self.bm25.first().map_or(0.0, |(_, score, _)| *score);
        for (chunk, score, _) in self.bm25.iter().filter(|_| highest > 0.0) {
            *shares.entry(*chunk).or_default() += bm25 * score / highest;
        }
        shares
    }
}

/// The chunks that a summary is about: a chunk, or the one in which a table begins. One of a whole
/// section or document says nothing of a single chunk.
fn chunks_of(reader: &StoreReader<'_>, summary: Row) -> heed::Result<Vec<Row>> {
    let mut chunks = vec![];
    for link in reader.edges_from((Layer::Summary, summary), Some(Edge::DerivedFrom))? {
        match link.to {
            (Layer::Chunk, chunk) => chunks.push(chunk),
            (Layer::Table, table) => {
                let first = reader.node::<TableRecord>(table)?.map(|table| table.rows.0);
                let first = first.map_or(Ok(None), |first| reader.node::<RowRecord>(first))?;
                chunks.extend(first.map(|first| first.chunk));
            }
            _ => {}
        }
    }
    Ok(chunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_summary_gives_all_and_the_last_none() {
        let evidence = SummaryEvidence {
            dense: vec![(1, 0.8, 10), (2, 0.6, 11), (3, 0.4, 12)],
            bm25: vec![(2, 4.0, 11), (4, 1.0, 13)],
        };
        let shares = evidence.shares(1.0, 0.5);
        let share = |row: Row| shares.get(&row).copied().unwrap_or(0.0);
        for (row, expected) in [(1, 1.0), (2, 1.0), (3, 0.0), (4, 0.125)] {
            assert!((share(row) - expected).abs() < 1e-6, "{row}: {}", share(row));
        }
    }
}
