//! The pool of connections, and transactions in them. Statements are sent with their types and
//! without a name, so that nothing of them stays in a connection.
use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, Timeouts,
};
use futures::future::join3;
use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{NoTls, Row};

use crate::pg::address::{Address, Tls, connector};
use crate::pg::error::PgError;

/// A value of a statement, and its type.
pub(crate) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// How long a statement is repeated while the server restarts or connections are cut.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same for someone who waits for the answer, and how long they wait for a server that is silent.
const SHORT_PATIENCE: Duration = Duration::from_secs(2);
const SHORT_SILENCE: Duration = Duration::from_millis(2_500);
const FIRST_PAUSE: Duration = Duration::from_millis(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Without an answer for so long, a connection counts as broken.
const SILENCE: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct Connections {
    pool: Pool,
    /// The address without its password, for messages.
    shown: Arc<str>,
}

impl Connections {
    pub(crate) fn new(address: &Address) -> Result<Self, PgError> {
        let mut config = address.config.clone();
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        config.keepalives_idle(SILENCE);
        let how = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match &address.tls {
            Tls::Off => {
                config.ssl_mode(tokio_postgres::config::SslMode::Disable);
                Manager::from_config(config, NoTls, how)
            }
            Tls::Verified(roots) => {
                config.ssl_mode(tokio_postgres::config::SslMode::Require);
                Manager::from_config(config, connector(roots.as_deref())?, how)
            }
        };
        let timeouts = Timeouts { wait: Some(SILENCE), create: Some(SILENCE), recycle: None };
        let pool = Pool::builder(manager)
            .max_size(address.pool)
            .runtime(Runtime::Tokio1)
            .timeouts(timeouts)
            .build()
            .expect("timeouts are given together with a runtime");
        Ok(Self { pool, shown: address.to_string().into() })
    }

    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn error(&self, error: &tokio_postgres::Error) -> PgError {
        PgError::from_driver(&self.shown, error)
    }

    pub(crate) async fn get(&self) -> Result<Object, PgError> {
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => self.error(&error),
            PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => {
                PgError::Busy { database: self.shown.to_string() }
            }
            other => {
                PgError::Unreachable { database: self.shown.to_string(), reason: other.to_string() }
            }
        })
    }

    /// A transaction in which the rows of `home` can be seen, and no others.
    pub(crate) async fn begin(&self, home: i64) -> Result<Transaction, PgError> {
        let transaction = Transaction { client: Some(self.get().await?), of: self.clone() };
        transaction.batch(&opening(home)).await?;
        Ok(transaction)
    }

    /// One statement in a transaction of its own, in one round trip.
    async fn statement(
        &self,
        opening: &str,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, PgError> {
        let transaction = Transaction { client: Some(self.get().await?), of: self.clone() };
        let client = transaction.client();
        // Sent in this order at once; after a failure `commit` rolls back.
        let (begun, rows, committed) = join3(
            client.batch_execute(opening),
            client.query_typed(sql, params),
            client.batch_execute("commit"),
        )
        .await;
        let done = begun.and(rows).and_then(|rows| committed.map(|()| rows));
        let done = done.map_err(|error| self.error(&error));
        // A connection is used again only if it surely has no open transaction.
        if !matches!(done, Err(PgError::Unreachable { .. })) {
            transaction.finished();
        }
        done
    }

    /// [`Connections::statement`], for what must not be done twice.
    pub(crate) async fn once(
        &self,
        home: i64,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, PgError> {
        self.statement(&opening(home), sql, params).await
    }

    /// One statement that may be done twice: repeated while the failure is a passing one.
    pub(crate) async fn query(
        &self,
        home: i64,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, PgError> {
        self.repeat(&opening(home), (sql, params), Waits::new()).await
    }

    /// [`Connections::query`] that gives up soon while the server is not reached.
    pub(crate) async fn query_soon(
        &self,
        home: i64,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, PgError> {
        let opening = opening(home);
        let asking = self.repeat(&opening, (sql, params), Waits::lasting(SHORT_PATIENCE));
        let answered = tokio::time::timeout(SHORT_SILENCE, asking).await;
        answered.unwrap_or_else(|_silent| {
            let reason = format!("no answer within {} ms", SHORT_SILENCE.as_millis());
            Err(PgError::Unreachable { database: self.shown.to_string(), reason })
        })
    }

    /// The same, without waiting for the disk: if the server dies, the statement may be undone.
    pub(crate) async fn query_without_flush(
        &self,
        home: i64,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, PgError> {
        let opening = format!("{}, set_config('synchronous_commit', 'off', true)", opening(home));
        self.repeat(&opening, (sql, params), Waits::new()).await
    }

    async fn repeat(
        &self,
        opening: &str,
        (sql, params): (&str, &[Param<'_>]),
        mut waits: Waits,
    ) -> Result<Vec<Row>, PgError> {
        loop {
            match self.statement(opening, sql, params).await {
                Err(error) if error.is_transient() && waits.again().await => {
                    tracing::debug!(%error, "a statement is repeated");
                }
                done => return done,
            }
        }
    }

    /// The value in a column.
    pub(crate) fn value<'a, T: FromSql<'a>>(&self, row: &'a Row, at: usize) -> Result<T, PgError> {
        row.try_get(at).map_err(|error| self.error(&error))
    }
}

/// Both settings end with the transaction. The second ends one whose program is no longer there, so
/// that others do not wait for its rows until the network notices.
fn opening(home: i64) -> String {
    format!(
        "begin; select set_config('halma.home', '{home}', true),
         set_config('idle_in_transaction_session_timeout', '60s', true)"
    )
}

/// Growing pauses between attempts, for a while.
pub(crate) struct Waits {
    until: Instant,
    pause: Duration,
}

impl Waits {
    pub(crate) fn new() -> Self {
        Self::lasting(PATIENCE)
    }

    pub(crate) fn lasting(patience: Duration) -> Self {
        Self { until: Instant::now() + patience, pause: FIRST_PAUSE }
    }

    /// Waits; `false` if it has been tried for long enough.
    pub(crate) async fn again(&mut self) -> bool {
        if Instant::now() + self.pause > self.until {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        true
    }
}

/// An open transaction. Dropped before its end, it takes its connection with it, and the server
/// rolls back.
pub(crate) struct Transaction {
    client: Option<Object>,
    of: Connections,
}

impl Transaction {
    /// A connection without an opened transaction, for statements that open it themselves.
    pub(crate) fn client(&self) -> &Object {
        self.client.as_ref().expect("a connection is here until the transaction has ended")
    }

    pub(crate) async fn batch(&self, sql: &str) -> Result<(), PgError> {
        self.client().batch_execute(sql).await.map_err(|error| self.of.error(&error))
    }

    pub(crate) async fn query(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, PgError> {
        let rows = self.client().query_typed(sql, params).await;
        rows.map_err(|error| self.of.error(&error))
    }

    pub(crate) async fn commit(self) -> Result<(), PgError> {
        self.batch("commit").await?;
        self.finished();
        Ok(())
    }

    pub(crate) async fn rollback(self) -> Result<(), PgError> {
        self.batch("rollback").await?;
        self.finished();
        Ok(())
    }

    /// Gives the connection back to the pool.
    fn finished(mut self) {
        drop(self.client.take());
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}
