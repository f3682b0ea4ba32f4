//! Counts of everything a base holds.
use std::collections::BTreeMap;

use halma_core::{Edge, Layer};
use serde::Serialize;

use super::show::name;
use crate::Base;
use crate::store::{DocumentRecord, Reader, TableRecord};

/// Counts of everything a base holds; what is zero is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Nodes.
    pub layers: BTreeMap<Layer, u64>,
    /// Those that are stored and those that follow from the records.
    pub edges: BTreeMap<Edge, u64>,
    /// Units of work by task and state (`done`, `pending`, `failed`).
    pub units: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Documents by format; the key is empty where the format is not known.
    pub formats: BTreeMap<String, u64>,
}

impl Base {
    pub(crate) fn figures(&self, reader: &Reader<'_>) -> heed::Result<Figures> {
        let mut figures = Figures::default();
        for layer in Layer::ALL {
            figures.layers.insert(layer, reader.count(layer)?);
        }
        reader.each_edge(|link| *figures.edges.entry(link.edge).or_default() += 1)?;
        let mut next = 0;
        for row in reader.rows(Layer::Document, 0, usize::MAX)? {
            let record: DocumentRecord = reader.linked(row)?;
            next += u64::from((record.chunks.1 - record.chunks.0).saturating_sub(1));
            *figures.formats.entry(record.format).or_default() += 1;
        }
        let mut placed = 0;
        for row in reader.rows(Layer::Table, 0, usize::MAX)? {
            let table = reader.node::<TableRecord>(row)?;
            placed += u64::from(table.is_some_and(|table| table.section.is_some()));
        }
        let count = |layer: Layer| figures.layers[&layer];
        let (sections, chunks, rows) =
            (count(Layer::Section), count(Layer::Chunk), count(Layer::Row));
        let contains = sections + chunks + placed + count(Layer::Figure) + rows;
        let derived = count(Layer::Atom) + count(Layer::Fact) + rows;
        for (edge, implied) in
            [(Edge::Contains, contains), (Edge::Next, next), (Edge::DerivedFrom, derived)]
        {
            *figures.edges.entry(edge).or_default() += implied;
        }
        reader.each_unit(|task, state| {
            *figures.units.entry(task).or_default().entry(name(state)).or_default() += 1;
        })?;
        figures.layers.retain(|_, count| *count > 0);
        figures.edges.retain(|_, count| *count > 0);
        Ok(figures)
    }
}
