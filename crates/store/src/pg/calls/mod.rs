//! The ledger of calls: what a model or an embedder is to be asked, done by any worker, once.
mod done;
mod pauses;
mod submit;
mod take;

use std::time::Duration;

pub use take::TakenCall;

use crate::pg::tables::Tables;

/// How long a call that was taken stays with its worker after the last heartbeat.
const LEASE: &str = "interval '60 seconds'";
/// A worker is live while it was heard of in this time.
const LIVE: &str = "interval '60 seconds'";

/// Content of a call: equal calls have equal ids.
pub type CallId = [u8; 16];

/// The id of a call with this input.
pub fn call_id(kind: i16, input: &[u8]) -> CallId {
    let mut hasher = blake3::Hasher::new_derive_key("halma id of a call");
    hasher.update(&kind.to_le_bytes()).update(input);
    let mut id = [0; 16];
    id.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    id
}

/// A call to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCall {
    pub id: CallId,
    /// What kind of call it is; workers choose by it.
    pub kind: i16,
    /// Opaque; about 10 kB are meant.
    pub input: Vec<u8>,
    /// What it quotes, as numbers by which [`Calls::forget_about`] finds it.
    pub about: Vec<i32>,
}

/// The result of a call that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub id: CallId,
    /// As it was when the call was taken.
    pub fence: u64,
    pub output: Vec<u8>,
}

/// Why a call that was taken has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub id: CallId,
    pub fence: u64,
    pub error: String,
    /// `None` if it would fail again.
    pub retry: Option<Retry>,
}

/// When a call that failed is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    pub after: Duration,
    /// After so many attempts it has failed.
    pub max_attempts: u32,
}

/// How a call stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was not submitted, or was forgotten.
    Unknown,
    /// It waits for a worker.
    Open,
    Taken,
    Done(Vec<u8>),
    /// It is not tried again until it is submitted again.
    Failed(String),
}

/// A program that takes calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    pub name: String,
    /// Since its first heartbeat.
    pub age: Duration,
    /// Since its last heartbeat.
    pub silent: Duration,
    /// Calls that it has taken and not finished.
    pub calls: u64,
}

/// The calls of a workspace.
#[derive(Clone)]
pub struct Calls {
    tables: Tables,
}

impl Calls {
    pub(crate) fn new(tables: Tables) -> Self {
        Self { tables }
    }
}

/// Ids as a parameter.
fn slices(ids: &[CallId]) -> Vec<&[u8]> {
    ids.iter().map(<[u8; 16]>::as_slice).collect()
}
