//! A search on a thread of its own: what it needs is brought up to date, a ranker orders the rows,
//! the best become hits.
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use halma_core::{Hit, Layer, NodeId, Query, Vector};

use super::bm25::Bm25;
use super::filter::Admitted;
use super::matrix::{Matrix, Probe, QueryVector, cosine};
use super::ranker::{Ranked, Ranker, Search, VectorUse};
use super::tags::{TagSource, expand_by_tags};
use super::{Expand, GraphSettings, Judgement, SearchSettings, lone_chunks, ranker_for};
use crate::held::Held;
use crate::store::{Row, Store, StoreReader, parse_id};
use crate::{FeedbackSettings, KbError};

/// Says that no one waits any more, when it is dropped.
pub(super) struct CancelGuard(pub(super) Arc<AtomicBool>);

impl Drop for CancelGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A search on a thread of its own.
pub(super) struct SearchJob {
    pub(super) store: Store,
    pub(super) held: Arc<Held>,
    pub(super) query: Query,
    pub(super) settings: (SearchSettings, GraphSettings),
    /// The layers that are read.
    pub(super) layers: Vec<Layer>,
    /// Those of them whose lexical indexes are read.
    pub(super) indexed: Vec<Layer>,
    pub(super) vectors: Vec<Option<Vector>>,
    /// What the cosines of the embedder weigh.
    pub(super) dense_weight: f32,
    /// The layers whose vectors are compared, with the embedder.
    pub(super) compared: HashMap<Layer, u8>,
    pub(super) expand: Expand,
    /// The embedder of the vectors of tags, where tags expand the query and have vectors.
    pub(super) tag_space: Option<u8>,
    pub(super) judgement: Judgement,
    /// How feedback counts; `None` where what was accepted from answers is not to be found.
    pub(super) feedback: Option<FeedbackSettings>,
    pub(super) cancelled: Arc<AtomicBool>,
}

impl SearchJob {
    pub(super) fn run(self) -> Result<Vec<Vec<Hit>>, KbError> {
        let (store, held, query) = (&self.store, &self.held, &self.query);
        let ranker = ranker_for(query);
        let generation = held.refresh(store)?;
        let vector = |vector: &Option<Vector>| Some(Arc::new(QueryVector::new(vector.as_ref()?)));
        let vectors: Vec<Option<Arc<QueryVector>>> = self.vectors.iter().map(vector).collect();
        let mut search = Search {
            store,
            query,
            settings: self.settings.0,
            graph: self.settings.1,
            graph_cache: if ranker.walks() {
                held.graph(store, generation)?
            } else {
                Arc::default()
            },
            dense_weight: self.dense_weight,
            vectors: vectors.clone(),
            expansions: vec![],
            matrices: HashMap::new(),
            indexes: HashMap::new(),
            admitted: self.admitted(generation)?,
            cancelled: &self.cancelled,
        };
        for layer in &self.indexed {
            search.indexes.insert(*layer, held.lexical(store, *layer, generation)?);
        }
        for (layer, embedder) in &self.compared {
            let matrix = held.matrix(store, (*embedder, *layer), generation)?;
            search.matrices.insert(*layer, matrix);
        }
        if self.expand == Expand::ByTags {
            let embedder = self.tag_space;
            expand_by_tags(&TagSource { store, held, generation, embedder }, &mut search)?;
        }
        let has_vectors = search.matrices.contains_key(&query.layer);
        let mut lists = match ranker.vectors() {
            VectorUse::Required if !has_vectors => Bm25.rank(&search)?,
            _ => ranker.rank(&search)?,
        };
        if let Some(settings) = self.feedback.filter(|_| query.layer == Layer::Chunk) {
            held.feedback(store, generation)?.weigh(&search, &settings, &mut lists);
        }
        let matrix = search.matrices.get(&query.layer);
        store.read(|reader| {
            let mut all = vec![];
            for ((list, plain), moved) in lists.into_iter().zip(&vectors).zip(&search.vectors) {
                let (plain, moved) = (plain.as_ref(), moved.as_ref());
                let probes = (probe(matrix, plain), probe(matrix, moved));
                let near = |row: Row| {
                    let (Some(plain), Some(moved)) = (plain, moved) else { return Ok(None) };
                    if let (Some(plain), Some(moved)) = &probes
                        && plain.has(row)
                    {
                        let cosines = plain.cosine(row).zip(moved.cosine(row));
                        return Ok(cosines.map(|(own, moved)| Nearness::new(own, moved)));
                    }
                    let at = (query.layer, row);
                    let node = lone_chunks::vector(reader, self.judgement.embedder, at)?;
                    let cosine_with =
                        |query: &QueryVector, node: &Vector| cosine(query.vector(), node);
                    let cosines =
                        node.map(|node| (cosine_with(plain, &node), cosine_with(moved, &node)));
                    Ok(cosines.map(|(own, moved)| Nearness::new(own, moved)))
                };
                all.push(hits((reader, query), list, (&near, self.judgement.min_cosine))?);
            }
            Ok(all)
        })
    }

