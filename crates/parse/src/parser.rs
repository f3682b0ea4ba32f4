//! Reading in this process, or in a worker that the system limits and that is killed when it is
//! late: the only way to stop a reader that does not end.
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::worker::{Lease, Limits, Pool, Purpose, Requests, WorkerError};
use serde::{Deserialize, Serialize};

use crate::container::refusal;
use crate::parsed::{Parsed, Refusal};
use crate::{ParseOptions, detect, ocr};

/// Bytes of address space of a worker, the stack of its reader and the program itself included.
const MEMORY: u64 = 5 << 29;

/// What a worker may take beyond the time of a document: it says itself that the time is up, where
/// it can.
const GRACE: Duration = Duration::from_secs(3);

/// Bytes that certainly go to a worker and back within a second.
const BYTES_PER_SECOND: u64 = 20_000_000;

/// Reads files, in worker processes if it has any.
#[derive(Clone, Default)]
pub struct Parser {
    workers: Option<ParseWorkers>,
}

/// Workers, and for whom they are taken: one owner cannot have all of them.
#[derive(Clone)]
struct ParseWorkers {
    pool: Arc<Pool>,
    /// Of any view and version: one that has read a file remembers nothing of it.
    purpose: Purpose,
}

/// To a worker; the bytes of the file follow as a message of their own.
#[derive(Serialize, Deserialize)]
enum Request {
    Parse { name: String, options: ParseOptions },
    Recognise { name: String },
}

/// From a worker.
#[derive(Serialize, Deserialize)]
enum Reply {
    Parsed(Box<Result<Parsed, Refusal>>),
    Recognised(Result<String, Refusal>),
}

impl Parser {
    /// A parser whose workers call [`serve`]; the pool counts them for this owner.
    pub fn in_workers(pool: Arc<Pool>, owner: String) -> Self {
        let purpose = Purpose { owner, view: 0, version: 0 };
        Self { workers: Some(ParseWorkers { pool, purpose }) }
    }

    /// [`crate::parse`], in a worker if there are any.
    pub fn parse(
        &self,
        name: &str,
        bytes: &[u8],
        options: &ParseOptions,
    ) -> Result<Parsed, Refusal> {
        let Some(workers) = &self.workers else { return crate::parse(name, bytes, options) };
        crate::check_size(bytes, options)?;
        let request = Request::Parse { name: name.to_owned(), options: options.clone() };
        match workers.ask(&request, bytes, options.seconds.max(1))? {
            Reply::Parsed(parsed) => *parsed,
            Reply::Recognised(_) => Err(failed()),
        }
    }

    /// [`crate::recognise`], in a worker if there are any.
    pub fn recognise(&self, name: &str, bytes: &[u8]) -> Result<&'static str, Refusal> {
        let Some(workers) = &self.workers else { return crate::recognise(name, bytes) };
        let request = Request::Recognise { name: name.to_owned() };
        match workers.ask(&request, bytes, ParseOptions::default().seconds)? {
            Reply::Recognised(format) => Ok(detect::format_name(&format?).unwrap_or("text")),
            Reply::Parsed(_) => Err(failed()),
        }
    }
}

impl ParseWorkers {
    fn ask(&self, request: &Request, bytes: &[u8], seconds: u64) -> Result<Reply, Refusal> {
        let message = postcard::to_stdvec(request).map_err(|_| failed())?;
        loop {
            let lease = self.pool.take(&self.purpose).map_err(|e| explained(&e, seconds))?;
            let start = Instant::now();
            let (limit, transfer) = (Duration::from_secs(seconds), bytes.len() as u64);
            let until = start + limit + GRACE + Duration::from_secs(transfer / BYTES_PER_SECOND);
            match exchange(&lease, &message, bytes, until) {
                Ok(reply) => {
                    // After its time a reader may still be at work in there.
                    if start.elapsed() < limit {
                        lease.give_back();
                    }
                    return postcard::from_bytes(&reply).map_err(|_| failed());
                }
                // One that had waited for a while may have ended just then; a new one is tried.
                Err(WorkerError::Ended) if !lease.is_new() => {}
                Err(error) => return Err(explained(&error, seconds)),
            }
        }
    }
}

fn exchange(
    lease: &Lease,
    message: &[u8],
    bytes: &[u8],
    until: Instant,
) -> Result<Vec<u8>, WorkerError> {
    lease.send(message.to_vec())?;
    lease.send(bytes.to_vec())?;
    lease.receive(until)
}

