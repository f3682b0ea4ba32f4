//! From the nodes of a layer that are near the question to their chunks.
use std::collections::{HashMap, HashSet};

use futures::future::try_join_all;
use halma_core::{
    Cx, Edge, Filter, Hit, Layer, MinScore, NodeId, Query, Question, Result, ScorePart,
};

use super::PikeL1;
use crate::shared::overlap::QueryWords;
use crate::shared::steps::{chunks_of, unseen};

impl PikeL1 {
    /// The chunks that one layer leads to, best first, each once.
    pub(super) async fn lead(
        &self,
        layer: Layer,
        question: &Question,
        cx: &Cx,
    ) -> Result<Vec<Hit>> {
        match layer {
            Layer::Entity => self.through_entities(question, cx).await,
            Layer::Summary => self.through_summaries(question, cx).await,
            Layer::Document | Layer::Section | Layer::Table | Layer::Figure => {
                self.through_parts(layer, question, cx).await
            }
            Layer::Tag => self.through_tags(question, cx).await,
            // A chunk leads to itself; an atom, a fact and a row to the chunk they are of.
            layer => {
                let limit = self.chunks * super::SPARE;
                let near = self.near(layer, limit, Filter::default(), question, cx).await?;
                chunks_of(&near, cx).await
            }
        }
    }

    async fn near(
        &self,
        layer: Layer,
        limit: usize,
        filter: Filter,
        question: &Question,
        cx: &Cx,
    ) -> Result<Vec<Hit>> {
        let query = Query {
            min_score: MinScore::from_setting(self.min_score),
            filter,
            ..Query::new(vec![question.text.clone()], layer, self.mode, limit)
        };
        Ok(unseen(cx.search(&query).await?, &[]))
    }

    /// Chunks that mention the nearest entities, those with most of the question's words first.
    async fn through_entities(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        let near = self.near(Layer::Entity, self.leads, Filter::default(), question, cx).await?;
        let around = near.iter().map(|entity| cx.neighbours(&entity.id, Some(Edge::Mentions)));
        let around = try_join_all(around).await?.into_iter().flatten().map(|(_, hit)| hit);
        let mut seen = HashSet::new();
        let chunks: Vec<Hit> =
            around.filter(|hit| hit.layer == Layer::Chunk && seen.insert(hit.id.clone())).collect();
        let mut chunks = QueryWords::new(&question.text).sorted(chunks);
        chunks.truncate(self.chunks);
        Ok(chunks)
    }

    /// The chunks that the nearest summaries sum up; of sections, tables and documents those near
    /// the question.
    async fn through_summaries(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        let near = self.near(Layer::Summary, self.leads, Filter::default(), question, cx).await?;
        let mut chunks: Vec<Hit> = vec![];
        for summary in near {
            for (_, whole) in cx.neighbours(&summary.id, Some(Edge::DerivedFrom)).await? {
                let hits = self.within(whole, question, cx).await?;
                chunks.extend(unseen(vec![hits], &chunks));
            }
        }
        Ok(chunks)
    }

    /// Chunks near the question in the nearest documents, sections, tables or figures.
    async fn through_parts(&self, layer: Layer, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        let mut chunks: Vec<Hit> = vec![];
        for part in self.near(layer, self.leads, Filter::default(), question, cx).await? {
            let hits = self.within(part, question, cx).await?;
            chunks.extend(unseen(vec![hits], &chunks));
        }
        Ok(chunks)
    }

    /// The chunks of a node that are near the question: of a document or section all, of a table or
    /// figure those of its section.
    async fn within(&self, part: Hit, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        if part.layer == Layer::Chunk {
            return Ok(vec![part]);
        }
        // A table that was made from facts stands in no document.
        if part.document.is_empty() {
            return Ok(vec![]);
        }
        let sections = part.section.into_iter().collect();
        let filter = Filter { documents: vec![part.document], sections, ..Filter::default() };
        self.near(Layer::Chunk, self.leads, filter, question, cx).await
    }

    /// Chunks near the question that have one of the tags that it means: by name, by words that
    /// samples map to the tag, or by vectors. The surest tags come first.
    async fn through_tags(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        let tags = cx.tags(&question.text, self.tag_score).await?;
        if tags.is_empty() {
            cx.note("the question has none of the knowledge base's tags");
            return Ok(vec![]);
        }
        let shown = tags.iter().map(|tag| format!("{} {:.2}", tag.name, tag.weight));
        cx.note(format!("tags: {}", shown.collect::<Vec<_>>().join(", ")));
        let mut chunks: Vec<Hit> = vec![];
        for equal in tags.chunk_by(|a, b| (a.weight - b.weight).abs() < f32::EPSILON) {
            let tags = equal.iter().map(|tag| tag.name.clone()).collect();
            let filter = Filter { tags, ..Filter::default() };
            let hits = self.near(Layer::Chunk, self.chunks, filter, question, cx).await?;
            chunks.extend(unseen(vec![hits], &chunks));
        }
        chunks.truncate(self.chunks);
        Ok(chunks)
    }
}

/// κ, the constant of reciprocal rank fusion (Cormack et al. 2009): how slowly ranks lose weight.
/// Scores of different layers cannot be compared, ranks can. Only the first few passages count, so
/// it is small; the base fuses BM25 and vectors with `kb.search.rrf_k`, 10.
const KAPPA: f32 = 5.0;

/// Chunks by S(c) = Σ w / (κ + rank of c), best first, equals in the order in which they came.
/// The contribution of each layer is in the parts.
pub(super) fn fused(lists: impl Iterator<Item = (Layer, f32, Vec<Hit>)>) -> Vec<Hit> {
    let mut chunks: Vec<Hit> = vec![];
    let mut places: HashMap<NodeId, usize> = HashMap::new();
    for (layer, weight, list) in lists {
        let mut rank = KAPPA;
        for hit in list {
            rank += 1.0;
            let score = weight / rank;
            let part = ScorePart { name: layer.name().to_owned(), score, through: String::new() };
            let place = *places.entry(hit.id.clone()).or_insert_with(|| {
                chunks.push(Hit { score: 0.0, parts: vec![], ..hit });
                chunks.len() - 1
            });
            chunks[place].score += score;
            chunks[place].parts.push(part);
        }
    }
    chunks.sort_by(|a, b| b.score.total_cmp(&a.score));
    chunks
}
