//! The child processes of all bases of a program, and what such a process does.
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use halma_parse::Parser;
use halma_worker::{Limits, Pool, PoolSize, Requests, WorkerCommand};

/// Bytes of address space of a process for SQL: what `SQLite` may use, a result and its message,
/// and the program itself.
const SQL_MEMORY: u64 = 2 << 30;

/// What a worker is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerKind {
    Parse,
    Sql,
}

impl WorkerKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Sql => "sql",
        }
    }
}

/// Pools of worker processes, shared by all bases that are open.
pub struct Workers {
    pub(crate) parser: Parser,
    pub(crate) sql: Arc<Pool>,
}

impl Workers {
    /// Workers are `program` with the arguments `sandbox KIND`; it must call [`serve_worker`].
    pub fn new(program: &Path) -> Arc<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let command = |kind: WorkerKind| WorkerCommand {
            program: program.to_owned(),
            arguments: vec!["sandbox".into(), kind.name().into()],
        };
        let (parse, sql) = (cores.clamp(2, 8), cores.clamp(2, 8) + 1);
        let parse = PoolSize {
            processes: parse,
            processes_per_owner: parse,
            waiting_per_owner: 1_000,
            // A document that waits is no document that is refused.
            wait: Duration::from_mins(10),
        };
        let sql = PoolSize {
            processes: sql,
            // One base never holds up the others.
            processes_per_owner: sql - 1,
            waiting_per_owner: 16,
            wait: Duration::from_secs(10),
        };
        Arc::new(Self {
            parser: Parser::in_workers(Pool::new(command(WorkerKind::Parse), parse)),
            sql: Pool::new(command(WorkerKind::Sql), sql),
        })
    }
}

/// What a worker process does until no one asks it any more.
pub fn serve_worker(kind: WorkerKind) -> std::io::Result<()> {
    match kind {
        WorkerKind::Parse => halma_parse::serve()?,
        WorkerKind::Sql => crate::tables::serve_sql(&Requests::open(Limits {
            memory: SQL_MEMORY,
            cpu_seconds: 2 * 3600,
            file_bytes: 0,
            open_files: 16,
            may_start_programs: false,
        })?),
    }
    Ok(())
}
