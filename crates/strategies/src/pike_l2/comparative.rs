//! Comparative questions: a table of things and attributes, every cell of it looked up.
use std::fmt::Write as _;

use futures::future::try_join_all;
use halma_core::{
    Answer, Cx, Hit, Mode, Prompt, Question, Result, UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::kar3::Kar3;
use crate::shared::citing::joined;
use crate::shared::settings::{a_cosine, at_least_one};
use crate::shared::sources::Near;
use crate::shared::steps::{Reading, answer_from, holds, unseen};

const COMPARE: Prompt<ComparisonTable> = Prompt::json("pike_l2/compare");
const COMPARED: Prompt<Reading> = Prompt::json("pike_l2/compared");

/// How a table is made and filled in; the paper names no constants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Comparative {
    /// The most things that are compared.
    pub(crate) things: usize,
    /// The most attributes that they are compared by.
    pub(crate) attributes: usize,
    /// Chunks for each cell (KAR³, Appendix A.3, for a follow-up).
    pub(crate) chunks: usize,
    /// Atoms for each cell, whose chunks are read as well (PIKE-RAG, Section 6.1).
    pub(crate) atoms: usize,
    /// The most hops of KAR³ for a cell that no passage near it states; 0 for none.
    pub(crate) hops: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for Comparative {
    fn default() -> Self {
        let (things, attributes, chunks, atoms, hops) = (8, 5, 4, 4, 2);
        Self { things, attributes, chunks, atoms, hops, min_score: None, mode: Mode::Graph }
    }
}

/// The plan, one fact to look up in each of its entries.
#[derive(Debug, Deserialize)]
struct ComparisonTable {
    cells: Vec<PlannedCell>,
}

#[derive(Debug, Deserialize)]
struct PlannedCell {
    thing: String,
    attribute: String,
    #[serde(default)]
    question: String,
}

impl Comparative {
    /// `None` when there is no table to be made of the question, or nothing to put into it.
    pub(super) async fn answer(&self, question: &Question, cx: &Cx) -> Result<Option<Answer>> {
        let cx = cx.span("comparative");
        let cells = self.plan(question, &cx).await?;
        if cells.is_empty() {
            return Ok(None);
        }
        let cells = self.fill(question, cells, &cx).await?;
        cx.note(shown(&cells));
        let (mut context, mut citations) = (vec![], vec![]);
        for answered in cells.iter().filter_map(|cell| cell.answered.as_ref()) {
            context.extend(unseen(vec![answered.passages.clone()], &context));
            citations.extend(answered.answer.citations.clone());
        }
        if context.is_empty() {
            cx.note("no cell of the table was found");
            return Ok(None);
        }
        let variables = context! {
            question => Serde(question),
            context => Serde(&context),
            history => Serde(&cells),
        };
        let reading = cx.reserve().ask(&COMPARED, variables).await;
        let Some(reading) = reading.unless_failed(&cx, "the table is not compared")? else {
            return Ok(None);
        };
        let answer = answer_from(reading, &context);
        if answer.abstained {
            cx.note(format!("the table does not answer: {}", answer.reason.trim()));
        }
        Ok(Some(Answer { citations: joined(citations), ..answer }))
    }

    /// The cells of the table, as many as the settings allow; none without two things to compare.
    async fn plan(&self, question: &Question, cx: &Cx) -> Result<Vec<Cell>> {
        let variables = context! { question => Serde(question) };
        let planned = cx.ask_checked(&COMPARE, variables, ComparisonTable::check).await;
        let Some(table) = planned.unless_failed(cx, "there is no table to fill")? else {
            return Ok(vec![]);
        };
        let things = distinct(table.cells.iter().map(|cell| cell.thing.trim()));
        let attributes = distinct(table.cells.iter().map(|cell| cell.attribute.trim()));
        if things.len() < 2 {
            cx.note("there are no two things to compare");
            return Ok(vec![]);
        }
        let things = first(things, self.things, "things", cx);
        let attributes = first(attributes, self.attributes, "attributes", cx);
        let mut cells: Vec<Cell> = vec![];
        for PlannedCell { thing, attribute, question: text } in &table.cells {
            let (thing, attribute, text) = (thing.trim(), attribute.trim(), text.trim());
            let same = |cell: &Cell| cell.thing == thing && cell.attribute == attribute;
            let within = things.contains(&thing) && attributes.contains(&attribute);
            if !within || cells.iter().any(same) {
                continue;
            }
            // A cell that asks the whole question would compare, not look up.
            let is_worded = !text.is_empty() && text != question.text.trim();
            let text = if is_worded { text.to_owned() } else { format!("{thing}: {attribute}") };
            cells.push(Cell::new(thing.to_owned(), attribute.to_owned(), text));
        }
        Ok(cells)
    }

    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        if self.things < 2 {
            return Err(format!("`things` is {}, but two are compared at least", self.things));
        }
        at_least_one("attributes", self.attributes)?;
        at_least_one("chunks", self.chunks)?;
        a_cosine("min_score", self.min_score)
    }
}

