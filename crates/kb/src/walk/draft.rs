//! What graph search needs of a chunk whose names are just being found: it is made where the text is
//! read, and completed where the rows of the entities are known.
use super::record::{ChunkNames, Unit};
use super::source::ChunkSource;
use super::units::{NamedEntity, units};
use crate::store::{Row, StoreReader};

/// A name that a chunk holds or stands under.
pub(crate) struct DraftName {
    /// Normalised.
    pub(crate) key: String,
    pub(crate) is_title: bool,
}

/// The names, sentences and terms of a chunk.
pub(crate) struct DraftNames {
    /// Each once.
    pub(crate) names: Vec<DraftName>,
    /// With the places of entities in `names` instead of their rows.
    units: Vec<Unit>,
    terms: Vec<u32>,
}

impl DraftNames {
    /// `terms` are those of the text as it is searched.
    pub(crate) fn new(
        reader: &StoreReader<'_>,
        source: &ChunkSource,
        names: Vec<DraftName>,
        terms: Vec<u32>,
    ) -> heed::Result<Self> {
        let entity = |(row, name): (Row, DraftName)| {
            let DraftName { key, is_title } = name;
            NamedEntity { row, key, is_title }
        };
        let entities: Vec<NamedEntity> = (0..).zip(names).map(entity).collect();
        let units = units(reader, source, &entities)?;
        let name = |NamedEntity { key, is_title, .. }| DraftName { key, is_title };
        Ok(Self { names: entities.into_iter().map(name).collect(), units, terms })
    }

    /// The record of the chunk and its terms. `rows` are the entities of `names`; `mentioned` are those
    /// that the chunk itself names, with how often, ascending.
    pub(crate) fn complete(
        self,
        rows: &[Row],
        mentioned: Vec<(Row, f32)>,
    ) -> (ChunkNames, Vec<u32>) {
        let above = self.names.iter().zip(rows).filter(|(name, _)| name.is_title);
        let mut titles: Vec<Row> = above.map(|(_, row)| *row).collect();
        titles.sort_unstable();
        let mut units = self.units;
        for unit in &mut units {
            for entity in &mut unit.entities {
                *entity = rows[*entity as usize];
            }
            let is_mentioned = |row: &Row| mentioned.binary_search_by_key(row, |m| m.0).is_ok();
            unit.entities.sort_unstable_by_key(|row| (!is_mentioned(row), *row));
        }
        (ChunkNames { names: mentioned, titles, units }, self.terms)
    }
}
