//! The replies of models on disk, in a file that many processes may share.
//! A failure of the cache costs replies, never a run.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use halma_core::ChatReply;
use halma_store::{Entry, Key, Name};
use parking_lot::Mutex;

use super::store::Store;

/// Replies that come in this time are written in one transaction.
const GATHER: Duration = Duration::from_millis(50);
/// Replies that are written without waiting for more.
const BATCH: usize = 2_000;

/// Time between looks at whether a cache is closed.
const CLOSING: Duration = Duration::from_millis(5);

/// A question that takes longer may leave replies about a document that was deleted meanwhile.
const LONGEST_QUESTION: Duration = Duration::from_hours(1);

/// The cache cannot be opened, counted or emptied.
#[derive(Debug, thiserror::Error)]
#[error("the cache in `{}`: {reason}; free or change the place, or delete the folder", .path.display())]
pub struct CacheError {
    pub path: PathBuf,
    pub reason: String,
}

/// Replies by request. Reading is at once, also of what is not yet on disk; writing costs the
/// caller nothing: a thread of its own commits many replies together, and those of the last
/// moments (50 ms) are lost by a crash.
pub struct Cache {
    store: Arc<Store>,
    pending: Arc<Pending>,
    /// Documents that were deleted, by hash of their name, with the time.
    deleted: Mutex<HashMap<Name, Instant>>,
    /// `None` only while it is being dropped.
    orders: Option<Sender<Order>>,
    writer: Option<JoinHandle<()>>,
}

