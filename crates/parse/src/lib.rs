//! From files to documents: every format that Halma reads becomes one text with its headings,
//! tables, figures, links and pages ([`Parsed`]). What cannot be read is refused with a reason.
mod parsed;

pub use parsed::{Block, BlockKind, Figure, Link, Merged, Page, Parsed, Refusal, Table, TableRow};
