//! Quantitative questions: a query that counts all that fits; without a table for it, everything
//! that fits is listed and looked up; never the nearest by eye.
mod listing;
pub(crate) mod query;
mod rows;
mod tally;

use halma_core::text::words;
use halma_core::{Answer, AnswerKind, Cx, Prompt, Question, Result, UnlessFailed as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

pub(crate) use self::listing::IDLE;
use self::rows::{cited, names_other_number, plain, shown, single_number};
pub(super) use self::tally::states_number;
use super::Comparative;
use crate::shared::settings::at_least_one;
use crate::shared::steps::{Reading, answer_from};

const COMPUTED: Prompt<Reading> = Prompt::json("pike_l2/computed");

/// How questions begin whose answer is a number, in the languages of most documents.
const HOW_MANY: [&[&str]; 9] = [
    &["how", "many"],
    &["how", "much"],
    &["number", "of"],
    &["wie", "viele"],
    &["wie", "viel"],
    &["combien"],
    &["cuántos"],
    &["cuántas"],
    &["quanti"],
];

/// The question with a number as its kind of answer, if it asks how many.
pub(super) fn asking_for_number(question: &Question) -> Question {
    let text = words(&question.text);
    let says = |phrase: &[&str]| text.windows(phrase.len()).any(|run| run.iter().eq(phrase));
    let is_free = question.answer_kind == AnswerKind::Short && question.options.is_empty();
    let mut question = question.clone();
    if is_free && HOW_MANY.iter().any(|phrase| says(phrase)) {
        question.answer_kind = AnswerKind::Number;
    }
    question
}

/// How tables are asked, and what is done without one; the paper names no constants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Quantitative {
    /// The most tables that are offered, those with most of the question's words.
    pub(crate) tables: usize,
    /// The most columns of each.
    pub(crate) columns: usize,
    /// Rows of each that are shown as samples.
    pub(crate) samples: usize,
    /// How often a query that cannot be used is given back.
    pub(crate) retries: usize,
    /// The most rows of a result that are read, and the most that are cited.
    pub(crate) rows: usize,
    /// The most things that are listed and looked up where no table answers; 0 lists none.
    pub(crate) things: usize,
    /// Chunks for each text that is searched for to list them.
    pub(crate) chunks: usize,
    /// Chunks that one call lists things from.
    pub(crate) group: usize,
}

impl Default for Quantitative {
    fn default() -> Self {
        let (things, chunks, group) = (30, 16, 8);
        Self { tables: 8, columns: 40, samples: 3, retries: 2, rows: 50, things, chunks, group }
    }
}

impl Quantitative {
    /// `None` when neither a table nor a list answers.
    pub(super) async fn answer(
        &self,
        question: &Question,
        cells: &Comparative,
        cx: &Cx,
    ) -> Result<Option<Answer>> {
        let cx = cx.span("quantitative");
        let answer = self.query_tables(question, &cx).await?;
        if answer.as_ref().is_some_and(|answer| !answer.abstained) || self.things == 0 {
            return Ok(answer);
        }
        let listed = self.count_listed(question, cells, &cx).await?;
        Ok(listed.or(answer))
    }

    /// The answer of a query over the base's tables.
    async fn query_tables(&self, question: &Question, cx: &Cx) -> Result<Option<Answer>> {
        let tables = self.offered(question, cx).await?;
        if tables.is_empty() {
            cx.note("the knowledge base has no tables");
            return Ok(None);
        }
        let Some((sql, computed)) = self.run_sql(question, &tables, cx).await? else {
            return Ok(None);
        };
        let rows = shown(&computed, &tables, self.rows);
        let mut limitation = None;
        if computed.rows.len() > rows.len() || computed.cut {
            cx.note(format!("the result is longer: its first {} rows are read", rows.len()));
            limitation =
                Some(format!("Only the first {} rows of the result are read.", rows.len()));
        }
        let variables =
            context! { question => Serde(question), context => Serde(&rows), sql => &sql };
        let reading = cx.reserve().ask(&COMPUTED, variables).await;
        let Some(reading) = reading.unless_failed(cx, "the result is not read")? else {
            return Ok(None);
        };
        let mut answer = answer_from(reading, &[]);
        let wants_number = question.answer_kind == AnswerKind::Number && !answer.abstained;
        let is_none = wants_number && !states_number(&answer.text);
        let miscopied = |number: &f64| is_none || names_other_number(&answer.text, *number);
        if let Some(number) = single_number(&computed).filter(miscopied) {
            cx.note(format!("“{}” is not the computed number", answer.text));
            answer.text = plain(&number.into());
        }
        if answer.abstained {
            cx.note(format!("the result does not answer: {}", answer.reason));
        }
        let citations = cited(&computed, self.rows, cx).await?;
        let computation = Some(format!("Computed by a query over whole tables: {sql}"));
        Ok(Some(Answer { citations, computation, limitation, ..answer }))
    }

    pub(super) fn check(&self) -> std::result::Result<(), String> {
        at_least_one("tables", self.tables)?;
        at_least_one("columns", self.columns)?;
        at_least_one("rows", self.rows)?;
        at_least_one("chunks", self.chunks)?;
        at_least_one("group", self.group)
    }
}
