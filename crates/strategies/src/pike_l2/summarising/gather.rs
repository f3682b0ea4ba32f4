//! What is read: the chunks near the question, and the whole sections of the nearest.
use std::collections::HashSet;

use futures::future::try_join_all;
use halma_core::{Cx, Edge, Hit, Layer, NodeId, Question, Result};

use super::Summarising;
use crate::shared::near::Near;

impl Summarising {
    /// Every chunk once, in the order of the documents, so that a group reads on; and those that
    /// are too many to be read.
    pub(super) async fn gather(
        &self,
        question: &Question,
        cx: &Cx,
    ) -> Result<(Vec<Hit>, Vec<Hit>)> {
        let Self { chunks, min_score, mode, .. } = *self;
        let near = Near { chunks, atoms: 0, min_score, mode };
        let mut found = near.to(&question.text, &[], cx).await?;
        let mut whole: Vec<NodeId> = vec![];
        for chunk in found.iter().take(self.sections) {
            whole.extend(chunk.parent.clone().filter(|section| !whole.contains(section)));
        }
        let parts = whole.iter().map(|section| cx.neighbours(section, Some(Edge::Contains)));
        let parts = try_join_all(parts).await?.into_iter().flatten();
        let mut seen: HashSet<NodeId> = found.iter().map(|chunk| chunk.id.clone()).collect();
        let parts = parts.map(|(_, part)| part).filter(|part| part.layer == Layer::Chunk);
        found.extend(parts.filter(|part| seen.insert(part.id.clone())));
        // The nearest come first, then the sections of the nearest.
        let beyond = found.split_off(self.most.min(found.len()));
        found.sort_by(|a, b| {
            (&a.document, a.span.start, &a.id).cmp(&(&b.document, b.span.start, &b.id))
        });
        Ok((found, beyond))
    }
}
