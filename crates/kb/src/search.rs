//! Searching: by words, by vectors, by both.
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    BoxError, Catalog, Edge, Embedder, Hit, Knowledge, Layer, MinScore, Mode, NodeId, Query,
    ScorePart, SqlResult, Vector,
};

use crate::filter::Admitted;
use crate::fuse::{depth, fuse};
use crate::store::{Reader, Row, parse_id};
use crate::vectors::{Matrix, cosine};
use crate::words::WordIndex;
use crate::{Base, KbError, Thresholds};

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
        Ok(self.edges_of(id, edge)?.into_iter().map(|seen| (seen.edge, seen.node)).collect())
    }

    async fn run_sql(&self, sql: &str) -> Result<SqlResult, BoxError> {
        Ok(self.compute_beside(sql, crate::SqlLimits::default()).await?)
    }

    async fn catalog(&self) -> Result<Catalog, BoxError> {
        Ok(self.held()?)
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

/// A row in the order of a list.
pub(crate) struct Ranked {
    pub(crate) row: Row,
    pub(crate) score: f32,
    /// Whether it was found by what it names, so that no cosine is asked of it.
    pub(crate) led_to: bool,
    pub(crate) parts: Vec<ScorePart>,
}

impl Plan<'_> {
    /// The rows of the layer searched that may be returned, by BM25.
    pub(crate) fn by_words(&self, text: &str, deep: usize) -> Result<Vec<(Row, f32)>, KbError> {
        let Admitted { excluded, allowed } = &self.admitted;
        let deeper = deep.saturating_add(excluded.len());
        let mut found = self.words.search(text, deeper, allowed.as_ref())?;
        found.retain(|(row, _)| !excluded.contains(row));
        found.truncate(deep);
        Ok(found)
    }
}

/// A search that has all it needs.
pub(crate) struct Plan<'a> {
    pub(crate) query: &'a Query,
    mode: Mode,
    /// The least cosine, where one is asked for.
    least: Option<f32>,
    /// The embedder's number, and each text's vector where one is needed.
    embedder: u8,
    pub(crate) vectors: Vec<Option<Vector>>,
    /// The vectors of the layer searched, in a graph search also of the other of chunks and atoms.
    pub(crate) matrices: HashMap<Layer, Arc<Matrix>>,
    pub(crate) words: Arc<WordIndex>,
    pub(crate) admitted: Admitted,
    /// In a graph search, which chunks may be walked to.
    pub(crate) chunks: Admitted,
}

impl Base {
    async fn find(&self, query: &Query) -> Result<Vec<Vec<Hit>>, KbError> {
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
        self.store.read(|reader| Ok(reader.active_embedder()?.map(|(number, _)| number)))
    }

    async fn find_once(&self, query: &Query) -> Result<Vec<Vec<Hit>>, KbError> {
        self.refresh()?;
        let walks = query.mode == Mode::Graph && matches!(query.layer, Layer::Chunk | Layer::Atom);
        let (admitted, chunks) = self.store.read(|reader| {
            let admitted = |layer: Layer| {
                let excluded = self.excluded(reader, &query.exclude, layer)?;
                let allowed = self.allowed(reader, (&query.filter, layer))?;
                Ok::<_, heed::Error>(Admitted { excluded, allowed })
            };
            let chunks = if walks { admitted(Layer::Chunk)? } else { Admitted::default() };
            Ok((admitted(query.layer)?, chunks))
        })?;
        let wished = match query.mode {
            Mode::Graph if !walks => Mode::Hybrid,
            mode => mode,
        };
        let mut plan = Plan {
            query,
            mode: if walks { Mode::Graph } else { Mode::Bm25 },
            least: None,
            embedder: 0,
            vectors: vec![None; query.texts.len()],
            matrices: HashMap::new(),
            words: self.words_of(query.layer).await?,
            admitted,
            chunks,
        };
        let layers = [Layer::Chunk, Layer::Atom];
        let layers = if walks { &layers[..] } else { std::slice::from_ref(&query.layer) };
        for layer in layers {
            let Some(space) = self.space(*layer)? else { continue };
            plan.embedder = space.number;
            let least = space.least(query);
            if *layer == query.layer {
                plan.mode = wished;
                plan.least = least;
            }
            let compares = wished != Mode::Bm25;
            if (compares || least.is_some()) && plan.vectors.iter().all(Option::is_none) {
                let (embedder, dimensions) = (space.embedder.as_ref(), space.dimensions);
                plan.vectors = self.asked.vectors(embedder, dimensions, &query.texts).await?;
            }
            if compares {
                plan.matrices.insert(*layer, self.matrix(space.number, *layer).await?);
            }
        }
        if wished != Mode::Bm25 && !plan.matrices.contains_key(&query.layer) {
            self.warn_words_only(query.layer)?;
        }
        self.rank(&plan)
    }

