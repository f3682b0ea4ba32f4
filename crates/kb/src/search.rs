//! Searching: by words, by vectors, by both.
use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    BoxError, Computed, Edge, EmbedRole, Embedder, Hit, Knowledge, Layer, MinScore, Mode, NodeId,
    Query, Vector,
};

use crate::fuse::{depth, fuse};
use crate::store::{DocumentRecord, Reading, Row, SectionRecord, parse_id};
use crate::vectors::{Matrix, cosine};
use crate::{Base, KbError, Thresholds};

#[async_trait]
impl Knowledge for Base {
    async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError> {
        Ok(self.find(query).await?)
    }

    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError> {
        let found = self.store.read(|txn| {
            let Some((layer, id)) = parse_id(id) else { return Ok(None) };
            match self.store.find(txn, layer, id)? {
                Some(row) => self.resolve(txn, layer, row),
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
        Ok(self.edges_of(id, edge)?.into_iter().map(|seen| (seen.edge, seen.node)).collect())
    }

    async fn compute(&self, sql: &str) -> Result<Computed, BoxError> {
        Ok(self.compute_beside(sql, crate::SqlLimits::default()).await?)
    }
}

/// The space that vectors are compared in.
struct Space<'a> {
    number: u8,
    dimensions: u32,
    embedder: &'a Arc<dyn Embedder>,
    thresholds: Thresholds,
}

impl Space<'_> {
    /// The least cosine that a query asks for.
    fn least(&self, query: &Query) -> Option<f32> {
        match query.min_score {
            MinScore::Any => None,
            MinScore::At(least) => Some(least),
            MinScore::Usual if query.layer == Layer::Atom => Some(self.thresholds.atom),
            MinScore::Usual => Some(self.thresholds.chunk),
        }
    }
}

/// One vector for each text that has words, in one call.
async fn embed_queries(
    space: &Space<'_>,
    texts: &[String],
) -> Result<Vec<Option<Vector>>, KbError> {
    let asked: Vec<&str> =
        texts.iter().map(String::as_str).filter(|text| !text.trim().is_empty()).collect();
    if asked.is_empty() {
        return Ok(vec![None; texts.len()]);
    }
    let model = || space.embedder.model().to_owned();
    let found = space
        .embedder
        .embed(&asked, EmbedRole::Query)
        .await
        .map_err(|source| KbError::Embed { model: model(), source })?;
    let fits = |vector: &Vector| u32::try_from(vector.len()) == Ok(space.dimensions);
    if found.len() != asked.len() || !found.iter().all(fits) {
        let (asked, got) = (asked.len(), found.len());
        return Err(KbError::BadVectors { model: model(), asked, got });
    }
    let mut found = found.into_iter();
    Ok(texts.iter().map(|text| if text.trim().is_empty() { None } else { found.next() }).collect())
}

/// A search that has all it needs.
struct Plan<'a> {
    query: &'a Query,
    mode: Mode,
    /// The least cosine, where one is asked for.
    least: Option<f32>,
    /// The embedder's number, and each text's vector where one is needed.
    embedder: u8,
    vectors: Vec<Option<Vector>>,
    matrix: Option<Arc<Matrix>>,
}

impl Base {
    async fn find(&self, query: &Query) -> Result<Vec<Vec<Hit>>, KbError> {
        self.words(query.layer)?;
        // A build may switch to another embedder meanwhile and forget the vectors of this one.
        loop {
            let before = self.active()?;
            let lists = self.find_once(query).await?;
            if self.active()? == before {
                return Ok(lists);
            }
        }
    }

    fn active(&self) -> Result<Option<u8>, KbError> {
        self.store.read(|txn| Ok(self.store.active_embedder(txn)?.map(|(number, _)| number)))
    }

    async fn find_once(&self, query: &Query) -> Result<Vec<Vec<Hit>>, KbError> {
        self.refresh()?;
        let mut plan = Plan {
            query,
            mode: Mode::Bm25,
            least: None,
            embedder: 0,
            vectors: vec![None; query.texts.len()],
            matrix: None,
        };
        match self.space(query.layer)? {
            Some(space) => {
                plan.embedder = space.number;
                plan.mode = query.mode;
                plan.least = space.least(query);
                if query.mode != Mode::Bm25 || plan.least.is_some() {
                    plan.vectors = embed_queries(&space, &query.texts).await?;
                }
                if query.mode != Mode::Bm25 {
                    plan.matrix = Some(self.matrix(space.number, query.layer).await?);
                }
            }
            None if query.mode != Mode::Bm25 => self.warn_words_only(query.layer)?,
            None => {}
        }
        self.rank(&plan)
    }

