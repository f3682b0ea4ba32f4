//! The agents: each looks a little up and proposes, all concurrently.
use futures::future::try_join_all;
use halma_core::{
    Citation, Cx, Error, Hit, IdeaStep, Mode, Prompt, ProposedIdea, Question, Result,
    UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::PikeL4;
use super::board::{Board, BoardItem};
use super::perspectives::Perspective;
use super::proposals::{Proposal, Proposals, Stated};
use crate::shared::sources::Near;

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
        let working = (1..).zip(perspectives).map(|(agent, perspective)| {
            let cx = cx.span(format!("agent: {}", perspective.name));
            async move {
                let (hits, stated) = self.work(question, board, perspective, &cx).await?;
                let ideas = (1..).zip(&stated).map(|(at, idea)| idea.recorded(agent, at));
                let evidence = hits.iter().map(|hit| evidence(hit).recorded()).collect();
                let step = IdeaStep::Proposed { agent, evidence, ideas: ideas.collect() };
                cx.record_ideas(step);
                Ok::<_, Error>((hits, stated))
            }
        });
        let mut proposals = Proposals { evidence: board.evidence.clone(), all: vec![] };
        let worked: Vec<(Vec<Hit>, Vec<Stated>)> = try_join_all(working).await?;
        for (agent, (hits, stated)) in worked.into_iter().enumerate() {
            // An agent counts its own passages on from the board.
            let (shared, of_agents) = (board.evidence.len(), proposals.evidence.len());
            let global =
                |number: usize| if number <= shared { number } else { number - shared + of_agents };
            for (at, stated) in (1..).zip(stated) {
                proposals.all.push(Proposal {
                    ids: vec![idea_id(agent + 1, at)],
                    agents: vec![agent],
                    by: vec![perspectives[agent].name.clone()],
                    idea: stated.idea.trim().to_owned(),
                    mechanism: stated.mechanism,
                    rests_on: stated.rests_on.into_iter().map(global).collect(),
                    risks: stated.risks,
                    unknowns: stated.unknowns,
                    objections: vec![],
                    scores: vec![],
                    score: String::new(),
                });
            }
            proposals.evidence.extend(hits.iter().map(evidence));
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
        let (mut hits, mut used): (Vec<Hit>, Vec<String>) = (vec![], vec![]);
        for _ in 0..self.look_ups {
            let variables = context! {
                question => Serde(question),
                perspective => Serde(perspective),
                board => Serde(&board.evidence),
                context => Serde(&hits),
                used => Serde(&used),
            };
            let look_up = cx.ask(&LOOK_UP, variables).await;
            let look_up = look_up.unless_failed(cx, "the agent looks nothing up").unless_spent()?;
            let query = look_up.map(|LookUp { query }| query.trim().to_owned()).unwrap_or_default();
            // An agent that repeats itself would never end.
            if query.is_empty() || used.iter().any(|text| text.eq_ignore_ascii_case(&query)) {
                break;
            }
            let near = Near { chunks: self.chunks, atoms: 0, min_score: None, mode: Mode::Graph };
            let new = near.to(&query, &hits, cx).await?;
            hits.extend(new);
            used.push(query);
        }
        let variables = context! {
            question => Serde(question),
            perspective => Serde(perspective),
            board => Serde(&board.evidence),
            context => Serde(&hits),
            number => self.ideas,
        };
        let proposed = cx.ask(&PROPOSE, variables).await;
        let proposed = proposed.unless_failed(cx, "the agent proposes nothing").unless_spent()?;
        let mut stated = proposed.map(|Proposed { proposals }| proposals).unwrap_or_default();
        stated.retain(|stated| !stated.idea.trim().is_empty());
        stated.truncate(self.ideas);
        let count = board.evidence.len() + hits.len();
        for stated in &mut stated {
            let mut seen = vec![];
            stated.rests_on.retain(|number| {
                let new = (1..=count).contains(number) && !seen.contains(number);
                seen.push(*number);
                new
            });
        }
        Ok((hits, stated))
    }
}

impl Stated {
    /// As the trace records it.
    fn recorded(&self, agent: usize, at: usize) -> ProposedIdea {
        ProposedIdea {
            id: idea_id(agent, at),
            idea: self.idea.trim().to_owned(),
            mechanism: self.mechanism.clone(),
            rests_on: self.rests_on.clone(),
            risks: self.risks.clone(),
            unknowns: self.unknowns.clone(),
        }
    }
}

/// Of the numbers of an agent and of its proposal, both from 1.
fn idea_id(agent: usize, at: usize) -> String {
    format!("{agent}.{at}")
}

fn evidence(hit: &Hit) -> BoardItem {
    let citations = vec![Citation::from(hit)];
    BoardItem { about: hit.title.clone(), text: hit.text.clone(), citations }
}
