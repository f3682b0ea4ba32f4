//! Graph search of chunks and atoms: what the words and vectors say first, then the walk.
use std::collections::HashMap;

use halma_core::{Hit, Layer, ScorePart, Vector};

use super::{Ground, Memory, Scored, Seen, Sight, Terms};
use crate::search::{Plan, Ranked};
use crate::store::{Reader, Row};
use crate::vectors::Probe;
use crate::{Base, KbError};

/// Chunks by words that get a score for it; of the others the score would hardly count.
const WORDS_DEEP: usize = 1000;

/// Chunks by words and by cosine that are candidates whatever the graph says.
const NEAR: usize = 200;

/// Atoms by words, where there are no vectors.
const ATOMS_DEEP: usize = 2000;

/// Chunks whose atoms are offered when atoms are searched.
const ATOM_CHUNKS: usize = 20;

/// So many times the chunks wanted are kept in case some are below the threshold.
const SPARE: usize = 2;

/// What of one text the word indexes say.
struct Asked<'a> {
    text: &'a str,
    vector: Option<&'a Vector>,
    words: Vec<(Row, f32)>,
    atoms: HashMap<Row, f32>,
    terms: Terms,
}

impl Base {
    /// Searches the graph for each text of the query.
    pub(crate) fn walk(&self, plan: &Plan<'_>) -> Result<Vec<Vec<Hit>>, KbError> {
        let mut asked = vec![];
        for (text, vector) in plan.query.texts.iter().zip(&plan.vectors) {
            asked.push(self.asked(plan, text, vector.as_ref())?);
        }
        let memory = self.memory();
        let vectors: Vec<&Vector> = plan.vectors.iter().flatten().collect();
        let chunks = plan.matrices.get(&Layer::Chunk);
        self.store.read(|reader| {
            // All texts in one pass over the vectors.
            let near = match chunks {
                Some(matrix) => {
                    let near = matrix.search(reader, &vectors, NEAR, &plan.chunks)?;
                    near.into_iter().zip(matrix.ranges(&vectors)).collect()
                }
                None => vec![],
            };
            let mut near = near.into_iter();
            let mut lists = vec![];
            for asked in &asked {
                let near = asked.vector.and_then(|_| near.next()).unwrap_or_default();
                let walked = Walk { base: self, plan, memory: &memory, asked };
                lists.push(self.hits(reader, plan, asked.vector, walked.ranked(reader, &near)?)?);
            }
            Ok(lists)
        })
    }

    fn asked<'a>(
        &self,
        plan: &Plan<'_>,
        text: &'a str,
        vector: Option<&'a Vector>,
    ) -> Result<Asked<'a>, KbError> {
        let chunks = self.words(Layer::Chunk)?;
        let mut words = chunks.search(text, WORDS_DEEP, plan.chunks.allowed.as_ref())?;
        words.retain(|(row, _)| !plan.chunks.excluded.contains(row));
        let mut atoms = HashMap::new();
        if vector.is_none() || !plan.matrices.contains_key(&Layer::Atom) {
            let found = self.words(Layer::Atom)?.search(text, ATOMS_DEEP, None)?;
            let most = found.first().map_or(1.0, |(_, score)| *score);
            atoms.extend(found.into_iter().map(|(row, score)| (row, score / most)));
        }
        Ok(Asked { text, vector, words, atoms, terms: Terms::new(text, chunks)? })
    }
}

/// The walk for one text.
struct Walk<'a> {
    base: &'a Base,
    plan: &'a Plan<'a>,
    memory: &'a Memory,
    asked: &'a Asked<'a>,
}

/// Chunks by cosine, and the least and greatest cosine of any.
type Near = (Vec<(Row, f32)>, (f32, f32));

impl Walk<'_> {
    fn ranked(&self, reader: &Reader<'_>, (dense, range): &Near) -> heed::Result<Vec<Ranked>> {
        let Self { base, plan, memory, asked } = self;
        let ground = Ground { reader, memory, settings: &base.graph };
        let probe = |layer: Layer| {
            let matrix = plan.matrices.get(&layer)?;
            Some(Probe::new(matrix, asked.vector?))
        };
        let words = asked.words.iter().take(NEAR);
        let sight = Sight {
            atoms: probe(Layer::Atom),
            chunks: probe(Layer::Chunk),
            words: &asked.atoms,
            near: words.chain(dense).map(|(row, _)| *row).collect(),
        };
        let seen = Seen { question: asked.text, words: &asked.words, dense, range: *range, sight };
        let of_atoms = plan.query.layer == Layer::Atom;
        let wanted = if of_atoms { ATOM_CHUNKS } else { plan.query.limit };
        // Some may turn out to be too far from the question.
        let deep = wanted.saturating_mul(SPARE);
        let most = deep.max(base.graph.hops);
        let walked = ground.chunks(&seen, most, &|row| plan.chunks.admits(row))?;
        let mut chunks = ground.hop_by_hop(&asked.terms, walked.chunks, wanted)?;
        chunks.truncate(if of_atoms { wanted } else { deep });
        if of_atoms {
            return self.atoms(&ground, &seen.sight, &chunks);
        }
        let ranked = |chunk: Scored| {
            let parts = ground.explained(&chunk, &walked.active)?;
            let led_to = chunk.is_led_to();
            Ok(Ranked { row: chunk.row, score: chunk.score, led_to, parts })
        };
        chunks.into_iter().map(ranked).collect()
    }

    /// The atoms of the best chunks and those nearest by themselves: likeness of the atom plus the
    /// chunk's score as a share of the best.
    fn atoms(
        &self,
        ground: &Ground<'_>,
        sight: &Sight<'_>,
        chunks: &[Scored],
    ) -> heed::Result<Vec<Ranked>> {
        let Self { plan, asked, base, .. } = self;
        let mut rows: HashMap<Row, (f32, bool)> = HashMap::new();
        let near = match (plan.matrices.get(&Layer::Atom), asked.vector) {
            (Some(matrix), Some(vector)) => {
                let from = ground.reader;
                let deep = crate::fuse::depth(plan.query.limit);
                matrix.search(from, &[vector], deep, &plan.admitted)?.concat()
            }
            _ => asked.atoms.iter().map(|(row, score)| (*row, *score)).collect(),
        };
        for (row, _) in near.iter().filter(|(row, _)| plan.admitted.admits(*row)) {
            rows.entry(*row).or_insert((0.0, false));
        }
        let most = chunks.first().map_or(1.0, |chunk| chunk.score.max(f32::EPSILON));
        for chunk in chunks {
            let led_to = chunk.is_led_to();
            for atom in ground.reader.atoms_of(chunk.row)? {
                if plan.admitted.admits(atom) {
                    rows.insert(atom, (chunk.score / most, led_to));
                }
            }
        }
        let mut ranked: Vec<Ranked> = rows
            .into_iter()
            .map(|(row, (share, led_to))| {
                let parts =
                    [("dense", sight.of((Layer::Atom, row))), ("chunk", share * base.graph.atoms)];
                let score = parts.iter().map(|(_, score)| score).sum();
                let part = |(name, score): (&str, f32)| ScorePart {
                    name: name.to_owned(),
                    score,
                    through: String::new(),
                };
                Ranked { row, score, led_to, parts: parts.map(part).into() }
            })
            .collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
        Ok(ranked)
    }
}
