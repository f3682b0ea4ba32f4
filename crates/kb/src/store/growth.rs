//! Growing LMDB's map of the store while the store is in use. LMDB requires that no transaction of
//! this process is open meanwhile, so every transaction holds [`OpenTransaction`].
use std::time::Duration;

use heed::{Env, Error, MdbError, WithoutTls};
use parking_lot::{RwLock, RwLockReadGuard};

use super::env::{self, Access};

/// How long a write waits for other transactions to end, so that the map can grow. The next write
/// tries again; a quarter of the map is left for those before it.
const WAIT_TO_GROW: Duration = Duration::from_millis(200);

/// How long a transaction waits for the others, when another process has grown the file.
const WAIT_TO_FOLLOW: Duration = Duration::from_secs(5);

/// Who has a transaction open: shared by transactions, exclusive while the map is replaced.
#[derive(Debug, Default)]
pub(super) struct Growth(RwLock<()>);

/// Held as long as a transaction is open.
pub(super) type OpenTransaction<'a> = RwLockReadGuard<'a, ()>;

impl Growth {
    /// Begins a transaction. When another process has grown the file beyond the map of this one, the
    /// map follows first.
    pub(super) fn begin<'a, T>(
        &'a self,
        env: &Env<WithoutTls>,
        begin: impl Fn() -> heed::Result<T>,
    ) -> heed::Result<(OpenTransaction<'a>, T)> {
        let open = self.0.read();
        match begin() {
            Ok(transaction) => Ok((open, transaction)),
            Err(Error::Mdb(MdbError::MapResized)) => {
                drop(open);
                if let Some(alone) = self.0.try_write_for(WAIT_TO_FOLLOW) {
                    env::follow(env)?;
                    drop(alone);
                }
                let open = self.0.read();
                Ok((open, begin()?))
            }
            Err(e) => Err(e),
        }
    }

    /// Doubles the map when three quarters of it are used and no transaction is open.
    pub(super) fn grow(&self, env: &Env<WithoutTls>, access: Access) {
        if !access.grows() || !env::is_nearly_full(env) {
            return;
        }
        let Some(_alone) = self.0.try_write_for(WAIT_TO_GROW) else { return };
        // Another thread may have grown it meanwhile.
        if env::is_nearly_full(env)
            && let Err(e) = env::double(env)
        {
            tracing::warn!("the store cannot be mapped in a larger size: {e}");
        }
    }
}
