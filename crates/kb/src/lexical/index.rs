//! The BM25 index of one layer. It is made from the primary store and can be thrown away.
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_core::Layer;
use parking_lot::RwLock;
use tantivy::columnar::Column;
use tantivy::directory::error::LockError;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::query::{BoostQuery, Query, TermQuery};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{
    DocAddress, Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument,
    TantivyError, Term,
};

use super::near::terms_of;
use super::top::{Documents, Word};
use super::{Adding, merging, read_only};
use crate::store::{Row, RowSet, Store};
use crate::terms::{Languages, analyzer};
use crate::{KbError, cores};

/// Changes whenever words are cut differently, so that older indexes are built again.
const LEXICAL_VERSION: u32 = 4;

pub(super) const TOKENIZER: &str = "halma";

/// Nodes read from the store at a time.
pub(super) const STEP: usize = 4096;

/// Nodes entered before a commit for each thread, so that none writes too large a segment although
/// they do not get equally many.
pub(super) const BEFORE_COMMIT: usize = merging::LARGEST / 5 * 4;

/// Threads that enter so many new nodes. Each of them leaves a segment, which is merged with others.
fn threads_for(nodes: Row) -> usize {
    if nodes as usize > STEP { cores().min(2) } else { 1 }
}

pub(super) fn schema() -> (Schema, Field, Field) {
    let mut schema = Schema::builder();
    let row = schema.add_u64_field("row", FAST | INDEXED);
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs);
    let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    (schema.build(), row, text)
}

/// A text as it is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LexicalQuery<'a> {
    pub(crate) text: &'a str,
    /// Terms in addition to those of the text, each with its weight.
    pub(crate) added: &'a [(String, f32)],
}

#[cfg(test)]
impl<'a> LexicalQuery<'a> {
    /// A text with no terms but its own.
    pub(crate) fn plain(text: &'a str) -> Self {
        Self { text, added: &[] }
    }
}

pub(crate) struct LexicalIndex {
    pub(super) layer: Layer,
    pub(super) dir: PathBuf,
    pub(super) index: Index,
    pub(super) reader: IndexReader,
    pub(super) row: Field,
    pub(super) text: Field,
    /// Of the texts, for queries.
    pub(super) languages: RwLock<Arc<Languages>>,
    pub(super) columns: RowColumns,
}

/// A text with the language of its document, where that is known.
pub(crate) struct IndexedText {
    pub(crate) row: Row,
    pub(crate) text: String,
    pub(crate) language: Option<String>,
}

impl LexicalIndex {
    /// Opens the index of a layer.
    pub(crate) fn open(dir: &Path, layer: Layer) -> Result<Self, KbError> {
        Self::try_open(dir, layer).map_err(|source| KbError::of_lexical(dir, source))
    }

    /// Opens the index of a layer; one that is missing or damaged is made empty, and
    /// [`LexicalIndex::catch_up`] fills it. The caller holds the base's lock.
    pub(crate) fn open_or_rebuild(dir: &Path, layer: Layer) -> Result<Self, KbError> {
        match Self::open(dir, layer) {
            Err(reason @ KbError::Lexical { .. }) => {
                tracing::warn!("{reason}: it is built again");
                Self::clear(dir)?;
                Self::open(dir, layer)
            }
            opened => opened,
        }
    }

