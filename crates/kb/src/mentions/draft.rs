//! What graph search needs of a chunk whose names are just being found: it is made where the text is
//! read, and completed where the rows of the entities are known.
use super::record::{ChunkSource, NameKeys, chunk_terms, names_of};
use super::units::{NamedEntity, units};
use crate::parallel::in_order;
use crate::store::{ChunkNames, Row, Store, StoreReader, Unit};
use crate::terms::TermHashes;
use crate::{KbError, Phase, PhaseProgress, Progress};

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

/// Chunks in one transaction.
const BATCH: usize = 2048;

/// What a thread has read before.
#[derive(Default)]
struct Caches {
    keys: NameKeys,
    terms: TermHashes,
}

/// The records of a batch of chunks; without those that are gone.
type NameRecords = Vec<(Row, ChunkNames, Vec<u32>)>;

/// Brings the records of all chunks up to date. The caller holds the lock.
pub(crate) fn fill(store: &Store, progress: &Progress) -> Result<(), KbError> {
    let open = store.read(|reader| reader.without_names())?;
    let (total, mut done) = (open.len(), 0);
    let batches: Vec<&[Row]> = open.chunks(BATCH).collect();
    let make = |caches: &mut Caches, rows: &&[Row]| {
        Ok((store.read(|reader| records_of(reader, caches, rows))?, rows.len()))
    };
    in_order(&batches, make, |(made, count)| {
        store.write(|writer| {
            made.iter().try_for_each(|(row, names, terms)| writer.put_names(*row, names, terms))
        })?;
        done += count;
        progress(PhaseProgress { phase: Phase::LINK, done, total });
        Ok(())
    })
}

fn records_of(
    reader: &StoreReader<'_>,
    caches: &mut Caches,
    rows: &[Row],
) -> heed::Result<NameRecords> {
    let languages = reader.languages()?;
    let mut made = vec![];
    for row in rows {
        let Some(source) = ChunkSource::load(reader, *row)? else { continue };
        let names = names_of(reader, &mut caches.keys, &source)?;
        let (text, language) = (source.searched_text(), source.language());
        let terms = chunk_terms(&mut caches.terms, &languages, &text, language);
        made.push((*row, names, terms));
    }
    Ok(made)
}
