//! The tables as one workspace sees them.
use std::sync::Arc;

use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use crate::pg::connections::{Connections, Param, Transaction};
use crate::pg::database::migrations::newer;
use crate::pg::error::PgError;

/// The rows of one workspace. Clones share their connections.
#[derive(Clone)]
pub(crate) struct Tables {
    inner: Arc<Inner>,
}

struct Inner {
    connections: Connections,
    /// The key of all its rows.
    home: i64,
    workspace: String,
}

impl Tables {
    pub(crate) fn new(connections: Connections, workspace: &str) -> Self {
        let hash = blake3::derive_key("halma home of a workspace", workspace.as_bytes());
        let mut id = [0; 8];
        id.copy_from_slice(&hash[..8]);
        // Positive, so that it reads well where people look at the tables.
        let home = i64::from_le_bytes(id) & i64::MAX;
        Self { inner: Arc::new(Inner { connections, home, workspace: workspace.to_owned() }) }
    }

    pub(crate) fn home(&self) -> i64 {
        self.inner.home
    }

    pub(crate) fn workspace(&self) -> &str {
        &self.inner.workspace
    }

    pub(crate) async fn begin(&self) -> Result<Transaction, PgError> {
        self.inner.connections.begin(self.inner.home).await
    }

    /// A statement whose first parameter is this home; it may be done twice.
    pub(crate) async fn query(&self, sql: &str, rest: &[Param<'_>]) -> Result<Vec<Row>, PgError> {
        self.inner.connections.query(self.inner.home, sql, &self.parameters(rest)).await
    }

    /// The same, for someone who waits for the answer: it gives up soon while the server is away.
    pub(crate) async fn query_soon(
        &self,
        sql: &str,
        rest: &[Param<'_>],
    ) -> Result<Vec<Row>, PgError> {
        self.inner.connections.query_soon(self.inner.home, sql, &self.parameters(rest)).await
    }

    /// The same, for what may also be undone if the server dies in the next moment.
    pub(crate) async fn query_without_flush(
        &self,
        sql: &str,
        rest: &[Param<'_>],
    ) -> Result<Vec<Row>, PgError> {
        let Inner { connections, home, .. } = &*self.inner;
        connections.query_without_flush(*home, sql, &self.parameters(rest)).await
    }

    /// The same, for what must not be done twice.
    pub(crate) async fn once(&self, sql: &str, rest: &[Param<'_>]) -> Result<Vec<Row>, PgError> {
        self.inner.connections.once(self.inner.home, sql, &self.parameters(rest)).await
    }

    /// The parameters of a statement: this home, and the rest.
    pub(crate) fn parameters<'a>(&'a self, rest: &[Param<'a>]) -> Vec<Param<'a>> {
        let mut all: Vec<Param<'a>> = vec![(&self.inner.home, Type::INT8)];
        all.extend(rest.iter().cloned());
        all
    }

    pub(crate) fn value<'a, T: FromSql<'a>>(&self, row: &'a Row, at: usize) -> Result<T, PgError> {
        self.inner.connections.value(row, at)
    }

    /// A number that is never negative.
    pub(crate) fn number(&self, row: &Row, at: usize) -> Result<u64, PgError> {
        self.value::<i64>(row, at).map(i64::cast_unsigned)
    }

    /// The tables are of a newer version.
    pub(crate) fn newer(&self, version: i32) -> PgError {
        newer(&self.inner.connections, version)
    }

    pub(crate) fn erased(&self) -> PgError {
        PgError::Erased { workspace: self.workspace().to_owned() }
    }

    pub(crate) fn lost(&self) -> PgError {
        PgError::LeaseLost { workspace: self.workspace().to_owned() }
    }
}
