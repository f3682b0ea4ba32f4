//! Documents into the store, a batch at a time: new ones are put in, changed ones replaced, known
//! ones left alone.
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use halma_core::{Layer, Metadata};

use super::fields::{Fields, Stated};
use super::reader::UnchangedFile;
use super::report::IndexReport;
use super::resolver::{DocumentResolver, Incoming, IngestAction};
use crate::cut::{Cut, CutSettings, cut_now};
use crate::read::{InputFile, ParsedDocument};
use crate::stages::{BuildContext, Uncut};
use crate::store::{DocumentDraft, DocumentRecord, FileKey, FileRecord, Id, Row, StoreWriter};
use crate::{Base, KbError};

/// New documents can be searched after this many of them, before the build ends. Changed ones are
/// waited for: until the new text can be searched, the document cannot be found at all.
const VISIBLE_AFTER: usize = 20_000;
const CHANGES_VISIBLE_AFTER: usize = 2_000;

/// Duplicates that a report names.
const NAMED_DUPLICATES: usize = 20;

/// Something that waits to be inserted.
pub(super) enum IngestItem {
    Document(ReadyDocument),
    Unchanged(UnchangedFile),
}

/// A document with its figures described.
pub(super) struct ReadyDocument {
    pub(super) id: Id,
    pub(super) draft: Arc<ParsedDocument>,
    pub(super) file: Arc<InputFile>,
    /// How the file is known from now on, if the document is all that came of it.
    pub(super) record: Option<FileRecord>,
    /// The files attached to this one that became documents.
    pub(super) attached: Vec<FileKey>,
}

impl ReadyDocument {
    fn incoming(&self) -> Incoming<'_> {
        Incoming::of_draft(self.id, &self.draft, &self.file)
    }
}

/// The documents of a batch that a model was asked to chunk.
#[derive(Default)]
pub(super) struct Cuts {
    pub(super) done: HashMap<Id, Cut>,
    pub(super) failed: HashSet<Id>,
}

/// Inserts documents.
pub(super) struct Ingest {
    base: Arc<Base>,
    cut_settings: CutSettings,
    pub(super) resolver: DocumentResolver,
    pub(super) report: IndexReport,
    /// New and changed documents that searches do not see yet.
    invisible: (usize, usize),
    /// Documents that are in the batch, and those that have lost their last name to one of them
    /// and may get another.
    pending_ids: HashSet<Id>,
    orphaned: Vec<Row>,
    /// Files that were not read because their document was known, and then it was replaced.
    pub(super) retry: Vec<Arc<InputFile>>,
    /// Fields that all documents of this run get.
    pub(super) metadata: Metadata,
}

impl Ingest {
    pub(super) fn new(context: &BuildContext) -> Self {
        let cut_settings = CutSettings::from(&context.settings);
        Self {
            base: Arc::clone(&context.base),
            cut_settings,
            resolver: DocumentResolver::new(cut_settings.fingerprint(), &context.base),
            report: IndexReport::default(),
            invisible: (0, 0),
            pending_ids: HashSet::new(),
            orphaned: vec![],
            retry: vec![],
            metadata: Metadata::default(),
        }
    }

    /// The documents of a batch that are new or chunked with other settings, each once.
    pub(super) fn uncut(&self, batch: &[IngestItem]) -> Result<Vec<Uncut>, KbError> {
        let store = &self.base.store;
        store.read(|reader| {
            let (mut uncut, mut ids) = (vec![], HashSet::new());
            for item in batch {
                let IngestItem::Document(ReadyDocument { id, draft, .. }) = item else { continue };
                let is_cut = match reader.find(Layer::Document, *id)? {
                    Some(row) => !self.resolver.is_cut_otherwise(reader, row)?,
                    None => false,
                };
                if !is_cut && ids.insert(*id) {
                    uncut.push(Uncut { id: *id, draft: Arc::clone(draft) });
                }
            }
            Ok(uncut)
        })
    }

    /// Inserts a batch. Returns whether searches should see by now what was inserted.
    pub(super) fn insert_all(
        &mut self,
        batch: &[IngestItem],
        mut cuts: Cuts,
    ) -> Result<bool, KbError> {
        let base = Arc::clone(&self.base);
        self.pending_ids = batch
            .iter()
            .map(|item| match item {
                IngestItem::Document(document) => document.id,
                IngestItem::Unchanged(unchanged) => unchanged.document,
            })
            .collect();
        let before = (self.report.documents_new, self.report.documents_replaced);
        base.store.write(|writer| {
            batch.iter().try_for_each(|item| self.insert(writer, item, &mut cuts))?;
            for row in std::mem::take(&mut self.orphaned) {
                let record: Option<DocumentRecord> = writer.node(row)?;
                if record.is_some_and(|record| record.names.is_empty()) {
                    writer.remove_document(row)?;
                }
            }
            Ok(())
        })?;
        self.pending_ids.clear();
        self.invisible.0 += self.report.documents_new - before.0;
        self.invisible.1 += self.report.documents_replaced - before.1;
        let (new, replaced) = self.invisible;
        let is_due = new >= VISIBLE_AFTER || replaced >= CHANGES_VISIBLE_AFTER;
        if is_due {
            self.invisible = (0, 0);
        }
        Ok(is_due)
    }

