//! Documents into the truth: new ones are cut and stored, changed ones replaced, known ones left
//! alone.
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::store::Writer as RwTxn;
use halma_core::{Layer, Meter, Setup};

use super::cutting::{Cutting, Uncut};
use super::desk::{Desk, Incoming, Verdict, document_id};
use super::enter;
use super::inputs::{cut_with, look, read_with, title_of, unchanged};
use super::options::Selection;
use super::prune;
use crate::cut::{Cut, cut_now};
use crate::read::{Draft, InputFile, Naming, read};
use crate::store::{DocumentDraft, DocumentRecord, FileKey, FileRecord, Id, Row, Store};
use crate::{Base, IndexOptions, IndexReport, KbError, KbSettings, Progress, Stage, Step};

/// Documents are written so many at a time, or so many bytes of them. Ids are hashes, so every
/// transaction touches pages all over a large base: few large ones write far less than many small.
const BATCH: usize = 4000;
const BATCH_BYTES: usize = 16_000_000;

/// New documents can be searched after so many of them, before the build ends. Changed ones are
/// waited for: until the new text can be searched, the document cannot be found at all.
const VISIBLE_AFTER: usize = 20_000;
const CHANGES_VISIBLE_AFTER: usize = 2_000;

/// Something that was read and waits to be entered.
struct Item {
    what: What,
    file: Arc<InputFile>,
    /// How the file is known from now on, if the document is all that came of it.
    record: Option<FileRecord>,
}

enum What {
    Document(Id, Box<Draft>),
    /// The file has not changed since it became this document.
    Unchanged(Id),
}

pub(super) struct Intake {
    base: Arc<Base>,
    settings: KbSettings,
    options: IndexOptions,
    progress: Progress,
    pub(super) desk: Desk,
    pub(super) report: IndexReport,
    batch: Vec<Item>,
    batch_bytes: usize,
    /// Documents that searches do not see yet: new ones, and changed ones.
    invisible: (usize, usize),
    /// Documents that are in the batch, and those that have lost their last name to one of them
    /// and may get another.
    coming: HashSet<Id>,
    nameless: Vec<Row>,
    /// Files that were not read because their document was known, and then it was replaced.
    again: Vec<Arc<InputFile>>,
    cutting: Cutting,
    /// Documents that a model has cut, and those that it could not.
    cut: HashMap<Id, Cut>,
    uncut: HashSet<Id>,
}

impl Intake {
    pub(super) fn new(
        base: &Arc<Base>,
        settings: &KbSettings,
        options: &IndexOptions,
        models: (&Arc<Setup>, &Arc<Meter>),
        progress: &Progress,
    ) -> Self {
        Self {
            cutting: Cutting::new(base, settings, models),
            cut: HashMap::new(),
            uncut: HashSet::new(),
            base: Arc::clone(base),
            settings: settings.clone(),
            options: options.clone(),
            progress: Arc::clone(progress),
            desk: Desk::new(cut_with(settings), true),
            report: IndexReport::default(),
            batch: vec![],
            batch_bytes: 0,
            invisible: (0, 0),
            coming: HashSet::new(),
            nameless: vec![],
            again: vec![],
        }
    }

    pub(super) fn run(mut self, inputs: &[PathBuf]) -> Result<IndexReport, KbError> {
        let selection = Selection::new(&self.options)?;
        let walked = look(&self.base, inputs, (&self.options, &selection))?;
        self.report.refused.clone_from(&walked.refused);
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let total = walked.files.iter().map(|file| bytes(file.bytes)).sum();
        let mut done = 0;
        for file in &walked.files {
            self.file(&Arc::new(file.clone()), true)?;
            done += bytes(file.bytes);
            (self.progress)(Step { stage: Stage::Read, done, total });
        }
        self.flush()?;
        for file in std::mem::take(&mut self.again) {
            self.file(&file, false)?;
        }
        self.flush()?;
        if self.options.prune {
            let (base, progress) = (Arc::clone(&self.base), Arc::clone(&self.progress));
            prune::prune(&base, &mut self, (&walked, &selection, &progress))?;
        }
        let told = self.cutting.told;
        self.report.cut_by_structure = told.fell_back;
        self.report.usage.add(told.usage);
        self.report.pending_units += told.pending;
        self.report.spent = told.spent;
        self.report.failure = told.failure.or(self.report.failure);
        Ok(self.report)
    }

    /// Reads one file, unless it `may_be_known` and is.
    fn file(&mut self, file: &Arc<InputFile>, may_be_known: bool) -> Result<(), KbError> {
        let bytes = match file.load() {
            Ok(bytes) => bytes,
            Err(refusal) => {
                self.report.refused.push(refusal.of(&file.path));
                return Ok(());
            }
        };
        let known = if may_be_known {
            unchanged(&self.base, (file, &bytes), (&self.options, &self.desk))?
        } else {
            None
        };
        if let Some(id) = known {
            let what = What::Unchanged(id);
            return self.take(Item { what, file: Arc::clone(file), record: None });
        }
        self.read(file, bytes)
    }

