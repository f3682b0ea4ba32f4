//! Makes what graph search needs of each chunk, where a build has changed it.
use super::record::{ChunkNames, NameKeys, chunk_terms, names_of};
use super::source::ChunkSource;
use crate::KbError;
use crate::lexical::TermHashes;
use crate::parallel::in_order;
use crate::progress::Progress;
use crate::store::{Row, Store, StoreReader};
use crate::{Phase, PhaseProgress};

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