fn explained(error: &WorkerError, seconds: u64) -> Refusal {
    match error {
        WorkerError::Late => crate::guard::late(seconds),
        WorkerError::Ended => failed(),
        WorkerError::Busy { .. } | WorkerError::Start { .. } => {
            refusal(&error.to_string(), "close other programs and try again")
        }
    }
}

fn failed() -> Refusal {
    let reason = "reading it takes more than 2 GB of memory, or makes its reader fail";
    refusal(reason, "split it, or save it in another format")
}

/// What a worker may use.
fn limits() -> Limits {
    Limits {
        memory: MEMORY,
        cpu_seconds: 900,
        // Of what tesseract writes for itself, where the system has no rules for files.
        file_bytes: 100_000_000,
        open_files: 64,
        may_start_programs: true,
        files: ocr::files(),
    }
}

/// What a worker does until no one asks it any more.
pub fn serve() -> std::io::Result<()> {
    let requests = Requests::open(&limits())?;
    loop {
        let request = postcard::from_bytes(&requests.next());
        let bytes = requests.next();
        let reply = match request {
            Ok(Request::Parse { name, options }) => {
                Reply::Parsed(Box::new(crate::parse(&name, &bytes, &options)))
            }
            Ok(Request::Recognise { name }) => {
                Reply::Recognised(crate::recognise(&name, &bytes).map(str::to_owned))
            }
            // The asker is not the program that this one belongs to.
            Err(_) => return Ok(()),
        };
        drop(bytes);
        match postcard::to_stdvec(&reply) {
            Ok(reply) => requests.reply(&reply),
            Err(_) => return Ok(()),
        }
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::env::{split_paths, var_os};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use crate::worker::{Confinement, confinement};

    use super::*;

    /// The folder in which the other process tries what it may do.
    const FOLDER: &str = "HALMA_TEST_FOLDER";

    #[test]
    #[expect(clippy::print_stdout, reason = "read by the test that started it")]
    fn a_confined_reader() {
        // Only in a process of its own, which the test below starts.
        let Some(folder) = var_os(FOLDER).map(PathBuf::from) else { return };
        let _requests = Requests::open(&limits()).unwrap();
        let read = |path: &Path| std::fs::read(path).is_ok();
        let run = |line: &str| {
            let shell = Command::new("sh").args(["-c", line]).output();
            shell.is_ok_and(|output| output.status.success())
        };
        let environment = format!("/proc/{}/environ", std::os::unix::process::parent_id());
        for (what, worked) in [
            ("runs tesseract", run("tesseract && echo > /dev/null")),
            ("reads a model", read(&folder.join("share/tessdata/eng.traineddata"))),
            ("reads another file", read(&folder.join("secret"))),
            ("reads the accounts", read(Path::new("/etc/passwd"))),
            ("reads the keys of its parent", read(Path::new(&environment))),
            ("writes a file", std::fs::write(folder.join("new"), "new").is_ok()),
        ] {
            println!("{what}: {worked}");
        }
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "a skipped test says so")]
    fn a_reader_uses_what_ocr_needs_and_nothing_else() {
        if confinement() == Confinement::None {
            println!("skipped: this system has no rules for files of workers");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (program, models) =
            (folder.path().join("bin/tesseract"), folder.path().join("share/tessdata"));
        std::fs::create_dir_all(folder.path().join("bin")).unwrap();
        std::fs::create_dir_all(&models).unwrap();
        std::fs::write(&program, "#!/bin/sh\nexit 0\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::write(models.join("eng.traineddata"), "a model").unwrap();
        std::fs::write(folder.path().join("secret"), "a key").unwrap();
        let paths = var_os("PATH").unwrap();
        let paths = std::iter::once(folder.path().join("bin")).chain(split_paths(&paths));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "parser::tests::a_confined_reader", "--nocapture"])
            .env(FOLDER, folder.path())
            .env("PATH", std::env::join_paths(paths).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // At the end of its input it would end.
        let input = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(input);
        let output = String::from_utf8(output.stdout).unwrap();
        for (what, expected) in [
            ("runs tesseract", true),
            ("reads a model", true),
            ("reads another file", false),
            ("reads the accounts", false),
            ("reads the keys of its parent", false),
            ("writes a file", false),
        ] {
            assert!(output.contains(&format!("{what}: {expected}\n")), "{what}: {output}");
        }
    }
}
