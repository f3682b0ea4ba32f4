//! Graph search of chunks and atoms: what BM25 and vectors find first, then the propagation.
use std::collections::HashMap;

use halma_core::{Layer, ScorePart};

use super::{ChunkScore, FirstStage, GraphContext, QueryTerms, Similarity};
use crate::memory::GraphCache;
use crate::mentions::ChunkPlace;
use crate::search::{Ranked, Ranker, Search, SummaryEvidence, VectorUse, depth};
use crate::store::{At, Row, RowMap, StoreReader};
use crate::vectors::{NearRequest, Probe, QueryVector};
use crate::{GraphSettings, KbError};

/// Chunks by BM25 that get a score for it; of the others the score would hardly count.
const LEXICAL_DEPTH: usize = 1000;

/// Chunks by BM25 and by cosine that are candidates whatever the graph says.
const NEAR: usize = 200;

/// Atoms and chunks by BM25 that are compared with the question by it, where there are no vectors.
const SHARES_DEPTH: usize = 2000;

/// Chunks whose atoms are candidates when atoms are searched.
const ATOM_CHUNKS: usize = 20;

/// How many times the chunks wanted are ranked, because some may be below the threshold.
const SPARE: usize = 2;

pub(crate) struct GraphRanker;

impl Ranker for GraphRanker {
    /// Without vectors it compares sentences by BM25.
    fn vectors(&self) -> VectorUse {
        VectorUse::Optional
    }

    fn layers(&self, _: Layer) -> Vec<Layer> {
        vec![Layer::Chunk, Layer::Atom]
    }

    fn walks(&self) -> bool {
        true
    }

    fn rank(&self, search: &Search<'_>) -> Result<Vec<Vec<Ranked>>, KbError> {
        // All texts in one pass over the vectors.
        let near = search.near(Layer::Chunk, NEAR, true);
        let summaries = search.by_summaries(NEAR)?;
        let dense = search.graph.dense * search.dense_weight;
        let weights = GraphSettings { dense, ..search.graph };
        let mut lists = vec![];
        let texts = search.query.texts.iter().zip(&search.vectors);
        for (((text, vector), near), summaries) in texts.zip(near).zip(&summaries) {
            if search.is_cancelled() {
                break;
            }
            let vector = vector.as_deref();
            let index = search.index(Layer::Chunk)?;
            let LexicalMatches { lexical, shares } = lexical_matches(search, text, vector)?;
            let query = GraphQuery {
                search,
                text,
                vector,
                lexical,
                shares,
                terms: QueryTerms::new(text, index)?,
                dense: near.rows,
                range: near.range,
                summaries,
                weights,
            };
            lists.push(search.store.read(|reader| query.rank(reader))?);
        }
        Ok(lists)
    }
}

/// What BM25 finds for a text.
struct LexicalMatches {
    /// The admitted chunks, best first.
    lexical: Vec<(Row, f32)>,
    /// Atoms and chunks as a share of the best, of each layer without vectors.
    shares: HashMap<At, f32>,
}

fn lexical_matches(
    search: &Search<'_>,
    text: &str,
    vector: Option<&QueryVector>,
) -> Result<LexicalMatches, KbError> {
    let mut shares = HashMap::new();
    let has_vectors = |layer| vector.is_some() && search.matrices.contains_key(&layer);
    let best = |layer| search.index(layer)?.search(&search.lexical_query(text), SHARES_DEPTH, None);
    let mut add = |layer: Layer, rows: &[(Row, f32)]| {
        let highest = rows.first().map_or(1.0, |(_, score)| *score);
        shares.extend(rows.iter().map(|(row, score)| ((layer, *row), score / highest)));
    };
    if !has_vectors(Layer::Atom) {
        add(Layer::Atom, &best(Layer::Atom)?);
    }
    if !has_vectors(Layer::Chunk) {
        let mut lexical = best(Layer::Chunk)?;
        add(Layer::Chunk, &lexical);
        if search.admitted(Layer::Chunk).is_everything() {
            lexical.truncate(LEXICAL_DEPTH);
            return Ok(LexicalMatches { lexical, shares });
        }
    }
    let lexical = search.bm25(Layer::Chunk, text, LEXICAL_DEPTH)?;
    Ok(LexicalMatches { lexical, shares })
}

/// Where these chunks are in the walk, in the order of their rows.
fn places(cache: &GraphCache, rows: impl Iterator<Item = Row>) -> Vec<ChunkPlace> {
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_unstable();
    rows.dedup();
    rows.into_iter().filter_map(|row| cache.walk.find(row)).collect()
}

/// One text of the query with what the indexes find for it.
struct GraphQuery<'a> {
    search: &'a Search<'a>,
    text: &'a str,
    vector: Option<&'a QueryVector>,
    /// Chunks by BM25.
    lexical: Vec<(Row, f32)>,
    /// Atoms and chunks by BM25, as a share of the best, where they have no vectors.
    shares: HashMap<At, f32>,
    terms: QueryTerms,
    /// Chunks by cosine, and the least and greatest cosine of any chunk.
    dense: Vec<(Row, f32)>,
    range: (f32, f32),
    summaries: &'a SummaryEvidence,
    weights: GraphSettings,
}

