//! Walking a plan: every node as soon as those are answered that it waits for, so that subtrees
//! which need nothing of each other run concurrently.
use std::sync::Arc;

use futures::stream::{FuturesUnordered, StreamExt as _};
use halma_core::{
    AnswerKind, Cx, Error, Prompt, Question, Result, UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use parking_lot::Mutex;

use super::answers::{AnswerReply, Exchange, KnownAnswers, Solved};
use super::plan::{Plan, Step};
use super::settings::Atomr;
use super::sources::Sources;
use crate::shared::citing::joined;

const CHILDREN: Prompt<AnswerReply> = Prompt::json("atomr/children");
const SIBLINGS: Prompt<AnswerReply> = Prompt::json("atomr/siblings");

/// One question being answered by a plan.
pub(super) struct Run<'a> {
    pub(super) settings: &'a Atomr,
    pub(super) question: &'a Question,
    pub(super) plan: &'a Plan,
    pub(super) sources: Sources,
    missing: Mutex<Vec<Missing>>,
}

/// A lookup that failed.
struct Missing {
    source: String,
    sought: String,
    reason: String,
}

/// The answers by the places of their nodes; `None` where a node was not asked.
pub(super) type Answers = Vec<Option<Arc<Solved>>>;

impl<'a> Run<'a> {
    pub(super) fn new(
        settings: &'a Atomr,
        question: &'a Question,
        plan: &'a Plan,
        sources: Sources,
    ) -> Self {
        Self { settings, question, plan, sources, missing: Mutex::default() }
    }

    /// Every node but the root. When the budget is spent, what has not begun is not asked.
    pub(super) async fn walk(&self, cx: &Cx) -> Result<Answers> {
        let nodes = self.plan.nodes.len();
        let mut solved: Answers = vec![None; nodes];
        let mut spans = Spans::new(self.plan, cx);
        let mut open: Vec<usize> = (1..nodes).collect();
        let mut running = FuturesUnordered::new();
        loop {
            let (ready, later): (Vec<usize>, Vec<usize>) = open.into_iter().partition(|place| {
                self.waits_for(*place).into_iter().all(|need| solved[need].is_some())
            });
            open = later;
            for place in ready {
                let cx = spans.at(place, &self.answers(&solved));
                running.push(self.node(place, solved.clone(), cx));
            }
            let Some(done) = running.next().await else { return Ok(solved) };
            let (place, answered) = done?;
            if answered.is_none() {
                open.clear();
            }
            let question = &self.plan.nodes[place].question;
            solved[place] = Some(Arc::new(answered.unwrap_or_else(|| Solved::unknown(question))));
        }
    }

    /// The root, from what its parts have come to.
    pub(super) async fn root(&self, solved: &Answers, cx: &Cx) -> Result<Solved> {
        let root = self.solve(0, self.question, &self.answers(solved), cx).await?;
        let Question { options, answer_kind, .. } = self.question;
        let shaped = !options.is_empty() || *answer_kind != AnswerKind::Short;
        let called = matches!(self.plan.nodes[0].step, Step::Call(_));
        if called && shaped && root.is_known() {
            // Operators know nothing of choices and of how an answer should look.
            return self.concluded(&CHILDREN, (0, self.question), &[&root], cx).await;
        }
        Ok(root)
    }

    pub(super) fn answers<'k>(&'k self, solved: &'k Answers) -> KnownAnswers<'k> {
        KnownAnswers { plan: self.plan, solved, shown: self.settings.entities }
    }

    /// A node with its answers; `None` when the budget was spent on the way.
    async fn node(&self, place: usize, solved: Answers, cx: Cx) -> Result<(usize, Option<Solved>)> {
        let answers = self.answers(&solved);
        let text = answers.together(&self.plan.nodes[place].question);
        let question = self.question.sub_question(text);
        let solved = self.solve(place, &question, &answers, &cx).await;
        let answered = match solved.unless_failed(&cx, "the question stays open") {
            Ok(None) => Ok(Some(Solved::unknown(&question.text))),
            solved => solved,
        };
        Ok((place, answered.unless_spent()?))
    }

