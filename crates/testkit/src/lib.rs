//! Doubles for tests and benches: a scripted model, one that takes its time, one that spoils the
//! replies of another, a toy base, a toy
//! source and a toy graph, the one way to run a strategy ([`check`]), local HTTP doubles of a model
//! server and of the web, and a PostgreSQL server.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "only tests and benches use this crate"
)]
mod aids;
mod check;
pub mod double;
mod facts;
mod mischief;
mod outline;
#[cfg(unix)]
mod postgres;
mod script;
mod source;
mod timed;
mod toy;
pub mod web;

pub use aids::{Capitals, Overlap};
pub use check::{Check, check};
pub use facts::ToyFacts;
pub use mischief::{DRAFT, Mischief, Mischievous, Remedy, Spoiler, leak};
pub use outline::outline;
#[cfg(unix)]
pub use postgres::{Postgres, SmallDisk};
pub use script::Script;
pub use source::ToySource;
pub use timed::{ROUND_TRIP, Timed, round_trips};
pub use toy::Toy;
