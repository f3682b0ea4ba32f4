//! The fits of the reader's weights, which users can repeat (docs/developers/measurements.md).
mod joint;
mod rules;
mod singles;