    /// The embedder whose vectors are searched, if it is open and the layer has any.
    fn space(&self, layer: Layer) -> Result<Option<Space<'_>>, KbError> {
        self.store.read(|reader| {
            let Some((number, record)) = reader.active_embedder()? else { return Ok(None) };
            let Some((embedder, thresholds)) = self.opened(&record.model) else { return Ok(None) };
            let held = reader.has_vectors(number, layer)?;
            let dimensions = record.dimensions;
            Ok(held.then_some(Space { number, dimensions, embedder, thresholds }))
        })
    }

    fn rank(&self, plan: &Plan<'_>) -> Result<Vec<Vec<Hit>>, KbError> {
        if plan.mode == Mode::Graph {
            return self.walk(plan);
        }
        let Plan { query, mode, admitted, .. } = plan;
        let deep = if *mode == Mode::Hybrid { depth(query.limit) } else { query.limit };
        let mut by_words = vec![vec![]; query.texts.len()];
        if *mode != Mode::Dense {
            for (text, list) in query.texts.iter().zip(&mut by_words) {
                *list = plan.by_words(text, deep)?;
            }
        }
        self.store.read(|reader| {
            let vectors: Vec<&Vector> = plan.vectors.iter().flatten().collect();
            let near = match plan.matrices.get(&query.layer) {
                Some(matrix) => matrix.search(reader, &vectors, deep, admitted)?,
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
                let ranked = ranked.into_iter().map(|(row, score)| Ranked {
                    row,
                    score,
                    led_to: false,
                    parts: vec![],
                });
                lists.push(self.hits(reader, plan, vector.as_ref(), ranked.collect())?);
            }
            Ok(lists)
        })
    }

    /// The best of a ranked list that are near enough, as hits.
    pub(crate) fn hits(
        &self,
        reader: &Reader<'_>,
        plan: &Plan<'_>,
        vector: Option<&Vector>,
        ranked: Vec<Ranked>,
    ) -> heed::Result<Vec<Hit>> {
        let layer = plan.query.layer;
        let mut hits = vec![];
        for Ranked { row, score, led_to, parts } in ranked {
            if hits.len() >= plan.query.limit {
                break;
            }
            let mut near = None;
            if let Some(vector) = vector {
                let node = reader.vector(plan.embedder, layer, row)?;
                near = node.map(|node| cosine(vector, &node));
            }
            // What has no vector cannot be judged by one, and what a name leads to need not be
            // like the question.
            let far = near.zip(plan.least).is_some_and(|(near, least)| near < least);
            if far && !led_to {
                continue;
            }
            // A row that was replaced since the list was made is no hit.
            if let Some(hit) = reader.hit((layer, row))? {
                hits.push(Hit { score, cosine: near, parts, ..hit });
            }
        }
        Ok(hits)
    }

    /// The rows of a layer that the excluded nodes are or hold.
    fn excluded(
        &self,
        reader: &Reader<'_>,
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
}
