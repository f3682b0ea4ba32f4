//! The BM25 index of one layer. It is made from the truth and can be thrown away.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_core::Layer;
use tantivy::collector::{FilterCollector, TopDocs};
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, IndexReader, ReloadPolicy, TantivyDocument, TantivyError, Term};

use super::{analyzer, query_terms};
use crate::KbError;
use crate::filter::Rows;
use crate::store::{Row, Store};

/// Changes whenever words are cut differently, so that older indexes are built again.
const WORDS_VERSION: u32 = 1;

const TOKENIZER: &str = "halma";

/// Bytes that one writer collects before it writes a segment.
const WRITER_HEAP: usize = 50_000_000;

/// Nodes read from the truth at a time.
const STEP: usize = 4096;

fn schema() -> (Schema, Field, Field) {
    let mut schema = Schema::builder();
    let row = schema.add_u64_field("row", FAST | INDEXED);
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs);
    let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    (schema.build(), row, text)
}

pub(crate) struct WordIndex {
    layer: Layer,
    dir: PathBuf,
    index: Index,
    reader: IndexReader,
    row: Field,
    text: Field,
}

impl WordIndex {
    /// Opens the index of a layer.
    pub(crate) fn open(dir: &Path, layer: Layer) -> Result<Self, KbError> {
        Self::try_open(dir, layer).map_err(|source| KbError::Words { dir: dir.to_owned(), source })
    }

    /// Opens the index of a layer; one that is missing or damaged is made empty, and
    /// [`WordIndex::catch_up`] fills it. The caller holds the base's lock.
    pub(crate) fn open_or_mend(dir: &Path, layer: Layer) -> Result<Self, KbError> {
        match Self::open(dir, layer) {
            Ok(index) => Ok(index),
            Err(reason) => {
                tracing::warn!("{reason}: it is built again");
                Self::clear(dir)?;
                Self::open(dir, layer)
            }
        }
    }