    /// Reads a file's bytes into documents.
    fn read(&mut self, file: &Arc<InputFile>, bytes: Vec<u8>) -> Result<(), KbError> {
        let content = *blake3::hash(&bytes).as_bytes();
        let mut held: Option<Draft> = None;
        let mut several = false;
        let format = self.options.format;
        let refused = read(file, bytes, format, &mut |draft| {
            let Some(before) = held.replace(draft) else { return Ok(()) };
            several = true;
            self.take(document(before, file, None))
        })?;
        if let Some(last) = held {
            let (last, complete) = self.described(last);
            let document_of_file = last.naming == Naming::Own && last.name == file.name;
            let alone = complete && !several && refused.is_empty() && document_of_file;
            let id = document_id(title_of(&last), &last.parsed.text);
            let read_with = read_with(&self.options, self.desk.cut_with);
            let record = alone.then_some(FileRecord { content, read_with, document: id });
            self.take(document(last, file, record))?;
        }
        self.report.refused.extend(refused);
        Ok(())
    }

    /// A document with its figures described, where that is wanted, and whether none is left.
    fn described(&mut self, mut draft: Draft) -> (Draft, bool) {
        if !self.settings.describe_figures || draft.parsed.figures.is_empty() {
            return (draft, true);
        }
        let told = self.cutting.describe(&mut draft);
        self.report.usage.add(told.usage);
        self.report.figures_described += told.done;
        self.report.figures_failed += told.failed;
        self.report.failure = told.failure.or(self.report.failure.take());
        (draft, told.failed == 0)
    }

    fn take(&mut self, item: Item) -> Result<(), KbError> {
        match &item.what {
            What::Document(id, draft) => {
                self.batch_bytes += draft.parsed.text.len();
                self.coming.insert(*id);
            }
            What::Unchanged(id) => {
                self.coming.insert(*id);
            }
        }
        self.batch.push(item);
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
        let before = (self.report.documents_new, self.report.documents_replaced);
        store.write(|txn| {
            batch.iter().try_for_each(|item| self.enter(store, txn, item))?;
            for row in std::mem::take(&mut self.nameless) {
                let record: Option<DocumentRecord> = store.node(txn, row)?;
                if record.is_some_and(|record| record.names.is_empty()) {
                    store.remove_document(txn, row)?;
                }
            }
            Ok(())
        })?;
        self.coming.clear();
        self.invisible.0 += self.report.documents_new - before.0;
        self.invisible.1 += self.report.documents_replaced - before.1;
        if self.invisible.0 >= VISIBLE_AFTER || self.invisible.1 >= CHANGES_VISIBLE_AFTER {
            self.invisible = (0, 0);
            enter::words(&base, Layer::Chunk, &self.progress)?;
            store.write(|txn| store.publish(txn))?;
        }
        Ok(())
    }

    /// Cuts the documents of a batch that are new or cut otherwise, outside of any transaction.
    fn ask_where_to_cut(&mut self, store: &Store, batch: &[Item]) -> Result<(), KbError> {
        let mut documents: Vec<Uncut<'_>> = vec![];
        for item in batch {
            let What::Document(id, draft) = &item.what else { continue };
            let (id, title, parsed) = (*id, title_of(draft), &draft.parsed);
            let known = store.read(|txn| match store.find(txn, Layer::Document, id)? {
                Some(row) => Ok(!self.desk.is_cut_otherwise((store, txn), row)?),
                None => Ok(false),
            })?;
            let asked = documents.iter().any(|document| document.id == id);
            if !known && !asked {
                documents.push(Uncut { id, name: &draft.name, title, parsed });
            }
        }
        self.cut = self.cutting.cut_all(&documents)?;
        let uncut = documents.iter().filter(|document| !self.cut.contains_key(&document.id));
        self.uncut = uncut.map(|document| document.id).collect();
        Ok(())
    }

    fn enter(&mut self, store: &Store, txn: &mut RwTxn<'_>, item: &Item) -> heed::Result<()> {
        let file = &item.file;
        match &item.what {
            What::Document(id, draft) => {
                let key = FileKey::of(&file.origin);
                if self.uncut.contains(id) {
                    return store.forget_file(txn, key);
                }
                self.enter_document(store, txn, (*id, draft, &file.origin))?;
                match &item.record {
                    Some(record) => store.put_file(txn, key, record),
                    None => store.forget_file(txn, key),
                }
            }
            What::Unchanged(id) => {
                if store.find(txn, Layer::Document, *id)?.is_none() {
                    self.again.push(Arc::clone(file));
                    return Ok(());
                }
                let name = file.name.as_str();
                let origin = file.origin.as_str();
                let (id, naming) = (*id, Naming::Own);
                let incoming = Incoming { id, name, naming, source: name, origin };
                let verdict = self.desk.judge((store, txn), incoming)?;
                self.keep(store, txn, (verdict, &file.origin))
            }
        }
    }

