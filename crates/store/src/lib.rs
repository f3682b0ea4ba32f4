//! Storage in SQLite files, which any program that reads SQLite can open.
mod db;
mod replies;
mod state;

pub use db::{Db, DbError, copy, damage, damaged, remove, set_aside};
pub use replies::{Entry, Key, Name, Replies};
pub use state::{Cap, Spent, SpentOn, State, StateEntry};
