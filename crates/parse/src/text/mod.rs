//! Formats that are text already: it stays as it is, and what stands where is noted.
pub(crate) mod delimited;
pub(crate) mod markdown;
pub(crate) mod plain;