    /// One document under the name it gets.
    fn enter_document(
        &mut self,
        store: &Store,
        txn: &mut RwTxn<'_>,
        (id, draft, origin): (Id, &Draft, &str),
    ) -> heed::Result<()> {
        let Draft { name, naming, source, .. } = draft;
        let incoming = Incoming { id, name, naming: *naming, source, origin };
        match self.desk.judge((store, txn), incoming)? {
            Verdict::Recut { row, name } => {
                let record: DocumentRecord = store.linked(txn, row)?;
                let new = self.put(store, txn, draft, (id, &name, origin))?;
                self.report.chunks_kept += store.carry(txn, row, new)?;
                store.remove_document(txn, row)?;
                let origins = record.origins.iter().map(String::as_str);
                let others = record.names.iter().zip(origins.chain(std::iter::repeat("")));
                for other in others.filter(|(other, _)| **other != name) {
                    store.add_name(txn, new, (other.0, other.1), false)?;
                }
                self.report.documents_replaced += 1;
            }
            Verdict::New { name, replaces } => {
                let new = self.put(store, txn, draft, (id, &name, origin))?;
                if let Some(old) = replaces {
                    let record: DocumentRecord = store.linked(txn, old)?;
                    let goes = record.names == [name.as_str()] && !self.coming.contains(&record.id);
                    if goes {
                        self.report.chunks_kept += store.carry(txn, old, new)?;
                    }
                    self.take_name(store, txn, (old, &name))?;
                    self.report.documents_replaced += 1;
                } else {
                    self.report.documents_new += 1;
                }
            }
            known => self.keep(store, txn, (known, origin))?,
        }
        Ok(())
    }

    /// A document that the base has: its file may have been renamed, so it is shown under the
    /// name it has now.
    fn keep(
        &mut self,
        store: &Store,
        txn: &mut RwTxn<'_>,
        (verdict, origin): (Verdict, &str),
    ) -> heed::Result<()> {
        let Verdict::Known { row, first, name } = verdict else { return Ok(()) };
        if let Some((name, gives_up)) = name {
            if let Some(old) = gives_up {
                self.take_name(store, txn, (old, &name))?;
            }
            store.add_name(txn, row, (&name, origin), first)?;
        }
        if first {
            self.report.documents_unchanged += 1;
        } else {
            self.report.duplicates += 1;
        }
        Ok(())
    }

    /// Takes a name from a document, which goes with its last unless it comes again under another:
    /// files that change places cost nothing.
    fn take_name(
        &mut self,
        store: &Store,
        txn: &mut RwTxn<'_>,
        (row, name): (Row, &str),
    ) -> heed::Result<()> {
        if !store.take_name(txn, row, name)? {
            return Ok(());
        }
        let record: DocumentRecord = store.linked(txn, row)?;
        if self.coming.contains(&record.id) {
            self.nameless.push(row);
            return Ok(());
        }
        store.remove_document(txn, row).map(|_| ())
    }

    fn put(
        &mut self,
        store: &Store,
        txn: &mut RwTxn<'_>,
        draft: &Draft,
        (id, name, origin): (Id, &str, &str),
    ) -> heed::Result<Row> {
        let title = title_of(draft);
        let settings = self.cutting.settings();
        let cut = self.cut.remove(&id).or_else(|| cut_now(&draft.parsed, title, settings));
        let missing = || heed::Error::Encoding(format!("`{name}` was not cut").into());
        let cut = cut.ok_or_else(missing)?;
        let document = DocumentDraft {
            id,
            name,
            source: &draft.source,
            origin,
            title,
            parsed: &draft.parsed,
            outline: &cut.outline,
            cut_with: self.desk.cut_with,
        };
        let put = store.put_document(txn, &document, self.settings.atoms)?;
        self.report.sections += put.sections;
        self.report.chunks += put.chunks;
        store.find(txn, Layer::Document, id)?.ok_or_else(|| {
            heed::Error::Decoding(format!("`{name}` was put in and is not there").into())
        })
    }
}

fn document(draft: Draft, file: &Arc<InputFile>, record: Option<FileRecord>) -> Item {
    let id = document_id(title_of(&draft), &draft.parsed.text);
    Item { what: What::Document(id, Box::new(draft)), file: Arc::clone(file), record }
}