    /// What the query admits of its layer and, where they are read, of chunks and summaries.
    fn admitted(&self, generation: u64) -> Result<HashMap<Layer, Admitted>, KbError> {
        let query = &self.query;
        let admit = |layer: Layer| {
            let excluded = self.store.read(|reader| {
                let mut rows = excluded(reader, &query.exclude, layer)?;
                if layer == Layer::Atom && self.feedback.is_none() {
                    rows.extend(reader.accepted_atoms()?);
                }
                Ok(rows)
            })?;
            let filter = (&query.filter, layer);
            let allowed = self.held.allowed(&self.store, filter, generation)?;
            Ok((layer, Admitted { excluded, allowed }))
        };
        let read = |layer: &Layer| self.layers.contains(layer);
        let others = [Layer::Chunk, Layer::Summary].into_iter().filter(read);
        let layers: HashSet<Layer> = others.chain([query.layer]).collect();
        layers.into_iter().map(admit).collect()
    }
}

/// How rows of a matrix are compared with a query, where there are both.
fn probe<'m>(
    matrix: Option<&'m Arc<Matrix>>,
    query: Option<&'m Arc<QueryVector>>,
) -> Option<Probe<'m>> {
    Some(Probe::new(matrix?, query?))
}

/// How near a node is to the text of a query.
#[derive(Clone, Copy)]
struct Nearness {
    /// The cosine with the vector of the text.
    own: f32,
    /// The greater of it and that with the same vector moved towards those of its tags: what the
    /// tags of the text lead to may be far from its own words.
    greatest: f32,
}

impl Nearness {
    fn new(own: f32, moved: f32) -> Self {
        Self { own, greatest: own.max(moved) }
    }
}

/// How near a row is, where it and the text have vectors.
type Near<'a> = dyn Fn(Row) -> heed::Result<Option<Nearness>> + 'a;

/// The best of a ranked list that are near enough, as hits.
fn hits(
    (reader, query): (&StoreReader<'_>, &Query),
    ranked: Vec<Ranked>,
    (near_of, min_cosine): (&Near<'_>, Option<f32>),
) -> heed::Result<Vec<Hit>> {
    let mut hits = vec![];
    for Ranked { row, score, led_to, parts } in ranked {
        if hits.len() >= query.limit {
            break;
        }
        let near = near_of(row)?;
        let far = near.zip(min_cosine).is_some_and(|(near, least)| near.greatest < least);
        // What has no vector cannot be judged by one, and what a name leads to need not be
        // similar to the question.
        if far && !led_to {
            continue;
        }
        // A row that was replaced since the list was made is no hit.
        if let Some(hit) = reader.hit((query.layer, row))? {
            hits.push(Hit { score, cosine: near.map(|near| near.own), parts, ..hit });
        }
    }
    Ok(hits)
}

/// The rows of a layer that the excluded nodes are or hold.
fn excluded(
    reader: &StoreReader<'_>,
    exclude: &[NodeId],
    layer: Layer,
) -> heed::Result<HashSet<Row>> {
    let mut rows = HashSet::new();
    for (of, id) in exclude.iter().filter_map(parse_id) {
        let Some(row) = reader.find(of, id)? else { continue };
        rows.extend((of == layer).then_some(row));
        let held = reader.record((of, row))?.map_or(0..0, |record| record.chunks(row));
        match layer {
            Layer::Chunk => rows.extend(held),
            Layer::Atom => {
                for chunk in held {
                    rows.extend(reader.atoms_of(chunk)?);
                    rows.extend(reader.accepted_atoms_of(chunk)?);
                }
            }
            _ => {}
        }
    }
    Ok(rows)
}
