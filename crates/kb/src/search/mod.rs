//! Searching: what a query needs is loaded, a [`ranker`] orders the rows, the best become hits.
mod bm25;
mod codes;
mod dense;
pub(crate) mod filter;
mod hybrid;
pub(crate) mod matrix;
pub(crate) mod query_vectors;
mod ranker;
mod settings;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    BoxError, Catalog, Edge, Embedder, Hit, Knowledge, Layer, MinScore, Mode, NodeId, Query,
    SqlResult, TagMatch, Vector,
};

use self::bm25::Bm25;
use self::dense::Dense;
use self::filter::Admitted;
use self::hybrid::Hybrid;
use self::matrix::cosine;
use crate::graph::GraphRanker;
use crate::store::{Row, StoreReader, TagRecord, node_id, parse_id};
use crate::tags::{Expansion, NamedTag, expansion};
use crate::{Base, KbError, Thresholds};

pub(crate) use hybrid::depth;
pub(crate) use ranker::{Ranked, Ranker, Search, VectorUse};
pub use settings::{GraphSettings, SearchSettings};

/// Tags that a question is near to, at most.
const NEAR_TAGS: usize = 4;

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

    fn active(&self) -> Result<Option<u8>, KbError> {
        self.store.read(|reader| Ok(reader.active_embedder()?.map(|(number, _)| number)))
    }

    async fn find_once(&self, query: &Query, expand: Expand) -> Result<Vec<Vec<Hit>>, KbError> {
        self.refresh()?;
        let ranker = ranker_for(query);
        let (layers, compares) =
            (ranker.layers(query.layer), ranker.vectors() != VectorUse::Unused);
        let mut search = Search {
            store: &self.store,
            query,
            settings: self.search,
            graph: self.graph,
            graph_cache: self.graph_cache(),
            vectors: vec![None; query.texts.len()],
            expansions: vec![],
            matrices: HashMap::new(),
            indexes: HashMap::new(),
            admitted: self.admitted(query, &layers)?,
        };
        let mut judgement = Judgement::default();
        for layer in &layers {
            search.indexes.insert(*layer, self.lexical(*layer).await?);
            let Some(space) = self.space(*layer)? else { continue };
            judgement.embedder = space.number;
            let min_cosine = space.min_cosine(query);
            if *layer == query.layer {
                judgement.min_cosine = min_cosine;
            }
            if (compares || min_cosine.is_some()) && search.vectors.iter().all(Option::is_none) {
                let (embedder, dimensions) = (space.embedder.as_ref(), space.dimensions);
                let cache = &self.query_vectors;
                search.vectors = cache.vectors(embedder, dimensions, &query.texts).await?;
            }
            if compares {
                search.matrices.insert(*layer, self.matrix(space.number, *layer).await?);
            }
        }
        let plain = search.vectors.clone();
        if expand == Expand::ByTags && query.layer != Layer::Tag {
            self.expand_by_tags(&mut search).await?;
        }
        let has_vectors = search.matrices.contains_key(&query.layer);
        if compares && !has_vectors {
            self.warn_lexical_only(query.layer)?;
        }
        let lists = match ranker.vectors() {
            VectorUse::Required if !has_vectors => Bm25.rank(&search)?,
            _ => ranker.rank(&search)?,
        };
        self.store.read(|reader| {
            let mut all = vec![];
            for ((list, plain), moved) in lists.into_iter().zip(&plain).zip(&search.vectors) {
                let judge = |(plain, moved)| Comparison { plain, moved, by: &judgement };
                let compared = plain.as_ref().zip(moved.as_ref()).map(judge);
                all.push(hits(reader, query, list, compared)?);
            }
            Ok(all)
        })
    }

    /// Adds to each text of a search what its tags say, in a base that has tags.
    async fn expand_by_tags(&self, search: &mut Search<'_>) -> Result<(), KbError> {
        let by = self.search.tags;
        if by <= 0.0 && self.graph.tags <= 0.0 {
            return Ok(());
        }
        let texts = search.query.texts.iter().zip(search.vectors.clone());
        let texts: Vec<(&str, Option<Vector>)> =
            texts.map(|(text, vector)| (text.as_str(), vector)).collect();
        let mut expansions = self.expansions(&texts, self.search.tag_score).await?;
        let number = self.active()?;
        for (expansion, vector) in expansions.iter_mut().zip(&mut search.vectors) {
            expansion.terms.iter_mut().for_each(|(_, weight)| *weight *= by);
            expansion.terms.retain(|(_, weight)| *weight > 0.0);
            let Some((vector, number)) = vector.as_mut().zip(number) else { continue };
            let tags = self.store.read(|reader| {
                let mut tags = vec![];
                for tag in &expansion.tags {
                    let held = reader.vector(number, Layer::Tag, tag.row)?;
                    tags.extend(held.map(|held| (tag.weight, held)));
                }
                Ok(tags)
            })?;
            *vector = expansion.moved(vector, &tags, by);
        }
        search.expansions = expansions;
        Ok(())
    }

    async fn tags_of(&self, text: &str, near: f32) -> Result<Vec<TagMatch>, KbError> {
        self.refresh()?;
        let vector = match self.space(Layer::Tag)? {
            Some(Space { embedder, dimensions, .. }) => {
                let texts = [text.to_owned()];
                let cache = &self.query_vectors;
                cache.vectors(embedder.as_ref(), dimensions, &texts).await?.remove(0)
            }
            None => None,
        };
        let expansions = self.expansions(&[(text, vector)], near).await?;
        self.store.read(|reader| {
            let mut tags = vec![];
            for NamedTag { row, weight, through } in expansions.into_iter().flat_map(|e| e.tags) {
                let Some(record) = reader.node::<TagRecord>(row)? else { continue };
                let id = node_id(Layer::Tag, record.id);
                tags.push(TagMatch { id, name: record.name, weight, through });
            }
            Ok(tags)
        })
    }

    /// The tags of each text with what they add to it; nothing in a base without tags. `score` is
    /// the least cosine of a tag that the text does not name.
    pub(crate) async fn expansions(
        &self,
        texts: &[(&str, Option<Vector>)],
        score: f32,
    ) -> Result<Vec<Expansion>, KbError> {
        if self.store.read(|reader| reader.count(Layer::Tag))? == 0 {
            return Ok(vec![]);
        }
        let index = self.tag_index().await?;
        let matrix = match self.space(Layer::Tag)? {
            Some(space) => Some(self.matrix(space.number, Layer::Tag).await?),
            None => None,
        };
        let near = |vector: &Option<Vector>| {
            let (Some(matrix), Some(vector)) = (&matrix, vector) else { return vec![] };
            let near = matrix.near(&[vector], NEAR_TAGS, &Admitted::default()).concat();
            let near = near.into_iter().filter(|(_, cosine)| *cosine >= score);
            let tag = |(row, weight)| NamedTag { row, weight, through: String::new() };
            near.map(tag).collect()
        };
        Ok(texts.iter().map(|(text, vector)| expansion(&index, text, near(vector))).collect())
    }

    /// What a query admits of its layer and, where they are read, of the chunks.
    fn admitted(
        &self,
        query: &Query,
        layers: &[Layer],
    ) -> Result<HashMap<Layer, Admitted>, KbError> {
        let chunks = layers.contains(&Layer::Chunk).then_some(Layer::Chunk);
        self.store.read(|reader| {
            let admit = |layer: Layer| {
                let excluded = excluded(reader, &query.exclude, layer)?;
                let allowed = self.allowed(reader, &query.filter, layer)?;
                Ok((layer, Admitted { excluded, allowed }))
            };
            let layers: HashSet<Layer> = chunks.into_iter().chain([query.layer]).collect();
            layers.into_iter().map(admit).collect()
        })
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

/// The ranker of each mode.
fn ranker_for(query: &Query) -> &'static (dyn Ranker + Sync) {
    match query.mode {
        Mode::Bm25 => &Bm25,
        Mode::Dense => &Dense,
        Mode::Graph if matches!(query.layer, Layer::Chunk | Layer::Atom) => &GraphRanker,
        Mode::Hybrid | Mode::Graph => &Hybrid,
    }
}

/// What hits are compared with.
struct Comparison<'a> {
    /// The vector of the text.
    plain: &'a Vector,
    /// The same, moved towards the vectors of its tags.
    moved: &'a Vector,
    by: &'a Judgement,
}

/// The best of a ranked list that are near enough, as hits.
fn hits(
    reader: &StoreReader<'_>,
    query: &Query,
    ranked: Vec<Ranked>,
    compared: Option<Comparison<'_>>,
) -> heed::Result<Vec<Hit>> {
    let mut hits = vec![];
    for Ranked { row, score, led_to, parts } in ranked {
        if hits.len() >= query.limit {
            break;
        }
        let (mut near, mut far) = (None, false);
        if let Some(Comparison { plain, moved, by }) = &compared {
            let node = reader.vector(by.embedder, query.layer, row)?;
            near = node.as_ref().map(|node| cosine(plain, node));
            // What the tags of the text lead to may be far from its own words.
            let nearest = node.map(|node| cosine(plain, &node).max(cosine(moved, &node)));
            far = nearest.zip(by.min_cosine).is_some_and(|(near, least)| near < least);
        }
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
