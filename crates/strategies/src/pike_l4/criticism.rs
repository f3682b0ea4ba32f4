//! Each agent scores what the others propose, with one objection each.
use futures::future::try_join_all;
use halma_core::{
    Cx, IdeaReview, IdeaStep, Prompt, Question, Result, UnlessFailed as _, UnlessSpent as _,
    round as round_score,
};
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
    /// One round, which counts from 1, by agents with these perspectives.
    pub(super) async fn criticise(
        &self,
        question: &Question,
        (round, perspectives): (usize, &[Perspective]),
        proposals: &mut Proposals,
        cx: &Cx,
    ) -> Result<()> {
        let shared: &Proposals = proposals;
        let reviewing = perspectives.iter().enumerate().map(|(agent, perspective)| {
            let cx = cx.span(format!("agent: {}", perspective.name));
            async move {
                let placed = review(question, (agent, perspective), shared, &cx).await?;
                let reviews = placed
                    .iter()
                    .filter_map(|(at, review)| {
                        // Near-equal proposals are not joined yet: each has one id.
                        shared.all[*at].ids.first().map(|id| review.recorded(id))
                    })
                    .collect();
                cx.record_ideas(IdeaStep::Reviewed { agent: agent + 1, round, reviews });
                Ok::<_, halma_core::Error>(placed)
            }
        });
        for (at, review) in try_join_all(reviewing).await?.into_iter().flatten() {
            let proposal = &mut proposals.all[at];
            proposal.scores.push(review.mean());
            proposal.score = round_score(proposal.mean());
            let objection = review.objection.trim();
            if !objection.is_empty() {
                proposal.objections.push(objection.to_owned());
            }
        }
        Ok(())
    }
}

/// What an agent says of the proposals of others, with their positions; nothing where its budget is
/// spent or its reply stays malformed.
async fn review(
    question: &Question,
    (agent, perspective): (usize, &Perspective),
    proposals: &Proposals,
    cx: &Cx,
) -> Result<Vec<(usize, Review)>> {
    let others = |at: &usize| !proposals.all[*at].agents.contains(&agent);
    let offered: Vec<usize> = (0..proposals.all.len()).filter(others).collect();
    if offered.is_empty() {
        return Ok(vec![]);
    }
    let shown: Vec<_> = offered.iter().map(|at| &proposals.all[*at]).collect();
    let variables = context! {
        question => Serde(question),
        perspective => Serde(perspective),
        evidence => Serde(&proposals.evidence),
        proposals => Serde(&shown),
    };
    let said = cx.ask(&CRITICISE, variables).await;
    let said = said.unless_failed(cx, "the agent criticises nothing").unless_spent()?;
    let reviews = said.map(|Criticism { reviews }| reviews).unwrap_or_default();
    let placed = reviews.into_iter().filter_map(|review| {
        let at = *offered.get(review.proposal.checked_sub(1)?)?;
        Some((at, review))
    });
    Ok(placed.collect())
}

impl Review {
    fn scores(&self) -> [f64; 3] {
        [self.feasibility, self.evidence, self.novelty].map(|score| score.clamp(1.0, 5.0))
    }

    fn mean(&self) -> f64 {
        self.scores().iter().sum::<f64>() / 3.0
    }

    /// As the trace records it.
    fn recorded(&self, idea: &str) -> IdeaReview {
        let [feasibility, evidence, novelty] = self.scores();
        let (idea, objection) = (idea.to_owned(), self.objection.trim().to_owned());
        IdeaReview { idea, feasibility, evidence, novelty, objection }
    }
}
