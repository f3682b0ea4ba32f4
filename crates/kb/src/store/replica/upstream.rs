//! What a replica needs of the database that a shared base is in.
use std::sync::Arc;

use crate::{KbError, UpstreamError};

/// Where the log of a shared base ends and begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// The last push; 0 before the first.
    pub generation: u64,
    /// The first push whose segments are there: applied from there on they give the whole.
    pub first: u64,
    /// The id of the last push.
    pub push: Option<[u8; 16]>,
    /// What distinguishes the base from one that is made later in its place.
    pub base: Option<u64>,
}

/// One push of segments.
#[derive(Debug, Clone)]
pub struct Push {
    /// Distinguishes it from every other: a push that is repeated is written once.
    pub id: [u8; 16],
    /// The generation that it follows.
    pub expected: u64,
    /// What distinguishes the base from every other.
    pub base: u64,
    /// Whether the segments are the whole base, so that those before are not needed.
    pub is_whole: bool,
}

/// A shared base. Calls block; none may be made on a thread that drives asynchronous work.
pub trait Upstream: Send + Sync {
    /// As it is called in messages, without a password.
    fn name(&self) -> &str;

    /// One cheap question.
    fn head(&self) -> Result<Head, UpstreamError>;

    /// Calls `each` with the segments of the pushes after `after` up to `to`, in sequence.
    fn segments(
        &self,
        after: u64,
        to: u64,
        each: &mut dyn FnMut(&[u8]) -> Result<(), KbError>,
    ) -> Result<(), KbError>;

    /// The generation that a push made; `None` if it is not in the log.
    fn generation_of(&self, push: &[u8; 16]) -> Result<Option<u64>, UpstreamError>;

    /// Waits until nobody else may write. An urgent one comes before the others, and those who hold
    /// the lease for long make room for it. It may become urgent while it waits.
    fn lease(&self, is_urgent: &IsUrgent) -> Result<Box<dyn Lease>, UpstreamError>;
}

/// Whether a write is urgent by now: asked again and again while it waits, and so it must be quick.
pub type IsUrgent = Arc<dyn Fn() -> bool + Send + Sync>;

/// Gives the segments of a push one after the other, then `None`.
pub type NextSegment<'a> = dyn FnMut() -> Result<Option<Vec<u8>>, UpstreamError> + 'a;

/// The right to write to a shared base; given back when it is dropped, or lost when the machine is
/// not heard of for some seconds.
pub trait Lease: Send + Sync {
    /// Higher than that of every lease before.
    fn fence(&self) -> u64;

    /// Whether an urgent one is waiting.
    fn is_wanted(&self) -> Result<bool, UpstreamError>;

    /// Writes the segments that `next` gives until it gives none, all or, on an error, none of them;
    /// returns the generation.
    fn push(&self, push: &Push, next: &mut NextSegment<'_>) -> Result<u64, UpstreamError>;
}
