//! Searching: what a query needs is loaded, a [`ranker`] orders the rows, the best become hits.
mod feedback;
pub(crate) mod graph;
mod hybrid;
mod job;
mod no_vectors;
mod passages;
#[cfg(test)]
mod passages_tests;
mod ranker;
mod single_chunk;
mod summaries;
mod tags;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    BoxError, Catalog, Edge, Embedder, Hit, Knowledge, Layer, MinScore, Mode, NodeId, PassageQuery,
    Passages, Query, SqlResult, TagMatch,
};

use self::graph::ranker::GraphRanker;
use self::hybrid::Hybrid;
use self::job::{CancelGuard, SearchJob};
use self::ranker::{Bm25, Dense};
use self::single_chunk::may_be_chunks;
use self::summaries::{MAX_INDEXED_SUMMARIES, looks_at_summaries};
use crate::error::run_blocking;
use crate::store::{StoreReader, parse_id};
use crate::{Base, KbError, Thresholds};

pub(crate) use hybrid::depth;
pub use no_vectors::NoVectors;
pub(crate) use ranker::{Ranked, Ranker, Search, VectorUse};
pub(crate) use summaries::{SUMMARIES, SummaryEvidence};

#[async_trait]
impl Knowledge for Base {
    async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError> {
        Ok(self.find(query).await?)
    }

    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError> {
        let hit = self.store.read(|reader| {
            let Some((layer, id)) = parse_id(id) else { return Ok(None) };
            match reader.find(layer, id)? {
                Some(row) => reader.hit((layer, row)),
                None => Ok(None),
            }
        })?;
        hit.ok_or_else(|| KbError::NoNode { id: id.0.clone() }.into())
    }

    async fn neighbours(
        &self,
        id: &NodeId,
        edge: Option<Edge>,
    ) -> Result<Vec<(Edge, Hit)>, BoxError> {
        let ends = self.inspector().edges_of(id, edge)?;
        Ok(ends.into_iter().map(|end| (end.edge, end.node)).collect())
    }

    async fn passages(&self, query: &PassageQuery) -> Result<Passages, BoxError> {
        Ok(self.find_passages(query)?)
    }

    async fn tags(&self, text: &str, near: f32) -> Result<Vec<TagMatch>, BoxError> {
        Ok(self.tags_of(text, near).await?)
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
    /// The usual least cosine of the layer.
    usual: f32,
    /// What cosines weigh.
    weight: f32,
}

impl Space<'_> {
    /// The least cosine that a query asks for.
    fn min_cosine(&self, query: &Query) -> Option<f32> {
        match query.min_score {
            MinScore::Any => None,
            MinScore::At(least) => Some(least),
            MinScore::Usual => Some(self.usual),
            MinScore::UsualLess(by) => Some(self.usual - by),
        }
    }
}

/// How cosines of the hits are computed and judged.
#[derive(Clone, Copy, Default)]
struct Judgement {
    /// The embedder's number.
    embedder: u8,
    /// The least cosine, where one is asked for.
    min_cosine: Option<f32>,
}

/// Whether tags expand a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expand {
    ByTags,
    Nothing,
}

impl Base {
    /// A search of exactly what the query says, by no tag.
    pub(crate) async fn find_plain(&self, query: &Query) -> Result<Vec<Vec<Hit>>, KbError> {
        self.find_once(query, Expand::Nothing).await
    }

    async fn find(&self, query: &Query) -> Result<Vec<Vec<Hit>>, KbError> {
        // A build may switch to another embedder meanwhile and remove the vectors of this one.
        loop {
            let before = self.active()?;
            let lists = self.find_once(query, Expand::ByTags).await?;
            if self.active()? == before {
                return Ok(lists);
            }
        }
    }

    /// The cosine from which nodes of a layer count as near, with the embedder in use; `None` where
    /// the layer has no vectors that are compared.
    pub fn usual_cosine(&self, layer: Layer) -> Result<Option<f32>, KbError> {
        Ok(self.space(layer)?.map(|space| space.usual))
    }

    fn active(&self) -> Result<Option<u8>, KbError> {
        self.store.read(|reader| Ok(reader.active_embedder()?.map(|(number, _)| number)))
    }

    /// The vectors of the texts are waited for here; everything else runs on a thread for blocking
    /// work, and ends early when this is dropped.
    async fn find_once(&self, query: &Query, expand: Expand) -> Result<Vec<Vec<Hit>>, KbError> {
        let job = self.prepare(query, expand).await?;
        let _guard = CancelGuard(Arc::clone(&job.cancelled));
        let place = Arc::clone(&self.searching).acquire_owned().await;
        run_blocking("searching", move || {
            // Held until the work ends, also when no one waits for it any more.
            let _place = place;
            job.run()
        })
        .await
    }

