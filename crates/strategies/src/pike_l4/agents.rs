//! The agents: each looks a little up and proposes, all concurrently.
use futures::future::try_join_all;
use halma_core::{
    Citation, Cx, Hit, Mode, Prompt, Question, Result, UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::PikeL4;
use super::board::{Board, BoardItem};
use super::perspectives::Perspective;
use super::proposals::{Proposal, Proposals, Stated};
use crate::shared::near::Near;

const LOOK_UP: Prompt<LookUp> = Prompt::json("pike_l4/look_up");
const PROPOSE: Prompt<Proposed> = Prompt::json("pike_l4/propose");

/// What an agent wants to read next; empty: it has enough.
#[derive(Debug, Deserialize)]
struct LookUp {
    query: String,
}

#[derive(Debug, Deserialize)]
struct Proposed {
    proposals: Vec<Stated>,
}

impl PikeL4 {
    pub(super) async fn propose(
        &self,
        question: &Question,
        board: &Board,
        perspectives: &[Perspective],
        cx: &Cx,
    ) -> Result<Proposals> {
        let working = perspectives.iter().map(|perspective| {
            let cx = cx.span(format!("agent: {}", perspective.name));
            async move { self.work(question, board, perspective, &cx).await }
        });
        let mut proposals = Proposals { evidence: board.evidence.clone(), all: vec![] };
        for (agent, (found, stated)) in try_join_all(working).await?.into_iter().enumerate() {
            // An agent counts its own passages on from the board.
            let (shared, own) = (board.evidence.len(), proposals.evidence.len());
            let most = shared + found.len();
            let global =
                |number: usize| if number <= shared { number } else { number - shared + own };
            for stated in stated {
                let mut rests_on = stated.rests_on;
                rests_on.retain(|number| (1..=most).contains(number));
                rests_on.dedup();
                proposals.all.push(Proposal {
                    agents: vec![agent],
                    by: vec![perspectives[agent].name.clone()],
                    idea: stated.idea.trim().to_owned(),
                    mechanism: stated.mechanism,
                    rests_on: rests_on.into_iter().map(global).collect(),
                    risks: stated.risks,
                    unknowns: stated.unknowns,
                    objections: vec![],
                    scores: vec![],
                    score: String::new(),
                });
            }
            proposals.evidence.extend(found.iter().map(evidence));
        }
        Ok(proposals)
    }

    /// What an agent found and proposes; nothing where its budget is spent or its reply stays
    /// malformed.
    async fn work(
        &self,
        question: &Question,
        board: &Board,
        perspective: &Perspective,
        cx: &Cx,
    ) -> Result<(Vec<Hit>, Vec<Stated>)> {
        let (mut found, mut used): (Vec<Hit>, Vec<String>) = (vec![], vec![]);
        for _ in 0..self.look_ups {
            let variables = context! {
                question => Serde(question),
                perspective => Serde(perspective),
                board => Serde(&board.evidence),
                context => Serde(&found),
                used => Serde(&used),
            };
            let asked = cx.ask(&LOOK_UP, variables).await;
            let asked = asked.unless_failed(cx, "the agent looks nothing up").unless_spent()?;
            let query = asked.map(|LookUp { query }| query.trim().to_owned()).unwrap_or_default();
            // An agent that repeats itself would never end.
            if query.is_empty() || used.iter().any(|text| text.eq_ignore_ascii_case(&query)) {
                break;
            }
            let near = Near { chunks: self.chunks, atoms: 0, min_score: None, mode: Mode::Graph };
            let new = near.to(&query, &found, cx).await?;
            found.extend(new);
            used.push(query);
        }
        let variables = context! {
            question => Serde(question),
            perspective => Serde(perspective),
            board => Serde(&board.evidence),
            context => Serde(&found),
            number => self.ideas,
        };
        let proposed = cx.ask(&PROPOSE, variables).await;
        let proposed = proposed.unless_failed(cx, "the agent proposes nothing").unless_spent()?;
        let mut stated = proposed.map(|Proposed { proposals }| proposals).unwrap_or_default();
        stated.retain(|stated| !stated.idea.trim().is_empty());
        stated.truncate(self.ideas);
        Ok((found, stated))
    }
}

fn evidence(hit: &Hit) -> BoardItem {
    let citations = vec![Citation::from(hit)];
    BoardItem { about: hit.title.clone(), text: hit.text.clone(), citations }
}
