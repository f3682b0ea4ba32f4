//! A store that is restricted to some documents: what belongs to others, or was made of others as
//! well, is not there for its readers. Everything that reads goes through [`StoreReader`], so this
//! holds for searches, the graph, tables, lists and exports alike.
mod admission;

use std::collections::HashMap;
use std::sync::Arc;

use halma_core::{Edge, Filter, Layer};
use parking_lot::Mutex;

pub(crate) use self::admission::{admits_document, admits_name};
use super::rows::RowSet;
use super::schema::Row;
use super::{At, DocumentRecord, LayerRecord, NodeRecord, Owner, StoreReader, StoreWriter};

/// Set while the records of entities may hold words whose `mentions` edges are not written yet.
const UNSETTLED: &str = "unsettled";

/// Counts changes of any document's record.
const DOCUMENTS: &str = "documents";

/// Which documents a store is restricted to.
pub(crate) struct Scope {
    /// All of them must admit a document under one of its names.
    filters: Vec<Filter>,
    /// The rows as of a number of changes of documents.
    rows: Mutex<Option<(u64, Arc<VisibleRows>)>>,
}

impl Scope {
    pub(super) fn new(filters: Vec<Filter>) -> Self {
        Self { filters, rows: Mutex::default() }
    }

    pub(super) fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// Whether a document is there under its name at this place.
    fn admits(&self, record: &DocumentRecord, at: usize) -> bool {
        let admits = |filter| admits_document(filter, record) && admits_name(filter, record, at);
        self.filters.iter().all(admits)
    }

    /// A document under the names that are admitted; `None` when none is. What only one of several
    /// copies may have brought along goes with the names that are not.
    pub(super) fn narrow(&self, mut record: DocumentRecord) -> Option<DocumentRecord> {
        let admitted: Vec<bool> =
            (0..record.names.len()).map(|at| self.admits(&record, at)).collect();
        if admitted.iter().all(|admitted| *admitted) {
            return (!admitted.is_empty()).then_some(record);
        }
        if !admitted.contains(&true) {
            return None;
        }
        record.origins.resize(record.names.len(), String::new());
        record.metadata.resize(record.names.len(), String::new());
        let retain = |list: &mut Vec<String>| {
            let mut at = 0;
            list.retain(|_| {
                at += 1;
                admitted[at - 1]
            });
        };
        for list in [&mut record.names, &mut record.origins, &mut record.metadata] {
            retain(list);
        }
        record.source.clone_from(&record.names[0]);
        (record.url, record.author) = (None, None);
        record.warnings.clear();
        Some(record)
    }
}

/// The rows that belong to the documents of a scope.
#[derive(Default)]
struct VisibleRows {
    documents: RowSet,
    sections: RowSet,
    chunks: RowSet,
    tables: RowSet,
    figures: RowSet,
    /// Whether the scope has every document under all of its names.
    everything: bool,
}

/// What a restricted reader sees.
pub(super) struct Visibility {
    pub(super) scope: Arc<Scope>,
    rows: Arc<VisibleRows>,
    settled: bool,
    /// Of entities and communities, whether all that they were made of is visible.
    answers: Mutex<HashMap<At, bool>>,
}

impl Visibility {
    /// Reads what of the documents is visible, unless it is known from before.
    pub(super) fn new(reader: &StoreReader<'_>, scope: &Arc<Scope>) -> heed::Result<Self> {
        let changes = reader.document_changes()?;
        let cached = scope.rows.lock().clone().filter(|(read_at, _)| *read_at == changes);
        let rows = if let Some((_, rows)) = cached {
            rows
        } else {
            let rows = Arc::new(VisibleRows::read(reader, scope)?);
            *scope.rows.lock() = Some((changes, Arc::clone(&rows)));
            rows
        };
        let settled = !reader.meta::<bool>(UNSETTLED)?.unwrap_or_default();
        Ok(Self { scope: Arc::clone(scope), rows, settled, answers: Mutex::default() })
    }
}

impl VisibleRows {
    fn read(reader: &StoreReader<'_>, scope: &Scope) -> heed::Result<Self> {
        let mut rows = Self { everything: true, ..Self::default() };
        for node in reader.nodes::<DocumentRecord>()? {
            let (row, record) = node?;
            let names = record.names.len();
            let Some(record) = scope.narrow(record) else {
                rows.everything = false;
                continue;
            };
            rows.everything &= record.names.len() == names;
            rows.documents.insert(row);
            for (set, range) in [
                (&mut rows.sections, record.sections),
                (&mut rows.chunks, record.chunks),
                (&mut rows.tables, record.tables),
                (&mut rows.figures, record.figures),
            ] {
                (range.0..range.1).for_each(|row| set.insert(row));
            }
        }
        Ok(rows)
    }
}

