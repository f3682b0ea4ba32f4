//! The words of many new chunks: they are entered into their index while more documents are read.
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use halma_core::Layer;
use tokio::task::JoinHandle;

use crate::base::WriterLock;
use crate::error::run_blocking;
use crate::lexical::Adding;
use crate::{BuildContext, KbError};

/// A thread that enters chunks into their lexical index.
pub(super) struct ChunkIndexing {
    requests: IndexingRequests,
    entering: JoinHandle<Result<(), KbError>>,
}

/// Where the thread is asked for something. What it cannot do is reported when it is awaited.
#[derive(Clone)]
pub(super) struct IndexingRequests(Sender<Request>);

enum Request {
    /// To enter the chunks that the store has.
    Enter,
    /// To let searches see everything that the store has, and to say so.
    Publish(Sender<()>),
}

impl IndexingRequests {
    /// Chunks were stored, and are entered meanwhile.
    pub(super) fn enter(&self) {
        let _ = self.0.send(Request::Enter);
    }

    /// Returns when searches see everything that was stored.
    pub(super) fn publish(&self) {
        let (done, is_done) = channel();
        if self.0.send(Request::Publish(done)).is_ok() {
            let _ = is_done.recv();
        }
    }
}

impl ChunkIndexing {
    pub(super) fn start(context: &Arc<BuildContext>, lock: &Arc<WriterLock>) -> Self {
        let (requests, received) = channel();
        let (context, lock) = (Arc::clone(context), Arc::clone(lock));
        let entering = tokio::spawn(run_blocking("indexing text", move || {
            let _lock = lock;
            run(&context, &received)
        }));
        Self { requests: IndexingRequests(requests), entering }
    }

    pub(super) fn requests(&self) -> IndexingRequests {
        self.requests.clone()
    }

    /// Waits until everything is done that it was asked for, and no one can ask for more.
    pub(super) async fn finish(self) -> Result<(), KbError> {
        drop(self.requests);
        self.entering.await.map_err(|e| KbError::worker_panicked("indexing text", &e))?
    }
}

/// Does what is asked for, until no one can ask any more.
fn run(context: &BuildContext, requests: &Receiver<Request>) -> Result<(), KbError> {
    // One writer for many batches: it makes fewer segments, which need not be merged.
    let mut adding = None;
    while let Ok(request) = requests.recv() {
        match request {
            Request::Enter => enter(context, &mut adding)?,
            Request::Publish(done) => {
                adding.take().map_or(Ok(()), Adding::finish)?;
                super::make_visible(&context.base, &context.progress)?;
                // The one that asked may have been interrupted.
                let _ = done.send(());
            }
        }
    }
    adding.map_or(Ok(()), Adding::finish)
}

/// Enters the chunks that the store has.
fn enter<'a>(context: &'a BuildContext, adding: &mut Option<Adding<'a>>) -> Result<(), KbError> {
    let (base, store) = (&context.base, context.store());
    let adding = match adding {
        Some(adding) => adding,
        none => {
            base.start_stale_indexes_over()?;
            none.insert(base.lexical_on_disk(Layer::Chunk)?.begin_adding(store)?)
        }
    };
    let end = store.read(|reader| reader.next_row(Layer::Chunk))?;
    adding.enter(store, end, &|_| ())
}
