//! Bases that several machines share through PostgreSQL: from an address to a base
//! (docs/adr/0027-postgresql.md).
mod calls;
mod place;
mod runtime;
mod upstream;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use halma_core::ConfigError;
use halma_kb::{Base, BaseOptions, KbError, SharedBase};
use halma_store::pg::{Address, Database, Home, PgError};
use halma_store::{Cap, Spent};

pub use self::calls::{CallSharing, CallWorker, WorkerReport, Workforce};
pub(crate) use self::calls::{Ledger, SharedBuild};
pub use self::place::{Place, base_folder};
use self::runtime::Runtime;
use self::upstream::Log;
use crate::error::EngineError;

/// How often usage is counted again while the database is not reached, and how long after.
const ATTEMPTS: u32 = 60;
const PAUSE: Duration = Duration::from_secs(1);

/// A workspace in a database, as this program is connected to it.
#[derive(Clone)]
pub struct SharedSpace {
    home: Home,
    runtime: Arc<Runtime>,
    name: String,
    /// The folder of the keys of this workspace, if the address names one for all.
    keys: Option<PathBuf>,
}

impl SharedSpace {
    /// Connects; the base itself is not opened. A workspace that is not there is made.
    fn connect(address: &Address) -> Result<Self, EngineError> {
        Self::connect_to(address, Opening::Any)
    }

    fn connect_to(address: &Address, opening: Opening) -> Result<Self, EngineError> {
        let runtime = Arc::new(Runtime::new()?);
        let connecting = address.clone();
        let home = runtime.wait(async move {
            let database = Database::connect(&connecting).await?;
            match opening {
                Opening::Any => database.home().await.map(Some),
                Opening::Existing => database.find_home().await,
            }
        });
        let missing = || KbError::NoSharedBase { name: address.to_string() };
        let home = home?.ok_or_else(missing)?;
        let keys = address.keys().map(|folder| folder.join(format!("{:016x}", home.id())));
        Ok(Self { home, runtime, name: address.to_string(), keys })
    }

    /// The workspace in the database. Its connections live on a runtime of their own.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The folder of the keys of this workspace, which all machines of the base reach.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.keys.as_deref()
    }

    /// As it is called in messages, without a password.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lets work with the database go on by itself.
    pub fn start(&self, work: impl std::future::Future<Output = ()> + Send + 'static) {
        self.runtime.start(work);
    }

    /// Waits for work with the database from a thread that may block.
    ///
    /// # Panics
    ///
    /// If the work panics.
    pub fn wait<T: Send + 'static>(
        &self,
        work: impl std::future::Future<Output = T> + Send + 'static,
    ) -> T {
        self.runtime.wait(work)
    }

    /// Awaits work with the database from any runtime. Work that has begun is finished when no one
    /// waits any more.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, PgError>> + Send + 'static,
    ) -> Result<T, PgError> {
        let (send, received) = tokio::sync::oneshot::channel();
        self.start(async move { drop(send.send(work.await)) });
        let ended = || PgError::Busy { database: self.name.clone() };
        received.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Adds to what a subject has used on a day, whatever its cap. Returns at once; tries again
    /// while the database is not reached, for a while.
    pub fn spend(&self, subject: String, day: i32, spent: Spent) {
        let (usage, name) = (self.home.usage(), self.name.clone());
        self.start(async move {
            for attempt in 1.. {
                match usage.add(&subject, day, spent, Cap::UNLIMITED).await {
                    Err(e) if e.is_transient() && attempt < ATTEMPTS => {
                        tokio::time::sleep(PAUSE).await;
                    }
                    Err(e) => return tracing::warn!("usage is not counted in {name}: {e}"),
                    Ok(_) => return,
                }
            }
        });
    }
}

/// How a base is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// It must be there.
    Existing,
    /// It is made where there is none.
    Any,
}

/// An open base, and the workspace that it is shared in.
pub(crate) struct OpenedBase {
    pub(crate) base: Arc<Base>,
    pub(crate) shared: Option<SharedSpace>,
}

/// Opens the base of a place. Blocks the thread while a replica is brought up to date.
pub(crate) fn open(
    place: &Place,
    opening: Opening,
    options: BaseOptions,
) -> Result<OpenedBase, EngineError> {
    let Some(address) = place.address() else {
        let open = if opening == Opening::Any { Base::create_or_open } else { Base::open };
        return Ok(OpenedBase { base: open(place.folder(), options)?, shared: None });
    };
    keys_of(address)?;
    let space = SharedSpace::connect_to(address, opening)?;
    let keys = space.folder().ok_or_else(|| no_keys(space.name()))?;
    let shared = SharedBase {
        upstream: Arc::new(Log::new(&space)),
        keys,
        replica: place.folder(),
        may_begin: opening == Opening::Any,
    };
    Ok(OpenedBase { base: Base::open_shared(&shared, options)?, shared: Some(space) })
}

/// The folder of the keys of a shared base.
pub(crate) fn keys_of(address: &Address) -> Result<&Path, EngineError> {
    address.keys().ok_or_else(|| no_keys(&address.to_string()))
}

pub(crate) fn no_keys(address: &str) -> EngineError {
    EngineError::Config(ConfigError {
        file: address.to_owned(),
        key: "keys".into(),
        reason: "the address names no folder for the keys of the base".into(),
        hint: "add `&keys=/FOLDER`: a folder outside the database that all machines of this base \
               reach"
            .into(),
    })
}
