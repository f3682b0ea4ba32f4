//! Texts on their way to the embedder, counted, so that it is known of how many some are embedded.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{Stream, StreamExt as _};
use tokio::sync::mpsc;

use super::Searched;
use crate::vectors::BATCH;

/// Takes texts; when it is dropped there are no more.
pub(crate) struct EmbedQueue {
    texts: mpsc::UnboundedSender<Searched>,
    count: Arc<AtomicUsize>,
}

/// The texts, as they come.
pub(crate) struct Queued {
    texts: mpsc::UnboundedReceiver<Searched>,
    count: Arc<AtomicUsize>,
}

/// A queue in which these texts wait.
pub(crate) fn embed_queue(waiting: &[Searched]) -> (EmbedQueue, Queued) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let count = Arc::<AtomicUsize>::default();
    let queue = EmbedQueue { texts: sender, count: Arc::clone(&count) };
    for text in waiting {
        queue.add(*text);
    }
    (queue, Queued { texts: receiver, count })
}

impl EmbedQueue {
    pub(crate) fn add(&self, text: Searched) {
        self.count.fetch_add(1, Ordering::Relaxed);
        // Nobody listens where there is no embedder.
        let _ = self.texts.send(text);
    }
}

impl Queued {
    /// How many have been added so far.
    pub(super) fn counter(&self) -> impl Fn() -> usize + Send + Sync + 'static {
        let count = Arc::clone(&self.count);
        move || count.load(Ordering::Relaxed)
    }

    /// Full batches of what comes, and a last one.
    pub(super) fn batches(self) -> impl Stream<Item = Vec<Searched>> + Send {
        futures::stream::unfold(self.texts, |mut texts| async {
            let mut batch = Vec::with_capacity(BATCH);
            while batch.len() < BATCH {
                let room = BATCH - batch.len();
                if texts.recv_many(&mut batch, room).await == 0 {
                    break;
                }
            }
            (!batch.is_empty()).then_some((batch, texts))
        })
        .boxed()
    }
}
