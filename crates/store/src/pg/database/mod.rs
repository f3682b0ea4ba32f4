//! A database in which the tables of Halma are.
pub(crate) mod migrations;

use crate::pg::address::Address;
use crate::pg::connections::Connections;
use crate::pg::error::PgError;
use crate::pg::home::Home;

/// The oldest major version of PostgreSQL.
const OLDEST: u32 = 15;

/// A pool of connections to one database, whose tables have the version of this program.
#[derive(Clone)]
pub struct Database {
    connections: Connections,
    workspace: String,
}

impl Database {
    /// Connects, checks the server and creates or converts the tables.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached or refuses the user, is older than PostgreSQL 15, or has
    /// tables of a later version of Halma.
    pub async fn connect(address: &Address) -> Result<Self, PgError> {
        let connections = Connections::new(address)?;
        check_server(&connections).await?;
        migrations::run(&connections).await?;
        Ok(Self { connections, workspace: address.workspace().to_owned() })
    }

    /// The workspace of the address, made if it is not there.
    pub async fn home(&self) -> Result<Home, PgError> {
        Home::open(self.connections.clone(), &self.workspace).await
    }

    /// The workspace of the address, if it is there.
    pub async fn find_home(&self) -> Result<Option<Home>, PgError> {
        Home::find(self.connections.clone(), &self.workspace).await
    }
}

async fn check_server(connections: &Connections) -> Result<(), PgError> {
    let client = connections.get().await?;
    let row = client.query_typed("select current_setting('server_version_num')::int4", &[]).await;
    let rows = row.map_err(|error| connections.error(&error))?;
    let number: i32 = match rows.first() {
        Some(row) => connections.value(row, 0)?,
        None => 0,
    };
    let version = number.unsigned_abs() / 10_000;
    if version < OLDEST {
        let database = connections.shown().to_owned();
        return Err(PgError::OldServer { database, version, needed: OLDEST });
    }
    Ok(())
}