impl GraphQuery<'_> {
    fn rank(&self, reader: &StoreReader<'_>) -> heed::Result<Vec<Ranked>> {
        let search = self.search;
        let (cache, settings) = (search.graph_cache.as_ref(), &self.weights);
        let context = GraphContext { reader, cache, settings };
        let probe = |layer: Layer| {
            let matrix = search.matrices.get(&layer)?;
            Some(Probe::new(matrix, self.vector?))
        };
        let lexical = self.lexical.iter().take(NEAR);
        let similarity = Similarity {
            atoms: probe(Layer::Atom),
            chunks: probe(Layer::Chunk),
            lexical: &self.shares,
            near: places(cache, lexical.chain(&self.dense).map(|(row, _)| *row)),
        };
        let first = FirstStage {
            question: self.text,
            lexical: &self.lexical,
            dense: &self.dense,
            range: self.range,
            similarity,
            tags: search.expansion(self.text).map_or(&[][..], |expansion| &expansion.tags),
            summaries: self.weighed_summaries(),
        };
        let of_atoms = search.query.layer == Layer::Atom;
        let wanted = if of_atoms { ATOM_CHUNKS } else { search.query.limit };
        let deep = wanted.saturating_mul(SPARE);
        let admitted = search.admitted(Layer::Chunk);
        let limit = deep.max(settings.hops);
        let scored = context.chunks(&first, limit, &|row| admitted.admits(row))?;
        let mut chunks = context.hop_by_hop(&self.terms, scored.chunks, wanted)?;
        chunks.truncate(if of_atoms { wanted } else { deep });
        if of_atoms {
            return self.atoms(&context, &first.similarity, &chunks);
        }
        let ranked = |chunk: ChunkScore| {
            let parts = context.explained(&chunk, &scored.active, first.tags)?;
            let led_to = chunk.is_led_to();
            Ok(Ranked { row: chunk.row, score: chunk.score, led_to, parts })
        };
        let mut ranked = chunks.into_iter().map(ranked).collect::<heed::Result<Vec<_>>>()?;
        search.name_summaries(reader, &mut ranked, self.summaries)?;
        Ok(ranked)
    }

    fn weighed_summaries(&self) -> RowMap<f32> {
        let graph = &self.weights;
        let weight = graph.summaries;
        self.summaries.shares(weight * graph.dense, weight * graph.bm25)
    }

    /// The atoms of the best chunks and those nearest by themselves: similarity of the atom plus
    /// the chunk's score as a share of the best.
    fn atoms(
        &self,
        context: &GraphContext<'_>,
        similarity: &Similarity<'_>,
        chunks: &[ChunkScore],
    ) -> heed::Result<Vec<Ranked>> {
        let search = self.search;
        let admitted = search.admitted(Layer::Atom);
        let vectors = search.matrices.get(&Layer::Atom).zip(self.vector);
        let near = if let Some((matrix, vector)) = vectors {
            let (limit, is_cancelled) = (depth(search.query.limit), &|| search.is_cancelled());
            let admitted = &admitted;
            let request = NearRequest { limit, admitted, ranges: false, is_cancelled };
            let near = matrix.near_queries(&[vector], &request);
            near.into_iter().flat_map(|near| near.rows).collect::<Vec<_>>()
        } else {
            let atoms = self.shares.iter().filter(|((layer, _), _)| *layer == Layer::Atom);
            atoms.map(|((_, row), score)| (*row, *score)).collect()
        };
        let mut rows: HashMap<Row, (f32, bool)> = HashMap::new();
        for (row, _) in near.iter().filter(|(row, _)| admitted.admits(*row)) {
            rows.entry(*row).or_insert((0.0, false));
        }
        let highest = chunks.first().map_or(1.0, |chunk| chunk.score.max(f32::EPSILON));
        for chunk in chunks {
            let led_to = chunk.is_led_to();
            for atom in context.reader.atoms_of(chunk.row)? {
                if admitted.admits(atom) {
                    rows.insert(atom, (chunk.score / highest, led_to));
                }
            }
        }
        let rank = |(row, (share, led_to)): (Row, (f32, bool))| {
            let dense = search.dense_weight * similarity.cosine((Layer::Atom, row));
            let parts = [("dense", dense), ("chunk", share * search.graph.atoms)];
            let score = parts.iter().map(|(_, score)| score).sum();
            let part = |(name, score): (&str, f32)| ScorePart {
                name: name.to_owned(),
                score,
                through: String::new(),
            };
            Ranked { row, score, led_to, parts: parts.map(part).into() }
        };
        let mut ranked: Vec<Ranked> = rows.into_iter().map(rank).collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
        Ok(ranked)
    }
}
