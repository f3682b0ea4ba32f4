//! Documents into the truth: new ones are cut and stored, changed ones replaced, known ones left
//! alone.
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use halma_core::{Layer, Meter, Setup};
use heed::RwTxn;

use super::cutting::{Cutting, Uncut};
use crate::cut::{Cut, cut_now};
use crate::read::{Draft, Naming, bridge, read, walk};
use crate::store::{DocumentDraft, DocumentRecord, Id, Reading, Row, Store, hash};
use crate::{Base, IndexReport, InputFormat, KbError, KbSettings, Progress, Stage, Step};

/// Documents are written so many at a time, or so many bytes of them.
const BATCH: usize = 1000;
const BATCH_BYTES: usize = 8_000_000;

/// New documents can be searched after so many of them, before the build ends.
const VISIBLE_AFTER: usize = 20_000;

pub(super) struct Intake {
    base: Arc<Base>,
    settings: KbSettings,
    progress: Progress,
    report: IndexReport,
    batch: Vec<Draft>,
    batch_bytes: usize,
    invisible: usize,
    /// Documents of this run.
    seen: HashSet<Id>,
    /// Names given in this run, with how often they were asked for.
    names: HashMap<String, usize>,
    cutting: Cutting,
    /// Documents that a model has cut, and those that it could not.
    cut: HashMap<Id, Cut>,
    uncut: HashSet<Id>,
}

impl Intake {
    pub(super) fn new(
        base: &Arc<Base>,
        settings: &KbSettings,
        models: (&Arc<Setup>, &Arc<Meter>),
        progress: &Progress,
    ) -> Self {
        Self {
            cutting: Cutting::new(base, settings, models),
            cut: HashMap::new(),
            uncut: HashSet::new(),
            base: Arc::clone(base),
            settings: settings.clone(),
            progress: Arc::clone(progress),
            report: IndexReport::default(),
            batch: vec![],
            batch_bytes: 0,
            invisible: 0,
            seen: HashSet::new(),
            names: HashMap::new(),
        }
    }

    pub(super) fn run(
        mut self,
        inputs: &[PathBuf],
        format: InputFormat,
    ) -> Result<IndexReport, KbError> {
        let (files, refused) = walk(inputs, &self.base.dir)?;
        self.report.refused = refused;
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let total = files.iter().map(|file| bytes(file.bytes)).sum();
        let mut done = 0;
        for file in &files {
            let refused = read(file, format, &mut |draft| self.take(draft))?;
            self.report.refused.extend(refused);
            done += bytes(file.bytes);
            (self.progress)(Step { stage: Stage::Read, done, total });
        }
        self.flush()?;
        let told = self.cutting.told;
        self.report.cut_by_structure = told.fell_back;
        self.report.usage.add(told.usage);
        self.report.pending_units += told.pending;
        self.report.spent = told.spent;
        self.report.failure = told.failure;
        Ok(self.report)
    }

