//! The child processes of all bases of a program, and what such a process does.
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use halma_parse::Parser;
use halma_parse::worker::{FileRules, Limits, Pool, PoolSize, WorkerCommand};

use crate::parallel::cores;

/// Bytes of address space of a process for SQL: what SQLite may use, a result and its message,
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
    parse: Arc<Pool>,
    pub(crate) sql: Arc<Pool>,
}

/// How many processes read files and how many run SQL. One base never holds up the others: it
/// leaves one of each.
fn sizes(cores: usize) -> (PoolSize, PoolSize) {
    let of_one_base = cores.clamp(2, 8);
    let parse = PoolSize {
        processes: of_one_base + 1,
        processes_per_owner: of_one_base,
        waiting_per_owner: 1_000,
        // A document that waits is no document that is refused.
        wait: Duration::from_mins(10),
    };
    let sql = PoolSize { waiting_per_owner: 16, wait: Duration::from_secs(10), ..parse };
    (parse, sql)
}

impl Workers {
    /// Workers are `program` with the arguments `sandbox KIND`; it must call [`crate::serve_worker`].
    pub fn new(program: &Path) -> Arc<Self> {
        let command = |kind: WorkerKind| WorkerCommand {
            program: program.to_owned(),
            arguments: vec!["sandbox".into(), kind.name().into()],
        };
        let (parse, sql) = sizes(cores());
        Arc::new(Self {
            parse: Pool::new(command(WorkerKind::Parse), parse),
            sql: Pool::new(command(WorkerKind::Sql), sql),
        })
    }

    /// What reads the files of the base in `dir`.
    pub(crate) fn parser(&self, dir: &Path) -> Parser {
        Parser::in_workers(Arc::clone(&self.parse), dir.display().to_string())
    }
}

/// SQLite holds everything in memory; the time zone is for its functions of dates.
pub(crate) fn sql_limits() -> Limits {
    Limits {
        memory: SQL_MEMORY,
        cpu_seconds: 2 * 3600,
        file_bytes: 0,
        open_files: 16,
        may_start_programs: false,
        files: FileRules { read: vec!["/etc/localtime".into()], write: vec![] },
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use halma_parse::worker::{Confinement, Purpose, Requests, confinement};

    use super::*;

    /// Set in the process that tries what SQL may do.
    const CONFINED: &str = "HALMA_TEST_CONFINED";

    #[test]
    fn one_base_leaves_a_process_of_each_kind_to_the_others() {
        for cores in [1, 2, 7, 64] {
            let (parse, sql) = sizes(cores);
            for size in [parse, sql] {
                assert!(size.processes > size.processes_per_owner, "{cores} cores: {size:?}");
            }
        }
    }

    /// Workers are taken, not used: what they do does not matter.
    #[cfg(unix)]
    #[test]
    fn a_base_that_reads_many_files_does_not_keep_another_from_reading_one() {
        let workers = Workers::new(Path::new("/bin/sh"));
        let owners = [Path::new("one"), Path::new("two")].map(|dir| dir.display().to_string());
        let limits = sizes(cores()).0;
        let take = |owner: &str| {
            let purpose = Purpose { owner: owner.into(), view: 0, version: 0 };
            workers.parse.take(&purpose).unwrap()
        };
        let _all: Vec<_> = (0..limits.processes_per_owner).map(|_| take(&owners[0])).collect();
        take(&owners[1]);
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "read by the test that started it")]
    fn a_confined_process() {
        // Only in a process of its own, which the test below starts.
        if std::env::var_os(CONFINED).is_none() {
            return;
        }
        let _requests = Requests::open(&sql_limits()).unwrap();
        let program = std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into());
        println!("reads its program: {}", std::fs::read(program).is_ok());
        println!("lists the root: {}", std::fs::read_dir("/").is_ok());
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "a skipped test says so")]
    fn sql_runs_without_files() {
        if confinement() == Confinement::None {
            println!("skipped: this system has no rules for files of workers");
            return;
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "workers::tests::a_confined_process", "--nocapture"])
            .env(CONFINED, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // At the end of its input it would end.
        let input = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(input);
        let output = String::from_utf8(output.stdout).unwrap();
        assert!(output.contains("reads its program: false\nlists the root: false\n"), "{output}");
    }
}
