//! How far the names of the chunks have been linked.

use super::{Reader, Row, Writer};

impl Reader<'_> {
    /// The first chunk whose names are not linked under this version of the rules. Rows are handed
    /// out in sequence and never used twice, so one number says it for all.
    pub(crate) fn linked_to(&self, version: u32) -> heed::Result<Row> {
        let known = self.meta::<(u32, Row)>("linked")?;
        Ok(known.filter(|(of, _)| *of == version).map_or(0, |(_, row)| row))
    }

    /// The first document that has not been tied to the others.
    pub(crate) fn referred_to(&self) -> heed::Result<Row> {
        Ok(self.meta("referred")?.unwrap_or_default())
    }
}

impl Writer<'_> {
    pub(crate) fn set_linked_to(&mut self, version: u32, row: Row) -> heed::Result<()> {
        self.set_meta("linked", &(version, row))
    }

    pub(crate) fn set_referred_to(&mut self, row: Row) -> heed::Result<()> {
        self.set_meta("referred", &row)
    }
}