    /// What the query needs of the base, with the vectors of its texts.
    async fn prepare(&self, query: &Query, expand: Expand) -> Result<SearchJob, KbError> {
        let ranker = ranker_for(query);
        let compares = ranker.vectors() != VectorUse::Unused;
        let mut layers = ranker.layers(query.layer);
        if looks_at_summaries(query, &self.options.search, &self.options.graph)
            && self.summaries()? > 0
        {
            layers.push(Layer::Summary);
        }
        let mut job = SearchJob {
            store: self.store.clone(),
            caches: Arc::clone(&self.caches),
            query: query.clone(),
            settings: self.options.search,
            graph: self.options.graph,
            layers: layers.clone(),
            vectors: vec![None; query.texts.len()],
            dense_weight: 1.0,
            indexed: vec![],
            compared: HashMap::new(),
            expand: Expand::Nothing,
            tag_space: None,
            judgement: Judgement::default(),
            feedback: self.finds_feedback(query).then_some(self.options.feedback),
            cancelled: Arc::default(),
        };
        for layer in layers {
            if self.is_indexed(query, layer)? {
                job.indexed.push(layer);
            }
            let Some(space) = self.space(layer)? else { continue };
            job.judgement.embedder = space.number;
            job.dense_weight = space.weight;
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
        if expand == Expand::ByTags && query.layer != Layer::Tag {
            job.expand = Expand::ByTags;
            job.tag_space = self.space(Layer::Tag)?.map(|space| space.number);
        }
        if compares && !job.compared.contains_key(&query.layer) {
            self.warn_lexical_only(query.layer)?;
        }
        Ok(job)
    }

    fn summaries(&self) -> Result<u64, KbError> {
        self.store.read(|reader| reader.count(Layer::Summary))
    }

    /// Whether a search of chunks reads the lexical index of a layer: that of very many summaries
    /// takes too long to make for what it adds to their vectors.
    fn is_indexed(&self, query: &Query, layer: Layer) -> Result<bool, KbError> {
        let is_evidence = layer == Layer::Summary && query.layer != layer;
        Ok(!is_evidence || self.summaries()? <= MAX_INDEXED_SUMMARIES)
    }

    /// Whether a query finds what was accepted from answers.
    fn finds_feedback(&self, query: &Query) -> bool {
        query.filter.feedback.unwrap_or(self.options.feedback.search)
    }

    /// Loads what a search of chunks by graph, the default, holds in memory: names with their
    /// sentences, and the codes of the vectors of chunks and atoms. It blocks, for some seconds with
    /// a million chunks, on all cores; a search that begins meanwhile waits for it instead of
    /// loading the same. Nothing is embedded and no model is called.
    pub fn preload(&self) -> Result<(), KbError> {
        let snapshot = self.caches.refresh(&self.store)?;
        snapshot.graph()?;
        for layer in [Layer::Chunk, Layer::Atom] {
            if let Some(space) = self.space(layer)? {
                snapshot.matrix(space.number, layer)?;
            }
        }
        Ok(())
    }

    /// The embedder whose vectors are searched, if it is open, reads the language of the text, and
    /// the layer has any.
    fn space(&self, layer: Layer) -> Result<Option<Space<'_>>, KbError> {
        self.store.read(|reader| {
            let Some((number, record)) = reader.active_embedder()? else { return Ok(None) };
            let Some((embedder, thresholds)) = self.opened(&record.model) else { return Ok(None) };
            let mut has_vectors = reader.has_vectors(number, layer)?;
            if !has_vectors && may_be_chunks(layer) {
                has_vectors = reader.has_vectors(number, Layer::Chunk)?;
            }
            let dimensions = record.dimensions;
            let thresholds = thresholds.or(reader.calibration(number)?);
            let usual = usual(reader, number, layer, thresholds)?;
            let trust = reader.dense_trust(number)?;
            if trust.is_some_and(|trust| !trust.are_compared()) {
                return Ok(None);
            }
            let weight = trust.map_or(1.0, |trust| trust.weight());
            Ok(has_vectors.then_some(Space { number, dimensions, embedder, usual, weight }))
        })
    }
}

/// The usual least cosine of a layer. One that has not been measured has that of chunks; in a base
/// too small to be measured only the sign is known to mean something.
fn usual(
    reader: &StoreReader<'_>,
    embedder: u8,
    layer: Layer,
    calibrated: Thresholds,
) -> heed::Result<f32> {
    let chunk = calibrated.chunk.unwrap_or(0.0);
    Ok(match layer {
        Layer::Chunk => chunk,
        Layer::Atom => calibrated.atom.unwrap_or(0.0),
        _ => reader.layer_threshold(embedder, layer)?.unwrap_or(chunk),
    })
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
