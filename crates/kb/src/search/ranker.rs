//! A search mode is one [`Ranker`] over a [`Search`] whose data is loaded.
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use halma_core::{Layer, Query, ScorePart};

use super::single_chunk::may_be_chunks;
use crate::lexical::{LexicalIndex, LexicalQuery};
use crate::memory::{Expansion, GraphCache};
use crate::store::{Admitted, Row, Store};
use crate::vectors::{Matrix, Near, NearRequest, QueryVector};
use crate::{GraphSettings, KbError, SearchSettings};

/// A way of ordering the nodes of a layer.
pub(crate) trait Ranker {
    /// Whether it compares vectors.
    fn vectors(&self) -> VectorUse {
        VectorUse::Required
    }

    /// The layers whose indexes and vectors it reads when this one is searched.
    fn layers(&self, searched: Layer) -> Vec<Layer> {
        if may_be_chunks(searched) { vec![searched, Layer::Chunk] } else { vec![searched] }
    }

    /// For each text of the query the rows of the layer searched that are admitted, best first. At
    /// least as many as the limit where there are as many.
    fn rank(&self, search: &Search<'_>) -> Result<Vec<Vec<Ranked>>, KbError>;

    /// Whether it follows names.
    fn walks(&self) -> bool {
        false
    }
}

/// What a mode does with vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VectorUse {
    Unused,
    /// Where the layer has none, it is searched by BM25 instead.
    Required,
    /// Compared where there are some.
    Optional,
}

/// A row in the order of a list.
pub(crate) struct Ranked {
    pub(crate) row: Row,
    pub(crate) score: f32,
    /// Whether a name leads to it, so that no threshold is applied.
    pub(crate) led_to: bool,
    pub(crate) parts: Vec<ScorePart>,
}

impl Ranked {
    /// By a score that has no parts.
    pub(super) fn plain((row, score): (Row, f32)) -> Self {
        Self { row, score, led_to: false, parts: vec![] }
    }
}

/// A search with everything that rankers need, loaded.
pub(crate) struct Search<'a> {
    pub(crate) store: &'a Store,
    pub(crate) query: &'a Query,
    pub(crate) settings: SearchSettings,
    pub(crate) graph: GraphSettings,
    /// Empty where the mode does not follow names.
    pub(crate) graph_cache: Arc<GraphCache>,
    /// What cosines weigh, from 0 to 1: as much as they have been found to say about this base.
    pub(crate) dense_weight: f32,
    /// The vector of each text of the query, where one is needed, moved towards those of its tags.
    pub(crate) vectors: Vec<Option<Arc<QueryVector>>>,
    /// What its tags add to each text of the query.
    pub(crate) expansions: Vec<Expansion>,
    /// Of the layers that the mode compares vectors of.
    pub(crate) matrices: HashMap<Layer, Arc<Matrix>>,
    /// Of the layers that the mode searches.
    pub(crate) indexes: HashMap<Layer, Arc<LexicalIndex>>,
    /// What may be returned; everything of a layer that is missing here.
    pub(crate) admitted: HashMap<Layer, Admitted>,
    /// Set when no one waits for the result any more.
    pub(crate) cancelled: &'a AtomicBool,
}