    fn take(&mut self, draft: Draft) -> Result<(), KbError> {
        self.batch_bytes += draft.text.len();
        self.batch.push(draft);
        if self.batch.len() >= BATCH || self.batch_bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), KbError> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        if batch.is_empty() {
            return Ok(());
        }
        let base = Arc::clone(&self.base);
        let store = &base.store;
        if self.cutting.asks() {
            self.ask_where_to_cut(store, &batch)?;
        }
        let before = self.report.documents_new + self.report.documents_replaced;
        store.write(|txn| batch.iter().try_for_each(|draft| self.enter(store, txn, draft)))?;
        self.invisible += self.report.documents_new + self.report.documents_replaced - before;
        if self.invisible >= VISIBLE_AFTER {
            self.invisible = 0;
            enter_words(&base, Layer::Chunk, &self.progress)?;
            store.write(|txn| store.publish(txn))?;
        }
        Ok(())
    }

    /// Cuts the documents of a batch that are new or cut otherwise, outside of any transaction.
    fn ask_where_to_cut(&mut self, store: &Store, batch: &[Draft]) -> Result<(), KbError> {
        let mut documents: Vec<Uncut<'_>> = vec![];
        for draft in batch {
            let (id, title) = (id_of(draft), title_of(draft));
            let known = store.read(|txn| match store.find(txn, Layer::Document, id)? {
                Some(row) => Ok(!self.is_cut_otherwise(store, txn, row)?),
                None => Ok(false),
            })?;
            let asked = documents.iter().any(|document| document.id == id);
            if !known && !asked {
                let (name, parsed) = (draft.name.as_str(), bridge::parsed(draft));
                documents.push(Uncut { id, name, title, parsed });
            }
        }
        self.cut = self.cutting.cut_all(&documents)?;
        let uncut = documents.iter().filter(|document| !self.cut.contains_key(&document.id));
        self.uncut = uncut.map(|document| document.id).collect();
        Ok(())
    }

    /// One document under the name it gets.
    fn enter(&mut self, store: &Store, txn: &mut RwTxn<'_>, draft: &Draft) -> heed::Result<()> {
        let (id, title) = (id_of(draft), title_of(draft));
        if self.uncut.contains(&id) {
            return Ok(());
        }
        let held = store.find(txn, Layer::Document, id)?;
        let first = self.seen.insert(id);
        if let (Some(row), Naming::Pooled) = (held, draft.naming)
            && !(first && self.is_cut_otherwise(store, txn, row)?)
        {
            self.count_known(first);
            return Ok(());
        }
        let (name, named) = self.name(store, txn, draft, id)?;
        match held {
            Some(row) if first && self.is_cut_otherwise(store, txn, row)? => {
                let record: DocumentRecord = store.linked(txn, row)?;
                store.remove_document(txn, row)?;
                self.put(store, txn, draft, (id, title, &name))?;
                let new = store.find(txn, Layer::Document, id)?.unwrap_or(row);
                for other in record.names.iter().filter(|other| **other != name) {
                    store.add_name(txn, new, other, false)?;
                }
                self.report.documents_replaced += 1;
            }
            Some(row) => {
                if let Some(old) = named.filter(|old| *old != row) {
                    store.remove_name(txn, old, &name)?;
                }
                // The file may have been renamed: it is shown under the name it has now.
                store.add_name(txn, row, &name, first)?;
                self.count_known(first);
            }
            None => {
                match named {
                    Some(old) => {
                        store.remove_name(txn, old, &name)?;
                        self.report.documents_replaced += 1;
                    }
                    None => self.report.documents_new += 1,
                }
                self.put(store, txn, draft, (id, title, &name))?;
            }
        }
        Ok(())
    }

    fn count_known(&mut self, first: bool) {
        if first {
            self.report.documents_unchanged += 1;
        } else {
            self.report.duplicates += 1;
        }
    }

    fn is_cut_otherwise(&self, store: &Store, txn: &Reading<'_>, row: Row) -> heed::Result<bool> {
        let record: DocumentRecord = store.linked(txn, row)?;
        Ok(record.cut_with != self.cutting.settings().fingerprint())
    }

    /// The name a document gets, and the document that has it now: the document itself, or the
    /// one it replaces. A name that is somebody else's gets a number.
    fn name(
        &mut self,
        store: &Store,
        txn: &RwTxn<'_>,
        draft: &Draft,
        id: Id,
    ) -> heed::Result<(String, Option<Row>)> {
        let asked = self.names.get(&draft.name).copied().unwrap_or(0);
        for number in std::iter::once(1).chain(asked.max(1) + 1..) {
            let name = match number {
                1 => draft.name.clone(),
                number => format!("{} ({number})", draft.name),
            };
            let row = store.named(txn, &name)?;
            let holder = row.map(|row| store.linked::<DocumentRecord>(txn, row)).transpose()?;
            let fits = match &holder {
                None => true,
                Some(holder) if holder.id == id => true,
                Some(holder) => {
                    let given = number <= asked;
                    draft.naming == Naming::Own && !given && holder.source == draft.source
                }
            };
            if fits {
                let count = self.names.entry(draft.name.clone()).or_default();
                *count = number.max(*count);
                return Ok((name, row));
            }
        }
        Err(heed::Error::Encoding(format!("there is no name left for `{}`", draft.name).into()))
    }

    fn put(
        &mut self,
        store: &Store,
        txn: &mut RwTxn<'_>,
        draft: &Draft,
        (id, title, name): (Id, &str, &str),
    ) -> heed::Result<()> {
        let settings = self.cutting.settings();
        let now = || cut_now(&bridge::parsed(draft), title, settings);
        let Some(cut) = self.cut.remove(&id).or_else(now) else { return Ok(()) };
        let document = DocumentDraft {
            id,
            name,
            source: &draft.source,
            title,
            url: draft.url.as_deref(),
            date: draft.date.as_deref(),
            text: &draft.text,
            outline: &cut.outline,
            cut_with: settings.fingerprint(),
            format: "",
        };
        let put = store.put_document(txn, &document, self.settings.atoms)?;
        self.report.sections += put.sections;
        self.report.chunks += put.chunks;
        Ok(())
    }
}

fn title_of(draft: &Draft) -> &str {
    draft.title.as_deref().unwrap_or("").trim()
}

fn id_of(draft: &Draft) -> Id {
    hash(&[title_of(draft).as_bytes(), draft.text.as_bytes()])
}

/// Brings the word index of a layer up to the truth. The caller holds the lock.
pub(super) fn enter_words(base: &Base, layer: Layer, progress: &Progress) -> Result<(), KbError> {
    let count = base.store.read(|txn| base.store.count(txn, layer))?;
    let total = usize::try_from(count).unwrap_or(usize::MAX);
    let told = |done| progress(Step { stage: Stage::Store, done, total });
    base.words(layer)?.catch_up(&base.store, &told)
}
