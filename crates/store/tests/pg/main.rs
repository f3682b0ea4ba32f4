//! Everything against a real server. Where there is none the tests say so and pass, unless
//! `HALMA_REQUIRE_POSTGRES` is set; `make postgres` gets one.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod calls;
mod connect;
mod disk;
mod faults;
mod lease;
mod log;
mod speed;
mod state;
mod support;
