//! A base of a few rows that finds what shares words with the query.
mod build;
mod tables;

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::text::content_words;
use halma_core::{
    BoxError, Catalog, Edge, Filter, Hit, Knowledge, Layer, MinScore, NodeId, PassageQuery,
    Passages, Query, SqlResult, TagMatch, Which,
};

use self::tables::Tables;

/// Nodes of any layer, edges, and tables whose queries are answered by their text; a score is the
/// share of the query's content words the node holds, and stands for the cosine of the nodes that
/// have a vector in a base.
#[derive(Default)]
pub struct Toy {
    nodes: Vec<Hit>,
    edges: Vec<(NodeId, Edge, NodeId)>,
    tables: Tables,
}

impl Toy {
    /// Rows of (chunk id, title, chunk text, atoms). The atoms' ids are `chunk#1`, `chunk#2`, ….
    pub fn new(rows: &[(&str, &str, &str, &[&str])]) -> Arc<Self> {
        Arc::new(Self::of(rows))
    }

    pub fn empty() -> Arc<Self> {
        Self::new(&[])
    }

    fn node(&self, id: &NodeId) -> Option<&Hit> {
        self.nodes.iter().find(|hit| &hit.id == id)
    }

    /// Edges that were put in, and those that a node's parent stands for.
    fn edges(&self) -> impl Iterator<Item = (&NodeId, Edge, &NodeId)> {
        let stated = self.edges.iter().map(|(from, edge, to)| (from, *edge, to));
        let implied = self.nodes.iter().filter_map(|hit| {
            let parent = hit.parent.as_ref()?;
            Some(match hit.layer {
                Layer::Chunk | Layer::Section | Layer::Table => (parent, Edge::Contains, &hit.id),
                _ => (&hit.id, Edge::DerivedFrom, parent),
            })
        });
        stated.chain(implied)
    }

    fn admits(&self, filter: &Filter, hit: &Hit) -> bool {
        let tagged = |name: &String| {
            self.edges.iter().any(|(from, edge, to)| {
                *edge == Edge::Tagged
                    && *from == hit.id
                    && self.node(to).is_some_and(|tag| tag.text.eq_ignore_ascii_case(name))
            })
        };
        let section = |name: &String| hit.section.as_ref() == Some(name);
        (filter.documents.is_empty() || filter.documents.contains(&hit.document))
            && (filter.sections.is_empty() || filter.sections.iter().any(section))
            && (filter.tags.is_empty() || filter.tags.iter().any(tagged))
    }
}

#[async_trait]
impl Knowledge for Toy {
    async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError> {
        let min = match query.min_score {
            MinScore::Any => f32::EPSILON,
            MinScore::Usual => 0.5,
            MinScore::UsualLess(by) => 0.5 - by,
            MinScore::At(least) => least,
        };
        let excluded = |hit: &Hit| {
            query.exclude.contains(&hit.id)
                || hit.parent.as_ref().is_some_and(|parent| query.exclude.contains(parent))
        };
        let admitted = |hit: &&Hit| {
            hit.layer == query.layer && !excluded(hit) && self.admits(&query.filter, hit)
        };
        let near = |text: &String| {
            let wanted: BTreeSet<String> = content_words(text).into_iter().collect();
            let mut hits: Vec<Hit> = vec![];
            for hit in self.nodes.iter().filter(admitted) {
                let words: BTreeSet<String> = searched(hit).into_iter().collect();
                #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
                let score = wanted.intersection(&words).count() as f32 / wanted.len().max(1) as f32;
                // Thresholds hold back what has a cosine.
                let least = if has_vector(hit) { min } else { f32::EPSILON };
                if score >= least {
                    let cosine = has_vector(hit).then_some(score);
                    hits.push(Hit { score, cosine, ..hit.clone() });
                }
            }
            hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
            hits.truncate(query.limit);
            hits
        };
        Ok(query.texts.iter().map(near).collect())
    }

    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError> {
        self.node(id).cloned().ok_or_else(|| format!("the toy base holds no `{id}`").into())
    }

