//! The query: written, run, and written again where it cannot be used or counts nothing.
use halma_core::{Cx, Error, Prompt, Question, Result, SqlResult, UnlessFailed as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::Quantitative;
use super::offered::Offered;
use super::rows::{counts_nothing, says_nothing};
use super::similar_values::similar_values;

const SQL: Prompt<Written> = Prompt::json("pike_l2/sql");

/// A query; empty when no table has what is asked.
#[derive(Debug, Deserialize)]
struct Written {
    #[serde(default)]
    reason: String,
    sql: String,
}

/// A query that was run in vain.
#[derive(Debug, Serialize)]
struct FailedQuery {
    sql: String,
    reason: String,
}

impl Quantitative {
    /// A query and its result; what is wrong with one is given to the writer of the next. A count
    /// of 0 under a filter on text is not accepted at once: the text may be spelled differently there.
    pub(super) async fn run_sql(
        &self,
        question: &Question,
        tables: &[Offered],
        cx: &Cx,
    ) -> Result<Option<(String, SqlResult)>> {
        let mut failed: Option<FailedQuery> = None;
        let mut empty: Option<(String, SqlResult)> = None;
        for _ in 0..=self.retries {
            let variables = context! {
                question => Serde(question),
                tables => Serde(tables),
                failed => Serde(&failed),
            };
            let written = cx.ask(&SQL, variables).await;
            let Some(Written { sql, reason }) = written.unless_failed(cx, "no query is written")?
            else {
                break;
            };
            let sql = sql.trim().to_owned();
            if sql.is_empty() {
                cx.note(format!("no table answers: {}", reason.trim()));
                break;
            }
            let reason = match cx.run_sql(&sql).await {
                Ok(computed) if says_nothing(&computed) => {
                    format!("no row fits it{}", similar_values(&sql, tables, cx).await?)
                }
                Ok(computed) if counts_nothing(&computed) && empty.is_none() => {
                    let values = similar_values(&sql, tables, cx).await?;
                    if values.is_empty() {
                        return Ok(Some((sql, computed)));
                    }
                    empty = Some((sql.clone(), computed));
                    format!("it counts 0{values}")
                }
                Ok(computed) => return Ok(Some((sql, computed))),
                Err(Error::Knowledge(reason)) => reason.to_string(),
                Err(error) => return Err(error),
            };
            cx.note(format!("the query cannot be used: {reason}"));
            failed = Some(FailedQuery { sql, reason });
        }
        match &empty {
            Some(_) => cx.note("no other query counts more: the count of 0 stands"),
            None => cx.note("no query could be used"),
        }
        Ok(empty)
    }
}
