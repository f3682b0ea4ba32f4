//! How far the names of the chunks have been linked.
use heed::RwTxn;

use super::{Reading, Row, Store};

impl Store {
    /// The first chunk whose names are not linked under this version of the rules. Rows are handed
    /// out in sequence and never used twice, so one number says it for all.
    pub(crate) fn linked_to(&self, txn: &Reading<'_>, version: u32) -> heed::Result<Row> {
        let known = self.meta::<(u32, Row)>(txn, "linked")?;
        Ok(known.filter(|(of, _)| *of == version).map_or(0, |(_, row)| row))
    }

    pub(crate) fn set_linked_to(
        &self,
        txn: &mut RwTxn<'_>,
        version: u32,
        row: Row,
    ) -> heed::Result<()> {
        self.set_meta(txn, "linked", &(version, row))
    }

    /// The first document that has not been tied to the others.
    pub(crate) fn referred_to(&self, txn: &Reading<'_>) -> heed::Result<Row> {
        Ok(self.meta(txn, "referred")?.unwrap_or_default())
    }

    pub(crate) fn set_referred_to(&self, txn: &mut RwTxn<'_>, row: Row) -> heed::Result<()> {
        self.set_meta(txn, "referred", &row)
    }
}