    async fn solve(
        &self,
        place: usize,
        question: &Question,
        answers: &KnownAnswers<'_>,
        cx: &Cx,
    ) -> Result<Solved> {
        match &self.plan.nodes[place].step {
            Step::Call(call) => self.leaf((place, call), question, answers, cx).await,
            Step::Inner(_) => {
                let below = answers.below(place);
                self.concluded(&CHILDREN, (place, question), &below, cx).await
            }
            Step::Reason(_) => {
                let named = self.plan.waits_for(place);
                let named: Vec<&Solved> =
                    named.into_iter().filter_map(|place| answers.at(place)).collect();
                self.concluded(&SIBLINGS, (place, question), &named, cx).await
            }
        }
    }

    /// From the answers to other questions; from what can be looked up where those settle nothing.
    async fn concluded(
        &self,
        prompt: &Prompt<AnswerReply>,
        (place, question): (usize, &Question),
        from: &[&Solved],
        cx: &Cx,
    ) -> Result<Solved> {
        if from.iter().any(|solved| solved.is_known()) {
            let shown = self.settings.entities;
            let history: Vec<Exchange<'_>> =
                from.iter().map(|solved| solved.exchange(shown)).collect();
            let variables = context! { question => Serde(question), history => Serde(&history) };
            let reply = cx.ask(prompt, variables).await;
            let reply = reply.unless_failed(cx, "no conclusion: looking up the question")?;
            let answers = reply.as_ref().map(AnswerReply::list).unwrap_or_default();
            if let Some(reply) = reply.filter(|_| !answers.is_empty()) {
                let citations = from.iter().flat_map(|solved| solved.citations.clone());
                let entities = from.iter().flat_map(|solved| solved.entities.clone()).collect();
                let solved = Solved {
                    question: question.text.clone(),
                    answer: reply.sentence(),
                    answers,
                    citations: joined(citations),
                    entities,
                };
                return Ok(solved);
            }
            cx.note("those answers do not settle the question: looking it up");
        } else {
            cx.note("there is no answer to conclude from: looking up the question");
        }
        let names = self.sources_of_question(place, question, cx).await?;
        self.direct(question, super::evidence::Evidence::default(), &names, cx).await
    }

    /// The nodes that have to be answered before: its parts and those it refers to.
    fn waits_for(&self, place: usize) -> Vec<usize> {
        let mut waits = self.plan.waits_for(place);
        if let Step::Inner(parts) = &self.plan.nodes[place].step {
            waits.extend(parts);
        }
        waits
    }

    /// What was found, or nothing where the source failed, which is reported in the answer.
    pub(super) fn or_missing<T: Default>(&self, sought: &str, looked_up: Result<T>) -> Result<T> {
        match looked_up {
            Err(Error::Source { name, source }) => {
                let (sought, reason) = (sought.to_owned(), source.to_string());
                let mut missing = self.missing.lock();
                missing.push(Missing { source: name, sought, reason });
                Ok(T::default())
            }
            looked_up => looked_up,
        }
    }

    /// Which sources failed, for what, and why; `None` where none did.
    pub(super) fn missing(&self) -> Option<String> {
        let mut missing = self.missing.lock();
        // In an order that does not depend on which lookup ended first.
        missing.sort_by(|a, b| (&a.source, &a.sought).cmp(&(&b.source, &b.sought)));
        let mut failures: Vec<String> = vec![];
        for of_source in missing.chunk_by(|a, b| a.source == b.source) {
            let Missing { source, sought, reason } = &of_source[0];
            let more = match of_source.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            failures.push(format!("source `{source}` failed for `{sought}`{more} ({reason})"));
        }
        (!failures.is_empty()).then(|| failures.join("; "))
    }
}

/// A span for each node, begun when it or one of its parts is asked first, within that of the node
/// it is a part of.
struct Spans<'a> {
    plan: &'a Plan,
    begun: Vec<Option<Cx>>,
}

impl<'a> Spans<'a> {
    fn new(plan: &'a Plan, cx: &Cx) -> Self {
        let mut begun = vec![None; plan.nodes.len()];
        begun[0] = Some(cx.clone());
        Self { plan, begun }
    }

    fn at(&mut self, place: usize, answers: &KnownAnswers<'_>) -> Cx {
        if let Some(cx) = &self.begun[place] {
            return cx.clone();
        }
        let above = self.at(self.plan.parent(place), answers);
        let node = &self.plan.nodes[place];
        let text = if answers.settles(&node.question) {
            answers.together(&node.question)
        } else {
            node.question.clone()
        };
        let cx = above.span(format!("{place}. {text}"));
        self.begun[place] = Some(cx.clone());
        cx
    }
}
