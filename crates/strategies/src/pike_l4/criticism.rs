//! Each agent scores what the others propose, with one objection each.
use futures::future::try_join_all;
use halma_core::{Cx, Prompt, Question, Result, UnlessFailed as _, UnlessSpent as _, round};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::PikeL4;
use super::perspectives::Perspective;
use super::proposals::Proposals;

const CRITICISE: Prompt<Criticism> = Prompt::json("pike_l4/criticise");

#[derive(Debug, Deserialize)]
struct Criticism {
    reviews: Vec<Review>,
}

/// What is said of a proposal, which counts from 1; scores are from 1 to 5.
#[derive(Debug, Deserialize)]
struct Review {
    proposal: usize,
    feasibility: f64,
    evidence: f64,
    novelty: f64,
    #[serde(default)]
    objection: String,
}

impl PikeL4 {
    pub(super) async fn criticise(
        &self,
        question: &Question,
        perspectives: &[Perspective],
        proposals: &mut Proposals,
        cx: &Cx,
    ) -> Result<()> {
        let held: &Proposals = proposals;
        let reviewing = perspectives.iter().enumerate().map(|(agent, perspective)| {
            let cx = cx.span(format!("agent: {}", perspective.name));
            let others = |at: &usize| !held.all[*at].agents.contains(&agent);
            let offered: Vec<usize> = (0..held.all.len()).filter(others).collect();
            async move {
                if offered.is_empty() {
                    return Ok(vec![]);
                }
                let shown: Vec<_> = offered.iter().map(|at| &held.all[*at]).collect();
                let variables = context! {
                    question => Serde(question),
                    perspective => Serde(perspective),
                    evidence => Serde(&held.evidence),
                    proposals => Serde(&shown),
                };
                let said = cx.ask(&CRITICISE, variables).await;
                let said =
                    said.unless_failed(&cx, "the agent criticises nothing").unless_spent()?;
                let reviews = said.map(|Criticism { reviews }| reviews).unwrap_or_default();
                let placed = reviews.into_iter().filter_map(|review| {
                    let at = *offered.get(review.proposal.checked_sub(1)?)?;
                    Some((at, review))
                });
                Ok::<_, halma_core::Error>(placed.collect::<Vec<_>>())
            }
        });
        let reviews = try_join_all(reviewing).await?;
        for (at, review) in reviews.into_iter().flatten() {
            let proposal = &mut proposals.all[at];
            let scores = [review.feasibility, review.evidence, review.novelty];
            let mean = scores.iter().map(|score| score.clamp(1.0, 5.0)).sum::<f64>() / 3.0;
            proposal.scores.push(mean);
            proposal.score = round(proposal.mean());
            let objection = review.objection.trim();
            if !objection.is_empty() {
                proposal.objections.push(objection.to_owned());
            }
        }
        Ok(())
    }
}
