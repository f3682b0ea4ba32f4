//! Aggregate: what the layers say about each chunk, summed.
use std::collections::{BTreeMap, HashMap, HashSet};

use halma_core::ScorePart;

use super::{Ground, Sight};
use crate::store::Row;

/// What is known of the chunks before the graph is walked.
pub(crate) struct Seen<'a> {
    pub(crate) question: &'a str,
    /// Chunks by BM25, best first.
    pub(crate) words: &'a [(Row, f32)],
    /// Chunks by cosine, best first; empty without vectors.
    pub(crate) dense: &'a [(Row, f32)],
    /// The least and the greatest cosine of any chunk.
    pub(crate) range: (f32, f32),
    pub(crate) sight: Sight<'a>,
}

/// A chunk with its score and what that is made of.
#[derive(Debug, Clone)]
pub(crate) struct Scored {
    pub(crate) row: Row,
    pub(crate) score: f32,
    pub(crate) parts: Vec<ScorePart>,
}

/// Names that a part of a score says it came through, at most.
const SHOWN: usize = 4;

#[derive(Default)]
struct Sums {
    names: f32,
    titles: f32,
}

impl Ground<'_> {
    /// The chunks that `admits` lets in, best first, ties by row, at most `most`.
    pub(crate) fn chunks(
        &self,
        seen: &Seen<'_>,
        most: usize,
        admits: &dyn Fn(Row) -> bool,
    ) -> heed::Result<Vec<Scored>> {
        let best: Vec<Row> = interleaved(seen);
        let active = self.reach(self.named(seen.question, &best)?, &seen.sight)?;
        let sums = self.sums(&active)?;
        let most_words = seen.words.first().map_or(0.0, |(_, score)| *score);
        let by_words: HashMap<Row, f32> = seen.words.iter().copied().collect();
        let mut rows: Vec<Row> = best;
        rows.extend(sums.keys());
        rows.sort_unstable();
        rows.dedup();
        let mut scored = vec![];
        for row in rows.into_iter().filter(|row| admits(*row)) {
            let near = seen.sight.chunks.as_ref().and_then(|probe| probe.of(row));
            let spread = seen.range.1 - seen.range.0;
            let near = near.filter(|_| spread > 0.0).map(|near| (near - seen.range.0) / spread);
            let words = by_words.get(&row).copied().unwrap_or(0.0);
            let words = if most_words > 0.0 { words / most_words } else { 0.0 };
            let Sums { names, titles } =
                sums.get(&row).unwrap_or(&Sums { names: 0.0, titles: 0.0 });
            let parts = [
                ("dense", self.settings.dense * near.unwrap_or(0.0)),
                ("words", self.settings.words * words),
                ("entities", self.settings.entities * names.ln_1p()),
                ("titles", self.settings.titles * titles),
            ];
            let score: f32 = parts.iter().map(|(_, score)| score).sum();
            scored.push((row, score, parts));
        }
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored.truncate(most);
        let explained = scored.into_iter().map(|(row, score, parts)| {
            let parts = parts.into_iter().filter(|(_, score)| *score != 0.0);
            let parts = parts.map(|(name, score)| {
                let through = self.through(name, row, &active)?;
                Ok(ScorePart { name: name.to_owned(), score, through })
            });
            Ok(Scored { row, score, parts: parts.collect::<heed::Result<_>>()? })
        });
        explained.collect()
    }

    /// What each chunk gets from the entities that it names and stands under.
    fn sums(&self, active: &BTreeMap<Row, f32>) -> heed::Result<HashMap<Row, Sums>> {
        let mut sums: HashMap<Row, Sums> = HashMap::new();
        for (row, a) in active {
            let entity = self.memory.entity((self.store, self.txn), *row)?;
            let mass = a * entity.importance;
            for (chunk, count) in &entity.chunks {
                sums.entry(*chunk).or_default().names += mass * count;
            }
            for chunk in &entity.titles {
                sums.entry(*chunk).or_default().titles += mass;
            }
        }
        Ok(sums)
    }

    /// The names through which a part came, the strongest first.
    fn through(&self, part: &str, chunk: Row, active: &BTreeMap<Row, f32>) -> heed::Result<String> {
        if part != "entities" && part != "titles" {
            return Ok(String::new());
        }
        let held = self.memory.chunk((self.store, self.txn), chunk)?;
        let held = if part == "titles" { &held.titles } else { &held.names };
        let mut names = vec![];
        for row in held {
            let Some(a) = active.get(row) else { continue };
            let entity = self.memory.entity((self.store, self.txn), *row)?;
            names.push((a * entity.importance, entity));
        }
        names.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
        let names: Vec<&str> = names.iter().map(|(_, entity)| entity.name.as_str()).collect();
        Ok(names[..names.len().min(SHOWN)].join("; "))
    }
}

/// The chunks near by words and by vectors, turn about.
fn interleaved(seen: &Seen<'_>) -> Vec<Row> {
    let (mut rows, mut known) = (vec![], HashSet::new());
    for at in 0..seen.words.len().max(seen.dense.len()) {
        for list in [seen.dense, seen.words] {
            rows.extend(list.get(at).map(|(row, _)| *row).filter(|row| known.insert(*row)));
        }
    }
    rows
}
