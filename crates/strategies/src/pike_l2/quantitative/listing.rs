//! Counting without a table (PIKE-RAG, Section 5.3): list the things, look each up, and count over
//! the rows in code.
use std::collections::BTreeSet;

use futures::future::try_join_all;
use halma_core::text::normalise_name;
use halma_core::{
    Answer, Citation, Cx, Hit, Layer, MinScore, Mode, Prompt, Query, Question, Result,
    UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::Quantitative;
use super::tally::{Operation, states_number, tally};
use crate::pike_l2::Comparative;
use crate::pike_l2::comparative::{Answered, Cell};
use crate::shared::citing::joined;
use crate::shared::steps::{Reading, answer_from, holds, unseen};

const PLAN: Prompt<Plan> = Prompt::json("pike_l2/plan_count");
const LIST: Prompt<Things> = Prompt::json("pike_l2/list");
const COUNTED: Prompt<Reading> = Prompt::json("pike_l2/counted");

/// Rounds of reading without anything new that end the collecting, and the most rounds.
pub(crate) const IDLE: usize = 2;
const ROUNDS: usize = 8;

/// What stands for the name of a thing in the question that is asked of each.
const THING: &str = "{thing}";

#[derive(Debug, Deserialize)]
struct Plan {
    /// What is counted, in the plural; empty where the question counts nothing.
    things: String,
    #[serde(default)]
    queries: Vec<String>,
    /// Asked of each thing; empty where every thing counts.
    #[serde(default)]
    question: String,
    operation: Operation,
}

#[derive(Debug, Deserialize)]
struct Things {
    things: Vec<String>,
}

/// What was listed, and from how much.
#[derive(Default)]
struct Listed {
    things: Vec<String>,
    chunks: Vec<Hit>,
    /// Passages whose reply could not be read.
    unread: usize,
    /// How much was read, and what was not.
    coverage: String,
    /// There may be more things than those that are counted.
    is_partial: bool,
}

impl Quantitative {
    /// `None` where the question counts nothing that can be listed.
    pub(super) async fn count_listed(
        &self,
        question: &Question,
        cells: &Comparative,
        cx: &Cx,
    ) -> Result<Option<Answer>> {
        let cx = cx.span("list and count");
        let variables = context! { question => Serde(question) };
        let planned = cx.ask_checked(&PLAN, variables, Plan::check).await;
        let Some(plan) = planned.unless_failed(&cx, "nothing is listed")? else { return Ok(None) };
        if plan.things.trim().is_empty() {
            cx.note("there is nothing to list");
            return Ok(None);
        }
        let listed = self.list(question, &plan, &cx).await?;
        if listed.things.is_empty() {
            cx.note(format!("no {} are listed ({})", plan.things, listed.coverage));
            return Ok(None);
        }
        let rows = plan.rows(&listed);
        let rows = if plan.question.trim().is_empty() {
            rows
        } else {
            cells.fill(question, rows, &cx).await?
        };
        let result = tally(plan.operation, &rows);
        let valued = rows.iter().filter(|row| row.answered.is_some()).count();
        let coverage = format!("{}; {valued} of {} have a value", listed.coverage, rows.len());
        cx.note(format!("{}: {result} ({coverage})", plan.operation.name()));
        let variables = context! {
            question => Serde(question),
            history => Serde(&rows),
            operation => plan.operation.name(),
            result => &result,
            coverage => &coverage,
        };
        let reading = cx.reserve().ask(&COUNTED, variables).await;
        let reading = reading.unless_failed(&cx, "the count is given as it is")?;
        let as_it_is =
            || Answer { abstained: result.is_empty(), text: result.clone(), ..Answer::default() };
        let mut answer = reading.map_or_else(as_it_is, |reading| answer_from(reading, &[]));
        if !answer.abstained && plan.operation.is_number() && !states_number(&answer.text) {
            cx.note(format!("“{}” is not a number: the count is given as it is", answer.text));
            answer = as_it_is();
        }
        if answer.abstained {
            cx.note(format!("the rows do not answer: {}", answer.reason.trim()));
        }
        let answered = rows.into_iter().filter_map(|row| row.answered);
        let citations = joined(answered.flat_map(|answered| answered.answer.citations));
        let computation =
            Some(format!("Computed ({}: {result}) from {coverage}.", plan.operation.name()));
        let limitation = listed.is_partial.then(|| format!("There may be more: {coverage}."));
        Ok(Some(Answer { citations, computation, limitation, ..answer }))
    }

    /// The things that chunks near the queries name, each once: what was not read before is read in
    /// rounds until two of them add nothing, in groups of chunks concurrently.
    async fn list(&self, question: &Question, plan: &Plan, cx: &Cx) -> Result<Listed> {
        let mut listed = Listed::default();
        let (mut seen, mut idle) = (BTreeSet::new(), 0);
        for round in 1..=ROUNDS {
            let cx = cx.span(format!("round {round}"));
            let chunks = self.near(question, plan, &listed.chunks, &cx).await?;
            // Nothing is left to read, or nothing new is there to be found.
            listed.is_partial = !chunks.is_empty();
            if chunks.is_empty() {
                break;
            }
            let groups = chunks.chunks(self.group).enumerate().map(|(i, group)| {
                let cx = cx.span(format!("group {}", i + 1));
                async move { plan.list(question, group, &cx).await.unless_spent() }
            });
            let before = listed.things.len();
            for (group, things) in chunks.chunks(self.group).zip(try_join_all(groups).await?) {
                listed.unread += if things.is_some() { 0 } else { group.len() };
                let new = things.into_iter().flatten();
                listed.things.extend(new.filter(|thing| seen.insert(normalise_name(thing))));
            }
            listed.chunks.extend(chunks);
            idle = if listed.things.len() > before { 0 } else { idle + 1 };
            if idle == IDLE {
                listed.is_partial = false;
                break;
            }
            if listed.things.len() > self.things || cx.trace().spent() {
                break;
            }
        }
        Ok(listed.covering(&plan.things, self.things))
    }

    /// Chunks near the question and the queries that were not read before.
    async fn near(
        &self,
        question: &Question,
        plan: &Plan,
        read: &[Hit],
        cx: &Cx,
    ) -> Result<Vec<Hit>> {
        let mut texts = vec![question.text.clone()];
        texts.extend(plan.queries.iter().map(|query| query.trim().to_owned()));
        texts.retain(|text| !text.is_empty());
        let query = Query {
            min_score: MinScore::Usual,
            exclude: read.iter().map(|chunk| chunk.id.clone()).collect(),
            ..Query::new(texts, Layer::Chunk, Mode::Graph, self.chunks)
        };
        Ok(unseen(cx.search(&query).await?, read))
    }
}

impl Listed {
    /// Says how much was read, and keeps the things that are looked up.
    fn covering(mut self, kind: &str, limit: usize) -> Self {
        let (count, all) = (self.things.len(), self.chunks.len());
        self.is_partial |= self.unread > 0 || count > limit;
        let read = all - self.unread;
        self.coverage = format!("{count} {kind} listed from {read} of {all} passages");
        if self.is_partial {
            self.coverage.push_str(", and there may be more");
        }
        if count > limit {
            self.things.truncate(limit);
            self.coverage = format!("{}; only the first {limit} looked up", self.coverage);
        }
        self
    }
}

impl Plan {
    fn check(&self) -> std::result::Result<(), String> {
        let wording = self.question.trim();
        if wording.is_empty() || wording.contains(THING) {
            return Ok(());
        }
        Err(format!("`question` does not contain `{THING}`"))
    }

    /// The things that a group of chunks names; `None` where the reply stays malformed.
    async fn list(
        &self,
        question: &Question,
        group: &[Hit],
        cx: &Cx,
    ) -> Result<Option<Vec<String>>> {
        let variables = context! {
            question => Serde(question),
            things => &self.things,
            context => Serde(group),
        };
        let listed = cx.ask(&LIST, variables).await;
        let listed = listed.unless_failed(cx, "nothing is listed from these passages")?;
        Ok(listed.map(|Things { things }| {
            let things = things.iter().map(|thing| thing.trim().to_owned());
            things.filter(|thing| !thing.is_empty()).collect()
        }))
    }

    /// A cell for each thing. Where every thing counts, the passages that name it are its value.
    fn rows(&self, listed: &Listed) -> Vec<Cell> {
        let row = |thing: &String| {
            let wording = self.question.trim().replace(THING, thing);
            let cell = Cell::new(thing.clone(), self.things.clone(), wording);
            if !self.question.trim().is_empty() {
                return cell;
            }
            let naming: Vec<Hit> =
                listed.chunks.iter().filter(|chunk| holds(chunk, thing)).cloned().collect();
            let citations = naming.iter().take(1).map(Citation::from).collect();
            let answer = Answer { text: "yes".into(), citations, ..Answer::default() };
            let answered = Some(Answered { answer, passages: naming });
            Cell { question: format!("Is {thing} named?"), answer: "yes".into(), answered, ..cell }
        };
        listed.things.iter().map(row).collect()
    }
}
