//! Entities without a model: the names that chunks hold, and the titles and headings they stand
//! under, found by rule and tied to them by `mentions` edges. Which atoms name an entity, and which
//! entities stand together, is worked out from these when a search needs it.
mod chunk_names;
mod entities;

use std::sync::Arc;

use halma_core::Layer;

use self::chunk_names::ChunkLinks;
use self::entities::LinkWriter;
use crate::error::run_blocking;
use crate::parallel::in_order;
use crate::store::{Row, Store, StoreReader};
use crate::terms::TermHashes;
use crate::{Atoms, BuildContext, Entities, KbError, KbSettings, Phase, PhaseProgress, Progress};

/// Changes whenever names are found otherwise, so that older bases are linked again.
const VERSION: u32 = 2;

/// Chunks whose names are written in one transaction.
const BATCH: usize = 2048;

/// Links the chunks that are new. What nothing names any more has gone with the documents that
/// named it.
pub(super) async fn run(context: &Arc<BuildContext>) -> Result<(), KbError> {
    let context = Arc::clone(context);
    run_blocking("linking names", move || {
        link_new(context.store(), &context.settings, &context.progress)
    })
    .await
}

/// [`run`] on this thread. Where a chunk gets no atoms, what graph search needs of it is made at the
/// same time, while its text is at hand.
pub(super) fn link_new(
    store: &Store,
    settings: &KbSettings,
    progress: &Progress,
) -> Result<(), KbError> {
    if settings.entities == Entities::None {
        return Ok(());
    }
    let (rows, languages) = store.read(|reader| {
        let from = reader.linked_to(VERSION)?;
        Ok((reader.rows(Layer::Chunk, from, usize::MAX)?, reader.languages()?))
    })?;
    let batches: Vec<&[Row]> = rows.chunks(BATCH).collect();
    let with_drafts = settings.atoms == Atoms::None;
    let find = |terms: &mut TermHashes, rows: &&[Row]| {
        let find_links = |reader: &StoreReader<'_>| {
            let mut links = Vec::with_capacity(rows.len());
            for row in *rows {
                let for_draft = with_drafts.then_some((&mut *terms, &languages));
                links.extend(ChunkLinks::find(reader, *row, for_draft)?);
            }
            Ok(links)
        };
        Ok((store.read(find_links)?, rows.last().copied(), rows.len()))
    };
    let (mut links, mut done) = (LinkWriter::default(), 0);
    in_order(&batches, find, |(of_chunks, last, count): (Vec<ChunkLinks>, Option<Row>, usize)| {
        store.write(|writer| {
            for chunk in of_chunks {
                links.write(writer, chunk)?;
            }
            last.map_or(Ok(()), |last| writer.set_linked_to(VERSION, last + 1))
        })?;
        done += count;
        progress(PhaseProgress { phase: Phase::LINK, done, total: rows.len() });
        Ok(())
    })
}
