//! What workers know of each other: pauses of a model server that one of them was told, and who
//! is there.
use std::time::Duration;

use tokio_postgres::types::Type;

use super::{Calls, LIVE, Worker};
use crate::pg::error::PgError;

impl Calls {
    /// Notes that a model server wants no calls for a while (a 429), so that all workers wait. A
    /// longer pause that was noted before stays.
    pub async fn pause(&self, server: &str, length: Duration) -> Result<(), PgError> {
        const PAUSE: &str = "insert into halma.pause (home, server, until)
            values ($1, $2, now() + $3 * interval '1 second')
            on conflict (home, server) do update set until = greatest(pause.until, excluded.until)";
        let seconds = length.as_secs_f64();
        let parameters = [(&server as _, Type::TEXT), (&seconds as _, Type::FLOAT8)];
        self.tables.query(PAUSE, &parameters).await.map(drop)
    }

    /// What is left of a pause.
    pub async fn paused(&self, server: &str) -> Result<Option<Duration>, PgError> {
        const LEFT: &str = "select extract(epoch from until - now())::float8 from halma.pause
            where home = $1 and server = $2 and until > now()";
        let rows = self.tables.query(LEFT, &[(&server, Type::TEXT)]).await?;
        rows.first().map(|row| self.seconds(row, 0)).transpose()
    }

    /// The workers that were heard of in the last minute.
    pub async fn workers(&self) -> Result<Vec<Worker>, PgError> {
        let sql = format!(
            "select w.name, extract(epoch from now() - w.started)::float8,
                extract(epoch from now() - w.seen)::float8,
                (select count(*) from halma.call c
                 where c.home = $1 and c.state = 1 and c.worker = w.name)
             from halma.worker w where w.home = $1 and w.seen > now() - {LIVE} order by w.name"
        );
        let rows = self.tables.query(&sql, &[]).await?;
        let worker = |row| {
            Ok(Worker {
                name: self.tables.value(row, 0)?,
                age: self.seconds(row, 1)?,
                silent: self.seconds(row, 2)?,
                calls: self.tables.number(row, 3)?,
            })
        };
        rows.iter().map(worker).collect()
    }

    /// Says that a worker has ended, which is otherwise known a minute later. Those that were killed long
    /// ago are forgotten with it: each has a name of its own.
    pub async fn leave(&self, worker: &str) -> Result<(), PgError> {
        const LEAVE: &str = "delete from halma.worker where home = $1
            and (name = $2 or seen < now() - interval '1 day')";
        self.tables.query(LEAVE, &[(&worker, Type::TEXT)]).await.map(drop)
    }

    fn seconds(&self, row: &tokio_postgres::Row, at: usize) -> Result<Duration, PgError> {
        let seconds: f64 = self.tables.value(row, at)?;
        Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO))
    }
}