    fn clear(dir: &Path) -> Result<(), KbError> {
        match std::fs::remove_dir_all(dir) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(KbError::file(dir, "remove", e))
            }
            _ => std::fs::create_dir_all(dir).map_err(|e| KbError::file(dir, "create", e)),
        }
    }

    fn try_open(dir: &Path, layer: Layer) -> Result<Self, TantivyError> {
        let (schema, row, text) = schema();
        let index = if dir.join("meta.json").exists() {
            let index = Index::open_in_dir(dir)?;
            if index.schema() != schema {
                return Err(TantivyError::SchemaError("the schema is another one".into()));
            }
            index
        } else {
            std::fs::create_dir_all(dir)?;
            Index::create_in_dir(dir, schema)?
        };
        index.tokenizers().register(TOKENIZER, analyzer());
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { layer, dir: dir.to_owned(), index, reader, row, text })
    }

    /// An index of these texts in memory, for a layer that is searched seldom.
    pub(crate) fn in_memory(
        layer: Layer,
        texts: impl Iterator<Item = (Row, String)>,
    ) -> Result<Self, KbError> {
        let dir = PathBuf::from(layer.name());
        let fail = |source| KbError::Words { dir: dir.clone(), source };
        let (schema, row, text) = schema();
        let index = Index::create_in_ram(schema);
        index.tokenizers().register(TOKENIZER, analyzer());
        let mut writer =
            index.writer_with_num_threads::<TantivyDocument>(1, WRITER_HEAP).map_err(fail)?;
        for (number, searched) in texts {
            let mut document = TantivyDocument::new();
            document.add_u64(row, u64::from(number));
            document.add_text(text, searched);
            writer.add_document(document).map_err(fail)?;
        }
        writer.commit().map_err(fail)?;
        writer.wait_merging_threads().map_err(fail)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader = reader.map_err(fail)?;
        Ok(Self { layer, dir, index, reader, row, text })
    }

    fn failed(&self) -> impl Fn(TantivyError) -> KbError + '_ {
        |source| KbError::Words { dir: self.dir.clone(), source }
    }

    /// The first row that this index has not seen; `None` when it is of another base or version.
    fn seen(&self, uid: u64) -> Result<Option<Row>, KbError> {
        let payload = self.index.load_metas().map_err(self.failed())?.payload;
        let Some(payload) = payload else { return Ok(None) };
        let seen = payload.strip_prefix(&format!("{uid:016x} {WORDS_VERSION} "));
        Ok(seen.and_then(|row| row.parse().ok()))
    }

    /// Whether the truth holds what this index has not seen.
    pub(crate) fn is_behind(&self, store: &Store) -> Result<bool, KbError> {
        let (uid, next, dead) = store.read(|txn| {
            let dead = store.tombstones(txn, self.layer)?;
            Ok((store.uid(txn)?, store.next_row(txn, self.layer)?, dead))
        })?;
        Ok(self.seen(uid)?.map_or(next > 0, |seen| seen != next) || !dead.is_empty())
    }

    /// Brings the index up to the truth: forgets what was removed, enters what is new. One writer
    /// at a time; the caller holds the base's lock. `told` hears how many nodes are entered.
    pub(crate) fn catch_up(&self, store: &Store, told: &dyn Fn(usize)) -> Result<(), KbError> {
        let fail = self.failed();
        let (uid, next, dead) = store.read(|txn| {
            let dead = store.tombstones(txn, self.layer)?;
            Ok((store.uid(txn)?, store.next_row(txn, self.layer)?, dead))
        })?;
        let seen = self.seen(uid)?.filter(|seen| *seen <= next);
        if seen == Some(next) && dead.is_empty() {
            return Ok(());
        }
        let mut writer =
            self.index.writer_with_num_threads::<TantivyDocument>(1, WRITER_HEAP).map_err(&fail)?;
        if seen.is_none() {
            writer.delete_all_documents().map_err(&fail)?;
        }
        for row in &dead {
            writer.delete_term(Term::from_field_u64(self.row, u64::from(*row)));
        }
        let mut from = seen.unwrap_or(0);
        let mut entered = 0;
        while from < next {
            let texts = store.read(|txn| {
                let rows = store.rows(txn, self.layer, from, STEP)?;
                let text = |row: Row| Ok((row, store.searched_text(txn, self.layer, row)?));
                rows.into_iter().map(text).collect::<heed::Result<Vec<_>>>()
            })?;
            let Some((last, _)) = texts.last() else { break };
            from = last + 1;
            entered += texts.len();
            for (row, text) in texts {
                let Some(text) = text.filter(|_| row < next) else { continue };
                let mut document = TantivyDocument::new();
                document.add_u64(self.row, u64::from(row));
                document.add_text(self.text, text);
                writer.add_document(document).map_err(&fail)?;
            }
            told(entered);
        }
        let mut commit = writer.prepare_commit().map_err(&fail)?;
        commit.set_payload(&format!("{uid:016x} {WORDS_VERSION} {next}"));
        commit.commit().map_err(&fail)?;
        writer.wait_merging_threads().map_err(&fail)?;
        store.write(|txn| store.clear_tombstones(txn, self.layer, &dead))?;
        self.reload()
    }

    /// Joins the segments that many commits leave: one is searched in half the time of several.
    /// An index that grew by less than an eighth is left as it is, so that small additions to a
    /// large base stay cheap. The caller holds the base's lock.
    pub(crate) fn merge(&self) -> Result<(), KbError> {
        let fail = self.failed();
        let segments = self.index.searchable_segment_metas().map_err(&fail)?;
        let sizes = || segments.iter().map(|segment| u64::from(segment.num_docs()));
        let (total, largest) = (sizes().sum::<u64>(), sizes().max().unwrap_or(0));
        if segments.len() < 2 || (total - largest) * 8 < total {
            return Ok(());
        }
        let mut writer =
            self.index.writer_with_num_threads::<TantivyDocument>(1, WRITER_HEAP).map_err(&fail)?;
        let ids: Vec<_> = segments.iter().map(tantivy::SegmentMeta::id).collect();
        writer.merge(&ids).wait().map_err(&fail)?;
        writer.wait_merging_threads().map_err(&fail)?;
        self.reload()
    }

    /// Sees what was committed since, here or by another process.
    pub(crate) fn reload(&self) -> Result<(), KbError> {
        self.reader.reload().map_err(self.failed())
    }

    /// How much a term tells: BM25's idf.
    pub(crate) fn idf(&self, term: &str) -> Result<f32, KbError> {
        let searcher = self.reader.searcher();
        let term = Term::from_field_text(self.text, term);
        let held = searcher.doc_freq(&term).map_err(self.failed())?;
        #[expect(clippy::cast_precision_loss, reason = "counts of nodes, for a logarithm")]
        let (held, all) = (held as f32, searcher.num_docs() as f32);
        Ok((1.0 + (all - held + 0.5).max(0.0) / (held + 0.5)).ln())
    }

    /// The best rows by BM25 with their scores, best first, ties by row; of all rows, or of those
    /// that a filter lets in.
    pub(crate) fn search(
        &self,
        text: &str,
        limit: usize,
        allowed: Option<&Arc<Rows>>,
    ) -> Result<Vec<(Row, f32)>, KbError> {
        let terms = query_terms(text);
        if terms.is_empty() || limit == 0 {
            return Ok(vec![]);
        }
        let term = |term: String| -> (Occur, Box<dyn Query>) {
            let term = Term::from_field_text(self.text, &term);
            (Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)))
        };
        let query = BooleanQuery::new(terms.into_iter().map(term).collect());
        let searcher = self.reader.searcher();
        let top = TopDocs::with_limit(limit).order_by_score();
        let found = match allowed {
            None => searcher.search(&query, &top),
            Some(allowed) => {
                let allowed = Arc::clone(allowed);
                let admits =
                    move |row: u64| Row::try_from(row).is_ok_and(|row| allowed.contains(row));
                searcher.search(&query, &FilterCollector::new("row".to_owned(), admits, top))
            }
        };
        let found = found.map_err(self.failed())?;
        let mut hits = Vec::with_capacity(found.len());
        for (score, address) in found {
            let fast = searcher.segment_reader(address.segment_ord).fast_fields();
            let rows = fast.u64("row").map_err(self.failed())?;
            let row = rows.first(address.doc_id).and_then(|row| Row::try_from(row).ok());
            hits.extend(row.map(|row| (row, score)));
        }
        hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(hits)
    }
}
