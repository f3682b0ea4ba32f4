//! A workspace in a database: its head, its segments, and who may write to it.
use std::collections::BTreeMap;
use std::time::Duration;

use futures::Stream;
use tokio_postgres::types::Type;

use crate::pg::calls::Calls;
use crate::pg::connections::Connections;
use crate::pg::error::PgError;
use crate::pg::segments::{Segment, stream};
use crate::pg::state::{States, Usage};
use crate::pg::tables::Tables;
use crate::pg::writer::{LEASE_LENGTH, Lease, Request};

/// A workspace. Clones share its connections.
#[derive(Clone)]
pub struct Home {
    tables: Tables,
}

/// How far the log of a workspace is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Of the last push; 0 in an empty workspace.
    pub generation: u64,
    /// The segments of this and all later generations, applied in order, are the whole base. Those
    /// of this generation do not need what was there before.
    pub first: u64,
    /// The id of the last push.
    pub push: Option<[u8; 16]>,
    /// The store that the log belongs to. Another one shares nothing with a local copy.
    pub uid: Option<u64>,
}

/// How far a workspace is: they change with everything that is written to it, except usage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    /// Of the log.
    pub generation: u64,
    /// Of each kind of entries that was ever written.
    pub versions: BTreeMap<String, u64>,
}

const VERSIONS: &str = "select home.generation, clock.kind, clock.version
    from halma.home left join halma.clock on clock.home = home.home where home.home = $1";
const HEAD: &str = "select generation, first, push, uid, workspace from halma.home where home = $1";
// Fences begin with the time, so that a workspace that was erased and made again never repeats one.
const MAKE: &str = "insert into halma.home (home, workspace, fence)
    values ($1, $2, (extract(epoch from now()) * 1000000)::int8) on conflict (home) do nothing";
const TABLES: [&str; 10] =
    ["segment", "push", "waiter", "call", "pause", "worker", "clock", "state", "usage", "home"];

impl Home {
    pub(crate) async fn open(connections: Connections, workspace: &str) -> Result<Self, PgError> {
        if let Some(home) = Self::find(connections.clone(), workspace).await? {
            return Ok(home);
        }
        let tables = Tables::new(connections, workspace);
        tables.query(MAKE, &[(&workspace, Type::TEXT)]).await?;
        Ok(Self { tables })
    }

    pub(crate) async fn find(
        connections: Connections,
        workspace: &str,
    ) -> Result<Option<Self>, PgError> {
        let tables = Tables::new(connections, workspace);
        let is_there = !tables.query(HEAD, &[]).await?.is_empty();
        Ok(is_there.then_some(Self { tables }))
    }

    pub fn workspace(&self) -> &str {
        self.tables.workspace()
    }

    /// The number of the workspace: the same for workspaces of one name in all databases.
    pub fn id(&self) -> u64 {
        self.tables.home().cast_unsigned()
    }

    /// How far the log is: one short statement, made to be asked several times a second.
    pub async fn head(&self) -> Result<Head, PgError> {
        let rows = self.tables.query(HEAD, &[]).await?;
        let row = rows.first().ok_or_else(|| self.tables.erased())?;
        let push: Option<Vec<u8>> = self.tables.value(row, 2)?;
        Ok(Head {
            generation: self.tables.number(row, 0)?,
            first: self.tables.number(row, 1)?,
            push: push.and_then(|id| id.try_into().ok()),
            uid: self.tables.value::<Option<i64>>(row, 3)?.map(i64::cast_unsigned),
        })
    }

    /// How far log and entries are, in one short statement. For someone who waits for the answer: it
    /// gives up soon while the server is away.
    pub async fn versions(&self) -> Result<Versions, PgError> {
        let rows = self.tables.query_soon(VERSIONS, &[]).await?;
        let first = rows.first().ok_or_else(|| self.tables.erased())?;
        let mut versions =
            Versions { generation: self.tables.number(first, 0)?, versions: BTreeMap::new() };
        for row in &rows {
            if let Some(kind) = self.tables.value(row, 1)? {
                versions.versions.insert(kind, self.tables.number(row, 2)?);
            }
        }
        Ok(versions)
    }

