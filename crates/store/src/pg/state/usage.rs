//! What was used on each day, with caps that several programs cannot overspend together.
use crate::{Cap, Spent, SpentOn};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::pg::error::PgError;
use crate::pg::tables::Tables;

/// What subjects (keys, builds) of a workspace have used.
#[derive(Clone)]
pub struct Usage {
    tables: Tables,
}

// The row is locked from the comparison to the commit, so that of two that would exceed a cap
// together one is refused.
const ADD: &str = "insert into halma.usage (home, subject, day, questions, calls, cached_calls,
        prompt_tokens, completion_tokens, cost_micros)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9 where $5 <= $10 and $9 <= $11
    on conflict (home, subject, day) do update set questions = usage.questions + $4,
        calls = usage.calls + $5, cached_calls = usage.cached_calls + $6,
        prompt_tokens = usage.prompt_tokens + $7,
        completion_tokens = usage.completion_tokens + $8, cost_micros = usage.cost_micros + $9
    where ($5 <= 0 or usage.calls + $5 <= $10) and ($9 <= 0 or usage.cost_micros + $9 <= $11)
    returning 1";
const COLUMNS: &str = "select subject, day, questions, calls, cached_calls, prompt_tokens,
    completion_tokens, cost_micros from halma.usage where home = $1";

impl Usage {
    pub(crate) fn new(tables: Tables) -> Self {
        Self { tables }
    }

    /// Adds to what a subject has used on a day (days since 1970-01-01), unless that would exceed
    /// `cap`; `false` then, and nothing is added. It is not repeated when a connection is cut: after an
    /// error it may have been added.
    pub async fn add(
        &self,
        subject: &str,
        day: i32,
        spent: Spent,
        cap: Cap,
    ) -> Result<bool, PgError> {
        let parameters = [
            (&subject as _, Type::TEXT),
            (&day as _, Type::INT4),
            (&spent.questions as _, Type::INT8),
            (&spent.calls as _, Type::INT8),
            (&spent.cached_calls as _, Type::INT8),
            (&spent.prompt_tokens as _, Type::INT8),
            (&spent.completion_tokens as _, Type::INT8),
            (&spent.cost_micros as _, Type::INT8),
            (&cap.calls as _, Type::INT8),
            (&cap.cost_micros as _, Type::INT8),
        ];
        Ok(!self.tables.once(ADD, &parameters).await?.is_empty())
    }

    /// What a subject has used on a day.
    pub async fn spent(&self, subject: &str, day: i32) -> Result<Spent, PgError> {
        let query = format!("{COLUMNS} and subject = $2 and day = $3");
        let parameters = [(&subject as _, Type::TEXT), (&day as _, Type::INT4)];
        let rows = self.tables.query(&query, &parameters).await?;
        rows.first().map_or_else(|| Ok(Spent::default()), |row| Ok(self.read(row)?.spent))
    }

    /// What every subject has used on each day.
    pub async fn list(&self) -> Result<Vec<SpentOn>, PgError> {
        let rows = self.tables.query(&format!("{COLUMNS} order by subject, day"), &[]).await?;
        rows.iter().map(|row| self.read(row)).collect()
    }

    fn read(&self, row: &Row) -> Result<SpentOn, PgError> {
        let spent = Spent {
            questions: self.tables.value(row, 2)?,
            calls: self.tables.value(row, 3)?,
            cached_calls: self.tables.value(row, 4)?,
            prompt_tokens: self.tables.value(row, 5)?,
            completion_tokens: self.tables.value(row, 6)?,
            cost_micros: self.tables.value(row, 7)?,
        };
        Ok(SpentOn { subject: self.tables.value(row, 0)?, day: self.tables.value(row, 1)?, spent })
    }
}