    fn insert(
        &mut self,
        writer: &mut StoreWriter<'_>,
        item: &IngestItem,
        cuts: &mut Cuts,
    ) -> heed::Result<()> {
        match item {
            IngestItem::Document(document) => {
                let key = FileKey::of(&document.file.origin);
                if cuts.failed.contains(&document.id) {
                    return writer.forget_file(key);
                }
                self.insert_document(writer, document, cuts)?;
                match &document.record {
                    Some(record) => {
                        self.put_attached(writer, key, &document.attached)?;
                        writer.put_file(key, record)
                    }
                    None => writer.forget_file(key),
                }
            }
            IngestItem::Unchanged(UnchangedFile { document, file, stamp, metadata }) => {
                if writer.find(Layer::Document, *document)?.is_none() {
                    self.retry.push(Arc::clone(file));
                    return Ok(());
                }
                if let Some(stamp) = stamp {
                    writer.stamp_file(FileKey::of(&file.origin), *stamp)?;
                }
                let action = self.resolver.resolve(writer, Incoming::of_file(*document, file))?;
                let stated = Stated { metadata: metadata.as_ref(), origin: &file.origin };
                let fields = Fields::of(writer, &action, stated, &self.metadata)?;
                self.keep(writer, action, &file.origin)?;
                self.report.fields_changed += usize::from(fields.store(writer)?);
                Ok(())
            }
        }
    }

    /// Takes the names of what is not attached to a file any more.
    fn put_attached(
        &mut self,
        writer: &mut StoreWriter<'_>,
        key: FileKey,
        attached: &[FileKey],
    ) -> heed::Result<()> {
        let gone = writer.attached(key)?.into_iter().filter(|key| !attached.contains(key));
        for key in gone {
            if let Some(document) = writer.file_document(key)? {
                self.take_name(writer, document.row, &document.name)?;
            }
            writer.forget_file(key)?;
        }
        writer.put_attached(key, attached)
    }

    /// One document under the name it gets.
    fn insert_document(
        &mut self,
        writer: &mut StoreWriter<'_>,
        document: &ReadyDocument,
        cuts: &mut Cuts,
    ) -> heed::Result<()> {
        let origin = document.file.origin.as_str();
        let action = self.resolver.resolve(writer, document.incoming())?;
        let stated = Stated { metadata: document.draft.metadata.as_ref(), origin };
        let fields = Fields::of(writer, &action, stated, &self.metadata)?;
        let is_known = matches!(action, IngestAction::Keep { .. });
        let is_new = matches!(action, IngestAction::Add { .. });
        match action {
            IngestAction::Rechunk { row, name, first } => {
                let record: DocumentRecord = writer.linked(row)?;
                let new = self.put(writer, document, &name, cuts)?;
                self.report.chunks_kept += writer.move_derived(row, new)?;
                writer.remove_document(row)?;
                let origins = record.origins.iter().map(String::as_str);
                let others = record.names.iter().zip(origins.chain(std::iter::repeat("")));
                let others = others.enumerate().filter(|(_, (other, _))| **other != name);
                for (at, (other, origin)) in others {
                    writer.add_name(new, other, origin, !first && at == 0)?;
                    writer.set_metadata(new, other, &record.metadata_of(at))?;
                }
                self.report.documents_replaced += 1;
            }
            IngestAction::Add { name, replaces } => {
                let new = self.put(writer, document, &name, cuts)?;
                if let Some(old) = replaces {
                    let record: DocumentRecord = writer.linked(old)?;
                    let goes =
                        record.names == [name.as_str()] && !self.pending_ids.contains(&record.id);
                    if goes {
                        self.report.chunks_kept += writer.move_derived(old, new)?;
                    }
                    self.take_name(writer, old, &name)?;
                    self.report.documents_replaced += 1;
                } else {
                    self.report.documents_new += 1;
                }
            }
            kept @ IngestAction::Keep { .. } => self.keep(writer, kept, origin)?,
        }
        // A new document is made without fields.
        if is_new && fields.is_empty() {
            return Ok(());
        }
        let changed = fields.store(writer)?;
        self.report.fields_changed += usize::from(is_known && changed);
        Ok(())
    }

    /// A document that the base has: its file may have been renamed, so it is shown under the
    /// name it has now, unless this is the name of a copy.
    fn keep(
        &mut self,
        writer: &mut StoreWriter<'_>,
        action: IngestAction,
        origin: &str,
    ) -> heed::Result<()> {
        let IngestAction::Keep { row, first, name } = action else { return Ok(()) };
        if let Some((name, gives_up)) = name {
            if let Some(old) = gives_up {
                self.take_name(writer, old, &name)?;
            }
            writer.add_name(row, &name, origin, first)?;
            let names = &mut self.report.duplicate_names;
            if !first && names.len() < NAMED_DUPLICATES {
                names.push(name);
            }
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
        writer: &mut StoreWriter<'_>,
        row: Row,
        name: &str,
    ) -> heed::Result<()> {
        if !writer.take_name(row, name)? {
            return Ok(());
        }
        let record: DocumentRecord = writer.linked(row)?;
        if self.pending_ids.contains(&record.id) {
            self.orphaned.push(row);
            return Ok(());
        }
        writer.remove_document(row).map(|_| ())
    }

    fn put(
        &mut self,
        writer: &mut StoreWriter<'_>,
        document: &ReadyDocument,
        name: &str,
        cuts: &mut Cuts,
    ) -> heed::Result<Row> {
        let ReadyDocument { id, draft, file, .. } = document;
        let (title, parsed) = (draft.shown_title(), &draft.parsed);
        let cut = cuts.done.remove(id).or_else(|| cut_now(parsed, title, &self.cut_settings));
        let missing = || heed::Error::Encoding(format!("`{name}` was not chunked").into());
        let document = DocumentDraft {
            id: *id,
            name,
            source: &draft.source,
            origin: &file.origin,
            title,
            parsed,
            outline: &cut.ok_or_else(missing)?.outline,
            cut_with: self.resolver.cut_with,
        };
        let put = writer.put_document(&document)?;
        self.report.sections += put.sections;
        self.report.chunks += put.chunks;
        Ok(put.row)
    }
}