    pub(crate) fn clear(dir: &Path) -> Result<(), KbError> {
        match std::fs::remove_dir_all(dir) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(KbError::io(dir, "remove", e))
            }
            _ => std::fs::create_dir_all(dir).map_err(|e| KbError::io(dir, "create", e)),
        }
    }

    fn try_open(dir: &Path, layer: Layer) -> Result<Self, TantivyError> {
        let (schema, row, text) = schema();
        let open = |index: Index| {
            if index.schema() != schema {
                return Err(TantivyError::SchemaError("the schema differs".into()));
            }
            index.tokenizers().register(TOKENIZER, analyzer());
            let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
            let (languages, columns) = (RwLock::default(), RowColumns::default());
            Ok(Self { layer, dir: dir.to_owned(), index, reader, row, text, languages, columns })
        };
        if !dir.join("meta.json").exists() {
            std::fs::create_dir_all(dir)?;
            return open(Index::create_in_dir(dir, schema.clone())?);
        }
        match Index::open_in_dir(dir).and_then(&open) {
            Err(e) if read_only::is_denied(&e) => open(read_only::open(dir)?),
            opened => opened,
        }
    }

    pub(super) fn failed(&self) -> impl Fn(TantivyError) -> KbError + '_ {
        |source| KbError::of_lexical(&self.dir, source)
    }

    /// The first row that this index has not seen; `None` when it is of another base or version.
    fn seen(&self, uid: u64) -> Result<Option<Row>, KbError> {
        let payload = self.index.load_metas().map_err(self.failed())?.payload;
        let Some(payload) = payload else { return Ok(None) };
        let seen = payload.strip_prefix(&format!("{uid:016x} {LEXICAL_VERSION} "));
        Ok(seen.and_then(|row| row.parse().ok()))
    }

    /// Whether the store holds what this index has not seen.
    pub(crate) fn is_behind(&self, store: &Store) -> Result<bool, KbError> {
        let (uid, next, dead) = store.read(|reader| {
            let dead = reader.tombstones(self.layer)?;
            Ok((reader.uid()?, reader.next_row(self.layer)?, dead))
        })?;
        Ok(self.seen(uid)?.map_or(next > 0, |seen| seen != next) || !dead.is_empty())
    }

    /// Brings the index up to date with the store: forgets what was removed, adds what is new. One writer
    /// at a time; the caller holds the base's lock. `progress` is called with how many nodes are added.
    pub(crate) fn catch_up(&self, store: &Store, progress: &dyn Fn(usize)) -> Result<(), KbError> {
        let (uid, next, dead) = store.read(|reader| {
            let dead = reader.tombstones(self.layer)?;
            Ok((reader.uid()?, reader.next_row(self.layer)?, dead))
        })?;
        let seen = self.seen(uid)?.filter(|seen| *seen <= next);
        if seen == Some(next) && dead.is_empty() {
            return Ok(());
        }
        let mut adding = Adding::new(self, uid, seen, threads_for(next - seen.unwrap_or(0)))?;
        adding.forget(&dead);
        adding.enter(store, next, progress)?;
        let mut writer = adding.end(next)?;
        if !dead.is_empty() {
            self.purge(&mut writer)?;
        }
        writer.wait_merging_threads().map_err(self.failed())?;
        store.write_here(|writer| writer.clear_tombstones(self.layer, &dead))?;
        self.reload()
    }

    /// To add rows while they are being stored, by one thread: one segment for many batches. The
    /// caller holds the base's lock.
    pub(crate) fn begin_adding(&self, store: &Store) -> Result<Adding<'_>, KbError> {
        let (uid, next) = store.read(|reader| Ok((reader.uid()?, reader.next_row(self.layer)?)))?;
        let seen = self.seen(uid)?.filter(|seen| *seen <= next);
        Adding::new(self, uid, seen, 1)
    }

    /// Forgets everything, so that [`LexicalIndex::catch_up`] enters all of the store again. The
    /// caller holds the base's lock.
    pub(crate) fn start_over(&self) -> Result<(), KbError> {
        let mut writer = self.writer()?;
        writer.delete_all_documents().map_err(self.failed())?;
        writer.commit().map(|_| ()).map_err(self.failed())?;
        self.reload()
    }

    fn writer(&self) -> Result<IndexWriter, KbError> {
        open_writer(&self.index, 1).map_err(self.failed())
    }

    /// Commits; `next` is the first row that the index has not seen.
    pub(super) fn commit(
        &self,
        writer: &mut IndexWriter,
        uid: u64,
        next: Row,
    ) -> Result<(), KbError> {
        let mut commit = writer.prepare_commit().map_err(self.failed())?;
        commit.set_payload(&format!("{uid:016x} {LEXICAL_VERSION} {next}"));
        commit.commit().map(|_| ()).map_err(self.failed())
    }

    /// Rewrites the segments that hold words of deleted rows, and removes the files they were in.
    fn purge(&self, writer: &mut IndexWriter) -> Result<(), KbError> {
        let fail = self.failed();
        for segment in self.index.searchable_segment_metas().map_err(&fail)? {
            if segment.num_deleted_docs() > 0 {
                writer.merge(&[segment.id()]).wait().map_err(&fail)?;
            }
        }
        // Searches that are running keep what they have mapped; the names are gone.
        self.reload()?;
        writer.garbage_collect_files().wait().map(|_| ()).map_err(&fail)
    }

    /// Merges the segments that many commits leave, as `merging.rs` says. The caller holds the base's
    /// lock.
    pub(crate) fn merge(&self) -> Result<(), KbError> {
        let fail = self.failed();
        let mut writer = None;
        loop {
            let segments = self.index.searchable_segment_metas().map_err(&fail)?;
            let sizes: Vec<u32> = segments.iter().map(tantivy::SegmentMeta::num_docs).collect();
            let Some(join) = merging::next(&sizes) else { break };
            let ids: Vec<_> = join.into_iter().map(|at| segments[at].id()).collect();
            let writer: &mut IndexWriter = match &mut writer {
                Some(writer) => writer,
                none => none.insert(self.writer()?),
            };
            writer.merge(&ids).wait().map_err(&fail)?;
        }
        let Some(writer) = writer else { return Ok(()) };
        writer.wait_merging_threads().map_err(&fail)?;
        self.reload()
    }

    /// From now on queries are of these languages.
    pub(crate) fn use_languages(&self, languages: Arc<Languages>) {
        *self.languages.write() = languages;
    }

    /// The words of a query, each by the terms that it is in the languages of the base; where no
    /// document has one, by terms that stand for it ([`terms_of`]).
    pub(crate) fn query_words(&self, text: &str) -> Result<Vec<Vec<String>>, KbError> {
        let languages = self.languages.read().clone();
        let words = languages.query_words(text).into_iter();
        let searcher = self.reader.searcher();
        let terms = words.map(|word| terms_of(word, self.text, &searcher));
        terms.collect::<tantivy::Result<_>>().map_err(self.failed())
    }

    /// Sees what was committed since, here or by another process.
    pub(crate) fn reload(&self) -> Result<(), KbError> {
        self.reader.reload().map_err(self.failed())
    }

    /// Rows that the index holds, in order; for `verify`.
    pub(crate) fn rows(&self) -> Result<Vec<Row>, KbError> {
        let fail = self.failed();
        let searcher = self.reader.searcher();
        let mut rows = vec![];
        for segment in searcher.segment_readers() {
            let column = segment.fast_fields().u64("row").map_err(&fail)?;
            for doc in segment.doc_ids_alive() {
                rows.extend(column.first(doc).and_then(|row| Row::try_from(row).ok()));
            }
        }
        rows.sort_unstable();
        Ok(rows)
    }

    /// For tests: forgets a row that the store still holds.
    #[cfg(test)]
    pub(crate) fn lose(&self, row: Row) -> Result<(), KbError> {
        let fail = self.failed();
        let payload = self.index.load_metas().map_err(&fail)?.payload.unwrap_or_default();
        let mut writer = self.writer()?;
        writer.delete_term(Term::from_field_u64(self.row, u64::from(row)));
        let mut commit = writer.prepare_commit().map_err(&fail)?;
        commit.set_payload(&payload);
        commit.commit().map(|_| ()).map_err(&fail)
    }

    /// How specific a term is: BM25's idf.
    pub(crate) fn idf(&self, term: &str) -> Result<f32, KbError> {
        let searcher = self.reader.searcher();
        let term = Term::from_field_text(self.text, term);
        let with_term = searcher.doc_freq(&term).map_err(self.failed())?;
        #[expect(clippy::cast_precision_loss, reason = "counts of nodes, for a logarithm")]
        let (with_term, all) = (with_term as f32, searcher.num_docs() as f32);
        Ok((1.0 + (all - with_term + 0.5).max(0.0) / (with_term + 0.5)).ln())
    }

    /// The best rows by BM25 with their scores, best first, ties by row; of all rows, or of those
    /// that a filter lets in.
    pub(crate) fn search(
        &self,
        query: &LexicalQuery<'_>,
        limit: usize,
        allowed: Option<&Arc<RowSet>>,
    ) -> Result<Vec<(Row, f32)>, KbError> {
        let words = self.query_words(query.text)?;
        if words.is_empty() && query.added.is_empty() || limit == 0 {
            return Ok(vec![]);
        }
        let term = |term: &String| -> Box<dyn Query> {
            let term = Term::from_field_text(self.text, term);
            Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
        };
        let typed = words.iter().map(|word| word.iter().map(term).collect());
        let added = query.added.iter().map(|(added, weight)| -> Word {
            vec![Box::new(BoostQuery::new(term(added), *weight))]
        });
        let words: Vec<Word> = typed.chain(added).collect();
        let searcher = self.reader.searcher();
        let rows = self.columns.of(&searcher).map_err(self.failed())?;
        let documents = match allowed {
            None => Documents::all(&searcher),
            Some(allowed) => Documents {
                searcher: &searcher,
                count: allowed.count(),
                admits: &|at| rows.row(at).is_some_and(|row| allowed.contains(row)),
            },
        };
        if documents.count == 0 {
            return Ok(vec![]);
        }
        let best = documents.best_of_words(&words, limit).map_err(self.failed())?;
        let hit = |(score, at)| Some((rows.row(at)?, score));
        let mut hits: Vec<(Row, f32)> = best.into_iter().filter_map(hit).collect();
        hits.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(hits)
    }
}

