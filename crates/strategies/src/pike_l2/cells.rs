//! The cells of a table: single questions, each looked up concurrently with the others in passages
//! of its own, and in hops where no passage states it.
use futures::future::try_join_all;
use halma_core::{Answer, Cx, Hit, Prompt, Question, Result, UnlessFailed as _, UnlessSpent as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use super::Comparative;
use crate::kar3::Kar3;
use crate::shared::near::Near;
use crate::shared::steps::{Reading, answer_from, holds};

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
        let found = near.to(&question.text, &[], cx).await?;
        let answered = read(question, about(thing, found), cx).await?;
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
fn about(thing: &str, mut found: Vec<Hit>) -> Vec<Hit> {
    let naming: Vec<Hit> =
        found.iter().filter(|hit| holds(hit, without_remark(thing))).cloned().collect();
    if !naming.is_empty() {
        let linked = |hit: &Hit| naming.iter().any(|by| holds(by, without_remark(&hit.title)));
        found.retain(|hit| naming.iter().any(|by| by.id == hit.id) || linked(hit));
    }
    found
}

/// A name without what stands in parentheses after it: `Solaris (film)`.
fn without_remark(name: &str) -> &str {
    name.split_once(" (").map_or(name, |(name, _)| name)
}