    /// The embedder whose vectors are searched, if it is open and the layer has any.
    fn space(&self, layer: Layer) -> Result<Option<Space<'_>>, KbError> {
        self.store.read(|txn| {
            let Some((number, record)) = self.store.active_embedder(txn)? else { return Ok(None) };
            let Some((embedder, thresholds)) = self.opened(&record.model) else { return Ok(None) };
            let held = self.store.has_vectors(txn, number, layer)?;
            let dimensions = record.dimensions;
            Ok(held.then_some(Space { number, dimensions, embedder, thresholds }))
        })
    }

    fn rank(&self, plan: &Plan<'_>) -> Result<Vec<Vec<Hit>>, KbError> {
        let Plan { query, mode, matrix, .. } = plan;
        let excluded = self.store.read(|txn| self.excluded(txn, &query.exclude, query.layer))?;
        let deep = if *mode == Mode::Hybrid { depth(query.limit) } else { query.limit };
        let words = self.words(query.layer)?;
        let mut by_words = vec![vec![]; query.texts.len()];
        if *mode != Mode::Dense {
            for (text, list) in query.texts.iter().zip(&mut by_words) {
                *list = words.search(text, deep.saturating_add(excluded.len()))?;
                list.retain(|(row, _)| !excluded.contains(row));
                list.truncate(deep);
            }
        }
        self.store.read(|txn| {
            let vectors: Vec<&Vector> = plan.vectors.iter().flatten().collect();
            let near = match matrix {
                Some(matrix) => matrix.search((&self.store, txn), &vectors, deep, &excluded)?,
                None => vec![],
            };
            let mut near = near.into_iter();
            let mut lists = vec![];
            for (vector, by_words) in plan.vectors.iter().zip(by_words) {
                let near = vector.as_ref().and_then(|_| near.next()).unwrap_or_default();
                let ranked = match mode {
                    Mode::Bm25 => by_words,
                    Mode::Dense => near,
                    Mode::Hybrid | Mode::Graph => fuse(&near, &by_words),
                };
                lists.push(self.hits(txn, plan, vector.as_ref(), &ranked)?);
            }
            Ok(lists)
        })
    }

    /// The best of a ranked list that are near enough, as hits.
    fn hits(
        &self,
        txn: &Reading<'_>,
        plan: &Plan<'_>,
        vector: Option<&Vector>,
        ranked: &[(Row, f32)],
    ) -> heed::Result<Vec<Hit>> {
        let layer = plan.query.layer;
        let mut hits = vec![];
        for (row, score) in ranked {
            if hits.len() >= plan.query.limit {
                break;
            }
            let mut near = None;
            if let Some(vector) = vector {
                let node = self.store.vector(txn, plan.embedder, layer, *row)?;
                near = node.map(|node| cosine(vector, &node));
            }
            // What has no vector cannot be judged by one.
            if near.zip(plan.least).is_some_and(|(near, least)| near < least) {
                continue;
            }
            // A row that was replaced since the list was made is no hit.
            if let Some(hit) = self.resolve(txn, layer, *row)? {
                hits.push(Hit { score: *score, cosine: near, ..hit });
            }
        }
        Ok(hits)
    }

    /// The rows of a layer that the excluded nodes are or hold.
    fn excluded(
        &self,
        txn: &Reading<'_>,
        exclude: &[NodeId],
        layer: Layer,
    ) -> heed::Result<HashSet<Row>> {
        let store = &self.store;
        let mut rows = HashSet::new();
        for (of, id) in exclude.iter().filter_map(parse_id) {
            let Some(row) = store.find(txn, of, id)? else { continue };
            let chunks = match of {
                Layer::Document => {
                    let record: DocumentRecord = store.linked(txn, row)?;
                    record.chunks.0..record.chunks.1
                }
                Layer::Section => {
                    let record: SectionRecord = store.linked(txn, row)?;
                    record.chunks.0..record.chunks.1
                }
                Layer::Chunk => row..row + 1,
                other => {
                    rows.extend((layer == other).then_some(row));
                    continue;
                }
            };
            if layer == Layer::Chunk {
                rows.extend(chunks);
                continue;
            }
            for chunk in chunks {
                rows.extend(store.atoms_of(txn, chunk)?);
            }
        }
        Ok(rows)
    }
}