impl Search<'_> {
    /// What may be returned of a layer.
    pub(crate) fn admitted(&self, layer: Layer) -> Admitted {
        self.admitted.get(&layer).cloned().unwrap_or_default()
    }

    /// Whether no one waits for the result any more.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The lexical index of a layer that the mode searches.
    pub(crate) fn index(&self, layer: Layer) -> Result<&LexicalIndex, KbError> {
        let index = self.indexes.get(&layer).map(Arc::as_ref);
        index.ok_or(KbError::NotSearched { layer: layer.name() })
    }

    /// What its tags add to a text of the query.
    pub(crate) fn expansion(&self, text: &str) -> Option<&Expansion> {
        let at = self.query.texts.iter().position(|other| other == text)?;
        self.expansions.get(at)
    }

    /// A text of the query with the terms that its tags add.
    pub(crate) fn lexical_query<'t>(&'t self, text: &'t str) -> LexicalQuery<'t> {
        let added = self.expansion(text).map_or(&[][..], |expansion| &expansion.terms);
        LexicalQuery { text, added }
    }

    /// The admitted rows of a layer by BM25, at most `limit`, best first.
    pub(crate) fn bm25(
        &self,
        layer: Layer,
        text: &str,
        limit: usize,
    ) -> Result<Vec<(Row, f32)>, KbError> {
        let Admitted { excluded, allowed } = self.admitted(layer);
        let deeper = limit.saturating_add(excluded.len());
        let query = self.lexical_query(text);
        let mut rows = self.index(layer)?.search(&query, deeper, allowed.as_ref())?;
        if !excluded.is_empty() {
            rows.retain(|(row, _)| !excluded.contains(row));
        }
        rows.truncate(limit);
        Ok(rows)
    }

    /// For each text the admitted rows of a layer by cosine, at most `limit`, best first; none for
    /// a text without a vector. All texts in one pass over the codes.
    pub(crate) fn nearest(
        &self,
        layer: Layer,
        limit: usize,
    ) -> Result<Vec<Vec<(Row, f32)>>, KbError> {
        let mut lists = self.near_rows(layer, limit);
        if may_be_chunks(layer)
            && let Some(chunks) = self.matrices.get(&Layer::Chunk)
        {
            let with_vectors = lists.iter_mut().zip(&self.vectors).filter(|(_, v)| v.is_some());
            let lone = self.nearest_lone(chunks, limit)?;
            for ((list, _), lone) in with_vectors.zip(lone) {
                list.extend(lone);
                list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                list.truncate(limit);
            }
        }
        Ok(lists)
    }

    /// [`Search::nearest`] by vectors of the layer's own.
    pub(crate) fn near_rows(&self, layer: Layer, limit: usize) -> Vec<Vec<(Row, f32)>> {
        self.near(layer, limit, false).into_iter().map(|near| near.rows).collect()
    }

    /// [`Search::near_rows`] with the least and the greatest cosine of any row.
    pub(crate) fn near(&self, layer: Layer, limit: usize, ranges: bool) -> Vec<Near> {
        let vectors: Vec<&QueryVector> = self.vectors.iter().flatten().map(Arc::as_ref).collect();
        let admitted = &self.admitted(layer);
        let is_cancelled = &|| self.is_cancelled();
        let request = NearRequest { limit, admitted, ranges, is_cancelled };
        let lists = self.matrices.get(&layer).map(|matrix| matrix.near_queries(&vectors, &request));
        let mut lists = lists.unwrap_or_default().into_iter();
        let near = |vector: &Option<Arc<QueryVector>>| {
            vector.as_ref().and_then(|_| lists.next()).unwrap_or_default()
        };
        self.vectors.iter().map(near).collect()
    }
}

pub(super) struct Dense;

impl Ranker for Dense {
    fn rank(&self, search: &Search<'_>) -> Result<Vec<Vec<Ranked>>, KbError> {
        let lists = search.nearest(search.query.layer, search.query.limit)?;
        let ranked = |list: Vec<_>| list.into_iter().map(Ranked::plain).collect();
        Ok(lists.into_iter().map(ranked).collect())
    }
}

pub(super) struct Bm25;

impl Ranker for Bm25 {
    fn vectors(&self) -> VectorUse {
        VectorUse::Unused
    }

    fn rank(&self, search: &Search<'_>) -> Result<Vec<Vec<Ranked>>, KbError> {
        let query = search.query;
        let rank = |text: &String| {
            let rows = search.bm25(query.layer, text, query.limit)?;
            Ok(rows.into_iter().map(Ranked::plain).collect())
        };
        query.texts.iter().map(rank).collect()
    }
}
