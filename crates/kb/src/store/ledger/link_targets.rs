//! Where hyperlinks lead, whether a document is there or not: units of the ledger that hold nothing.
use halma_core::Layer;

use super::unit::{Task, UnitKey};
use crate::store::schema::hash;
use crate::store::{Row, StoreReader, StoreWriter};

/// A name that a hyperlink leads to, with the document that the link is in. Documents that lead to
/// a name are found by it when a document gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinkTarget {
    /// Half a hash: more than one name may have it.
    name: u32,
    pub(crate) document: Row,
}

impl LinkTarget {
    pub(crate) fn new(name: &str, document: Row) -> Self {
        let name = u32::try_from(hash(&[name.as_bytes()]) >> 32).unwrap_or_default();
        Self { name, document }
    }

    fn key(self) -> UnitKey {
        let at = u64::from(self.name) << 32 | u64::from(self.document);
        UnitKey::with_id(Task::LinkTarget, Layer::Entity, at)
    }
}

impl StoreReader<'_> {
    /// Targets of hyperlinks that may be this name, of any document.
    pub(crate) fn link_targets(&self, name: &str) -> heed::Result<Vec<LinkTarget>> {
        let wanted = LinkTarget::new(name, 0);
        let mut targets = vec![];
        for entry in self.store.db.ledger.prefix_iter(self, &wanted.key().bytes()[..6])? {
            let document = entry?.0.last_chunk().map(|row| Row::from_be_bytes(*row));
            targets.extend(document.map(|document| LinkTarget { document, ..wanted }));
        }
        Ok(targets)
    }
}

impl StoreWriter<'_> {
    pub(crate) fn put_link_target(&mut self, target: LinkTarget) -> heed::Result<()> {
        self.put_pending(target.key())
    }

    pub(crate) fn forget_link_target(&mut self, target: LinkTarget) -> heed::Result<()> {
        self.forget_unit(target.key())
    }
}
