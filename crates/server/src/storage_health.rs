//! Health of the storage: whether the store can be read and the disk has space, checked regularly, so
//! that no request has to wait for it.
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use halma_engine::Engine;
use tokio::sync::watch;

use crate::workspace::Workspace;

/// How often it is looked at, and how long a look may take.
const INTERVAL: Duration = Duration::from_secs(1);

/// Bytes on the disk below which nothing more can be stored.
const MIN_FREE_BYTES: u64 = 64 << 20;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StorageHealth {
    /// Whether the store can be read.
    pub(crate) store: bool,
    /// Whether the disk has space left.
    pub(crate) disk: bool,
}

impl StorageHealth {
    /// Looks now. Reads from the disk.
    pub(crate) fn look(engine: &Engine, dir: &Path) -> Self {
        let space = halma_engine::free_space(dir);
        Self {
            // What is mapped into memory can be read when its folder was moved away.
            store: dir.is_dir() && engine.base().probe().is_ok(),
            disk: space.is_ok_and(|space| space >= MIN_FREE_BYTES),
        }
    }

    /// Looks at a workspace for ever. A store that takes too long cannot be read.
    pub(crate) async fn watch(workspace: Arc<Workspace>, current: watch::Sender<Self>) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let workspace = Arc::clone(&workspace);
            let look = move || Self::look(&workspace.engine(), &workspace.dir);
            let mut looking = tokio::task::spawn_blocking(look);
            let looked = match tokio::time::timeout(INTERVAL, &mut looking).await {
                Ok(looked) => looked,
                Err(_late) => {
                    current.send_replace(Self::default());
                    looking.await
                }
            };
            current.send_replace(looked.unwrap_or_default());
        }
    }
}
