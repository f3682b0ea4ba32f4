//! What a worker says of the calls that it has taken. A late word, after the call went to another
//! worker, changes nothing.
use tokio_postgres::types::Type;

use super::{CallId, Calls, Done, Failure, LEASE};
use crate::pg::error::PgError;

// `any` makes the key be used, whatever the statistics: of a table that was filled a moment ago there are
// none, and a join would read all of it.
// A result is taken as long as no other worker has the call, even if its time ran out: it was paid for.
const COMPLETE: &str =
    "update halma.call c set state = 2, lease_until = null, output = d.o, error = null
    from unnest($2::bytea[], $3::int8[], $4::bytea[]) as d(i, f, o)
    where c.home = $1 and c.id = any($2) and c.id = d.i and c.fence = d.f returning 1";
const FAIL: &str = "update halma.call set lease_until = null, error = $4,
    state = case when attempts >= $5 then 3 else 0 end,
    due = now() + $6 * interval '1 second'
    where home = $1 and id = $2 and fence = $3 and state < 2 returning state";

impl Calls {
    /// Stores results, and returns how many: a call that is with another worker by now keeps what
    /// that one says.
    pub async fn complete(&self, done: &[Done]) -> Result<usize, PgError> {
        if done.is_empty() {
            return Ok(0);
        }
        let mut done: Vec<&Done> = done.iter().collect();
        done.sort_by_key(|done| done.id);
        let ids: Vec<&[u8]> = done.iter().map(|done| done.id.as_slice()).collect();
        let fences: Vec<i64> = done.iter().map(|done| done.fence.cast_signed()).collect();
        let outputs: Vec<&[u8]> = done.iter().map(|done| done.output.as_slice()).collect();
        let parameters = [
            (&ids as _, Type::BYTEA_ARRAY),
            (&fences as _, Type::INT8_ARRAY),
            (&outputs as _, Type::BYTEA_ARRAY),
        ];
        Ok(self.tables.query(COMPLETE, &parameters).await?.len())
    }

    /// Notes that a call has no result: it is open again after a pause, or has failed. `false` if
    /// it is with another worker by now.
    pub async fn fail(&self, failure: &Failure) -> Result<bool, PgError> {
        let (id, fence) = (failure.id.as_slice(), failure.fence.cast_signed());
        let max_attempts = failure.retry.map_or(0, |retry| retry.max_attempts);
        let max_attempts = i32::try_from(max_attempts).unwrap_or(i32::MAX);
        let after = failure.retry.map_or(0.0, |retry| retry.after.as_secs_f64());
        let parameters = [
            (&id as _, Type::BYTEA),
            (&fence as _, Type::INT8),
            (&failure.error as _, Type::TEXT),
            (&max_attempts as _, Type::INT4),
            (&after as _, Type::FLOAT8),
        ];
        // Done twice, the second finds the call open: nothing is lost but a moment of its pause.
        Ok(!self.tables.query(FAIL, &parameters).await?.is_empty())
    }

    /// Gives back calls that were not begun, for instance when a worker ends. They do not count as
    /// attempts.
    pub async fn put_down(&self, calls: &[(CallId, u64)]) -> Result<(), PgError> {
        const PUT_DOWN: &str = "update halma.call c set state = 0, lease_until = null,
            attempts = greatest(c.attempts - 1, 0)
            from unnest($2::bytea[], $3::int8[]) as d(i, f)
            where c.home = $1 and c.id = any($2) and c.id = d.i and c.fence = d.f and c.state = 1";
        let (ids, fences) = columns(calls);
        let parameters = [(&ids as _, Type::BYTEA_ARRAY), (&fences as _, Type::INT8_ARRAY)];
        self.tables.query(PUT_DOWN, &parameters).await.map(drop)
    }

    /// Says that a worker lives and still does these calls. Returns those that are still its own:
    /// the others were given to another worker and need not be finished.
    pub async fn heartbeat(
        &self,
        worker: &str,
        calls: &[(CallId, u64)],
    ) -> Result<Vec<CallId>, PgError> {
        const LIVE: &str = "insert into halma.worker (home, name, seen) values ($1, $2, now())
            on conflict (home, name) do update set seen = now(), started =
            case when worker.seen < now() - interval '60 seconds' then now() else worker.started end";
        let hold = format!(
            "update halma.call c set lease_until = now() + {LEASE}
             from unnest($2::bytea[], $3::int8[]) as d(i, f)
             where c.home = $1 and c.id = any($2) and c.id = d.i and c.fence = d.f and c.state = 1
             returning c.id"
        );
        self.tables.query_without_flush(LIVE, &[(&worker, Type::TEXT)]).await?;
        if calls.is_empty() {
            return Ok(vec![]);
        }
        let (ids, fences) = columns(calls);
        let parameters = [(&ids as _, Type::BYTEA_ARRAY), (&fences as _, Type::INT8_ARRAY)];
        let rows = self.tables.query_without_flush(&hold, &parameters).await?;
        let id = |row| self.tables.value::<Vec<u8>>(row, 0);
        let ids: Result<Vec<Vec<u8>>, PgError> = rows.iter().map(id).collect();
        Ok(ids?.into_iter().map(|id| id.try_into().expect("ids have 16 bytes")).collect())
    }
}

fn columns(calls: &[(CallId, u64)]) -> (Vec<&[u8]>, Vec<i64>) {
    let mut calls: Vec<&(CallId, u64)> = calls.iter().collect();
    calls.sort();
    calls.iter().map(|(id, fence)| (id.as_slice(), fence.cast_signed())).unzip()
}
