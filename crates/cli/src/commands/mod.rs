//! One file per command.
pub(crate) mod ask;
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod eval;
pub(crate) mod feedback;
pub(crate) mod index;
pub(crate) mod init;
pub(crate) mod kb;
pub(crate) mod keys;
pub(crate) mod kg;
pub(crate) mod operate;
pub(crate) mod prompts;
pub(crate) mod search;
pub(crate) mod serve;
mod setup;
pub(crate) mod strategies;
pub(crate) mod train;
mod vectors;

pub(crate) use setup::load_config;
