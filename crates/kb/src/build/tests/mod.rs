//! Tests of the build that look inside the base.
#[path = "../../../tests/common/mod.rs"]
mod common;
// Each says that it is for tests only, which is how `xtask tidy` knows.
#[cfg(test)]
mod crash;
#[cfg(test)]
mod dump;
#[cfg(test)]
mod incremental;
#[cfg(test)]
mod metadata;
#[cfg(test)]
mod scale;
#[cfg(test)]
mod shared;
#[cfg(test)]
mod unread;
#[cfg(test)]
mod update;
#[cfg(test)]
mod write_lease;

use dump::dump;
