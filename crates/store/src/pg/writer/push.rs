//! Adding a generation to the log, in one transaction.
use tokio_postgres::types::Type;

use super::request::random;
use crate::pg::connections::{Param, Transaction, Waits};
use crate::pg::error::PgError;
use crate::pg::segments::LARGEST_SEGMENT;
use crate::pg::tables::Tables;

/// Bytes that are sent in one statement.
const BATCH: usize = 2 << 20;

/// A generation to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPush {
    /// Random, and the same when the push is repeated.
    pub id: [u8; 16],
    /// The generation that the log is at.
    pub expected: u64,
    /// These segments are the whole base: all earlier ones are deleted with it.
    pub snapshot: bool,
    /// The store that the log belongs to from now on.
    pub uid: u64,
}

/// A generation with its segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    pub new: NewPush,
    pub segments: Vec<Vec<u8>>,
}

/// A push that is under way. It is seen when it is finished, and undone if it is dropped, or if
/// nothing is added for a minute.
pub struct Transfer {
    tables: Tables,
    fence: u64,
    new: NewPush,
    stage: Stage,
    attempt: i64,
    batch: Vec<Vec<u8>>,
    batch_bytes: usize,
    segments: i32,
    bytes: i64,
}

enum Stage {
    Open(Box<Transaction>),
    /// It was done before, and made this generation.
    Done(u64),
}

const DONE: &str = "select generation from halma.push where home = $1 and id = $2";
/// Ids of pushes that are remembered before the last snapshot. A local copy that is farther behind reads
/// everything, without asking for its own.
const REMEMBERED: i64 = 1_000;
const FORGET: &str = "delete from halma.push where home = $1 and generation < $2";
const CLEAR: &str = "delete from halma.segment where home = $1";
// Not COPY, which PostgreSQL refuses where rows are restricted; at this size of rows it is as fast.
const ADD: &str = "insert into halma.segment (home, generation, seq, attempt, bytes)
    select $1, $2, $3 + n - 1, $4, b from unnest($5::bytea[]) with ordinality as u(b, n)";
const LOG: &str = "insert into halma.push (home, id, generation, segments, bytes)
    values ($1, $2, $3, $4, $5)";
const SHOW: &str = "update halma.home set generation = $2, push = $3, uid = $4,
    first = case when $5 then $2 else first end
    where home = $1 and generation = $2 - 1 and fence = $6 and lease_until > clock_timestamp()
    returning generation";
const STAND: &str = "select generation, fence = $2 and lease_until > clock_timestamp()
    from halma.home where home = $1";

/// [`Lease::push`](super::Lease::push).
pub(super) async fn repeat(tables: &Tables, fence: u64, push: &Push) -> Result<u64, PgError> {
    let mut waits = Waits::new();
    loop {
        match once(tables, fence, push).await {
            Err(error) if error.is_transient() && waits.again().await => {
                tracing::debug!(%error, "a push is repeated");
            }
            done => return done,
        }
    }
}

async fn once(tables: &Tables, fence: u64, push: &Push) -> Result<u64, PgError> {
    let mut transfer = Transfer::begin(tables, fence, push.new.clone()).await?;
    for segment in &push.segments {
        transfer.add(segment.clone()).await?;
    }
    transfer.finish().await
}

impl Transfer {
    pub(super) async fn begin(tables: &Tables, fence: u64, new: NewPush) -> Result<Self, PgError> {
        let transaction = tables.begin().await?;
        let id = new.id.as_slice();
        let done = transaction.query(DONE, &tables.parameters(&[(&id, Type::BYTEA)])).await?;
        let stage = if let Some(row) = done.first() {
            let generation = tables.number(row, 0)?;
            transaction.rollback().await?;
            Stage::Done(generation)
        } else {
            if new.snapshot {
                transaction.query(CLEAR, &tables.parameters(&[])).await?;
            }
            Stage::Open(Box::new(transaction))
        };
        let attempt = i64::from_le_bytes(random());
        let tables = tables.clone();
        let (batch, batch_bytes) = (vec![], 0);
        Ok(Self { tables, fence, new, stage, attempt, batch, batch_bytes, segments: 0, bytes: 0 })
    }

    /// Adds a segment after those before.
    pub async fn add(&mut self, segment: Vec<u8>) -> Result<(), PgError> {
        if segment.len() > LARGEST_SEGMENT {
            let (bytes, limit) = (segment.len(), LARGEST_SEGMENT);
            return Err(PgError::SegmentTooLarge { bytes, limit });
        }
        self.batch_bytes += segment.len();
        self.batch.push(segment);
        if self.batch_bytes >= BATCH { self.send().await } else { Ok(()) }
    }

    async fn send(&mut self) -> Result<(), PgError> {
        let batch = std::mem::take(&mut self.batch);
        let bytes = std::mem::take(&mut self.batch_bytes);
        let Stage::Open(transaction) = &self.stage else { return Ok(()) };
        let generation = (self.new.expected + 1).cast_signed();
        let parameters: [Param<'_>; 4] = [
            (&generation, Type::INT8),
            (&self.segments, Type::INT4),
            (&self.attempt, Type::INT8),
            (&batch, Type::BYTEA_ARRAY),
        ];
        transaction.query(ADD, &self.tables.parameters(&parameters)).await?;
        self.segments += i32::try_from(batch.len()).unwrap_or(i32::MAX);
        self.bytes += i64::try_from(bytes).unwrap_or(i64::MAX);
        Ok(())
    }

    /// Makes the generation visible, and returns its number.
    pub async fn finish(mut self) -> Result<u64, PgError> {
        self.send().await?;
        let transaction = match self.stage {
            Stage::Done(generation) => return Ok(generation),
            Stage::Open(transaction) => *transaction,
        };
        let NewPush { id, expected, snapshot, uid } = self.new;
        let (generation, fence) = ((expected + 1).cast_signed(), self.fence.cast_signed());
        let (id, uid) = (id.as_slice(), uid.cast_signed());
        let log: [Param<'_>; 4] = [
            (&id, Type::BYTEA),
            (&generation, Type::INT8),
            (&self.segments, Type::INT4),
            (&self.bytes, Type::INT8),
        ];
        transaction.query(LOG, &self.tables.parameters(&log)).await?;
        if snapshot {
            let first = (&(generation - REMEMBERED) as _, Type::INT8);
            transaction.query(FORGET, &self.tables.parameters(&[first])).await?;
        }
        let show: [Param<'_>; 5] = [
            (&generation, Type::INT8),
            (&id, Type::BYTEA),
            (&uid, Type::INT8),
            (&snapshot, Type::BOOL),
            (&fence, Type::INT8),
        ];
        if transaction.query(SHOW, &self.tables.parameters(&show)).await?.is_empty() {
            transaction.rollback().await?;
            return Err(refusal(&self.tables, fence, expected).await?);
        }
        transaction.commit().await?;
        Ok(expected + 1)
    }
}

/// Why a push was not shown.
async fn refusal(tables: &Tables, fence: i64, expected: u64) -> Result<PgError, PgError> {
    let rows = tables.query(STAND, &[(&fence, Type::INT8)]).await?;
    let Some(row) = rows.first() else { return Ok(tables.erased()) };
    let actual = tables.number(row, 0)?;
    let ours = tables.value::<Option<bool>>(row, 1)?.unwrap_or(false);
    let is_behind = ours && actual != expected;
    Ok(if is_behind { PgError::Behind { expected, actual } } else { tables.lost() })
}