    async fn neighbours(
        &self,
        id: &NodeId,
        edge: Option<Edge>,
    ) -> Result<Vec<(Edge, Hit)>, BoxError> {
        self.get(id).await?;
        let matches = |kind: Edge| edge.is_none_or(|edge| edge == kind);
        let seen = |kind: Edge, other: &NodeId| Some((kind, self.node(other)?.clone()));
        let all: Vec<_> = self.edges().filter(|(_, kind, _)| matches(*kind)).collect();
        let outgoing = all.iter().filter(|(from, ..)| *from == id);
        let outgoing = outgoing.filter_map(|(_, kind, to)| seen(*kind, to));
        let incoming = all.iter().filter(|(_, _, to)| *to == id);
        let incoming = incoming.filter_map(|(from, kind, _)| seen(*kind, from));
        Ok(outgoing.chain(incoming).collect())
    }

    async fn passages(&self, query: &PassageQuery) -> Result<Passages, BoxError> {
        let chunks = self.nodes.iter().filter(|hit| hit.layer == Layer::Chunk);
        let chunks: Vec<&Hit> = chunks.filter(|hit| self.admits(&query.filter, hit)).collect();
        let mut passages = Passages::default();
        match &query.which {
            Which::Matching(expression) => {
                let expression = regex::Regex::new(expression)?;
                let place =
                    |hit: &&Hit| Some(((*hit).clone(), expression.find(&hit.text)?.start()));
                passages.hits = chunks.iter().filter_map(place).collect();
                passages.total = passages.hits.len();
            }
            Which::From(of, from) => {
                let named = |hit: &&Hit| hit.id.0 == *of || hit.document == *of;
                let named = self.nodes.iter().find(named);
                let named = named.ok_or_else(|| format!("the toy base holds no `{of}`"))?;
                let in_document = chunks.iter().filter(|hit| hit.document == named.document);
                let hits: Vec<&Hit> = in_document.copied().collect();
                let is_passage = named.layer == Layer::Chunk && named.id.0 == *of;
                let place = hits.iter().position(|hit| is_passage && hit.id == named.id);
                let from = i64::try_from(place.unwrap_or(0))?.saturating_add(*from);
                passages.first = usize::try_from(from.max(0))?.min(hits.len());
                passages.total = hits.len();
                let shown = hits.into_iter().skip(passages.first);
                passages.hits = shown.map(|hit| (hit.clone(), 0)).collect();
            }
        }
        passages.hits.truncate(query.limit);
        Ok(passages)
    }

    /// Tags whose words are all in the text, and those that they map to.
    async fn tags(&self, text: &str, _near: f32) -> Result<Vec<TagMatch>, BoxError> {
        let words: BTreeSet<String> = content_words(text).into_iter().collect();
        let named = |hit: &&Hit| {
            hit.layer == Layer::Tag && content_words(&hit.text).iter().all(|w| words.contains(w))
        };
        let mut tags: Vec<TagMatch> = vec![];
        for named in self.nodes.iter().filter(named) {
            let mapped = self
                .edges
                .iter()
                .filter(|(from, edge, _)| *from == named.id && *edge == Edge::MapsTo);
            let mapped = mapped.filter_map(|(_, _, to)| self.node(to));
            for (hit, weight) in std::iter::once((named, 1.0)).chain(mapped.map(|hit| (hit, 0.5))) {
                let (name, through) = (hit.text.clone(), named.text.clone());
                tags.push(TagMatch { id: hit.id.clone(), name, weight, through });
            }
        }
        Ok(tags)
    }

    async fn run_sql(&self, sql: &str) -> Result<SqlResult, BoxError> {
        self.tables.run_sql(sql)
    }

    async fn catalog(&self) -> Result<Catalog, BoxError> {
        let mut catalog = Catalog::default();
        for hit in &self.nodes {
            *catalog.counts.entry(hit.layer).or_default() += 1;
        }
        catalog.tables = self.tables.schemas();
        Ok(catalog)
    }
}

/// Whether a base has a vector of the node: a bare name is found by its spelling.
fn has_vector(hit: &Hit) -> bool {
    hit.layer != Layer::Entity || !hit.text.is_empty()
}

/// The words a node is found by: an entity or community goes by its name as well.
fn searched(hit: &Hit) -> Vec<String> {
    match hit.layer {
        Layer::Entity | Layer::Community => content_words(&format!("{} {}", hit.title, hit.text)),
        _ => content_words(&hit.text),
    }
}
