//! The steps that led to the cited passages, from the searches of the trace.
use halma_core::{Answer, AnswerStep, Cx, Event, HitLine, NodeId};

/// The hits of a search that are compared with a citation.
const MAX_HITS: usize = 20;

/// The answer with the query that found each of its citations.
pub(super) async fn with_steps(answer: Answer, cx: &Cx) -> Answer {
    let trace = cx.trace();
    let mut steps = vec![];
    for (at, citation) in answer.citations.iter().enumerate() {
        let mut best: Option<(usize, &str)> = None;
        for event in &trace.0 {
            let (Event::Searched { query, hits, .. } | Event::SourceQueried { query, hits, .. }) =
                event
            else {
                continue;
            };
            let rank = rank(hits, &citation.node, &citation.title, cx).await;
            if let Some(rank) = rank.filter(|rank| best.is_none_or(|(best, _)| *rank < best)) {
                best = Some((rank, query));
            }
        }
        let query = best.map_or_else(String::new, |(_, query)| query.to_owned());
        steps.push(AnswerStep { query, citation: at + 1 });
    }
    Answer { steps, ..answer }
}

/// The rank of a node among the hits, or of an atom that belongs to it.
async fn rank(hits: &[HitLine], node: &NodeId, title: &str, cx: &Cx) -> Option<usize> {
    for (rank, hit) in hits.iter().take(MAX_HITS).enumerate() {
        if hit.id == *node {
            return Some(rank);
        }
        if hit.title == title {
            let parent = cx.get(&hit.id).await.ok().and_then(|hit| hit.parent);
            if parent.as_ref() == Some(node) {
                return Some(rank);
            }
        }
    }
    None
}
