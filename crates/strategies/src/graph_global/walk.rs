//! From a community back to the passages it was made of.
use std::collections::HashSet;

use futures::future::try_join_all;
use halma_core::{Citation, Cx, Edge, Hit, Layer, NodeId, Question, Result};

use super::{GraphGlobal, Rated};
use crate::shared::citing::joined;
use crate::shared::overlap::QueryWords;

/// Entities of one community whose passages are looked at.
const MEMBERS: usize = 12;

impl GraphGlobal {
    /// For each point the passages of its communities that have most of its words.
    pub(super) async fn citations(
        &self,
        question: &Question,
        points: &[Rated],
        cx: &Cx,
    ) -> Result<Vec<Citation>> {
        let cx = cx.span("citations");
        let cited = points.iter().map(|rated| {
            let query_words = QueryWords::new(&format!("{} {}", question.text, rated.point));
            let cx = cx.clone();
            async move { self.passages(rated, &query_words, &cx).await }
        });
        let cited: Vec<Hit> = try_join_all(cited).await?.into_iter().flatten().collect();
        if cited.is_empty() {
            cx.note("no passage leads to these communities");
        }
        Ok(joined(cited.iter().map(Citation::from)))
    }

    async fn passages(&self, rated: &Rated, query_words: &QueryWords, cx: &Cx) -> Result<Vec<Hit>> {
        let members = rated.from.iter().map(|community| members(&community.id, cx));
        let mut passages = vec![];
        for members in try_join_all(members).await? {
            let members = query_words.sorted(members).into_iter().take(MEMBERS);
            let members: Vec<Hit> = members.collect();
            let around =
                members.iter().map(|entity| cx.neighbours(&entity.id, Some(Edge::Mentions)));
            let around = try_join_all(around).await?.into_iter().flatten().map(|(_, hit)| hit);
            let mut seen: HashSet<NodeId> = HashSet::new();
            let chunks = around.filter(|hit| hit.layer == Layer::Chunk);
            let chunks: Vec<Hit> = chunks.filter(|hit| seen.insert(hit.id.clone())).collect();
            passages.extend(query_words.sorted(chunks).into_iter().take(self.cited));
        }
        Ok(passages)
    }
}

/// The entities of a community; of one that is made of smaller ones alone, those of its parts.
async fn members(community: &NodeId, cx: &Cx) -> Result<Vec<Hit>> {
    let around = cx.neighbours(community, Some(Edge::MemberOf)).await?;
    let (entities, parts): (Vec<Hit>, Vec<Hit>) =
        around.into_iter().map(|(_, hit)| hit).partition(|hit| hit.layer == Layer::Entity);
    if !entities.is_empty() {
        return Ok(entities);
    }
    let parts = parts.iter().map(|part| cx.neighbours(&part.id, Some(Edge::MemberOf)));
    let neighbours = try_join_all(parts).await?.into_iter().flatten().map(|(_, hit)| hit);
    let mut seen: HashSet<NodeId> = HashSet::new();
    let entities = neighbours.filter(|hit| hit.layer == Layer::Entity);
    Ok(entities.filter(|hit| seen.insert(hit.id.clone())).collect())
}
