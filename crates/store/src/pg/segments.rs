//! Reading the log.
use futures::{Stream, StreamExt, TryStreamExt, stream};
use tokio_postgres::types::Type;

use crate::pg::error::PgError;
use crate::pg::tables::Tables;

/// Bytes. Segments of about 256 kB are meant; this is what is refused.
pub const LARGEST_SEGMENT: usize = 4 << 20;
/// Segments that are fetched at once, as in the statement: 2 MB as they are meant to be, 32 MB at most.
const AT_ONCE: usize = 8;

/// A part of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub generation: u64,
    /// The place within its generation.
    pub seq: u32,
    pub bytes: Vec<u8>,
}

/// The last segment that was read.
#[derive(Clone, Copy)]
struct Position {
    generation: u64,
    seq: i32,
}

struct Reading {
    tables: Tables,
    /// Where the reader began, for the message.
    after: u64,
    upto: u64,
    at: Position,
    done: bool,
}

// The row of the home and the segments are of one statement, and so of one moment: if `first` is
// not beyond what is read, nothing of it is missing.
const READ: &str = "select h.generation, h.first, s.generation, s.seq, s.bytes
    from halma.home h left join lateral (
        select t.generation, t.seq, t.bytes from halma.segment t
        where t.home = $1 and (t.generation, t.seq) > ($2, $3) and t.generation <= $4
        order by t.generation, t.seq limit 8) s on true
    where h.home = $1 order by s.generation, s.seq";

pub(crate) fn stream(
    tables: Tables,
    after: u64,
    upto: u64,
) -> impl Stream<Item = Result<Segment, PgError>> + Send {
    let at = Position { generation: after, seq: i32::MAX };
    let reading = Reading { tables, after, upto, at, done: after >= upto };
    stream::try_unfold(reading, |reading| async move {
        if reading.done {
            return Ok(None);
        }
        reading.next().await.map(Some)
    })
    .map_ok(|segments| stream::iter(segments).map(Ok))
    .try_flatten()
}

impl Reading {
    async fn next(mut self) -> Result<(Vec<Segment>, Self), PgError> {
        let tables = self.tables.clone();
        let parameters = [
            (&self.at.generation.cast_signed() as _, Type::INT8),
            (&self.at.seq as _, Type::INT4),
            (&self.upto.cast_signed() as _, Type::INT8),
        ];
        let rows = tables.query(READ, &parameters).await?;
        let head = rows.first().ok_or_else(|| tables.erased())?;
        let (actual, first) = (tables.number(head, 0)?, tables.number(head, 1)?);
        if actual < self.upto {
            return Err(PgError::Rewound { expected: self.upto, actual });
        }
        // Of the generation `at` is in, all may be read only as long as it exists.
        let needed =
            if self.at.seq == i32::MAX { self.at.generation + 1 } else { self.at.generation };
        if first > needed {
            return Err(PgError::Compacted { after: self.after, first });
        }
        let mut segments = vec![];
        for row in &rows {
            let Some(generation) = tables.value::<Option<i64>>(row, 2)? else { break };
            let seq: i32 = tables.value(row, 3)?;
            self.at = Position { generation: generation.cast_unsigned(), seq };
            segments.push(Segment {
                generation: generation.cast_unsigned(),
                seq: seq.cast_unsigned(),
                bytes: tables.value(row, 4)?,
            });
        }
        self.done = segments.len() < AT_ONCE;
        Ok((segments, self))
    }
}
