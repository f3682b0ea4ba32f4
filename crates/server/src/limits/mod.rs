//! What a request, a key and a workspace may use: numbers and texts, time of the processor, money.
pub(crate) mod allowance;
pub(crate) mod blocking;
pub(crate) mod bounds;
pub(crate) mod deadline;
#[cfg(unix)]
pub(crate) mod handles;
pub(crate) mod key_budget;
pub(crate) mod rate_limit;
pub(crate) mod settings;
pub(crate) mod upload_quota;
