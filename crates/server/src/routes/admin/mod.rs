//! Administration: health, configuration, models, prompts, keys, workspaces, usage statistics.
pub(super) mod connect;
pub(super) mod health;
pub(super) mod keys;
pub(super) mod metrics;
pub(super) mod models;
pub(super) mod prompts;
pub(super) mod workspaces;
