//! Fields that users give to documents, and conditions on them.
mod filter;
mod value;

pub use filter::{MetadataFilter, MetadataTest, ValueRange};
pub use value::{FieldValue, Metadata, MetadataError};