impl ComparisonTable {
    fn check(&self) -> std::result::Result<(), String> {
        let blank =
            |cell: &PlannedCell| cell.thing.trim().is_empty() || cell.attribute.trim().is_empty();
        match self.cells.iter().position(blank) {
            Some(i) => Err(format!("entry {} of `cells` has no `thing` or no `attribute`", i + 1)),
            None => Ok(()),
        }
    }
}

/// Each name once, in their order.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = vec![];
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

fn first<'a>(mut names: Vec<&'a str>, limit: usize, what: &str, cx: &Cx) -> Vec<&'a str> {
    if names.len() > limit {
        cx.note(format!("{} {what}: the first {limit} are compared", names.len()));
        names.truncate(limit);
    }
    names
}

/// The table as a person reads it.
fn shown(cells: &[Cell]) -> String {
    let mut out = String::from("table:");
    for cell in cells {
        let value = if cell.answer.is_empty() { "–" } else { &cell.answer };
        let _ = write!(out, " [{}, {}: {value}]", cell.thing, cell.attribute);
    }
    out
}

const CELL: Prompt<Reading> = Prompt::json("pike_l2/cell");

/// A question about one thing with its value, which is empty where none was found.
#[derive(Debug, Serialize)]
pub(crate) struct Cell {
    pub(crate) thing: String,
    pub(crate) attribute: String,
    pub(crate) question: String,
    pub(crate) answer: String,
    #[serde(skip)]
    pub(crate) answered: Option<Answered>,
}

/// The value of a cell with the passages that it was read from.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) answer: Answer,
    pub(crate) passages: Vec<Hit>,
}

impl Cell {
    pub(crate) fn new(thing: String, attribute: String, question: String) -> Self {
        Self { thing, attribute, question, answer: String::new(), answered: None }
    }
}

impl Comparative {
    /// Looks the cells of a question's table up; one stays empty where nothing is found or the budget is spent.
    pub(crate) async fn fill(
        &self,
        whole: &Question,
        cells: Vec<Cell>,
        cx: &Cx,
    ) -> Result<Vec<Cell>> {
        let filling = cells.into_iter().map(|cell| {
            let cx = cx.span(format!("{}: {}", cell.thing, cell.attribute));
            let question = whole.sub_question(&cell.question);
            async move {
                let answered = self.look_up(&question, &cell.thing, &cx).await.unless_spent()?;
                let answer = answered.as_ref().map(|answered| answered.answer.text.clone());
                Ok(Cell { answer: answer.unwrap_or_default(), answered, ..cell })
            }
        });
        try_join_all(filling).await
    }

    async fn look_up(&self, question: &Question, thing: &str, cx: &Cx) -> Result<Option<Answered>> {
        let Self { chunks, atoms, min_score, mode, .. } = *self;
        let near = Near { chunks, atoms, min_score, mode };
        let hits = near.to(&question.text, &[], cx).await?;
        let answered = read(question, about(thing, hits), cx).await?;
        if answered.is_some() || self.hops == 0 {
            return Ok(answered);
        }
        cx.note("no passage near it states it: looking it up in hops");
        let kar3 = Kar3 { n: self.hops, min_score, mode, ..Kar3::default() };
        let collected = kar3.collect(question, cx).await?;
        read(question, collected, cx).await
    }
}

async fn read(question: &Question, passages: Vec<Hit>, cx: &Cx) -> Result<Option<Answered>> {
    if passages.is_empty() {
        cx.note("nothing is near");
        return Ok(None);
    }
    let variables = context! { question => Serde(question), context => Serde(&passages) };
    let reading = cx.ask(&CELL, variables).await.unless_failed(cx, "the cell stays empty")?;
    let answer = reading.map(|reading| answer_from(reading, &passages));
    let answer = answer.filter(|answer| !answer.abstained);
    Ok(answer.map(|answer| Answered { answer, passages }))
}

/// The passages that name the thing, and those whose titles these name; all where none does. What
/// is stated of another thing is not the value of this one.
fn about(thing: &str, mut hits: Vec<Hit>) -> Vec<Hit> {
    let naming: Vec<Hit> =
        hits.iter().filter(|hit| holds(hit, without_remark(thing))).cloned().collect();
    if !naming.is_empty() {
        let linked = |hit: &Hit| naming.iter().any(|by| holds(by, without_remark(&hit.title)));
        hits.retain(|hit| naming.iter().any(|by| by.id == hit.id) || linked(hit));
    }
    hits
}

/// A name without what stands in parentheses after it: `Solaris (film)`.
fn without_remark(name: &str) -> &str {
    name.split_once(" (").map_or(name, |(name, _)| name)
}
