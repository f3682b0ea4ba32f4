//! Taking calls: none is with two workers, and none stays with a worker that died.
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::{CallId, Calls, LEASE};
use crate::pg::error::PgError;

/// A call that is with a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenCall {
    pub id: CallId,
    pub kind: i16,
    pub input: Vec<u8>,
    /// As it was submitted.
    pub about: Vec<i32>,
    /// Named in everything that is said of the call. It changes when another worker takes it.
    pub fence: u64,
    /// This one included.
    pub attempts: u32,
}

/// A call whose workers died so often is what kills them.
const MAX_LOST: i32 = 10;
/// Calls of dead workers that are put back in one statement.
const PUT_BACK_AT_ONCE: i64 = 1_000;

impl Calls {
    /// Up to `most` calls, of the first kind first. They are the worker's for 60 seconds, and for 60
    /// more with each [`Calls::heartbeat`]. Calls of workers that were not heard of are open again.
    pub async fn take(
        &self,
        worker: &str,
        kinds: &[i16],
        limit: u32,
    ) -> Result<Vec<TakenCall>, PgError> {
        let mut taken = self.take_open(worker, kinds, limit).await?;
        let rest = limit - count(&taken);
        if rest > 0 && self.put_back().await? > 0 {
            taken.extend(self.take_open(worker, kinds, rest).await?);
        }
        Ok(taken)
    }

    async fn take_open(
        &self,
        worker: &str,
        kinds: &[i16],
        limit: u32,
    ) -> Result<Vec<TakenCall>, PgError> {
        // Materialized, because a join might run the locking part several times, with other rows each.
        let sql = format!(
            "with t as materialized (
                select id from halma.call where home = $1 and kind = $3 and state = 0
                and due <= now() order by due, id limit $4 for update skip locked)
             update halma.call c set state = 1, worker = $2, fence = c.fence + 1,
                attempts = c.attempts + 1, lease_until = now() + {LEASE}
             where c.home = $1 and c.id = any(array(select id from t))
             returning c.id, c.kind, c.input, c.fence, c.attempts, c.about"
        );
        let mut taken = vec![];
        for kind in kinds {
            let rest = i64::from(limit - count(&taken));
            if rest == 0 {
                break;
            }
            let parameters =
                [(&worker as _, Type::TEXT), (kind as _, Type::INT2), (&rest as _, Type::INT8)];
            // If the server forgets that it was taken, it is done twice, and one result is stored.
            for row in self.tables.query_without_flush(&sql, &parameters).await? {
                taken.push(self.taken_call(&row)?);
            }
        }
        Ok(taken)
    }

    fn taken_call(&self, row: &Row) -> Result<TakenCall, PgError> {
        let id: Vec<u8> = self.tables.value(row, 0)?;
        Ok(TakenCall {
            id: id.try_into().expect("ids are written with 16 bytes"),
            kind: self.tables.value(row, 1)?,
            input: self.tables.value(row, 2)?,
            fence: self.tables.number(row, 3)?,
            attempts: self.tables.value::<i32>(row, 4)?.unsigned_abs(),
            about: self.tables.value(row, 5)?,
        })
    }

    /// Opens the calls of workers that died, and returns how many there were.
    async fn put_back(&self) -> Result<usize, PgError> {
        const PUT_BACK: &str = "with t as materialized (
                select id from halma.call where home = $1 and state = 1 and lease_until < now()
                order by lease_until limit $3 for update skip locked)
            update halma.call c set lease_until = null,
            state = case when c.attempts >= $2 then 3 else 0 end,
            error = case when c.attempts >= $2 then 'the worker stopped in each of ' || c.attempts || ' attempts' end
            where c.home = $1 and c.id = any(array(select id from t)) returning 1";
        let parameters = [(&MAX_LOST as _, Type::INT4), (&PUT_BACK_AT_ONCE as _, Type::INT8)];
        Ok(self.tables.query(PUT_BACK, &parameters).await?.len())
    }
}

/// At most the number that was asked for.
fn count(taken: &[TakenCall]) -> u32 {
    u32::try_from(taken.len()).expect("no more were asked for")
}
