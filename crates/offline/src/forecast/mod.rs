//! Forecasts: what a question asks about the future, the query for its rows, and the sentence around
//! the computed number.
pub(crate) mod plan;
pub(crate) mod rows;
mod when;
