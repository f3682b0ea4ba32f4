//! Waiting for the lease, in turn.
use std::time::{Duration, Instant};

use tokio_postgres::types::Type;

use super::renewal::Renewal;
use super::{Lease, SILENT};
use crate::pg::database::migrations::newest;
use crate::pg::error::PgError;
use crate::pg::tables::Tables;

/// How often those that wait look.
const LOOK: Duration = Duration::from_millis(100);
/// How often they say that they still wait; a third of what counts as silence.
const TELL: Duration = Duration::from_secs(2);

/// Someone's wish to write.
pub(crate) struct Request<'a> {
    pub(crate) holder: &'a str,
    /// Asked again and again while it waits.
    pub(crate) is_urgent: &'a (dyn Fn() -> bool + Sync),
    pub(crate) length: Duration,
}

/// How things stand for one that waits.
struct Standing {
    free: bool,
    /// No one waits, or this one has waited longest.
    first: bool,
}

// An urgent request counts as a minute older, so that it overtakes others, but not for ever.
const WAIT: &str = "insert into halma.waiter (home, id, holder, urgent, place, seen)
    values ($1, $2, $3, $4, clock_timestamp() - case when $4 then interval '1 minute' else interval '0' end,
            clock_timestamp())
    on conflict (home, id) do update set seen = clock_timestamp(),
        urgent = waiter.urgent or excluded.urgent, place = least(waiter.place, excluded.place)";
// Also if this request has it already, because its first attempt was not heard of. Fences are times, so
// that none comes again after the database was restored, or a standby took over that lacks the last
// ones: the folder of keys remembers the largest.
const TAKE: &str = "update halma.home set holder = $2, request = $4,
    fence = greatest(fence + 1, (extract(epoch from clock_timestamp()) * 1000000)::int8),
    lease_until = clock_timestamp() + $3 * interval '1 second'
    where home = $1 and (lease_until is null or lease_until <= clock_timestamp() or request = $4)
    returning fence";
const LEAVE: &str = "delete from halma.waiter where home = $1
    and (id = $2 or seen < clock_timestamp() - interval '1 hour')";

impl Request<'_> {
    pub(crate) async fn wait(&self, tables: &Tables) -> Result<Lease, PgError> {
        let id: [u8; 16] = random();
        let id = id.as_slice();
        let mut told: Option<Instant> = None;
        let mut was_urgent = false;
        loop {
            let urgent = was_urgent || (self.is_urgent)();
            // Someone waits for an urgent one, and should hear soon that the server is away. Once it
            // has answered, the one who writes is waited for.
            let is_impatient = urgent && told.is_none();
            let standing = stand(tables, id, is_impatient).await?;
            if standing.free
                && standing.first
                && let Some(lease) = self.take(tables, id).await?
            {
                if told.is_some() {
                    tables.query(LEAVE, &[(&id, Type::BYTEA)]).await?;
                }
                return Ok(lease);
            }
            if urgent != was_urgent || told.is_none_or(|told| told.elapsed() > TELL) {
                let parameters = [
                    (&id as _, Type::BYTEA),
                    (&self.holder as _, Type::TEXT),
                    (&urgent as _, Type::BOOL),
                ];
                tables.query(WAIT, &parameters).await?;
                (told, was_urgent) = (Some(Instant::now()), urgent);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn take(&self, tables: &Tables, id: &[u8]) -> Result<Option<Lease>, PgError> {
        let sent = Instant::now();
        let seconds = self.length.as_secs_f64();
        let parameters = [
            (&self.holder as _, Type::TEXT),
            (&seconds as _, Type::FLOAT8),
            (&id as _, Type::BYTEA),
        ];
        let rows = tables.query(TAKE, &parameters).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let fence = tables.number(row, 0)?;
        let renewal = Renewal::start(tables.clone(), fence, self.length, sent);
        Ok(Some(Lease { tables: tables.clone(), fence, renewal }))
    }
}

pub(super) fn random<const BYTES: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes
}

async fn stand(tables: &Tables, id: &[u8], is_impatient: bool) -> Result<Standing, PgError> {
    let sql = format!(
        "select h.lease_until is null or h.lease_until <= clock_timestamp(),
            (select w.id from halma.waiter w where w.home = $1 and w.seen > clock_timestamp() - {SILENT}
             order by w.place, w.id limit 1),
            (select version from halma.schema_version where one = 1)
         from halma.home h where h.home = $1"
    );
    let rows = if is_impatient {
        tables.query_soon(&sql, &[]).await?
    } else {
        tables.query(&sql, &[]).await?
    };
    let row = rows.first().ok_or_else(|| tables.erased())?;
    // A program that was there before the tables were converted does not write to them.
    let version = tables.value(row, 2)?;
    if version > newest() {
        return Err(tables.newer(version));
    }
    let longest: Option<&[u8]> = tables.value(row, 1)?;
    Ok(Standing { free: tables.value(row, 0)?, first: longest.is_none_or(|first| first == id) })
}
