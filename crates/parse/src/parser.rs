//! Reading in this process, or in a worker that the system limits and that is killed when it is
//! late: the only way to stop a reader that does not end.
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_worker::{Lease, Pool, Purpose, Requests, WorkerError};
use serde::{Deserialize, Serialize};

use crate::container::refusal;
use crate::ocr::limits::limits;
use crate::parsed::{Parsed, Refusal};
use crate::{ParseOptions, detect};

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
        WorkerError::Late => crate::worker::late(seconds),
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
