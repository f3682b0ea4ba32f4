//! Storage that is not a base's own: SQLite files, which any program that reads SQLite can open,
//! a workspace in PostgreSQL ([`pg`]) and values that can be destroyed ([`seal`]).
mod db;
pub mod pg;
mod replies;
pub mod seal;
mod state;

pub use db::{Db, DbError, copy, damage, damaged, remove, set_aside};
pub use replies::{Entry, Key, Name, Replies};
pub use state::{Cap, Spent, SpentOn, State, StateEntry};
