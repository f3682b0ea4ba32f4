//! Entities by everything that they go by: other names, and one name of several entities.
use std::collections::HashMap;

use halma_core::Layer;
use halma_core::text::normalise_name;

use crate::store::{EntityRecord, Row, StoreReader, hash};

/// Names that are not the key of an entity, each with the entities that go by it, ascending.
#[derive(Debug, Default)]
pub(crate) struct AliasIndex(HashMap<String, Vec<Row>>);

impl AliasIndex {
    /// Reads the entities of a base in which a model has found them; where names are found by rule,
    /// each entity goes by its key alone.
    pub(crate) fn load(reader: &StoreReader<'_>) -> heed::Result<Self> {
        let mut index = Self::default();
        if reader.count(Layer::Fact)? == 0 {
            return Ok(index);
        }
        for node in reader.nodes::<EntityRecord>()? {
            let (row, entity) = node?;
            for name in std::iter::once(&entity.name).chain(&entity.aliases) {
                let name = normalise_name(name);
                if name == entity.key || name.is_empty() {
                    continue;
                }
                let rows = index.0.entry(name).or_default();
                if rows.last() != Some(&row) {
                    rows.push(row);
                }
            }
        }
        Ok(index)
    }

    /// The entities that go by a normalised name which is the key of none of them.
    pub(crate) fn called(&self, name: &str) -> &[Row] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

/// The entities of a name: the one whose key it is, and those that go by it as well.
pub(crate) fn entities_named(reader: &StoreReader<'_>, name: &str) -> heed::Result<Vec<Row>> {
    let name = normalise_name(name);
    let exact = reader.find(Layer::Entity, hash(&[name.as_bytes()]))?;
    let mut rows: Vec<Row> = exact.into_iter().collect();
    rows.extend(AliasIndex::load(reader)?.called(&name));
    rows.sort_unstable();
    rows.dedup();
    Ok(rows)
}
