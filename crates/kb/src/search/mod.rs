//! Searching: what a query needs is loaded, a [`ranker`] orders the rows, the best become hits.
mod bm25;
mod codes;
mod dense;
pub(crate) mod filter;
pub(crate) mod filter_cache;
mod hybrid;
pub(crate) mod matrix;
pub(crate) mod query_vectors;
mod ranker;
mod scan;
mod settings;
mod simd;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use halma_core::{
    BoxError, Catalog, Edge, Embedder, Hit, Knowledge, Layer, MinScore, Mode, NodeId, Query,
    SqlResult, Vector,
};

use self::bm25::Bm25;
use self::dense::Dense;
use self::filter::Admitted;
use self::hybrid::Hybrid;
use self::matrix::{Probe, cosine};
use crate::error::run_blocking;
use crate::graph::GraphRanker;
use crate::held::Held;
use crate::store::{Row, Store, StoreReader, parse_id};
use crate::{Base, KbError, Thresholds};

pub(crate) use hybrid::depth;
pub(crate) use ranker::{Ranked, Ranker, Search, VectorUse};
pub use settings::{GraphSettings, SearchSettings};

#[async_trait]
impl Knowledge for Base {
    async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError> {
        Ok(self.find(query).await?)
    }

    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError> {
        let found = self.store.read(|reader| {
            let Some((layer, id)) = parse_id(id) else { return Ok(None) };
            match reader.find(layer, id)? {
                Some(row) => reader.hit((layer, row)),
                None => Ok(None),
            }
        })?;
        found.ok_or_else(|| KbError::NoNode { id: id.0.clone() }.into())
    }

    async fn neighbours(
        &self,
        id: &NodeId,
        edge: Option<Edge>,
    ) -> Result<Vec<(Edge, Hit)>, BoxError> {
        let ends = self.inspector().edges_of(id, edge)?;
        Ok(ends.into_iter().map(|end| (end.edge, end.node)).collect())
    }

    async fn run_sql(&self, sql: &str) -> Result<SqlResult, BoxError> {
        Ok(self.run_sql_blocking(sql, crate::SqlLimits::default()).await?)
    }

    async fn catalog(&self) -> Result<Catalog, BoxError> {
        Ok(self.table_catalog()?)
    }
}

/// The vector space that a layer is compared in.
struct Space<'a> {
    /// The embedder's number.
    number: u8,
    dimensions: u32,
    embedder: &'a Arc<dyn Embedder>,
    thresholds: Thresholds,
}

impl Space<'_> {
    /// The least cosine that a query asks for.
    fn min_cosine(&self, query: &Query) -> Option<f32> {
        match query.min_score {
            MinScore::Any => None,
            MinScore::At(least) => Some(least),
            // In a base too small to be measured only the sign is known to mean something.
            MinScore::Usual if query.layer == Layer::Atom => {
                Some(self.thresholds.atom.unwrap_or(0.0))
            }
            MinScore::Usual => Some(self.thresholds.chunk.unwrap_or(0.0)),
        }
    }
}

/// How cosines of the hits are computed and judged.
#[derive(Default)]
struct Judgement {
    /// The embedder's number.
    embedder: u8,
    /// The least cosine, where one is asked for.
    min_cosine: Option<f32>,
}

impl Base {
    async fn find(&self, query: &Query) -> Result<Vec<Vec<Hit>>, KbError> {
        // A build may switch to another embedder meanwhile and remove the vectors of this one.
        loop {
            let before = self.active()?;
            let lists = self.find_once(query).await?;
            if self.active()? == before {
                return Ok(lists);
            }
        }
    }

    fn active(&self) -> Result<Option<u8>, KbError> {
        self.store.read(|reader| Ok(reader.active_embedder()?.map(|(number, _)| number)))
    }

    /// The vectors of the texts are waited for here; everything else runs on a thread for blocking
    /// work, and ends early when this is dropped.
    async fn find_once(&self, query: &Query) -> Result<Vec<Vec<Hit>>, KbError> {
        let ranker = ranker_for(query);
        let compares = ranker.vectors() != VectorUse::Unused;
        let mut job = SearchJob {
            store: self.store.clone(),
            held: Arc::clone(&self.held),
            query: query.clone(),
            settings: (self.search, self.graph),
            vectors: vec![None; query.texts.len()],
            compared: HashMap::new(),
            judgement: Judgement::default(),
            cancelled: Arc::default(),
        };
        for layer in ranker.layers(query.layer) {
            let Some(space) = self.space(layer)? else { continue };
            job.judgement.embedder = space.number;
            let min_cosine = space.min_cosine(query);
            if layer == query.layer {
                job.judgement.min_cosine = min_cosine;
            }
            if (compares || min_cosine.is_some()) && job.vectors.iter().all(Option::is_none) {
                let (embedder, dimensions) = (space.embedder.as_ref(), space.dimensions);
                let cache = &self.query_vectors;
                job.vectors = cache.vectors(embedder, dimensions, &query.texts).await?;
            }
            if compares {
                job.compared.insert(layer, space.number);
            }
        }
        if compares && !job.compared.contains_key(&query.layer) {
            self.warn_lexical_only(query.layer)?;
        }
        let _guard = CancelGuard(Arc::clone(&job.cancelled));
        let place = Arc::clone(&self.searching).acquire_owned().await;
        run_blocking("searching", move || {
            // Held until the work ends, also when no one waits for it any more.
            let _place = place;
            job.run()
        })
        .await
    }

