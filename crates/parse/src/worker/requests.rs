//! The worker's side: requests come on standard input, replies go to standard output.
use std::io::{self, Write as _};
use std::process::exit;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::worker::{Limits, frame};

/// A worker without requests ends after this time.
const IDLE: Duration = Duration::from_mins(1);

/// The requests to this process.
pub struct Requests {
    incoming: Receiver<Vec<u8>>,
}

impl Requests {
    /// Limits this process and begins to read requests. When the process that asks is gone, this
    /// one ends at once, whatever it is doing.
    pub fn open(limits: &Limits) -> io::Result<Self> {
        limits.apply()?;
        let (sender, incoming) = sync_channel(1);
        let read = move || {
            let mut input = io::stdin().lock();
            while let Ok(Some(request)) = frame::read(&mut input) {
                if sender.send(request).is_err() {
                    break;
                }
            }
            exit(0);
        };
        std::thread::Builder::new().name("requests".into()).stack_size(1 << 20).spawn(read)?;
        Ok(Self { incoming })
    }

    /// The next request; ends the process when none comes for a while.
    pub fn next(&self) -> Vec<u8> {
        match self.incoming.recv_timeout(IDLE) {
            Ok(request) => request,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => exit(0),
        }
    }

    /// Sends a reply; ends the process when no one reads it.
    pub fn reply(&self, bytes: &[u8]) {
        let mut out = io::stdout().lock();
        if frame::write(&mut out, bytes).and_then(|()| out.flush()).is_err() {
            exit(0);
        }
    }
}
