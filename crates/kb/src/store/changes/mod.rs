//! What transactions changed: rows by layer, no text. The log of them (`log.rs`) is what searches are
//! brought up to date by.
mod log;

use std::collections::{BTreeMap, BTreeSet};

use halma_core::Layer;

use super::schema::{At, Id, Row, byte, decode, encode, layer_of};

/// What of a node changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Changed {
    /// Its record came, went or was replaced, or what is made of its text.
    Node = 0,
    /// What it mentions, or what mentions it.
    Mentions = 1,
    /// A vector of it.
    Vector = 2,
}

const KINDS: [Changed; 3] = [Changed::Node, Changed::Mentions, Changed::Vector];

/// Rows by what changed of them and by layer, ascending.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    rows: BTreeMap<(Changed, u8), Vec<Row>>,
    /// Of everything, so that there is no list.
    everything: bool,
}

impl Changes {
    pub(in crate::store) fn add(&mut self, changed: Changed, (layer, row): At) {
        let rows = self.rows.entry((changed, byte(layer))).or_default();
        if rows.last() != Some(&row) {
            rows.push(row);
        }
    }

    pub(in crate::store) fn add_everything(&mut self) {
        self.everything = true;
    }

    /// The rows of a layer of which this changed, ascending.
    pub(crate) fn of(&self, changed: Changed, layer: Layer) -> &[Row] {
        self.rows.get(&(changed, byte(layer))).map_or(&[], Vec::as_slice)
    }

    /// Whether nodes of a layer came, went or were replaced.
    pub(crate) fn has_nodes(&self, layer: Layer) -> bool {
        !self.of(Changed::Node, layer).is_empty()
    }

    fn sort(&mut self) {
        for rows in self.rows.values_mut() {
            rows.sort_unstable();
            rows.dedup();
        }
    }

    /// Lists of a kind, a layer, and the steps from row to row.
    fn encode(&self) -> heed::Result<Vec<u8>> {
        let steps = |rows: &[Row]| {
            let mut before = 0;
            let step = |row: &Row| row - std::mem::replace(&mut before, *row);
            rows.iter().map(step).collect::<Vec<u32>>()
        };
        let list = |((changed, layer), rows): (&(Changed, u8), &Vec<Row>)| {
            (*changed as u8, *layer, steps(rows))
        };
        encode(&self.rows.iter().map(list).collect::<Vec<(u8, u8, Vec<u32>)>>())
    }

    /// Adds what [`Changes::encode`] made.
    fn read(&mut self, entry: &[u8]) -> heed::Result<()> {
        for (changed, layer, steps) in decode::<Vec<(u8, u8, Vec<u32>)>>(entry)? {
            let changed = KINDS.get(usize::from(changed)).zip(layer_of(layer));
            let Some((changed, _)) = changed else { continue };
            let mut row: Row = 0;
            self.rows.entry((*changed, layer)).or_default().extend(steps.into_iter().map(|step| {
                row = row.wrapping_add(step);
                row
            }));
        }
        Ok(())
    }
}

/// What a write has taken out of what is shared, and which documents it has removed.
#[derive(Debug, Default)]
pub(in crate::store) struct Removals {
    /// Numbers of the shared keys whose former values can be read; `None` until they are needed.
    pub(in crate::store) stale: Option<BTreeSet<u16>>,
    pub(in crate::store) documents: RemovedDocuments,
}

/// Documents that a write has removed, as far as others may quote them.
#[derive(Debug, Default)]
pub(crate) struct RemovedDocuments {
    /// Those with entities that a model described.
    pub(crate) described: BTreeSet<Id>,
    /// Whether any had tags.
    pub(crate) are_tagged: bool,
    /// Whether there are any.
    pub(crate) any: bool,
}
