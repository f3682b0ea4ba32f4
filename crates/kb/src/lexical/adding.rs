//! New rows on their way into an index.
use std::path::Path;

use halma_core::Layer;
use tantivy::{IndexWriter, Term};

use super::index::{BEFORE_COMMIT, IndexedText, LexicalIndex, STEP, document, open_writer};
use crate::KbError;
use crate::store::{DocumentLanguages, Row, Store};

/// Enters rows in order. Those that were entered since the last commit are lost when it is dropped,
/// and [`LexicalIndex::catch_up`] enters them again.
pub(crate) struct Adding<'a> {
    index: &'a LexicalIndex,
    writer: IndexWriter,
    threads: usize,
    /// The base whose rows these are.
    uid: u64,
    /// The first row that was not entered.
    from: Row,
    entered: usize,
    uncommitted: usize,
}

impl<'a> Adding<'a> {
    /// To a base's index, which has seen all rows before `seen`; without it, nothing. One writer at a
    /// time; the caller holds the base's lock.
    pub(super) fn new(
        index: &'a LexicalIndex,
        uid: u64,
        seen: Option<Row>,
        threads: usize,
    ) -> Result<Self, KbError> {
        let writer = open_writer(&index.index, threads).map_err(index.failed())?;
        if seen.is_none() {
            writer.delete_all_documents().map_err(index.failed())?;
        }
        let from = seen.unwrap_or(0);
        Ok(Self { index, writer, threads, uid, from, entered: 0, uncommitted: 0 })
    }

    /// Forgets rows that were removed from the store.
    pub(super) fn forget(&mut self, rows: &[Row]) {
        for row in rows {
            self.writer.delete_term(Term::from_field_u64(self.index.row, u64::from(*row)));
        }
    }

    /// Enters the rows of the store before `end`. `progress` is called with how many it has entered.
    pub(crate) fn enter(
        &mut self,
        store: &Store,
        end: Row,
        progress: &dyn Fn(usize),
    ) -> Result<(), KbError> {
        let (index, fail) = (self.index, self.index.failed());
        let languages = store.read(|reader| reader.languages())?;
        while self.from < end {
            let texts = store.read(|reader| {
                let rows = reader.rows(index.layer, self.from, STEP)?;
                let mut of = DocumentLanguages::new(&languages);
                let text = |row: Row| {
                    let text = reader.searched_text(index.layer, row)?;
                    Ok((row, text, of.language(reader, (index.layer, row))?))
                };
                let rows = rows.into_iter().filter(|row| *row < end);
                rows.map(text).collect::<heed::Result<Vec<_>>>()
            })?;
            let Some((last, ..)) = texts.last() else { break };
            self.from = last + 1;
            self.entered += texts.len();
            self.uncommitted += texts.len();
            for (row, text, language) in texts {
                let Some(text) = text else { continue };
                let text = IndexedText { row, text, language };
                let document = document(index.row, index.text, text, &languages);
                self.writer.add_document(document).map_err(&fail)?;
            }
            progress(self.entered);
            if self.uncommitted + STEP > self.threads * BEFORE_COMMIT && self.from < end {
                self.commit(self.from)?;
            }
        }
        Ok(())
    }

    /// Commits; `next` is the first row that the index has not seen.
    fn commit(&mut self, next: Row) -> Result<(), KbError> {
        self.uncommitted = 0;
        self.index.commit(&mut self.writer, self.uid, next)
    }

    /// Commits what was entered.
    pub(crate) fn finish(mut self) -> Result<(), KbError> {
        self.commit(self.from)?;
        self.writer.wait_merging_threads().map_err(self.index.failed())
    }

    /// Commits all rows before `next`, and returns the writer.
    pub(super) fn end(mut self, next: Row) -> Result<IndexWriter, KbError> {
        self.commit(next)?;
        Ok(self.writer)
    }
}

/// The lexical index of a layer, up to date with the store. One that cannot be brought there is
/// built again: it may be the copy of one that was just being written. The caller holds the lock.
pub(crate) fn caught_up(dir: &Path, layer: Layer, store: &Store) -> Result<LexicalIndex, KbError> {
    let mut index = LexicalIndex::open_or_rebuild(dir, layer)?;
    if !index.is_behind(store)? {
        return Ok(index);
    }
    match index.catch_up(store, &|_| ()) {
        Err(reason @ KbError::Lexical { .. }) => {
            tracing::warn!("{reason}: it is built again");
            drop(index);
            LexicalIndex::clear(dir)?;
            index = LexicalIndex::open(dir, layer)?;
            index.catch_up(store, &|_| ())?;
        }
        done => done?,
    }
    store.publish_here()?;
    Ok(index)
}
