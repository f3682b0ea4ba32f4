//! Comparative questions: a table of things and attributes, every cell of it looked up.
use std::fmt::Write as _;

use futures::future::try_join_all;
use halma_core::{Answer, Cx, Hit, Mode, Prompt, Question, Result, UnlessSpent as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::shared::citing::joined;
use crate::shared::near::Near;
use crate::shared::settings::{a_cosine, at_least_one};
use crate::shared::steps::{Reading, answer_from, unseen};

const COMPARE: Prompt<ComparisonTable> = Prompt::json("pike_l2/compare");
const CELL: Prompt<Reading> = Prompt::json("pike_l2/cell");
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
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for Comparative {
    fn default() -> Self {
        let (things, attributes, chunks, atoms) = (8, 5, 4, 4);
        Self { things, attributes, chunks, atoms, min_score: None, mode: Mode::Graph }
    }
}

/// The plan: a list of questions for each thing, one for each attribute.
#[derive(Debug, Deserialize)]
struct ComparisonTable {
    things: Vec<String>,
    attributes: Vec<String>,
    questions: Vec<Vec<String>>,
}

/// A cell as it is read concurrently with the others; empty where nothing was found.
#[derive(Debug, Serialize)]
struct Cell {
    thing: String,
    attribute: String,
    question: String,
    answer: String,
    #[serde(skip)]
    answered: Option<(Answer, Vec<Hit>)>,
}

impl Comparative {
    /// `None` when there is no table to be made of the question, or nothing to put into it.
    pub(super) async fn answer(&self, question: &Question, cx: &Cx) -> Result<Option<Answer>> {
        let cx = cx.span("comparative");
        let Some(cells) = self.plan(question, &cx).await? else { return Ok(None) };
        let filling = cells.into_iter().map(|cell| {
            let cx = cx.span(format!("{}: {}", cell.thing, cell.attribute));
            async move { self.fill(cell, &cx).await }
        });
        let cells = try_join_all(filling).await?;
        cx.note(shown(&cells));
        let (mut context, mut citations) = (vec![], vec![]);
        for (answer, chunks) in cells.iter().filter_map(|cell| cell.answered.as_ref()) {
            context.extend(unseen(vec![chunks.clone()], &context));
            citations.extend(answer.citations.clone());
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
        let reading = cx.reserve().ask(&COMPARED, variables).await?;
        let answer = answer_from(reading, &context);
        Ok(Some(Answer { citations: joined(citations), ..answer }))
    }

    /// The cells of the table, thing by thing.
    async fn plan(&self, question: &Question, cx: &Cx) -> Result<Option<Vec<Cell>>> {
        let variables = context! { question => Serde(question) };
        let ComparisonTable { things, attributes, questions } =
            cx.ask_checked(&COMPARE, variables, ComparisonTable::complaint).await?;
        if things.len() < 2 || attributes.is_empty() {
            cx.note("there are no two things to compare");
            return Ok(None);
        }
        for (what, named, most) in [
            ("things", things.len(), self.things),
            ("attributes", attributes.len(), self.attributes),
        ] {
            if named > most {
                cx.note(format!("{named} {what}: the first {most} are compared"));
            }
        }
        let mut cells = vec![];
        for (thing, row) in things.iter().zip(questions).take(self.things) {
            for (attribute, asked) in attributes.iter().zip(row).take(self.attributes) {
                // The whole question is no question for a cell.
                let own = asked.trim() != "" && asked.trim() != question.text.trim();
                let asked = if own { asked } else { format!("{thing}: {attribute}") };
                cells.push(Cell {
                    thing: thing.clone(),
                    attribute: attribute.clone(),
                    question: asked,
                    answer: String::new(),
                    answered: None,
                });
            }
        }
        Ok(Some(cells))
    }

    /// Looks a cell up; it stays empty where nothing is found or the budget is spent.
    async fn fill(&self, cell: Cell, cx: &Cx) -> Result<Cell> {
        let Self { chunks, atoms, min_score, mode, .. } = *self;
        let near = Near { chunks, atoms, min_score, mode };
        let found = near.to(&cell.question, &[], cx).await?;
        if found.is_empty() {
            cx.note("nothing is near");
            return Ok(cell);
        }
        let asked = Question::new(&cell.question);
        let variables = context! { question => Serde(&asked), context => Serde(&found) };
        let reading = cx.ask(&CELL, variables).await.map(Some).unless_spent()?;
        let answer = reading.map(|reading| answer_from(reading, &found));
        Ok(match answer.filter(|answer| !answer.abstained) {
            Some(answer) => {
                Cell { answer: answer.text.clone(), answered: Some((answer, found)), ..cell }
            }
            None => cell,
        })
    }

    pub(super) fn check(&self) -> std::result::Result<(), String> {
        if self.things < 2 {
            return Err(format!("`things` is {}, but two are compared at least", self.things));
        }
        at_least_one("attributes", self.attributes)?;
        at_least_one("chunks", self.chunks)?;
        a_cosine("min_score", self.min_score)
    }
}

impl ComparisonTable {
    /// What is wrong with the shape of the table.
    fn complaint(&self) -> std::result::Result<(), String> {
        let Self { things, attributes, questions } = self;
        if things.len() < 2 {
            return Ok(());
        }
        let twice = things.iter().enumerate().find(|(i, thing)| things[..*i].contains(thing));
        if let Some((_, thing)) = twice {
            return Err(format!("`things` names `{thing}` twice"));
        }
        if things.iter().chain(attributes).any(|name| name.trim().is_empty()) {
            return Err("one of `things` or `attributes` is empty".into());
        }
        if questions.len() != things.len() {
            let (rows, wanted) = (questions.len(), things.len());
            return Err(format!("`questions` holds {rows} lists for {wanted} things"));
        }
        match questions.iter().zip(things).find(|(row, _)| row.len() != attributes.len()) {
            Some((row, thing)) => Err(format!(
                "`{thing}` has {} questions for {} attributes",
                row.len(),
                attributes.len()
            )),
            None => Ok(()),
        }
    }
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
