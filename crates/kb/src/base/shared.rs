//! A base that several machines share, opened by its replica on this one
//! (`crate::store::replica`).
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use halma_core::Layer;

use super::lock::WriterLock;
use super::{Base, store_dir};
use crate::lexical::LexicalIndex;
use crate::store::{FORMAT, IndexAccess, RemovalListener, Replication, Store, Urgency};
use crate::{BaseOptions, KbError, Upstream};

/// How often it is looked for what others wrote.
const INTERVAL: Duration = Duration::from_millis(250);

/// The layers whose lexical indexes are on the disk.
const INDEXED: [Layer; 2] = [Layer::Chunk, Layer::Atom];

/// How long who takes in waits for the lock of the indexes, and how often it is looked. What is not
/// indexed then is indexed when the lock is free.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(5);

/// Where a shared base is, and where its replica is.
pub struct SharedBase<'a> {
    pub upstream: Arc<dyn Upstream>,
    /// The folder of keys that all machines share.
    pub keys: &'a Path,
    /// The folder of the replica on this machine.
    pub replica: &'a Path,
    /// Whether a base that holds nothing yet is begun.
    pub may_begin: bool,
}

impl Base {
    /// Opens a shared base: brings the replica on this machine up to what others wrote, and keeps
    /// it there as long as the base is open. Blocks the thread.
    pub fn open_shared(
        shared: &SharedBase<'_>,
        options: BaseOptions,
    ) -> Result<Arc<Self>, KbError> {
        let dir = shared.replica;
        for folder in [store_dir(dir), dir.join("bm25"), dir.join("cache")] {
            std::fs::create_dir_all(&folder).map_err(|e| KbError::io(folder, "create", e))?;
        }
        let upstream = Arc::clone(&shared.upstream);
        let replication = Arc::new(Replication::new(dir, upstream, shared.keys));
        let store = Store::open_replica(&store_dir(dir), &replication)?;
        replication.pull(&store)?;
        begin(&store, shared)?;
        replication.check_keys(&store)?;
        empty_stale_indexes(dir, &store)?;
        let base = Self::open_with(dir, store, options)?;
        let followed = Arc::downgrade(&base);
        let follow = move || follow(&followed);
        let thread = std::thread::Builder::new().name("replica".into()).spawn(follow);
        thread.map_err(|e| KbError::io(dir, "follow", e))?;
        Ok(base)
    }

    /// The name of the shared base that this is a replica of.
    pub fn shared_name(&self) -> Option<&str> {
        self.store.replication().map(|replication| replication.name())
    }

    /// Lets `listener` hear of documents that other machines have removed: what was made of them
    /// outside the base is still to be deleted here. It returns whether that is done; it hears of
    /// them again, from this or a later program, until it is.
    pub fn on_removed_elsewhere(
        &self,
        listener: impl Fn(&[String]) -> bool + Send + Sync + 'static,
    ) {
        if let Some(replication) = self.store.replication() {
            let listener: RemovalListener = Box::new(listener);
            replication.listen(listener);
        }
    }

    /// Takes in what others wrote before this call; returns whether it found anything. Nothing in a
    /// base that is not shared. Blocks the thread.
    pub fn pull(&self) -> Result<bool, KbError> {
        let Some(replication) = self.store.replication() else { return Ok(false) };
        let Some(_incoming) = replication.lock_incoming() else { return Ok(false) };
        let is_new = replication.pull(&self.store)?;
        // Also what was taken in before and could not be indexed, or by a write or another program that
        // ended before it was.
        if !replication.are_indexed(&self.store, || self.has_current_indexes())? {
            let patience = if is_new { PATIENCE } else { Duration::ZERO };
            let Some(_lock) = self.lock_indexes(replication, patience)? else { return Ok(is_new) };
            self.update_indexes()?;
            self.store.publish_here()?;
        } else if !is_new {
            return Ok(false);
        }
        self.refresh()?;
        Ok(true)
    }

