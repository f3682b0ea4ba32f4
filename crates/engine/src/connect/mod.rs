//! Connecting a model: servers on this machine, a trial of one of their models, and the table that
//! configures it.
mod discover;
mod table;
mod trial;

pub use self::discover::{LOCAL_SERVERS, LocalServer, ModelServer, ServedModel, discover};
pub use self::table::{Connection, with_reader_only};
pub use self::trial::{EffortEstimate, Trial, TrialOutcome, try_connection};
