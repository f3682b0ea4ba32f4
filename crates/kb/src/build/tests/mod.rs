//! Tests of the build that look inside the base.
#[path = "../../../tests/common/mod.rs"]
mod common;
mod crash;
mod dump;
mod scale;
mod update;

use dump::dump;
