//! What was used on each day, with caps that several programs cannot overspend together.
use halma_store::{Spent, SpentOn};
use tokio_postgres::types::Type;

use crate::error::PgError;
use crate::tables::Tables;

/// What subjects (keys, builds) of a workspace have used.
#[derive(Clone)]
pub struct Usage {
    tables: Tables,
}

// The row is locked from the comparison to the commit, so that of two that would exceed a cap
// together one is refused.
const ADD: &str = "insert into halma.usage (home, subject, day, calls, tokens, cost_micros)
    select $1, $2, $3, $4, $5, $6 where $4 <= $7 and $5 <= $8 and $6 <= $9
    on conflict (home, subject, day) do update set calls = usage.calls + $4,
        tokens = usage.tokens + $5, cost_micros = usage.cost_micros + $6
    where ($4 <= 0 or usage.calls + $4 <= $7) and ($5 <= 0 or usage.tokens + $5 <= $8)
        and ($6 <= 0 or usage.cost_micros + $6 <= $9)
    returning 1";
const READ: &str = "select coalesce(sum(calls), 0)::int8, coalesce(sum(tokens), 0)::int8,
    coalesce(sum(cost_micros), 0)::int8 from halma.usage
    where home = $1 and subject = $2 and day between $3 and $4";

const LIST: &str = "select subject, day, calls, tokens, cost_micros from halma.usage
    where home = $1 and day between $2 and $3 order by subject, day";

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
        cap: Spent,
    ) -> Result<bool, PgError> {
        let parameters = [
            (&subject as _, Type::TEXT),
            (&day as _, Type::INT4),
            (&spent.calls as _, Type::INT8),
            (&spent.tokens as _, Type::INT8),
            (&spent.cost_micros as _, Type::INT8),
            (&cap.calls as _, Type::INT8),
            (&cap.tokens as _, Type::INT8),
            (&cap.cost_micros as _, Type::INT8),
        ];
        Ok(!self.tables.once(ADD, &parameters).await?.is_empty())
    }

    /// What a subject has used on the days from `first` to `last`.
    pub async fn spent(&self, subject: &str, first: i32, last: i32) -> Result<Spent, PgError> {
        let parameters =
            [(&subject as _, Type::TEXT), (&first as _, Type::INT4), (&last as _, Type::INT4)];
        let rows = self.tables.query(READ, &parameters).await?;
        let Some(row) = rows.first() else { return Ok(Spent::default()) };
        Ok(Spent {
            calls: self.tables.value(row, 0)?,
            tokens: self.tables.value(row, 1)?,
            cost_micros: self.tables.value(row, 2)?,
        })
    }

    /// What every subject has used on each of the days from `first` to `last`.
    pub async fn list(&self, first: i32, last: i32) -> Result<Vec<SpentOn>, PgError> {
        let parameters = [(&first as _, Type::INT4), (&last as _, Type::INT4)];
        let rows = self.tables.query(LIST, &parameters).await?;
        let read = |row| {
            Ok(SpentOn {
                subject: self.tables.value(row, 0)?,
                day: self.tables.value(row, 1)?,
                spent: Spent {
                    calls: self.tables.value(row, 2)?,
                    tokens: self.tables.value(row, 3)?,
                    cost_micros: self.tables.value(row, 4)?,
                },
            })
        };
        rows.iter().map(read).collect()
    }
}
