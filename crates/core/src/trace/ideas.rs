//! The steps of an answer that consists of ideas, as the trace records them.
use serde::{Deserialize, Serialize};

use crate::NodeId;

/// What agents with different perspectives do on the way to ideas, one step at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum IdeaStep {
    /// What is known before anyone proposes, and the questions that stayed open. Evidence counts
    /// from 1.
    Board { evidence: Vec<IdeaEvidence>, open: Vec<String> },
    /// The perspectives that the agents have; agents count from 1 in this order.
    Perspectives { agents: Vec<IdeaPerspective> },
    /// What an agent looked up and proposes. Its evidence is counted on from the board's.
    Proposed { agent: usize, evidence: Vec<IdeaEvidence>, ideas: Vec<ProposedIdea> },
    /// What an agent says of the ideas of others; rounds count from 1.
    Reviewed { agent: usize, round: usize, reviews: Vec<IdeaReview> },
    /// The different ideas in groups, the most promising first.
    Synthesised { groups: Vec<IdeaGroup> },
}

/// A thing that is known, with the nodes that it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct IdeaEvidence {
    /// The question that it answers, or the title of its document.
    pub about: String,
    pub text: String,
    pub nodes: Vec<NodeId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct IdeaPerspective {
    pub name: String,
    /// What matters to it; empty where only its name is known.
    pub concern: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProposedIdea {
    /// The number of the agent and of its proposal: `2.1`.
    pub id: String,
    pub idea: String,
    pub mechanism: String,
    /// Numbers of the evidence as its agent counts it; empty: it rests on none.
    pub rests_on: Vec<usize>,
    pub risks: String,
    pub unknowns: String,
}

/// Scores from 1 to 5, and the strongest objection, which may be empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct IdeaReview {
    /// The id of the idea.
    pub idea: String,
    pub feasibility: f64,
    pub evidence: f64,
    pub novelty: f64,
    pub objection: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct IdeaGroup {
    pub title: String,
    /// For each different idea the ids of the proposals that say it.
    pub ideas: Vec<Vec<String>>,
}

impl IdeaStep {
    /// In one line, for a person who follows a run.
    pub fn describe(&self) -> String {
        match self {
            Self::Board { evidence, open } => {
                let (facts, open) =
                    (many(evidence.len(), "fact"), many(open.len(), "open question"));
                format!("board: {facts}, {open}")
            }
            Self::Perspectives { agents } => {
                let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
                format!("perspectives: {}", names.join("; "))
            }
            Self::Proposed { agent, ideas, .. } => {
                format!("agent {agent} proposes {}", many(ideas.len(), "idea"))
            }
            Self::Reviewed { agent, reviews, .. } => {
                format!("agent {agent} reviews {}", many(reviews.len(), "idea"))
            }
            Self::Synthesised { groups } => {
                let ideas: usize = groups.iter().map(|group| group.ideas.len()).sum();
                let (ideas, groups) = (many(ideas, "different idea"), many(groups.len(), "group"));
                format!("{ideas} in {groups}")
            }
        }
    }
}

/// `1 idea`, `2 ideas`.
fn many(count: usize, one: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {one}{s}")
}
