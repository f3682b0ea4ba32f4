//! A search on a thread of its own: what it needs is brought up to date, a ranker orders the rows,
//! the best become hits.
mod nearness;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use halma_core::{Hit, Layer, NodeId, Query, Vector};

use self::nearness::TextVectors;
use super::ranker::{Bm25, Ranked, Ranker, Search, VectorUse};
use super::tags::{TagSource, expand_by_tags};
use super::{Expand, Judgement, ranker_for};
use crate::memory::{SearchCache, Snapshot};
use crate::store::{Admitted, Row, Store, StoreReader, parse_id};
use crate::vectors::QueryVector;
use crate::{FeedbackSettings, GraphSettings, KbError, SearchSettings};

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
    pub(super) caches: Arc<SearchCache>,
    pub(super) query: Query,
    pub(super) settings: SearchSettings,
    pub(super) graph: GraphSettings,
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
        let snapshot = self.caches.refresh(&self.store)?;
        let prepared = |vector: &Option<Vector>| Some(Arc::new(QueryVector::new(vector.as_ref()?)));
        let queries: Vec<Option<Arc<QueryVector>>> = self.vectors.iter().map(prepared).collect();
        let mut search = self.load(snapshot, queries.clone())?;
        if self.expand == Expand::ByTags {
            let tags = TagSource { snapshot, embedder: self.tag_space };
            expand_by_tags(&tags, &mut search)?;
        }
        let lists = self.rank(snapshot, &search)?;
        let matrix = search.matrices.get(&self.query.layer);
        self.store.read(|reader| {
            let mut all = vec![];
            for ((list, query), moved) in lists.into_iter().zip(&queries).zip(&search.vectors) {
                let vectors = query.as_ref().zip(moved.as_ref());
                let vectors = vectors.map(|(query, moved)| TextVectors::new(query, moved, matrix));
                all.push(self.hits(reader, list, vectors.as_ref())?);
            }
            Ok(all)
        })
    }

    /// Everything that rankers need.
    fn load<'a>(
        &'a self,
        snapshot: Snapshot<'a>,
        vectors: Vec<Option<Arc<QueryVector>>>,
    ) -> Result<Search<'a>, KbError> {
        let follows_names = ranker_for(&self.query).walks();
        let graph_cache = if follows_names { snapshot.graph()? } else { Arc::default() };
        let (mut indexes, mut matrices) = (HashMap::new(), HashMap::new());
        for layer in &self.indexed {
            indexes.insert(*layer, snapshot.lexical(*layer)?);
        }
        for (layer, embedder) in &self.compared {
            matrices.insert(*layer, snapshot.matrix(*embedder, *layer)?);
        }
        Ok(Search {
            store: &self.store,
            query: &self.query,
            settings: self.settings,
            graph: self.graph,
            graph_cache,
            dense_weight: self.dense_weight,
            vectors,
            expansions: vec![],
            matrices,
            indexes,
            admitted: self.admitted(snapshot)?,
            cancelled: &self.cancelled,
        })
    }

    /// The ranked list of each text, with what feedback says of it.
    fn rank(&self, state: Snapshot<'_>, search: &Search<'_>) -> Result<Vec<Vec<Ranked>>, KbError> {
        let layer = self.query.layer;
        let ranker = ranker_for(&self.query);
        let has_vectors = search.matrices.contains_key(&layer);
        let mut lists = match ranker.vectors() {
            VectorUse::Required if !has_vectors => Bm25.rank(search)?,
            _ => ranker.rank(search)?,
        };
        if let Some(settings) = self.feedback.filter(|_| layer == Layer::Chunk) {
            state.feedback()?.weigh(search, &settings, &mut lists);
        }
        Ok(lists)
    }

    /// What the query admits of its layer and, where they are read, of chunks and summaries.
    fn admitted(&self, snapshot: Snapshot<'_>) -> Result<HashMap<Layer, Admitted>, KbError> {
        let query = &self.query;
        let admit = |layer: Layer| {
            let excluded = self.store.read(|reader| {
                let mut rows = excluded(reader, &query.exclude, layer)?;
                if layer == Layer::Atom && self.feedback.is_none() {
                    rows.extend(reader.accepted_atoms()?);
                }
                Ok(rows)
            })?;
            Ok((layer, Admitted { excluded, allowed: snapshot.allowed(&query.filter, layer)? }))
        };
        let read = |layer: &Layer| self.layers.contains(layer);
        let others = [Layer::Chunk, Layer::Summary].into_iter().filter(read);
        let layers: HashSet<Layer> = others.chain([query.layer]).collect();
        layers.into_iter().map(admit).collect()
    }

    /// The best of a ranked list that are near enough, as hits; `vectors` are those of its text.
    fn hits(
        &self,
        reader: &StoreReader<'_>,
        ranked: Vec<Ranked>,
        vectors: Option<&TextVectors<'_>>,
    ) -> heed::Result<Vec<Hit>> {
        let Judgement { embedder, min_cosine } = self.judgement;
        let mut hits = vec![];
        for Ranked { row, score, led_to, parts } in ranked {
            if hits.len() >= self.query.limit {
                break;
            }
            let at = (self.query.layer, row);
            let near = match vectors {
                Some(vectors) => vectors.nearness(reader, embedder, at)?,
                None => None,
            };
            let far = near.zip(min_cosine).is_some_and(|(near, least)| near.greatest < least);
            // What has no vector cannot be judged by one, and what a name leads to need not be
            // similar to the question.
            if far && !led_to {
                continue;
            }
            // A row that was replaced since the list was made is no hit.
            if let Some(hit) = reader.hit(at)? {
                hits.push(Hit { score, cosine: near.map(|near| near.original), parts, ..hit });
            }
        }
        Ok(hits)
    }
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
        let chunks = reader.record((of, row))?.map_or(0..0, |record| record.chunks(row));
        match layer {
            Layer::Chunk => rows.extend(chunks),
            Layer::Atom => {
                for chunk in chunks {
                    rows.extend(reader.atoms_of(chunk)?);
                    rows.extend(reader.accepted_atoms_of(chunk)?);
                }
            }
            _ => {}
        }
    }
    Ok(rows)
}
