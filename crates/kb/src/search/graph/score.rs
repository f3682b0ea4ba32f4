//! Aggregate: what the layers say about each chunk, summed.
use halma_core::ScorePart;

use super::activation::Activations;
use super::links::SOURCES;
use super::{GraphContext, Similarity};
use crate::memory::NamedTag;
use crate::mentions::importance;
use crate::search::SUMMARIES;
use crate::store::{Row, RowMap, SparseRows, TagRecord};

/// What the indexes find before activation is propagated.
pub(super) struct FirstStage<'a> {
    pub(super) question: &'a str,
    /// Chunks by BM25, best first.
    pub(super) lexical: &'a [(Row, f32)],
    /// Chunks by cosine, best first; empty without vectors.
    pub(super) dense: &'a [(Row, f32)],
    /// The least and the greatest cosine of any chunk.
    pub(super) range: (f32, f32),
    pub(super) similarity: Similarity<'a>,
    /// Tags that the question names or stands for.
    pub(super) tags: &'a [NamedTag],
    /// What summaries give to chunks, weighed.
    pub(super) summaries: RowMap<f32>,
}

impl FirstStage<'_> {
    /// Where a cosine lies between the least and the greatest of any chunk, from 0 to 1.
    fn in_range(&self, cosine: f32) -> f32 {
        let (least, greatest) = self.range;
        if greatest > least { (cosine - least) / (greatest - least) } else { 0.0 }
    }
}

/// A chunk with its score and what that is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkScore {
    pub(super) row: Row,
    pub(super) score: f32,
    pub(super) parts: [f32; PARTS.len()],
}

/// The parts of a score.
pub(super) const PARTS: [&str; 10] =
    ["dense", "bm25", "entities", "titles", "tags", "links", "next", "covers", "led_to", SUMMARIES];

/// Their places in [`PARTS`].
const DENSE: usize = 0;
const BM25: usize = 1;
const ENTITIES: usize = 2;
const TITLES: usize = 3;
const TAGS: usize = 4;
pub(super) const LINKS: usize = 5;
pub(super) const NEXT: usize = 6;
pub(super) const COVERS: usize = 7;
pub(super) const LED_TO: usize = 8;
const FROM_SUMMARIES: usize = 9;

impl ChunkScore {
    /// Whether a name, a tag or another chunk leads there.
    pub(super) fn is_led_to(&self) -> bool {
        [ENTITIES, TITLES, TAGS, LINKS, NEXT, LED_TO].iter().any(|part| self.parts[*part] > 0.0)
    }
}

/// Chunks with their scores, and the entities that were reached.
pub(super) struct ChunkScores {
    pub(super) chunks: Vec<ChunkScore>,
    pub(super) active: Activations,
}

/// Names that a part of a score says it came through, at most.
const SHOWN: usize = 4;

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    names: f32,
    titles: f32,
    tags: f32,
}

