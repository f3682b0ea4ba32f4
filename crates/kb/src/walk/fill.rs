//! Makes what graph search needs of each chunk, where a build has changed it.
use halma_core::Layer;

use super::record::{NameKeys, chunk_terms, names_of};
use crate::KbError;
use crate::lexical::TermHashes;
use crate::progress::Progress;
use crate::store::{DocumentLanguages, Store};
use crate::{Phase, PhaseProgress};

/// Chunks in one transaction.
const BATCH: usize = 512;

/// Brings the records of all chunks up to date. The caller holds the lock.
pub(crate) fn fill(store: &Store, progress: &Progress) -> Result<(), KbError> {
    let open = store.read(|reader| reader.without_names())?;
    let (total, mut done) = (open.len(), 0);
    let (mut keys, mut terms) = (NameKeys::default(), TermHashes::default());
    for rows in open.chunks(BATCH) {
        let made = store.read(|reader| {
            let languages = reader.languages()?;
            let (mut made, mut of) = (vec![], DocumentLanguages::new(&languages));
            for row in rows {
                let Some(names) = names_of(reader, &mut keys, *row)? else { continue };
                let text = reader.searched_text(Layer::Chunk, *row)?.unwrap_or_default();
                let language = of.language(reader, (Layer::Chunk, *row))?;
                let terms = chunk_terms(&mut terms, &languages, &text, language.as_deref());
                made.push((*row, names, terms));
            }
            Ok(made)
        })?;
        store.write(|writer| {
            made.iter().try_for_each(|(row, names, terms)| writer.put_names(*row, (names, terms)))
        })?;
        done += rows.len();
        progress(PhaseProgress { stage: Phase::LINK, done, total });
    }
    Ok(())
}
