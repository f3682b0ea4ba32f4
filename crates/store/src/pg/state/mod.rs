//! What servers share: small entries with versions, and what was used on each day.
mod usage;

use crate::StateEntry;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

pub use usage::Usage;

use crate::pg::error::PgError;
use crate::pg::tables::Tables;

/// An entry that is written if it has this version.
struct Place<'a> {
    kind: &'a str,
    id: &'a str,
    expected: i64,
}

/// The entries of a workspace.
#[derive(Clone)]
pub struct States {
    tables: Tables,
}

// The clock of the kind is locked until the commit. So versions become visible in their order, and
// a reader that has seen one has missed none below it.
const PUT: &str = "with tick as (
        insert into halma.clock (home, kind, version) values ($1, $2, 1)
        on conflict (home, kind) do update set version = clock.version + 1 returning version)
    insert into halma.state (home, kind, id, version, bytes)
    select $1, $2, $3, tick.version, $4 from tick where $5 = 0 or exists (
        select 1 from halma.state where home = $1 and kind = $2 and id = $3)
    on conflict (home, kind, id) do update set version = excluded.version, bytes = excluded.bytes
    where state.version = $5 or ($5 = 0 and state.bytes is null)
    returning version";
const GET: &str = "select id, version, bytes from halma.state
    where home = $1 and kind = $2 and id = $3 and bytes is not null";
const LIST: &str = "select id, version, bytes from halma.state
    where home = $1 and kind = $2 and bytes is not null order by id";
const LAST: &str = "select id, version, bytes from halma.state
    where home = $1 and kind = $2 and bytes is not null and ($3::text is null or id < $3)
    order by id desc limit $4";
const BEFORE_LAST: &str = "select id from halma.state
    where home = $1 and kind = $2 and bytes is not null order by id desc offset $3";
const CHANGED: &str = "select id, version, bytes from halma.state
    where home = $1 and kind = $2 and version > $3 order by version";

impl States {
    pub(crate) fn new(tables: Tables) -> Self {
        Self { tables }
    }

    pub async fn get(&self, kind: &str, id: &str) -> Result<Option<StateEntry>, PgError> {
        let parameters = [(&kind as _, Type::TEXT), (&id as _, Type::TEXT)];
        let rows = self.tables.query(GET, &parameters).await?;
        rows.first().map(|row| self.entry(row)).transpose()
    }

    /// All entries of a kind, by id.
    pub async fn list(&self, kind: &str) -> Result<Vec<StateEntry>, PgError> {
        let rows = self.tables.query(LIST, &[(&kind, Type::TEXT)]).await?;
        rows.iter().map(|row| self.entry(row)).collect()
    }

    /// The last entries of a kind by id, at most `limit`, those with the larger ids first; only
    /// those before the id `before`.
    pub async fn last(
        &self,
        kind: &str,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<StateEntry>, PgError> {
        let limit = i64::from(limit);
        let parameters =
            [(&kind as _, Type::TEXT), (&before as _, Type::TEXT), (&limit as _, Type::INT8)];
        let rows = self.tables.query(LAST, &parameters).await?;
        rows.iter().map(|row| self.entry(row)).collect()
    }

    /// The ids of all entries of a kind but the last `count` by id.
    pub async fn ids_before_last(&self, kind: &str, count: u32) -> Result<Vec<String>, PgError> {
        let count = i64::from(count);
        let parameters = [(&kind as _, Type::TEXT), (&count as _, Type::INT8)];
        let rows = self.tables.query(BEFORE_LAST, &parameters).await?;
        rows.iter().map(|row| self.tables.value(row, 0)).collect()
    }

    /// What has changed after a version, in the order of the changes; deleted entries have no bytes.
    /// To be asked again with the largest version that was returned.
    pub async fn changed_since(
        &self,
        kind: &str,
        version: u64,
    ) -> Result<Vec<StateEntry>, PgError> {
        let version = version.cast_signed();
        let parameters = [(&kind as _, Type::TEXT), (&version as _, Type::INT8)];
        let rows = self.tables.query(CHANGED, &parameters).await?;
        rows.iter().map(|row| self.entry(row)).collect()
    }

    /// Writes an entry if it still has the `expected` version, 0 for one that is not there, and
    /// returns its new version; `None` if another program was faster. It is not repeated when a
    /// connection is cut: read again what became of it.
    pub async fn put(
        &self,
        kind: &str,
        id: &str,
        expected: u64,
        bytes: &[u8],
    ) -> Result<Option<u64>, PgError> {
        self.write(&Place { kind, id, expected: expected.cast_signed() }, Some(bytes)).await
    }

    /// Deletes an entry if it still has the `expected` version; `false` if not.
    pub async fn delete(&self, kind: &str, id: &str, expected: u64) -> Result<bool, PgError> {
        let expected = expected.max(1).cast_signed();
        let version = self.write(&Place { kind, id, expected }, None).await?;
        Ok(version.is_some())
    }

    async fn write(&self, place: &Place<'_>, bytes: Option<&[u8]>) -> Result<Option<u64>, PgError> {
        let parameters = [
            (&place.kind as _, Type::TEXT),
            (&place.id as _, Type::TEXT),
            (&bytes as _, Type::BYTEA),
            (&place.expected as _, Type::INT8),
        ];
        // Not repeated: the second attempt would find the version that the first has made.
        let rows = self.tables.once(PUT, &parameters).await?;
        rows.first().map(|row| self.tables.number(row, 0)).transpose()
    }

    fn entry(&self, row: &Row) -> Result<StateEntry, PgError> {
        Ok(StateEntry {
            id: self.tables.value(row, 0)?,
            version: self.tables.number(row, 1)?,
            bytes: self.tables.value(row, 2)?,
        })
    }
}