    /// The segments of the generations after `after`, up to and with `upto`, in order, a few at a
    /// time. For an empty local copy, `after` is `first - 1`.
    ///
    /// # Errors
    ///
    /// [`PgError::Compacted`] if generations after `after` are no longer there, which may happen
    /// while they are read; [`PgError::Rewound`] if the log is not as long as `upto`.
    pub fn segments(
        &self,
        after: u64,
        upto: u64,
    ) -> impl Stream<Item = Result<Segment, PgError>> + Send + use<> {
        stream(self.tables.clone(), after, upto)
    }

    /// The generation that a push made, if it was made. A local copy whose own push is not there is
    /// not a copy of this log.
    pub async fn generation_of(&self, push: &[u8; 16]) -> Result<Option<u64>, PgError> {
        const FIND: &str = "select generation from halma.push where home = $1 and id = $2";
        let rows = self.tables.query(FIND, &[(&push.as_slice(), Type::BYTEA)]).await?;
        rows.first().map(|row| self.tables.number(row, 0)).transpose()
    }

    /// The right to write, of which there is one. Waits until it is free; requests are served in
    /// their order, and an urgent one as if it had been made a minute earlier.
    ///
    /// `holder` is shown to those that wait: name program and machine.
    pub async fn lease(&self, holder: &str, urgent: bool) -> Result<Lease, PgError> {
        self.lease_while(holder, &|| urgent).await
    }

    /// [`Home::lease`] that may become urgent while it waits: `is_urgent` is asked several times a
    /// second. It stays so then.
    pub async fn lease_while(
        &self,
        holder: &str,
        is_urgent: &(dyn Fn() -> bool + Sync),
    ) -> Result<Lease, PgError> {
        Request { holder, is_urgent, length: LEASE_LENGTH }.wait(&self.tables).await
    }

    /// [`Home::lease`] that ends so long after its holder was last heard of: for tests, which see one
    /// end sooner or later than a program would.
    pub async fn lease_for(
        &self,
        holder: &str,
        urgent: bool,
        length: Duration,
    ) -> Result<Lease, PgError> {
        Request { holder, is_urgent: &|| urgent, length }.wait(&self.tables).await
    }

    /// Who may write at the moment, as given to [`Home::lease`].
    pub async fn holder(&self) -> Result<Option<String>, PgError> {
        const HOLDER: &str = "select case when lease_until > clock_timestamp() then holder end
            from halma.home where home = $1";
        let rows = self.tables.query(HOLDER, &[]).await?;
        let row = rows.first().ok_or_else(|| self.tables.erased())?;
        self.tables.value(row, 0)
    }

    /// Removes everything of the workspace. `name` is its name again, so that it is asked for in so
    /// many words. A program that writes to it loses the lease.
    pub async fn erase(&self, name: &str) -> Result<(), PgError> {
        if name != self.workspace() {
            let (name, workspace) = (name.to_owned(), self.workspace().to_owned());
            return Err(PgError::NotConfirmed { name, workspace });
        }
        let transaction = self.tables.begin().await?;
        for table in TABLES {
            let sql = format!("delete from halma.{table} where home = $1");
            transaction.query(&sql, &self.tables.parameters(&[])).await?;
        }
        transaction.commit().await
    }

    /// The calls that any worker may do.
    pub fn calls(&self) -> Calls {
        Calls::new(self.tables.clone())
    }

    /// What servers share.
    pub fn states(&self) -> States {
        States::new(self.tables.clone())
    }

    /// What was used on each day.
    pub fn usage(&self) -> Usage {
        Usage::new(self.tables.clone())
    }
}