/// What the index stores of a text, in its fields for rows and for text.
pub(super) fn document(
    row: Field,
    text: Field,
    searched: IndexedText,
    languages: &Languages,
) -> TantivyDocument {
    let mut document = TantivyDocument::new();
    document.add_u64(row, u64::from(searched.row));
    match languages.tokenized(&searched.text, searched.language.as_deref()) {
        Some(tokenized) => document.add_pre_tokenized_text(text, tokenized),
        None => document.add_text(text, searched.text),
    }
    document
}

/// The open columns of an index.
#[derive(Default)]
pub(super) struct RowColumns(RwLock<Option<OpenColumns>>);

/// A column for each segment that a searcher sees.
#[derive(Clone)]
struct OpenColumns {
    /// Of the searcher.
    generation: u64,
    columns: Arc<[Column<u64>]>,
}

/// The rows of the documents that a searcher sees.
pub(super) struct DocumentRows(Arc<[Column<u64>]>);

impl DocumentRows {
    pub(super) fn row(&self, at: DocAddress) -> Option<Row> {
        let row = self.0.get(at.segment_ord as usize)?.first(at.doc_id)?;
        Row::try_from(row).ok()
    }
}

impl RowColumns {
    pub(super) fn of(&self, searcher: &Searcher) -> tantivy::Result<DocumentRows> {
        let generation = searcher.generation().generation_id();
        let open = self.0.read().clone();
        if let Some(open) = open.filter(|open| open.generation == generation) {
            return Ok(DocumentRows(open.columns));
        }
        let segments = searcher.segment_readers().iter();
        let columns = segments.map(|segment| segment.fast_fields().u64("row"));
        let columns: Arc<[Column<u64>]> = columns.collect::<tantivy::Result<_>>()?;
        let mut open = self.0.write();
        // A search that began before the index changed keeps what it opened to itself.
        if open.as_ref().is_none_or(|open| open.generation < generation) {
            *open = Some(OpenColumns { generation, columns: Arc::clone(&columns) });
        }
        Ok(DocumentRows(columns))
    }
}

