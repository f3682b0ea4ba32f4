//! Knowledge structuring (PIKE-RAG, Section 5.4): dated rows, from a query over the tables or, where
//! none has them, from passages.
use crate::forecast::Granularity;
use halma_core::text::thousands;
use halma_core::{
    Cx, Error, Prompt, Question, Result, SqlResult, UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::PikeL3;
use super::plan::{Aggregate, Plan};
use super::rows::{Collected, RawRow, days, text};
use crate::pike_l2::quantitative::query::{FailedQuery, Offered};

const SQL: Prompt<Written> = Prompt::json("pike_l3/sql");

/// How often a query that cannot be used is given back.
const RETRIES: usize = 2;

/// A query for rows; empty where no table has them.
#[derive(Debug, Deserialize)]
struct Written {
    #[serde(default)]
    reason: String,
    sql: String,
    /// A query for the first and the last date of the table; empty where it is not known to be
    /// complete.
    #[serde(default)]
    window: String,
}

impl PikeL3 {
    pub(super) async fn structure(
        &self,
        question: &Question,
        plan: &Plan,
        tables: &[Offered],
        cx: &Cx,
    ) -> Result<Collected> {
        let cx = cx.span("structuring");
        if !tables.is_empty()
            && let Some(collected) = self.query(question, plan, tables, &cx).await?
        {
            return Ok(collected);
        }
        self.gather(question, plan, &cx).await
    }

    /// The rows of a query; `None` where no table has them.
    async fn query(
        &self,
        question: &Question,
        plan: &Plan,
        tables: &[Offered],
        cx: &Cx,
    ) -> Result<Option<Collected>> {
        let mut failed: Option<FailedQuery> = None;
        for _ in 0..=RETRIES {
            let variables = context! {
                question => Serde(question),
                plan => Serde(plan),
                tables => Serde(tables),
                failed => Serde(&failed),
            };
            let written = cx.ask(&SQL, variables).await;
            let written = written.unless_failed(cx, "no query is written").unless_spent()?;
            let Some(Written { sql, window, reason }) = written else { break };
            let sql = sql.trim().trim_end_matches(';').to_owned();
            if sql.is_empty() {
                cx.note(format!("no table has the rows: {}", reason.trim()));
                break;
            }
            let reason = match run(&sql, cx).await? {
                Ok(result) if column(&result, "date").is_none() => {
                    "the result has no column `date`".into()
                }
                Ok(result) if plan.measure.has_values() && column(&result, "value").is_none() => {
                    "the result has no column `value`".into()
                }
                Ok(result) if result.rows.is_empty() => "no row fits it".into(),
                Ok(result) => {
                    let result = whole(&sql, plan, result, cx).await?;
                    let mut collected = collect(&result);
                    collected.window = covered(&window, cx).await?;
                    return Ok(Some(collected));
                }
                Err(reason) => reason,
            };
            cx.note(format!("the query cannot be used: {reason}"));
            failed = Some(FailedQuery { sql, reason });
        }
        Ok(None)
    }
}

/// The result, or what the base says is wrong with the query.
async fn run(sql: &str, cx: &Cx) -> Result<std::result::Result<SqlResult, String>> {
    match cx.run_sql(sql).await {
        Ok(result) => Ok(Ok(result)),
        Err(Error::Knowledge(reason)) => Ok(Err(reason.to_string())),
        Err(error) => Err(error),
    }
}

/// All rows: where there are more than a result may have, they are counted or added up by the base.
async fn whole(sql: &str, plan: &Plan, result: SqlResult, cx: &Cx) -> Result<SqlResult> {
    if !result.cut {
        return Ok(result);
    }
    let has = |name: &str| column(&result, name).is_some();
    let digits = match plan.period_length() {
        Granularity::Day => 10,
        Granularity::Month | Granularity::Quarter => 7,
        Granularity::Year => 4,
    };
    let value = match plan.measure {
        Aggregate::Count | Aggregate::Event if has("value") => "SUM(value)",
        Aggregate::Count | Aggregate::Event => "COUNT(*)",
        Aggregate::Sum => "SUM(value)",
        Aggregate::Mean => "AVG(value)",
    };
    let (select, by) = if has("series") { ("series, ", ", series") } else { ("", "") };
    let grouped = format!(
        "SELECT {select}substr(date, 1, {digits}) AS date, {value} AS value FROM ({sql}) \
         GROUP BY substr(date, 1, {digits}){by}"
    );
    cx.note("there are more rows than a result may have: they are grouped by the query");
    Ok(match run(&grouped, cx).await? {
        Ok(grouped) => grouped,
        Err(reason) => {
            cx.note(format!("they cannot be grouped, so the first rows are used: {reason}"));
            result
        }
    })
}

fn column(result: &SqlResult, name: &str) -> Option<usize> {
    result.columns.iter().position(|column| column.eq_ignore_ascii_case(name))
}

fn collect(result: &SqlResult) -> Collected {
    let [group, thing, date, value] =
        ["series", "thing", "date", "value"].map(|name| column(result, name));
    let rows = result.rows.iter().map(|row| {
        let cell = |at: Option<usize>| text(at.and_then(|at| row.values.get(at)));
        let sources = row.sources.clone();
        RawRow {
            group: cell(group),
            thing: cell(thing),
            date: cell(date),
            value: cell(value),
            sources,
        }
    });
    let mut caveats = vec![];
    if result.cut {
        let rows = thousands(result.rows.len() as u64);
        caveats.push(format!("only the first {rows} rows of the table are used"));
    }
    Collected { rows: rows.collect(), window: None, caveats }
}

/// The first and the last date of the source.
async fn covered(sql: &str, cx: &Cx) -> Result<Option<(String, String)>> {
    let sql = sql.trim().trim_end_matches(';');
    if sql.is_empty() {
        return Ok(None);
    }
    let result = match run(sql, cx).await? {
        Ok(result) => result,
        Err(reason) => {
            cx.note(format!("it is not known which dates the table covers: {reason}"));
            return Ok(None);
        }
    };
    let row = result.rows.first();
    let [from, to] = [0, 1].map(|at| text(row.and_then(|row| row.values.get(at))));
    Ok((days(&from).is_some() && days(&to).is_some()).then_some((from, to)))
}
