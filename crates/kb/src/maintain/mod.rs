//! What is done to a base as a whole: converting its format, copying it while it is used, and
//! putting a copy back.
mod convert;

pub use convert::Converted;