/// The same for a few texts: the least that tantivy takes.
const SMALL_HEAP: usize = 15_000_000;

impl LexicalIndex {
    /// An index of these texts in memory, for a layer that is searched seldom.
    pub(crate) fn in_memory(
        layer: Layer,
        texts: impl Iterator<Item = IndexedText>,
        languages: Arc<Languages>,
    ) -> Result<Self, KbError> {
        let dir = PathBuf::from(layer.name());
        let fail = |source| KbError::Lexical { dir: dir.clone(), source };
        let (schema, row, text) = schema();
        let index = Index::create_in_ram(schema);
        index.tokenizers().register(TOKENIZER, analyzer());
        let mut writer =
            index.writer_with_num_threads::<TantivyDocument>(1, WRITER_HEAP).map_err(fail)?;
        for searched in texts {
            writer.add_document(document(row, text, searched, &languages)).map_err(fail)?;
        }
        writer.commit().map_err(fail)?;
        writer.wait_merging_threads().map_err(fail)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader = reader.map_err(fail)?;
        let (languages, columns) = (RwLock::new(languages), RowColumns::default());
        Ok(Self { layer, dir, index, reader, row, text, languages, columns })
    }

    /// For an index in memory: rows that have another text now, or none.
    pub(crate) fn replace(&self, texts: Vec<(Row, Option<IndexedText>)>) -> Result<(), KbError> {
        let languages = self.languages.read().clone();
        let fail = self.failed();
        let mut writer =
            self.index.writer_with_num_threads::<TantivyDocument>(1, SMALL_HEAP).map_err(&fail)?;
        for (row, searched) in texts {
            writer.delete_term(Term::from_field_u64(self.row, u64::from(row)));
            let Some(searched) = searched else { continue };
            let document = document(self.row, self.text, searched, &languages);
            writer.add_document(document).map_err(&fail)?;
        }
        writer.commit().map_err(&fail)?;
        writer.wait_merging_threads().map_err(&fail)?;
        self.reload()
    }
}

/// Bytes that a thread of a writer collects before it writes a segment.
pub(super) const WRITER_HEAP: usize = 50_000_000;

/// How long a process may take to start, and how often it is looked whether it has.
const STARTING: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(5);

/// A writer of so many threads that merges segments only on request. The caller has the right to write, so a lock that
/// is still held is that of the writer before: a process that is being started shares the locks of
/// this one until its program runs.
pub(super) fn open_writer(index: &Index, threads: usize) -> Result<IndexWriter, TantivyError> {
    let until = Instant::now() + STARTING;
    loop {
        match index.writer_with_num_threads(threads, threads * WRITER_HEAP) {
            Err(TantivyError::LockFailure(LockError::LockBusy, _)) if Instant::now() < until => {
                std::thread::sleep(LOOK);
            }
            opened => {
                let writer: IndexWriter = opened?;
                writer.set_merge_policy(Box::new(NoMergePolicy));
                return Ok(writer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tantivy::schema::Schema;

    use super::*;

    #[test]
    fn a_lock_that_is_let_go_in_a_moment_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::create_in_dir(dir.path(), Schema::builder().build()).unwrap();
        let former = open_writer(&index, 1).unwrap();
        let ending = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(former);
        });
        assert!(open_writer(&index, 1).is_ok());
        ending.join().unwrap();
    }
}
