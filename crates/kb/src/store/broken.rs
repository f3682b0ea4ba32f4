//! For tests: breaks a store, and looks below it.
use halma_core::Layer;
use heed::RwTxn;

use super::{Db, Row, Store};

/// Ways in which a store may be broken.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Damage {
    Record(Layer, Row),
    Text(Row),
    NoNode(Layer, Row),
    NoBacklinks,
    NoNames,
    NoUnits,
    NoIds,
    Key(Layer, Row),
}

fn spoil(db: Db, txn: &mut RwTxn<'_>, key: &[u8]) -> heed::Result<()> {
    let mut bytes = db.get(txn, key)?.unwrap().to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    db.put(txn, key, &bytes)
}

impl Store {
    pub(crate) fn damage(&self, damage: Damage) {
        self.write(|txn| match damage {
            Damage::Record(layer, row) => spoil(self.layer(layer), txn, &row.to_be_bytes()),
            Damage::Text(row) => spoil(self.db.texts, txn, &row.to_be_bytes()),
            Damage::NoNode(layer, row) => {
                self.layer(layer).delete(txn, &row.to_be_bytes()).map(|_| ())
            }
            Damage::NoBacklinks => self.db.backlinks.clear(txn),
            Damage::NoNames => self.db.names.clear(txn),
            Damage::NoUnits => self.db.atomizing.clear(txn),
            Damage::NoIds => self.db.ids.clear(txn),
            Damage::Key(layer, row) => {
                let slot = self.slot_of(txn, (layer, row))?;
                self.keys.wipe(&[slot]).map_err(|e| heed::Error::Encoding(e.into()))
            }
        })
        .unwrap();
    }

    pub(crate) fn every_sealed_value(&self) -> Vec<Vec<u8>> {
        let db = &self.db;
        let parts = [db.texts, db.atomizing, db.unembedded, db.vectors];
        let read = |txn: &super::Reading<'_>| {
            let mut values = vec![];
            for db in parts.iter().chain(&db.nodes) {
                for entry in db.iter(txn)? {
                    values.push(entry?.1.to_vec());
                }
            }
            Ok(values)
        };
        self.read(read).unwrap()
    }

    pub(crate) fn is_readable(&self, stored: &[u8]) -> bool {
        self.is_sound(stored).unwrap()
    }

    /// Removes a document and ends where a process may be killed: after the commit.
    pub(crate) fn remove_and_die(&self, name: &str) {
        let mut txn = self.env.write_txn().unwrap();
        self.begin_keys(&txn).unwrap();
        let row = self.named(&txn, name).unwrap().unwrap();
        self.remove_document(&mut txn, row).unwrap();
        assert!(self.save_keys(&mut txn).unwrap());
        txn.commit().unwrap();
    }
}
