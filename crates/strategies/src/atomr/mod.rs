//! `AtomR`: a question becomes a tree of atomic operations over heterogeneous knowledge.
//!
//! Paper: Xin et al., "Atomic Operator-Empowered Large Language Models for Heterogeneous Knowledge
//! Reasoning" (2024), Sections 3.1 to 3.3, Algorithm 1.
//!
//! ```text
//! ART <- plan(q)                     steps: operator calls, parts, [DR]      -> atomr/plan.md
//! for n_i in PostOrder(ART)          concurrently where nothing is waited for
//!     if n_i is a leaf with call c_i
//!         s_i <- sources for q_i     one call for all leaves                 -> atomr/sources.md
//!         k_i <- c_i's queries looked up in each of s_i
//!         a_i <- the operator on q_i, c_i, k_i    -> atomr/{search,relate,filter}.md
//!                or what the graph decides, where it is asked alone or first
//!         failure: a_i <- q_i looked up and read                             -> atomr/direct.md
//!     else
//!         a_i <- from the answers of its children                            -> atomr/children.md
//!                or, for [DR], of the siblings that q_i names                -> atomr/siblings.md
//!         unknown: a_i <- q_i looked up and read                             -> atomr/direct.md
//! return a_root                                            from memory only  -> atomr/closed.md
//! ```
//!
//! Departures from the paper: see `docs/developers/departures.md`.
mod answers;
mod evidence;
mod execute;
mod graph;
mod leaf;
mod operators;
mod plan;
mod settings;
mod sources;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, Cx, Entry, Error, Prompt, Question, Result, Strategy, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;

use self::answers::Solved;
use self::execute::Run;
use self::sources::Sources;
use crate::shared::settings as table;
use crate::shared::steps::{Reading, abstain, answer_from};

pub use plan::{Call, Node, Operator, Plan, Step, WrittenPlan, WrittenStep};
pub use settings::{Atomr, Kg, Select};

pub(crate) const ENTRY: Entry = Entry {
    name: "atomr",
    paper: "AtomR: Atomic Operator-Empowered Large Language Models for Heterogeneous Knowledge \
            Reasoning, 2024",
    summary: "plans a tree of lookups and runs each over texts, the web and a knowledge graph",
    calls: "1 for the plan, 1 or 2 for each of its questions, and 1 to choose sources",
    needs: &[],
    build: |values| Ok(Arc::new(table::parse::<Atomr>(values)?.checked()?)),
};

const PLAN: Prompt<WrittenPlan> = Prompt::json("atomr/plan");
const CLOSED: Prompt<Reading> = Prompt::json("atomr/closed");

#[async_trait]
impl Strategy for Atomr {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        table::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let sources = Sources::configured(self, cx)?;
        let plan = self.plan(question, cx).await.unless_failed(cx, "looking up the question");
        // Without a plan the question is its only node.
        let plan = plan.unless_spent()?.unwrap_or_else(|| alone(question));
        let run = Run::new(self, question, &plan, sources);
        let solved = run.walk(cx).await?;
        let root = run.root(&solved, &cx.reserve()).await;
        let root = match root {
            Err(error @ Error::BadReply { .. }) => {
                cx.note(format!("the question itself stays open: {error}"));
                Solved::unknown(&question.text)
            }
            root => root?,
        };
        if root.is_known() {
            return Ok(answer_of(root, run.missing()));
        }
        let open: Vec<String> = solved
            .iter()
            .flatten()
            .filter(|one| !one.is_known())
            .map(|one| one.question.clone())
            .collect();
        let reason = unanswered(&open, run.missing());
        if self.closed_book || !question.abstain {
            cx.note("no result answers the question: answering from memory");
            let variables = context! { question => Serde(question) };
            let reading = cx.reserve().ask(&CLOSED, variables).await;
            let reading = reading.unless_failed(cx, "no answer from memory").unless_spent()?;
            if let Some(reading) = reading {
                let answer = answer_from(reading, &[]);
                return Ok(Answer { reason: reasoned(&answer.reason, run.missing()), ..answer });
            }
        }
        Ok(abstain(reason))
    }
}

impl Atomr {
    /// The tree, drawn in a note.
    async fn plan(&self, question: &Question, cx: &Cx) -> Result<Plan> {
        let cx = cx.span("plan");
        let check = |written: &WrittenPlan| match written.steps.len() {
            steps if steps > self.max_nodes => {
                Err(format!("the plan has {steps} steps, {} at most may be", self.max_nodes))
            }
            _ => Plan::new(&question.text, written).map(drop),
        };
        let variables = context! { question => Serde(question) };
        let written = cx.ask_checked(&PLAN, variables, check).await?;
        let plan = Plan::new(&question.text, &written).unwrap_or_else(|_| alone(question));
        cx.note(plan.draw().trim_end());
        Ok(plan)
    }
}

/// The plan of a question that could not be planned.
fn alone(question: &Question) -> Plan {
    let root = Node { question: question.text.clone(), step: Step::Reason(vec![]) };
    Plan { nodes: vec![root] }
}

/// The root's answers as the answer.
fn answer_of(root: Solved, missing: Option<String>) -> Answer {
    let reason = reasoned(&root.answer, missing);
    let (text, citations) = (root.answers.join(", "), root.citations);
    Answer { text, reason, citations, ..Answer::default() }
}

/// How the answer follows, and what could not be looked up for it.
fn reasoned(follows: &str, missing: Option<String>) -> String {
    let missing = missing.map(|missing| format!("Missing: {missing}.")).unwrap_or_default();
    format!("{follows} {missing}").trim().to_owned()
}

/// Why there is no answer.
fn unanswered(open: &[String], missing: Option<String>) -> String {
    let mut reason = String::from("no source has the answer");
    if !open.is_empty() {
        reason = format!("{reason}: no result for `{}`", open.join("`, `"));
    }
    match missing {
        Some(missing) => format!("{reason}; {missing}"),
        None => reason,
    }
}