    fn has_current_indexes(&self) -> Result<bool, KbError> {
        if self.store.replica_state()?.has_stale_indexes {
            return Ok(false);
        }
        for layer in INDEXED {
            if self.lexical_on_disk(layer)?.is_behind(&self.store)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Empties the lexical indexes if they are of rows that say something else now: everything was taken
    /// in again. The caller holds their lock, and fills them.
    pub(crate) fn start_stale_indexes_over(&self) -> Result<(), KbError> {
        if !self.store.replica_state()?.has_stale_indexes {
            return Ok(());
        }
        for layer in INDEXED {
            self.lexical_on_disk(layer)?.start_over()?;
        }
        note_started_over(&self.store)
    }

    /// The right to change the indexes; `None` if they are to be changed later. The caller has the lock
    /// to take in.
    fn lock_indexes(
        &self,
        replication: &Replication,
        patience: Duration,
    ) -> Result<Option<IndexLock>, KbError> {
        let until = Instant::now() + patience;
        loop {
            let access = replication.index_access();
            if access == IndexAccess::Lent {
                return Ok(Some(IndexLock::Lent));
            }
            if let Some(lock) = WriterLock::try_take(&self.dir)? {
                return Ok(Some(IndexLock::Taken(Box::new(lock))));
            }
            if access == IndexAccess::Later || Instant::now() >= until {
                return Ok(None);
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// The right to change the indexes of a replica.
enum IndexLock {
    Taken(#[expect(dead_code, reason = "it is held")] Box<WriterLock>),
    /// It is that of a write of this process, which waits.
    Lent,
}

/// [`Base::start_stale_indexes_over`] of a base that is not open yet. While another process on this
/// machine has the lock, that one does it.
fn empty_stale_indexes(dir: &Path, store: &Store) -> Result<(), KbError> {
    let until = Instant::now() + PATIENCE;
    while store.replica_state()?.has_stale_indexes {
        if let Some(_lock) = WriterLock::try_take(dir)? {
            // It may just have done it.
            if store.replica_state()?.has_stale_indexes {
                for layer in INDEXED {
                    let folder = dir.join("bm25").join(layer.name());
                    LexicalIndex::open_or_rebuild(&folder, layer)?.start_over()?;
                }
                note_started_over(store)?;
            }
            return Ok(());
        }
        if Instant::now() >= until {
            tracing::warn!("the lexical indexes in `{}` are not up to date yet", dir.display());
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

fn note_started_over(store: &Store) -> Result<(), KbError> {
    store.write_here(|writer| writer.change_replica_state(|state| state.has_stale_indexes = false))
}

/// Makes the first values of a shared base that holds nothing, or checks those that it has.
fn begin(store: &Store, shared: &SharedBase<'_>) -> Result<(), KbError> {
    let format = || store.read(|reader| reader.meta::<u32>("format"));
    let name = || shared.upstream.name().to_owned();
    let mut version = format()?;
    if version.is_none() {
        if !shared.may_begin {
            return Err(KbError::NoSharedBase { name: name() });
        }
        let leading = store.lead(Urgency::Normal)?;
        // Another machine may have begun it meanwhile.
        version = format()?;
        if version.is_none() {
            store.write(|writer| {
                writer.begin_base(store.dir())?;
                writer.publish()
            })?;
        }
        leading.finish(true)?;
    }
    match version {
        Some(version) if version != FORMAT => {
            Err(KbError::SharedFormat { name: name(), format: version, reads: FORMAT })
        }
        _ => Ok(()),
    }
}

/// Looks for what others wrote until the base is closed.
fn follow(base: &Weak<Base>) {
    let mut failed = false;
    loop {
        std::thread::sleep(INTERVAL);
        let Some(base) = base.upgrade() else { return };
        let pulled = base.pull();
        if let Some(replication) = base.store.replication()
            && let Err(reason) = replication.tell_removed(&base.store)
        {
            tracing::warn!("{reason}; what quotes removed documents is deleted later");
        }
        match pulled {
            Ok(_) if failed => {
                tracing::warn!("`{}` is reached again", base.shared_name().unwrap_or_default());
                failed = false;
            }
            Err(reason) if !failed => {
                tracing::warn!("{reason}; what was there before is searched meanwhile");
                failed = true;
            }
            _ => {}
        }
    }
}
