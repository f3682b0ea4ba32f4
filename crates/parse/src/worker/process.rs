//! One worker process, as the process that asks it sees it.
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Instant;

use crate::worker::{WorkerError, frame};

/// Variables that a worker and the programs it starts may see; keys of models are not among them.
const ENVIRONMENT: &[&str] = &["PATH", "LANG", "LC_ALL", "TMPDIR", "TESSDATA_PREFIX", "HALMA_LOG"];

/// How a worker is started.
#[derive(Debug, Clone)]
pub struct WorkerCommand {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
}

/// A worker with its pipes, each served by a thread so that no message waits for the other side.
/// It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    requests: Sender<Vec<u8>>,
    replies: Receiver<Vec<u8>>,
}

impl Process {
    pub(crate) fn start(command: &WorkerCommand) -> io::Result<Self> {
        let mut new = Command::new(&command.program);
        new.args(&command.arguments).env_clear();
        new.envs(ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        // What a crash or a library prints is for those who ask for a log; the error says what
        // happened.
        let log = std::env::var_os("HALMA_LOG").is_some();
        let errors = if log { Stdio::inherit() } else { Stdio::null() };
        new.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut child = new.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        match (sender(input), receiver(output)) {
            (Ok(requests), Ok(replies)) => Ok(Self { child, requests, replies }),
            (Err(e), _) | (_, Err(e)) => {
                end(&mut child);
                Err(e)
            }
        }
    }

    pub(crate) fn send(&self, request: Vec<u8>) -> Result<(), WorkerError> {
        self.requests.send(request).map_err(|_| WorkerError::Ended)
    }

    /// The next reply, if it comes by `until`.
    pub(crate) fn receive(&self, until: Instant) -> Result<Vec<u8>, WorkerError> {
        let left = until.saturating_duration_since(Instant::now());
        self.replies.recv_timeout(left).map_err(|e| match e {
            RecvTimeoutError::Timeout => WorkerError::Late,
            RecvTimeoutError::Disconnected => WorkerError::Ended,
        })
    }

    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn end(child: &mut Child) {
    // It may have ended by itself; either way it is collected, so that no zombie is left.
    let _ = child.kill();
    let _ = child.wait();
}

fn sender(mut input: ChildStdin) -> io::Result<Sender<Vec<u8>>> {
    let (sender, requests) = channel::<Vec<u8>>();
    let write = move || {
        for request in requests {
            if frame::write(&mut input, &request).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("worker-input".into()).spawn(write)?;
    Ok(sender)
}

fn receiver(mut output: ChildStdout) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, replies) = channel();
    let read = move || {
        while let Ok(Some(reply)) = frame::read(&mut output) {
            if sender.send(reply).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("worker-output".into()).spawn(read)?;
    Ok(replies)
}