    /// The embedder whose vectors are searched, if it is open and the layer has any.
    fn space(&self, layer: Layer) -> Result<Option<Space<'_>>, KbError> {
        self.store.read(|reader| {
            let Some((number, record)) = reader.active_embedder()? else { return Ok(None) };
            let Some((embedder, thresholds)) = self.opened(&record.model) else { return Ok(None) };
            let held = reader.has_vectors(number, layer)?;
            let dimensions = record.dimensions;
            let thresholds = thresholds.or(reader.calibration(number)?);
            Ok(held.then_some(Space { number, dimensions, embedder, thresholds }))
        })
    }
}

/// Says that no one waits any more, when it is dropped.
struct CancelGuard(Arc<AtomicBool>);

impl Drop for CancelGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A search on a thread of its own.
struct SearchJob {
    store: Store,
    held: Arc<Held>,
    query: Query,
    settings: (SearchSettings, GraphSettings),
    vectors: Vec<Option<Vector>>,
    /// The layers whose vectors are compared, with the embedder.
    compared: HashMap<Layer, u8>,
    judgement: Judgement,
    cancelled: Arc<AtomicBool>,
}

impl SearchJob {
    fn run(self) -> Result<Vec<Vec<Hit>>, KbError> {
        let (store, held, query) = (&self.store, &self.held, &self.query);
        let ranker = ranker_for(query);
        let layers = ranker.layers(query.layer);
        let generation = held.refresh(store)?;
        let mut search = Search {
            store,
            query,
            settings: self.settings.0,
            graph: self.settings.1,
            graph_cache: match ranker.walks() {
                true => held.graph(store, generation)?,
                false => Arc::default(),
            },
            vectors: &self.vectors,
            matrices: HashMap::new(),
            indexes: HashMap::new(),
            admitted: self.admitted(&layers, generation)?,
            cancelled: &self.cancelled,
        };
        for layer in layers {
            search.indexes.insert(layer, held.lexical(store, layer, generation)?);
        }
        for (layer, embedder) in &self.compared {
            let matrix = held.matrix(store, (*embedder, *layer), generation)?;
            search.matrices.insert(*layer, matrix);
        }
        let has_vectors = search.matrices.contains_key(&query.layer);
        let lists = match ranker.vectors() {
            VectorUse::Required if !has_vectors => Bm25.rank(&search)?,
            _ => ranker.rank(&search)?,
        };
        let probes = |vector: &Option<Vector>| {
            let matrix = search.matrices.get(&query.layer);
            vector.as_ref().zip(matrix).map(|(vector, matrix)| Probe::new(matrix, vector))
        };
        store.read(|reader| {
            let mut all = vec![];
            for (list, vector) in lists.into_iter().zip(&self.vectors) {
                let probe = probes(vector);
                let cosine = |row: Row| match (&probe, vector) {
                    (Some(probe), _) => Ok(probe.cosine(row)),
                    (None, Some(vector)) => {
                        let node = reader.vector(self.judgement.embedder, query.layer, row)?;
                        Ok(node.map(|node| cosine(vector, &node)))
                    }
                    (None, None) => Ok(None),
                };
                all.push(hits((reader, query), list, (&cosine, self.judgement.min_cosine))?);
            }
            Ok(all)
        })
    }

    /// What the query admits of its layer and, where they are read, of the chunks.
    fn admitted(
        &self,
        layers: &[Layer],
        generation: u64,
    ) -> Result<HashMap<Layer, Admitted>, KbError> {
        let query = &self.query;
        let chunks = layers.contains(&Layer::Chunk).then_some(Layer::Chunk);
        let admit = |layer: Layer| {
            let excluded = self.store.read(|reader| excluded(reader, &query.exclude, layer))?;
            let filter = (&query.filter, layer);
            let allowed = self.held.allowed(&self.store, filter, generation)?;
            Ok((layer, Admitted { excluded, allowed }))
        };
        let layers: HashSet<Layer> = chunks.into_iter().chain([query.layer]).collect();
        layers.into_iter().map(admit).collect()
    }
}

/// The ranker of each mode.
fn ranker_for(query: &Query) -> &'static (dyn Ranker + Sync) {
    match query.mode {
        Mode::Bm25 => &Bm25,
        Mode::Dense => &Dense,
        Mode::Graph if matches!(query.layer, Layer::Chunk | Layer::Atom) => &GraphRanker,
        Mode::Hybrid | Mode::Graph => &Hybrid,
    }
}

/// The cosine of a row with the text of a query, where both have vectors.
type Cosine<'a> = dyn Fn(Row) -> heed::Result<Option<f32>> + 'a;

/// The best of a ranked list that are near enough, as hits.
fn hits(
    (reader, query): (&StoreReader<'_>, &Query),
    ranked: Vec<Ranked>,
    (cosine, min_cosine): (&Cosine<'_>, Option<f32>),
) -> heed::Result<Vec<Hit>> {
    let mut hits = vec![];
    for Ranked { row, score, led_to, parts } in ranked {
        if hits.len() >= query.limit {
            break;
        }
        let near = cosine(row)?;
        let far = near.zip(min_cosine).is_some_and(|(near, least)| near < least);
        // What has no vector cannot be judged by one, and what a name leads to need not be
        // similar to the question.
        if far && !led_to {
            continue;
        }
        // A row that was replaced since the list was made is no hit.
        if let Some(hit) = reader.hit((query.layer, row))? {
            hits.push(Hit { score, cosine: near, parts, ..hit });
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
                }
            }
            _ => {}
        }
    }
    Ok(rows)
}
