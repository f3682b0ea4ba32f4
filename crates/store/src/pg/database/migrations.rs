//! The tables, in numbered files that are part of the program. Their version is one row that is
//! locked while they are created or converted, so that of many programs that start together one
//! does it and the others wait.
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::pg::connections::{Connections, Waits};
use crate::pg::error::PgError;

/// Number `n` makes version `n + 1` of version `n`. Published files are not changed any more.
const FILES: &[&str] = &[include_str!("migrations/0001.sql"), include_str!("migrations/0002.sql")];

const CREATE: &str = "create schema if not exists halma;
    create table if not exists halma.schema_version (one int2 primary key, version int4 not null);
    insert into halma.schema_version values (1, 0) on conflict do nothing";
const READ: &str = "select version from halma.schema_version where one = 1";
const LOCK: &str = "select version from halma.schema_version where one = 1 for update";

pub(crate) async fn run(connections: &Connections) -> Result<(), PgError> {
    let mut waits = Waits::new();
    loop {
        match attempt(connections).await {
            // Two programs that create the same name at once: one of them fails, and finds it then.
            Err(error) if error.is_transient() && waits.again().await => {}
            done => return done,
        }
    }
}

/// The version that this program knows.
pub(crate) fn newest() -> i32 {
    i32::try_from(FILES.len()).expect("there are few migrations")
}

async fn attempt(connections: &Connections) -> Result<(), PgError> {
    let mut client = connections.get().await?;
    let version = version(connections, &client).await?;
    if version == Some(newest()) {
        return Ok(());
    }
    let failed = |error: tokio_postgres::Error| created_twice(connections, &error);
    if version.is_none() {
        client.batch_execute(CREATE).await.map_err(failed)?;
    }
    let transaction = client.transaction().await.map_err(failed)?;
    let rows = transaction.query_typed(LOCK, &[]).await.map_err(failed)?;
    let version: i32 = match rows.first() {
        Some(row) => connections.value(row, 0)?,
        None => 0,
    };
    let files = usize::try_from(version).ok().and_then(|version| FILES.get(version..));
    let Some(files) = files else {
        return Err(newer(connections, version));
    };
    for file in files {
        transaction.batch_execute(file).await.map_err(failed)?;
    }
    let update = format!("update halma.schema_version set version = {} where one = 1", newest());
    transaction.batch_execute(&update).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)
}

/// The version of the tables; `None` if there are none.
async fn version(connections: &Connections, client: &Client) -> Result<Option<i32>, PgError> {
    let rows = match client.query_typed(READ, &[]).await {
        Ok(rows) => rows,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(connections.error(&error)),
    };
    let Some(row) = rows.first() else { return Ok(None) };
    let version = connections.value(row, 0)?;
    if version > newest() {
        return Err(newer(connections, version));
    }
    Ok(Some(version))
}

pub(crate) fn newer(connections: &Connections, version: i32) -> PgError {
    PgError::NewerSchema { database: connections.shown().to_owned(), version, newest: newest() }
}

fn is_missing(error: &tokio_postgres::Error) -> bool {
    let missing = [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];
    error.code().is_some_and(|code| missing.contains(code))
}

fn created_twice(connections: &Connections, error: &tokio_postgres::Error) -> PgError {
    let twice = [SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_SCHEMA];
    if error.code().is_some_and(|code| twice.contains(code)) {
        let database = connections.shown().to_owned();
        let reason = error.as_db_error().map_or_else(String::new, |e| e.message().to_owned());
        return PgError::Conflict { database, reason };
    }
    connections.error(error)
}