fn name(document: &str) -> Name {
    let hash = blake3::hash(document.as_bytes());
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

/// What the writer has not yet committed.
type Pending = Mutex<HashMap<Key, Entry>>;

enum Order {
    Put(Key, Entry),
    Flush(Sender<()>),
}

impl Cache {
    /// Opens or makes the cache in the folder `dir`, without a limit. One that is damaged is moved
    /// aside to `dir/replies.db.damaged-N` with a warning, and an empty one takes its place.
    pub fn open(dir: &Path) -> Result<Arc<Self>, CacheError> {
        Self::open_limited(dir, u64::MAX)
    }

    /// [`Cache::open`], for about `max_bytes` on the disk: when there are more, what is stored next
    /// removes the oldest replies, until there are fewer.
    pub fn open_limited(dir: &Path, max_bytes: u64) -> Result<Arc<Self>, CacheError> {
        let store = Arc::new(Store::open(dir, max_bytes)?);
        let pending = Arc::new(Pending::default());
        let (orders, inbox) = channel();
        let (to, written) = (Arc::clone(&store), Arc::clone(&pending));
        let writer = std::thread::Builder::new()
            .name("halma-cache".into())
            .spawn(move || write(&to, &written, &inbox))
            .map_err(|e| CacheError { path: dir.to_owned(), reason: e.to_string() })?;
        Ok(Arc::new(Self {
            store,
            pending,
            deleted: Mutex::default(),
            orders: Some(orders),
            writer: Some(writer),
        }))
    }

    /// The reply to the request of this key, marked as cached. One that was damaged on disk is
    /// as if it had never been there.
    pub(crate) fn get(&self, key: &Key) -> Option<ChatReply> {
        let waiting = self.pending.lock().get(key).cloned();
        let reply = match waiting {
            Some(entry) => decode(&entry.body),
            None => decode(&self.store.read(key)?),
        };
        reply.map(|reply| ChatReply { cached: true, ..reply })
    }

    /// Keeps a reply; `about` are the documents that its request may quote. One of a document that
    /// was deleted a while ago is not kept: the question may have begun before.
    pub(crate) fn put(&self, key: Key, reply: &ChatReply, about: &[String]) {
        let Some(bytes) = encode(reply) else { return };
        let about: Vec<Name> = about.iter().map(|document| name(document)).collect();
        // Held to the end, so that a deletion comes before or after.
        let deleted = self.deleted.lock();
        let is_deleted =
            |name: &Name| deleted.get(name).is_some_and(|at| at.elapsed() < LONGEST_QUESTION);
        if about.iter().any(is_deleted) {
            return;
        }
        let entry = Entry { body: bytes.into(), about: about.into() };
        self.pending.lock().insert(key, entry.clone());
        self.order(Order::Put(key, entry));
    }

    /// Returns once everything put so far is on disk.
    pub fn flush(&self) {
        let (done, wait) = channel();
        self.order(Order::Flush(done));
        // An error means that the writer is gone; there is nothing to wait for then.
        let _ = wait.recv();
    }

    /// Replies on disk.
    pub fn entries(&self) -> Result<u64, CacheError> {
        self.flush();
        Ok(self.store.size()?.0)
    }

    /// Replies on disk, and about how many bytes they take.
    pub(super) fn size(&self) -> Result<(u64, u64), CacheError> {
        self.store.size()
    }

    /// Destroys all replies to requests that may have quoted one of these documents. When this
    /// returns, no file of the cache holds them in a form that can be read. Returns their number.
    pub fn forget(&self, documents: &[String]) -> Result<u64, CacheError> {
        self.flush();
        let names: Vec<_> = documents.iter().map(|document| name(document)).collect();
        self.store.forget(&names)
    }

    /// Keeps no more replies about documents that are being deleted, from questions under way.
    pub fn refuse(&self, documents: &[String]) {
        let mut deleted = self.deleted.lock();
        deleted.retain(|_, at| at.elapsed() < LONGEST_QUESTION);
        deleted.extend(documents.iter().map(|document| (name(document), Instant::now())));
    }

    /// What waits up to a time until nothing uses the files of this cache any more, and says whether
    /// that is so. It does not use them itself.
    pub fn closing(&self) -> impl Fn(Duration) -> bool + Send + Sync + use<> {
        let store = Arc::downgrade(&self.store);
        move |within| {
            let until = Instant::now() + within;
            while store.strong_count() > 0 && Instant::now() < until {
                std::thread::sleep(CLOSING);
            }
            store.strong_count() == 0
        }
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            let _ = orders.send(order);
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // Without senders the writer commits what it has and ends.
        drop(self.orders.take());
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// The writer: gathers, commits, notifies those who wait for it.
fn write(store: &Store, pending: &Pending, inbox: &Receiver<Order>) {
    while let Ok(first) = inbox.recv() {
        let (mut batch, mut waiting) = (vec![], vec![]);
        let until = Instant::now() + GATHER;
        let mut next = Some(first);
        while let Some(order) = next {
            match order {
                Order::Put(key, entry) => batch.push((key, entry)),
                Order::Flush(done) => waiting.push(done),
            }
            if batch.len() >= BATCH || !waiting.is_empty() {
                break;
            }
            next = inbox.recv_timeout(until.saturating_duration_since(Instant::now())).ok();
        }
        if !batch.is_empty() {
            if let Err(e) = store.write(&batch) {
                tracing::warn!("{} replies are not cached: {e}", batch.len());
            }
            match store.evict() {
                Ok(0) => {}
                Ok(evicted) => {
                    tracing::debug!("the cache is full: its {evicted} oldest replies are removed");
                }
                Err(e) => tracing::warn!("the cache is larger than its limit: {e}"),
            }
            let mut pending = pending.lock();
            for (key, entry) in &batch {
                let newest = pending.get(key).map(|newest| &newest.body);
                if newest.is_some_and(|newest| Arc::ptr_eq(newest, &entry.body)) {
                    pending.remove(key);
                }
            }
        }
        for done in waiting {
            let _ = done.send(());
        }
    }
}

/// Bytes of the checksum that stands before every reply.
const SUM: usize = 8;

/// Checksum, then the reply.
fn encode(reply: &ChatReply) -> Option<Vec<u8>> {
    let bytes = postcard::to_extend(reply, vec![0; SUM]);
    let mut bytes = bytes.inspect_err(|e| tracing::warn!("a reply cannot be cached: {e}")).ok()?;
    let sum = blake3::hash(&bytes[SUM..]);
    bytes[..SUM].copy_from_slice(&sum.as_bytes()[..SUM]);
    Some(bytes)
}

fn decode(bytes: &[u8]) -> Option<ChatReply> {
    let (sum, body) = bytes.split_at_checked(SUM)?;
    if blake3::hash(body).as_bytes()[..SUM] != *sum {
        tracing::warn!("a cached reply is damaged; it is asked for again");
        return None;
    }
    postcard::from_bytes(body).ok()
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
