//! Rows from passages: collected group by group until two rounds add nothing, and a date looked up
//! for each thing that has none.
use std::collections::HashMap;

use futures::future::try_join_all;
use halma_core::text::{normalise_name, thousands};
use halma_core::{
    Cx, Hit, Layer, MinScore, Mode, NodeId, Prompt, Query, Question, Result, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::PikeL3;
use super::plan::{Plan, THING};
use super::rows::{Collected, RawRow, days};
use crate::pike_l2::comparative::Cell;
use crate::pike_l2::quantitative::IDLE;
use crate::shared::steps::unseen;

const ROWS: Prompt<Extracted> = Prompt::json("pike_l3/rows");

#[derive(Debug, Deserialize)]
struct Extracted {
    rows: Vec<ExtractedRow>,
}

/// What a passage, counted from 1, states of a thing.
#[derive(Debug, Deserialize)]
struct ExtractedRow {
    thing: String,
    #[serde(default)]
    date: String,
    #[serde(default)]
    value: String,
    passage: usize,
}

/// What is known so far.
#[derive(Default)]
struct Gathering {
    rows: Vec<RawRow>,
    /// Position of the row of each thing and date.
    places: HashMap<(String, String), usize>,
    read: Vec<NodeId>,
}

impl PikeL3 {
    pub(super) async fn gather(
        &self,
        question: &Question,
        plan: &Plan,
        cx: &Cx,
    ) -> Result<Collected> {
        let mut gathering = Gathering::default();
        let (mut idle, mut unread) = (0, 0);
        for round in 0..self.rounds {
            let cx = cx.span(format!("round {}", round + 1));
            let passages = self.near(question, plan, &gathering.read, &cx).await?;
            if passages.is_empty() {
                break;
            }
            let groups = passages.chunks(self.group).map(|group| {
                let cx = cx.clone();
                async move { extract(question, plan, group, &cx).await.unless_spent() }
            });
            let before = gathering.rows.len();
            for (group, rows) in passages.chunks(self.group).zip(try_join_all(groups).await?) {
                let Some(rows) = rows else {
                    unread += group.len();
                    continue;
                };
                for row in rows {
                    gathering.add(row, group);
                }
            }
            gathering.read.extend(passages.into_iter().map(|hit| hit.id));
            idle = if gathering.rows.len() > before { 0 } else { idle + 1 };
            if idle == IDLE || gathering.rows.len() >= self.max_items || cx.trace().spent() {
                break;
            }
        }
        let count = gathering.rows.len();
        gathering.rows.truncate(self.max_items);
        let read = gathering.read.len() - unread;
        let mut collected = Collected {
            rows: self.dated(question, plan, gathering.rows, cx).await?,
            window: None,
            caveats: vec![format!(
                "{} rows collected from {} passages",
                thousands(count as u64),
                thousands(read as u64)
            )],
        };
        if unread > 0 {
            collected.caveats.push(format!("{unread} passages could not be read"));
        }
        if count > self.max_items {
            let (max_items, count) = (thousands(self.max_items as u64), thousands(count as u64));
            collected.caveats.push(format!("only the first {max_items} of {count} rows are used"));
        }
        cx.note(collected.caveats.join("; "));
        Ok(collected)
    }

    /// Chunks and facts near the question and the queries that were not read before.
    async fn near(
        &self,
        question: &Question,
        plan: &Plan,
        read: &[NodeId],
        cx: &Cx,
    ) -> Result<Vec<Hit>> {
        let mut texts = vec![question.text.clone()];
        texts.extend(plan.queries.iter().map(|query| query.trim().to_owned()));
        texts.retain(|text| !text.is_empty());
        let mut layers = vec![Layer::Chunk];
        if read.is_empty() && cx.catalog().await?.count(Layer::Fact) > 0 {
            layers.push(Layer::Fact);
        }
        let mut lists = vec![];
        for layer in layers {
            let query = Query {
                min_score: MinScore::Usual,
                exclude: read.to_vec(),
                ..Query::new(texts.clone(), layer, Mode::Graph, self.chunks)
            };
            lists.push(unseen(cx.search(&query).await?, &[]));
        }
        Ok(lists.into_iter().flatten().collect())
    }

    /// The rows with a date for each thing that has none, looked up one by one.
    async fn dated(
        &self,
        question: &Question,
        plan: &Plan,
        mut rows: Vec<RawRow>,
        cx: &Cx,
    ) -> Result<Vec<RawRow>> {
        let wording = plan.question.trim();
        let undated: Vec<usize> =
            (0..rows.len()).filter(|at| days(&rows[*at].date).is_none()).collect();
        if wording.is_empty() || undated.is_empty() {
            return Ok(rows);
        }
        let cell = |at: &usize| {
            let thing = rows[*at].thing.clone();
            let question = wording.replace(THING, &thing);
            Cell::new(thing, "date".into(), question)
        };
        let cells: Vec<Cell> = undated.iter().map(cell).collect();
        let filled = self.cells.fill(question, cells, &cx.span("undated things")).await?;
        for (at, cell) in undated.into_iter().zip(filled) {
            if let Some(answered) = cell.answered {
                rows[at].date.clone_from(&answered.answer.text);
                let passages = answered.passages.iter().take(1).map(|hit| hit.id.clone());
                rows[at].sources.extend(passages);
            }
        }
        Ok(rows)
    }
}

async fn extract(
    question: &Question,
    plan: &Plan,
    group: &[Hit],
    cx: &Cx,
) -> Result<Option<Vec<ExtractedRow>>> {
    let variables = context! {
        question => Serde(question),
        plan => Serde(plan),
        context => Serde(group),
    };
    let extracted = cx.ask(&ROWS, variables).await;
    let extracted = extracted.unless_failed(cx, "no rows are taken from these passages")?;
    Ok(extracted.map(|Extracted { rows }| rows))
}

impl Gathering {
    /// Joins a row to what is known of its thing: a row without a date is completed by one with.
    fn add(&mut self, row: ExtractedRow, group: &[Hit]) {
        let Some(passage) = row.passage.checked_sub(1).and_then(|at| group.get(at)) else { return };
        let thing = row.thing.trim().to_owned();
        let name = normalise_name(&thing);
        if name.is_empty() {
            return;
        }
        let date =
            days(&row.date).map(|(first, last)| format!("{first}/{last}")).unwrap_or_default();
        let (exact, undated) = ((name.clone(), date.clone()), (name.clone(), String::new()));
        let has_name = |gathering: &Self| gathering.places.keys().any(|(other, _)| *other == name);
        if let Some(at) = self.places.get(&exact) {
            let row = &mut self.rows[*at];
            if !row.sources.contains(&passage.id) {
                row.sources.push(passage.id.clone());
            }
        } else if let Some(at) = self.places.remove(&undated) {
            self.rows[at].date = row.date;
            self.rows[at].value = row.value;
            self.rows[at].sources.push(passage.id.clone());
            self.places.insert(exact, at);
        } else if !date.is_empty() || !has_name(self) {
            self.places.insert(exact, self.rows.len());
            let sources = vec![passage.id.clone()];
            let (date, value) = (row.date, row.value);
            self.rows.push(RawRow { group: String::new(), thing, date, value, sources });
        }
    }
}