impl StoreReader<'_> {
    /// Whether only some documents are there for this reader.
    pub(crate) fn is_restricted(&self) -> bool {
        self.visibility.is_some()
    }

    /// How often a document was put in, changed or removed.
    pub(crate) fn document_changes(&self) -> heed::Result<u64> {
        Ok(self.meta(DOCUMENTS)?.unwrap_or_default())
    }

    /// Whether a node is there for this reader.
    pub(super) fn sees(&self, at: At) -> heed::Result<bool> {
        let Some(visibility) = &self.visibility else { return Ok(true) };
        let (layer, row) = at;
        match layer {
            Layer::Document => Ok(visibility.rows.documents.contains(row)),
            Layer::Section => Ok(visibility.rows.sections.contains(row)),
            Layer::Chunk => Ok(visibility.rows.chunks.contains(row)),
            Layer::Figure => Ok(visibility.rows.figures.contains(row)),
            Layer::Table if visibility.rows.tables.contains(row) => Ok(true),
            _ => {
                if let Some(visible) = visibility.answers.lock().get(&at) {
                    return Ok(*visible);
                }
                let record = self.any_record(at)?;
                record.map_or(Ok(false), |record| self.sees_record(at, record.as_ref()))
            }
        }
    }

    /// Whether the document in a row is there for this reader.
    pub(super) fn sees_document(&self, row: Row) -> bool {
        self.visibility.as_ref().is_none_or(|visibility| visibility.rows.documents.contains(row))
    }

    /// [`StoreReader::sees`] of a node whose record is at hand.
    pub(super) fn sees_record(&self, at: At, record: &dyn NodeRecord) -> heed::Result<bool> {
        let Some(visibility) = &self.visibility else { return Ok(true) };
        let owner = match record.owner() {
            Owner::Document(document) => Some((Layer::Document, document)),
            Owner::Chunk(chunk) => Some((Layer::Chunk, chunk)),
            Owner::Itself if at.0 == Layer::Document => {
                return Ok(visibility.rows.documents.contains(at.1));
            }
            // What was accepted from an answer depends on all that it was made of.
            Owner::Itself if at.0 == Layer::Atom => None,
            Owner::Itself => return self.sees_shared(visibility, at),
        };
        if let Some(owner) = owner
            && !self.sees(owner)?
        {
            return Ok(false);
        }
        for other in record.depends_on() {
            if !self.sees(other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What several documents may have been made into is visible when all of them are.
    fn sees_shared(&self, visibility: &Visibility, at: At) -> heed::Result<bool> {
        let edge = match at.0 {
            Layer::Entity => Edge::Mentions,
            Layer::Community => Edge::MemberOf,
            // Classes of tags, and names in tables made of facts, come from the whole base.
            _ => return Ok(visibility.rows.everything),
        };
        if visibility.rows.everything {
            return Ok(true);
        }
        if !visibility.settled || at.0 == Layer::Community && !self.communities_are_current()? {
            return Ok(false);
        }
        if let Some(visible) = visibility.answers.lock().get(&at) {
            return Ok(*visible);
        }
        let sources = self.every_edge_to(at, Some(edge))?;
        let mut visible = !sources.is_empty();
        for link in sources {
            if !visible {
                break;
            }
            visible = self.sees(link.from)?;
        }
        visibility.answers.lock().insert(at, visible);
        Ok(visible)
    }

    /// A record as it is for this reader.
    pub(super) fn narrowed<N: LayerRecord>(&self, row: Row, record: N) -> heed::Result<Option<N>> {
        let Some(visibility) = &self.visibility else { return Ok(Some(record)) };
        if !self.sees_record((N::LAYER, row), &record)? {
            return Ok(None);
        }
        Ok(record.narrow(&visibility.scope))
    }
}

impl StoreWriter<'_> {
    /// Notes that a document's record is another than before.
    pub(super) fn note_document_change(&mut self) -> heed::Result<()> {
        let changes = self.document_changes()? + 1;
        self.set_meta(DOCUMENTS, &changes)
    }

    /// Says whether records of entities may hold words of chunks that do not lead to them yet.
    pub(crate) fn set_unsettled(&mut self, unsettled: bool) -> heed::Result<()> {
        if self.meta::<bool>(UNSETTLED)?.unwrap_or_default() == unsettled {
            return Ok(());
        }
        self.set_meta(UNSETTLED, &unsettled)
    }
}
