//! Whether the parts of the store fit together, below the records: values, ids, names, edges,
//! vectors, keys. What records say of each other is checked in `inspect/verify.rs`.
use std::collections::HashSet;

use halma_core::Layer;

use super::documents::name_key;
use super::feedback::near::is_near_key;
use super::schema::{at_key, edge_key, edge_of_key, id_key, layer_of, of_row_key, row_of};
use super::sealed::{at_of_key, is_shared};
use super::{At, DocumentRecord, Entry, Id, Store, StoreReader};

/// Called with what does not fit: the node it is about, where there is one, and what is wrong.
pub(crate) type Report<'a> = dyn FnMut(Option<At>, String) + 'a;

/// How much was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CheckedCounts {
    pub(crate) nodes: u64,
    pub(crate) edges: u64,
    pub(crate) vectors: u64,
}

/// What is reported of a vector that is listed and not in its file.
pub(crate) const LOST_VECTOR: &str = "missing or damaged in its file";

impl StoreReader<'_> {
    /// The id of a node, from the first bytes of its record.
    pub(crate) fn id_of(&self, (layer, row): At) -> heed::Result<Option<Id>> {
        if !self.sees((layer, row))? {
            return Ok(None);
        }
        let Some(stored) = self.store.layer(layer).get(self, &row.to_be_bytes())? else {
            return Ok(None);
        };
        // An id takes ten bytes at most, and every record begins with it.
        let length = Store::sealed_len(stored).min(10);
        let Some(head) = self.store.unsealed_part(stored, 0..length)? else { return Ok(None) };
        let id = postcard::take_from_bytes::<Id>(&head);
        id.map(|(id, _)| Some(id)).map_err(|e| heed::Error::Decoding(e.into()))
    }

    pub(crate) fn holds(&self, (layer, row): At) -> heed::Result<bool> {
        Ok(self.store.layer(layer).get(self, &row.to_be_bytes())?.is_some())
    }

    /// Every id with its node, by layer and id.
    pub(crate) fn each_id(
        &self,
        mut each: impl FnMut(Id, At) -> heed::Result<()>,
    ) -> heed::Result<()> {
        for entry in self.store.db.ids.iter(self)? {
            let (key, row) = entry?;
            let Some(layer) = key.first().and_then(|byte| layer_of(*byte)) else { continue };
            let id = key.last_chunk().map_or(0, |id| Id::from_be_bytes(*id));
            if self.sees((layer, row_of(row)))? {
                each(id, (layer, row_of(row)))?;
            }
        }
        Ok(())
    }

    /// Looks at everything that is stored.
    pub(crate) fn check(&self, report: &mut Report<'_>) -> heed::Result<CheckedCounts> {
        let mut checked = CheckedCounts::default();
        for layer in Layer::ALL {
            self.check_layer(layer, &mut checked, report)?;
        }
        self.check_texts(report)?;
        self.check_ledger(report)?;
        checked.vectors = self.check_vectors(report)?;
        self.check_names(report)?;
        checked.edges = self.check_edges(report)?;
        self.check_owners(report)?;
        self.check_feedback(report)?;
        Ok(checked)
    }

    /// Records that can be read, whose ids lead to them, in rows that were given.
    fn check_layer(
        &self,
        layer: Layer,
        checked: &mut CheckedCounts,
        report: &mut Report<'_>,
    ) -> heed::Result<()> {
        let next = self.next_row(layer)?;
        for entry in self.store.layer(layer).iter(self)? {
            let (key, stored) = entry?;
            let at = (layer, row_of(key));
            checked.nodes += 1;
            if at.1 >= next {
                report(Some(at), format!("its row {} was never given", at.1));
            }
            if let Some(unreadable) = self.store.unreadable(stored) {
                report(Some(at), format!("its record {unreadable}"));
                continue;
            }
            let Some(id) = self.id_of(at)? else { continue };
            let listed = self.store.db.ids.get(self, &id_key(layer, id))?.map(row_of);
            // The same sentence twice in a chunk is two atoms of one id.
            let twin = match listed {
                Some(row) => row == at.1 || self.id_of((layer, row))? == Some(id),
                None => false,
            };
            if !twin {
                report(Some(at), "its id does not lead to it".into());
            }
        }
        let mut lost = vec![];
        for entry in self.store.db.ids.prefix_iter(self, &at_key((layer, 0))[..1])? {
            let (_, row) = entry?;
            if !self.holds((layer, row_of(row)))? {
                lost.push((layer, row_of(row)));
            }
        }
        for at in lost {
            report(Some(at), "its id is listed and the node is missing".into());
        }
        Ok(())
    }

    /// Texts that can be read, of documents that are there.
    fn check_texts(&self, report: &mut Report<'_>) -> heed::Result<()> {
        for entry in self.store.db.texts.iter(self)? {
            let (key, stored) = entry?;
            let at = (Layer::Document, row_of(key));
            if !self.holds(at)? {
                report(Some(at), "there is a text of it, and the node is missing".to_owned());
            } else if let Some(unreadable) = self.store.unreadable(stored) {
                report(Some(at), format!("its text {unreadable}"));
            }
        }
        Ok(())
    }

    /// Entries of nodes that are there, with results that can be read.
    fn check_ledger(&self, report: &mut Report<'_>) -> heed::Result<()> {
        for value in self.store.db.ledger.iter(self)? {
            let Some(entry) = Entry::parse(value?) else {
                report(None, "an entry of the ledger is damaged".into());
                continue;
            };
            let (task, node) = (entry.key.task.name(), entry.key.node());
            if let Some(node) = node
                && !self.holds(node)?
            {
                report(Some(node), format!("its unit `{task}` is listed, and the node is missing"));
            } else if !entry.sealed.is_empty()
                && let Some(unreadable) = self.store.unreadable(entry.sealed)
            {
                report(node, format!("the result of its unit `{task}` {unreadable}"));
            }
        }
        Ok(())
    }

    /// Vectors of nodes that are there, which can be read. Returns how many are listed.
    fn check_vectors(&self, report: &mut Report<'_>) -> heed::Result<u64> {
        let mut count = 0;
        for entry in self.store.db.vectors.iter(self)? {
            let (key, _) = entry?;
            count += 1;
            match of_row_key(key) {
                None => report(None, "a vector has an invalid key".into()),
                Some((_, layer, row)) if !self.holds((layer, row))? => {
                    let what = "there is a vector of it, and the node is missing";
                    report(Some((layer, row)), what.into());
                }
                Some(_) => {}
            }
        }
        for (embedder, record) in (0..=u8::MAX).zip(self.embedders()?) {
            for layer in Layer::ALL {
                for row in self.lost_vectors(embedder, layer)? {
                    let (model, dimensions) = (&record.model, record.dimensions);
                    report(
                        Some((layer, row)),
                        format!(
                            "its vector by `{model}` of {dimensions} dimensions is {LOST_VECTOR}"
                        ),
                    );
                }
            }
        }
        Ok(count)
    }

    /// Every name leads to a document that has it, and every document is found by its names.
    fn check_names(&self, report: &mut Report<'_>) -> heed::Result<()> {
        let mut keys = HashSet::new();
        for row in self.all_rows(Layer::Document)? {
            let at = (Layer::Document, row);
            let Ok(Some(record)) = self.node::<DocumentRecord>(row) else { continue };
            if record.names.is_empty() {
                report(Some(at), "it has no name".into());
            }
            for name in &record.names {
                keys.insert(name_key(name).to_vec());
                if self.named(name)? != Some(row) {
                    report(Some(at), format!("its name `{name}` does not lead to it"));
                }
            }
            if self.store.db.texts.get(self, &row.to_be_bytes())?.is_none() {
                report(Some(at), "its text is missing".into());
            }
        }
        for entry in self.store.db.names.iter(self)? {
            let (key, row) = entry?;
            if !keys.contains(key) {
                let at = (Layer::Document, row_of(row));
                report(Some(at), "a name leads to it that is not its".into());
            }
        }
        Ok(())
    }

    /// Every edge has both ends and is listed from both. Returns how many there are.
    fn check_edges(&self, report: &mut Report<'_>) -> heed::Result<u64> {
        let mut count = 0;
        for (db, other, listed) in [
            (self.store.db.edges, self.store.db.backlinks, "at its end"),
            (self.store.db.backlinks, self.store.db.edges, "at its beginning"),
        ] {
            count = 0;
            for entry in db.iter(self)? {
                let (key, _) = entry?;
                count += 1;
                let Some((from, edge, to)) = edge_of_key(key) else {
                    report(None, "an edge has an invalid key".into());
                    continue;
                };
                let kind = edge.name();
                for end in [from, to] {
                    if !self.holds(end)? {
                        let other = if end == from { to } else { from };
                        report(
                            Some(other),
                            format!("an edge `{kind}` leads to a {} that is missing", end.0.name()),
                        );
                    }
                }
                if other.get(self, &edge_key(to, edge, from))?.is_none() {
                    report(Some(from), format!("an edge `{kind}` is not listed {listed}"));
                }
            }
        }
        Ok(count)
    }

    /// Every record of feedback can be read, and so can what it quotes and was made into.
    fn check_feedback(&self, report: &mut Report<'_>) -> heed::Result<()> {
        let db = self.store.db.feedback;
        for entry in db.records.iter(self)? {
            if let Some(unreadable) = self.store.unreadable(entry?.1) {
                report(None, format!("a record of feedback {unreadable}"));
            }
        }
        for entry in db.links.iter(self)? {
            let (key, _) = entry?;
            if is_near_key(key) {
                continue;
            }
            let Some(at) = key.get(..5).and_then(at_of_key) else {
                report(None, "a link of feedback has an invalid key".into());
                continue;
            };
            if !self.holds(at)? {
                report(Some(at), "feedback quotes it, and the node is missing".into());
            } else if db.records.get(self, &key[5..])?.is_none() {
                report(Some(at), "feedback that quotes it is missing".into());
            }
        }
        Ok(())
    }

    /// Every owner is there and has a key; nothing waits to be wiped.
    fn check_owners(&self, report: &mut Report<'_>) -> heed::Result<()> {
        for (owner, slot) in self.owners()? {
            if !is_shared(owner) && !self.holds(owner)? {
                report(Some(owner), "it has a key, and the node is missing".into());
            } else if !self.store.has_key(slot)? {
                report(Some(owner), "its key is gone".into());
            }
        }
        for entry in self.store.db.owned.iter(self)? {
            let (key, _) = entry?;
            for end in [at_of_key(&key[..key.len() / 2]), at_of_key(key)] {
                if let Some(end) = end
                    && !self.holds(end)?
                {
                    report(Some(end), "it is listed with what it goes with, and is missing".into());
                }
            }
        }
        if !self.store.db.wipes.is_empty(self)? {
            report(None, format!("{} keys wait to be wiped", self.store.db.wipes.len(self)?));
        }
        Ok(())
    }
}
