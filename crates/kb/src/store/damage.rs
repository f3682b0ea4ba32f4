//! For tests: breaks a store, and looks below it.
use halma_core::Layer;

use super::{Entry, Row, Store, StoreWriter, Table};

/// Ways in which a store may be broken.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Damage {
    Record(Layer, Row),
    Text(Row),
    NoNode(Layer, Row),
    NoBacklinks,
    NoNames,
    NoChunkNames,
    NoUnits,
    NoIds,
    Key(Layer, Row),
}

fn spoil(db: Table, writer: &mut StoreWriter<'_>, key: &[u8]) -> heed::Result<()> {
    let mut bytes = db.get(writer, key)?.unwrap().to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    db.put(writer.txn(), key, &bytes)
}

impl Store {
    pub(crate) fn damage(&self, damage: Damage) {
        self.write(|writer| match damage {
            Damage::Record(layer, row) => spoil(self.layer(layer), writer, &row.to_be_bytes()),
            Damage::Text(row) => spoil(self.db.texts, writer, &row.to_be_bytes()),
            Damage::NoNode(layer, row) => {
                self.layer(layer).delete(writer.txn(), &row.to_be_bytes()).map(|_| ())
            }
            Damage::NoBacklinks => self.db.backlinks.clear(writer.txn()),
            Damage::NoNames => self.db.names.clear(writer.txn()),
            Damage::NoChunkNames => self.db.chunk_names.clear(writer.txn()),
            Damage::NoUnits => self.db.ledger.clear(writer.txn()),
            Damage::NoIds => self.db.ids.clear(writer.txn()),
            Damage::Key(layer, row) => {
                let slot = writer.slot_of((layer, row))?;
                self.keys.wipe(&[slot]).map_err(|e| heed::Error::Encoding(e.into()))
            }
        })
        .unwrap();
    }

    /// Every sealed value, whatever it is.
    pub(crate) fn every_sealed_value(&self) -> Vec<Vec<u8>> {
        let db = &self.db;
        let read = |reader: &super::StoreReader<'_>| {
            let mut values = vec![];
            let feedback = [&db.feedback.records];
            let sealed = [db.texts, db.merges, db.chunk_names, db.chunk_terms];
            for db in sealed.iter().chain(&db.nodes).chain(feedback) {
                for entry in db.iter(reader)? {
                    values.push(entry?.1.to_vec());
                }
            }
            for entry in db.ledger.iter(reader)? {
                let entry = Entry::parse(entry?).filter(|entry| !entry.sealed.is_empty());
                values.extend(entry.map(|entry| entry.sealed.to_vec()));
            }
            Ok(values)
        };
        self.read(read).unwrap()
    }

    /// Whether what is kept of names has these bytes, whatever their case.
    pub(crate) fn forms_hold(&self, bytes: &[u8]) -> bool {
        let holds = |value: &[u8]| {
            value.windows(bytes.len()).any(|window| window.eq_ignore_ascii_case(bytes))
        };
        self.read(|reader| {
            for entry in self.db.forms.iter(reader)? {
                let (key, value) = entry?;
                if holds(key) || holds(value) {
                    return Ok(true);
                }
            }
            Ok(false)
        })
        .unwrap()
    }

    /// Whether anything still has these bytes, whatever their case.
    pub(crate) fn holds_text(&self, text: &str) -> bool {
        self.every_sealed_value().iter().any(|value| {
            let value = self.unsealed(value).unwrap().unwrap_or_default();
            String::from_utf8_lossy(&value).to_lowercase().contains(text)
        })
    }

    pub(crate) fn is_readable(&self, stored: &[u8]) -> bool {
        self.unreadable(stored).is_none()
    }

    pub(crate) fn copy_to(&self, to: &std::path::Path) {
        halma_store::seal::copy_open_environment(&self.env, to).unwrap();
    }

    /// Removes a document and ends where a process may be killed: after the commit.
    pub(crate) fn remove_and_die(&self, name: &str) {
        let mut writer = super::StoreWriter::new(self, self.env.write_txn().unwrap());
        self.begin_keys(&writer).unwrap();
        let row = writer.named(name).unwrap().unwrap();
        writer.remove_document(row).unwrap();
        assert!(writer.save_keys().unwrap());
        writer.commit().unwrap();
    }
}

impl super::StoreWriter<'_> {
    /// Forgets what graph search needs of chunks, as where it was never known.
    pub(crate) fn drop_all_names(&mut self) -> heed::Result<()> {
        for db in [self.store.db.chunk_names, self.store.db.chunk_terms] {
            db.clear(self.txn())?;
        }
        Ok(())
    }
}
