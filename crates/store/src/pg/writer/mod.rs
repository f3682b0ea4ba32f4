//! The right to write to a workspace, and writing to its log.
mod push;
mod renewal;
mod request;

use std::time::Duration;

pub use push::{NewPush, Push, Transfer};
pub(crate) use request::Request;

use crate::pg::error::PgError;
use crate::pg::tables::Tables;
use renewal::Renewal;

/// A lease that is not renewed ends after so long. It is renewed every third of it.
pub const LEASE_LENGTH: Duration = Duration::from_secs(30);
/// A program that waits is counted while it was heard of in this time.
pub(crate) const SILENT: &str = "interval '6 seconds'";

/// The right to write to a workspace. It is renewed in the background, and given back when it is
/// dropped.
pub struct Lease {
    tables: Tables,
    fence: u64,
    renewal: Renewal,
}

impl Lease {
    /// Larger than that of every earlier lease.
    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// Whether another program may be writing by now: the server was not reached for the length of
    /// the lease, or has given it to another. What is pushed then is refused.
    pub fn is_lost(&self) -> bool {
        self.renewal.is_lost()
    }

    /// Whether an urgent request waits, so that a long build should make room.
    pub async fn is_wanted(&self) -> Result<bool, PgError> {
        let sql = format!(
            "select exists (select 1 from halma.waiter where home = $1 and urgent
             and seen > clock_timestamp() - {SILENT})"
        );
        let rows = self.tables.query(&sql, &[]).await?;
        rows.first().map_or(Ok(false), |row| self.tables.value(row, 0))
    }

    /// Adds a generation to the log, all of it or nothing, and returns its number. While the server
    /// is away for a moment it is repeated; a push whose commit was not heard of is found done.
    ///
    /// # Errors
    ///
    /// [`PgError::LeaseLost`] if another program may have written; [`PgError::Behind`] if the log is
    /// not at `expected`. Nothing was written then.
    pub async fn push(&self, push: &Push) -> Result<u64, PgError> {
        push::repeat(&self.tables, self.fence, push).await
    }

    /// A push of more segments than fit into memory. It has to be repeated by the caller.
    pub async fn transfer(&self, push: NewPush) -> Result<Transfer, PgError> {
        Transfer::begin(&self.tables, self.fence, push).await
    }

    /// Gives the right back, so that the next program need not wait for its end.
    pub async fn release(self) {
        self.renewal.end().await;
    }
}
