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
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) row: Row,
    pub(crate) score: f32,
    pub(crate) parts: [f32; PARTS.len()],
}

/// The parts of a score.
pub(crate) const PARTS: [&str; 6] = ["dense", "words", "entities", "titles", "covers", "led_to"];

/// The first of them that needs no likeness to the question, but for `covers`.
const ENTITIES: usize = 2;
const TITLES: usize = 3;
pub(super) const COVERS: usize = 4;
pub(super) const LED_TO: usize = 5;

impl Scored {
    /// Whether a name leads there.
    pub(crate) fn is_led_to(&self) -> bool {
        [ENTITIES, TITLES, LED_TO].iter().any(|part| self.parts[*part] > 0.0)
    }
}

/// Chunks with their scores, and the entities that were reached.
pub(crate) struct Walked {
    pub(crate) chunks: Vec<Scored>,
    pub(crate) active: BTreeMap<Row, f32>,
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
    ) -> heed::Result<Walked> {
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
                self.settings.dense * near.unwrap_or(0.0),
                self.settings.words * words,
                self.settings.entities * names.ln_1p(),
                self.settings.titles * titles,
                0.0,
                0.0,
            ];
            scored.push(Scored { row, score: parts.iter().sum(), parts });
        }
        scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
        scored.truncate(most);
        Ok(Walked { chunks: scored, active })
    }

    /// A score's parts by name, with the entities through which they came.
    pub(crate) fn explained(
        &self,
        scored: &Scored,
        active: &BTreeMap<Row, f32>,
    ) -> heed::Result<Vec<ScorePart>> {
        let mut parts = vec![];
        for (at, score) in scored.parts.iter().enumerate().filter(|(_, score)| **score != 0.0) {
            let through = match at {
                ENTITIES | TITLES => self.through(at, scored.row, active)?,
                _ => String::new(),
            };
            parts.push(ScorePart { name: PARTS[at].to_owned(), score: *score, through });
        }
        Ok(parts)
    }

    /// What each chunk gets from the entities that it names and stands under.
    fn sums(&self, active: &BTreeMap<Row, f32>) -> heed::Result<HashMap<Row, Sums>> {
        let mut sums: HashMap<Row, Sums> = HashMap::new();
        for (row, a) in active {
            let entity = self.memory.entity(self.reader, *row)?;
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
    fn through(
        &self,
        part: usize,
        chunk: Row,
        active: &BTreeMap<Row, f32>,
    ) -> heed::Result<String> {
        let held = self.memory.chunk(self.reader, chunk)?;
        let held = if part == TITLES { &held.titles } else { &held.names };
        let mut names = vec![];
        for row in held {
            let Some(a) = active.get(row) else { continue };
            let entity = self.memory.entity(self.reader, *row)?;
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