impl GraphContext<'_> {
    /// The chunks that `admits` lets in, best first, ties by row, at most `limit`.
    pub(super) fn chunks(
        &self,
        first: &FirstStage<'_>,
        limit: usize,
        admits: &dyn Fn(Row) -> bool,
    ) -> heed::Result<ChunkScores> {
        let best: Vec<Row> = interleaved(first);
        let active = self.propagate(self.named(first.question, &best)?, &first.similarity)?;
        let mut sums = self.sums(&active, &best);
        self.add_tags(first.tags, &mut sums)?;
        let bm25 = shares_of_best(first.lexical);
        let mut rows: Vec<Row> = best;
        rows.extend(sums.keys());
        rows.extend(first.summaries.keys());
        rows.sort_unstable();
        rows.dedup();
        rows.retain(|row| admits(*row));
        let near = first.similarity.chunks.as_ref().map(|probe| probe.cosines(&rows));
        let mut scored = Vec::with_capacity(rows.len());
        for (at, row) in rows.into_iter().enumerate() {
            let near = near.as_ref().and_then(|near| near[at]);
            let Sums { names, titles, tags } = sums.get(&row).copied().unwrap_or_default();
            let mut parts = [0.0; PARTS.len()];
            parts[DENSE] = self.settings.dense * near.map_or(0.0, |near| first.in_range(near));
            parts[BM25] = self.settings.bm25 * bm25.get(&row).copied().unwrap_or(0.0);
            parts[ENTITIES] = self.settings.entities * names.ln_1p();
            parts[TITLES] = self.settings.titles * titles;
            parts[TAGS] = self.settings.tags * tags;
            parts[FROM_SUMMARIES] = first.summaries.get(&row).copied().unwrap_or(0.0);
            scored.push(ChunkScore { row, score: parts.iter().sum(), parts });
        }
        best_first(&mut scored, limit.max(SOURCES));
        if self.add_links(&mut scored, admits)? {
            best_first(&mut scored, limit);
        }
        scored.truncate(limit);
        Ok(ChunkScores { chunks: scored, active })
    }

    /// What each chunk gets from the best of its tags that the question means: less for one that
    /// many chunks have.
    fn add_tags(&self, tags: &[NamedTag], sums: &mut RowMap<Sums>) -> heed::Result<()> {
        for tag in tags.iter().filter(|_| self.settings.tags > 0.0) {
            let chunks = self.cache.tagged(self.reader, tag.row)?;
            let mass = tag.weight * importance(chunks.len());
            for chunk in chunks.iter() {
                let sums = sums.entry(*chunk).or_default();
                sums.tags = sums.tags.max(mass);
            }
        }
        Ok(())
    }

    /// A score's parts by name, with the entities and tags through which they came.
    pub(super) fn explained(
        &self,
        scored: &ChunkScore,
        active: &Activations,
        tags: &[NamedTag],
    ) -> heed::Result<Vec<ScorePart>> {
        let mut parts = vec![];
        for (at, score) in scored.parts.iter().enumerate().filter(|(_, score)| **score != 0.0) {
            let through = match at {
                ENTITIES | TITLES => self.through(at, scored.row, active)?,
                TAGS => self.through_tags(scored.row, tags)?,
                _ => String::new(),
            };
            parts.push(ScorePart { name: PARTS[at].to_owned(), score: *score, through });
        }
        Ok(parts)
    }

    /// What each chunk gets from the entities that it names and stands under. What stands in more
    /// chunks than a step may look at counts for those near the question and those that other
    /// entities lead to.
    fn sums(&self, active: &Activations, best: &[Row]) -> RowMap<Sums> {
        let mut sums: RowMap<Sums> = RowMap::default();
        let mut hubs = vec![];
        for (row, activation) in active {
            let entity = self.walk().entity(*row);
            let mass = activation.weight * entity.importance();
            if Self::is_hub(&entity) {
                hubs.push((mass, entity));
                continue;
            }
            for (chunk, count) in self.walk().chunks_naming(&entity) {
                sums.entry(chunk).or_default().names += mass * count;
            }
            for chunk in self.walk().chunks_under(&entity) {
                sums.entry(chunk).or_default().titles += mass;
            }
        }
        if hubs.is_empty() {
            return sums;
        }
        for row in best {
            sums.entry(*row).or_default();
        }
        for (row, sums) in &mut sums {
            let Some(place) = self.walk().find(*row) else { continue };
            for (mass, entity) in &hubs {
                let (count, is_title) = self.walk().ties(place, entity);
                sums.names += mass * count;
                sums.titles += if is_title { *mass } else { 0.0 };
            }
        }
        sums
    }

    /// The tags through which a chunk was found, the surest first.
    fn through_tags(&self, chunk: Row, tags: &[NamedTag]) -> heed::Result<String> {
        let mut names = vec![];
        for tag in tags {
            if self.cache.tagged(self.reader, tag.row)?.binary_search(&chunk).is_ok() {
                let record = self.reader.node::<TagRecord>(tag.row)?;
                names.extend(record.map(|record| record.name));
            }
        }
        names.truncate(SHOWN);
        Ok(names.join("; "))
    }

    /// The names through which a part came, the strongest first, each with by what it was reached.
    fn through(&self, part: usize, chunk: Row, active: &Activations) -> heed::Result<String> {
        let Some(place) = self.walk().find(chunk) else { return Ok(String::new()) };
        let rows: Vec<Row> = match part {
            TITLES => self.walk().titles(place).collect(),
            _ => self.walk().names(place).collect(),
        };
        let mut names = vec![];
        for row in rows {
            let Some(activation) = active.get(&row) else { continue };
            let name = self.cache.name(self.reader, row)?;
            names.push((activation.weight * self.walk().importance(row), name, activation.by));
        }
        names.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let mut through = String::new();
        for (_, name, by) in names.iter().take(SHOWN) {
            through.push_str(if through.is_empty() { "" } else { "; " });
            through.push_str(name);
            through.push_str(by.note());
        }
        Ok(through)
    }
}

/// The scores of a list, best first, as shares of the best.
fn shares_of_best(list: &[(Row, f32)]) -> RowMap<f32> {
    let highest = list.first().map_or(0.0, |(_, score)| *score);
    list.iter().filter(|_| highest > 0.0).map(|(row, score)| (*row, score / highest)).collect()
}

/// Puts the best to the front, best first, ties by row; the others follow in no order.
fn best_first(scored: &mut [ChunkScore], count: usize) {
    let order =
        |a: &ChunkScore, b: &ChunkScore| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row));
    let count = count.min(scored.len());
    if count > 0 && count < scored.len() {
        scored.select_nth_unstable_by(count - 1, order);
    }
    scored[..count].sort_unstable_by(order);
}

/// The chunks near by BM25 and by vectors, alternating.
fn interleaved(first: &FirstStage<'_>) -> Vec<Row> {
    let total = first.lexical.len() + first.dense.len();
    let (mut rows, mut seen) = (Vec::with_capacity(total), SparseRows::default());
    seen.reserve(total);
    for at in 0..first.lexical.len().max(first.dense.len()) {
        for list in [first.dense, first.lexical] {
            rows.extend(list.get(at).map(|(row, _)| *row).filter(|row| seen.insert(*row)));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parts_of_the_chunk_itself_come_by_no_edge() {
        let part =
            |name: &str| ScorePart { name: name.to_owned(), score: 1.0, through: String::new() };
        let without = PARTS.into_iter().filter(|name| part(name).edge().is_none());
        assert_eq!(without.collect::<Vec<_>>(), ["dense", "bm25", "covers"]);
    }
}
