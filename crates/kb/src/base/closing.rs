//! The end of a base that is to be removed: what is done for it stops, and it is known when nothing
//! uses its files any more.
use std::time::Duration;

use tokio::sync::watch;

use crate::{Base, KbError};

impl Base {
    /// Ends the work of builds that waits for models, also of builds that were dropped: it continues
    /// otherwise, so that what is paid for comes into the cache. No build can be done afterwards.
    pub fn end_builds(&self) {
        self.builds_ended.send_replace(true);
    }

    /// Returns when the builds are to end, with the error that says so.
    pub(crate) fn builds_ended(&self) -> impl Future<Output = KbError> + Send + use<> {
        let (mut ended, dir) = (self.builds_ended.subscribe(), self.dir.clone());
        async move {
            // An error means that the base is gone, which those who wait for this use.
            let _ = ended.wait_for(|ended| *ended).await;
            KbError::Removed { dir }
        }
    }

    /// What waits up to a time until nothing uses the store any more, and says whether that is so. It
    /// does not use it itself.
    pub fn closing(&self) -> impl Fn(Duration) -> bool + Send + Sync + use<> {
        let event = self.store.closing();
        move |within| event.wait_timeout(within)
    }
}

/// Whether the builds of a base are to end.
pub(super) type BuildsEnded = watch::Sender<bool>;
