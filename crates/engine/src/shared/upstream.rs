//! The log of a workspace as the replicas of `halma-kb` use it.
use std::sync::Arc;

use futures::StreamExt;
use halma_kb::{Head, IsUrgent, KbError, NextSegment, Push, Upstream, UpstreamError};
use halma_store::pg::{Home, NewPush, PgError};
use tokio::sync::mpsc;

use super::SharedSpace;
use super::calls::machine;

/// Segments that are read or sent ahead.
const AHEAD: usize = 8;

/// The log of a workspace.
pub(super) struct Log(SharedSpace);

struct Lease {
    space: SharedSpace,
    lease: Option<Arc<halma_store::pg::Lease>>,
}

impl Log {
    pub(super) fn new(space: &SharedSpace) -> Self {
        Self(space.clone())
    }

    fn home(&self) -> Home {
        self.0.home().clone()
    }
}

fn failed(name: &str) -> impl Fn(PgError) -> UpstreamError + '_ {
    |e| match e {
        PgError::LeaseLost { .. } | PgError::Behind { .. } => {
            UpstreamError::LeaseLost { name: name.to_owned() }
        }
        PgError::Compacted { .. } => UpstreamError::Compacted { name: name.to_owned() },
        e => UpstreamError::Failed { message: e.to_string() },
    }
}

impl Upstream for Log {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn head(&self) -> Result<Head, UpstreamError> {
        let home = self.home();
        let head = self.0.wait(async move { home.head().await }).map_err(failed(self.name()))?;
        let halma_store::pg::Head { generation, first, push, uid } = head;
        Ok(Head { generation, first, push, base: uid })
    }

    fn segments(
        &self,
        after: u64,
        to: u64,
        each: &mut dyn FnMut(&[u8]) -> Result<(), KbError>,
    ) -> Result<(), KbError> {
        let (send, mut segments) = mpsc::channel(AHEAD);
        let home = self.home();
        self.0.start(async move {
            let mut read = std::pin::pin!(home.segments(after, to));
            while let Some(segment) = read.next().await {
                if send.send(segment).await.is_err() {
                    break;
                }
            }
        });
        loop {
            let (next, rest) = self.0.wait(async move { (segments.recv().await, segments) });
            segments = rest;
            match next {
                Some(segment) => each(&segment.map_err(failed(self.name()))?.bytes)?,
                None => return Ok(()),
            }
        }
    }

    fn generation_of(&self, push: &[u8; 16]) -> Result<Option<u64>, UpstreamError> {
        let (home, push) = (self.home(), *push);
        let generation = self.0.wait(async move { home.generation_of(&push).await });
        generation.map_err(failed(self.name()))
    }

    fn lease(&self, is_urgent: &IsUrgent) -> Result<Box<dyn halma_kb::Lease>, UpstreamError> {
        let (home, holder, is_urgent) = (self.home(), holder(), Arc::clone(is_urgent));
        let lease = self.0.wait(async move { home.lease_while(&holder, &*is_urgent).await });
        let lease = lease.map_err(failed(self.name()))?;
        Ok(Box::new(Lease { space: self.0.clone(), lease: Some(lease.into()) }))
    }
}

/// This program and its machine, for those who wait.
fn holder() -> String {
    format!("process {} on {}", std::process::id(), machine())
}

impl Lease {
    fn current(&self) -> Result<Arc<halma_store::pg::Lease>, UpstreamError> {
        let name = self.space.name().to_owned();
        self.lease.clone().ok_or(UpstreamError::LeaseLost { name })
    }
}

impl halma_kb::Lease for Lease {
    fn fence(&self) -> u64 {
        self.lease.as_ref().map_or(0, |lease| lease.fence())
    }

    fn is_wanted(&self) -> Result<bool, UpstreamError> {
        let lease = self.current()?;
        let wanted = self.space.wait(async move { lease.is_wanted().await });
        wanted.map_err(failed(self.space.name()))
    }

    fn push(&self, push: &Push, next: &mut NextSegment<'_>) -> Result<u64, UpstreamError> {
        let name = self.space.name();
        let new = NewPush {
            id: push.id,
            expected: push.expected,
            snapshot: push.is_whole,
            uid: push.base,
        };
        let lease = self.current()?;
        let begun = self.space.wait(async move { lease.transfer(new).await });
        let mut transfer = begun.map_err(failed(name))?;
        loop {
            let segment = match next() {
                Ok(Some(segment)) => segment,
                Ok(None) => break,
                Err(e) => {
                    // Its connection ends on the runtime that it is of.
                    self.space.wait(async move { drop(transfer) });
                    return Err(e);
                }
            };
            let added = self.space.wait(async move {
                transfer.add(segment).await?;
                Ok(transfer)
            });
            transfer = added.map_err(failed(name))?;
        }
        self.space.wait(async move { transfer.finish().await }).map_err(failed(name))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take().and_then(Arc::into_inner) {
            self.space.wait(async move { lease.release().await });
        }
    }
}
