//! The inputs as both a build and its estimate read them: which files there are, which of them the
//! base knows, and the documents in the others.
use std::path::PathBuf;
use std::sync::Arc;

use halma_core::{Layer, Metadata};
use halma_parse::{Attachment, ParseOptions, Parsed};

use crate::cut::CutSettings;
use crate::read::{
    FileReader, InputFile, Naming, ParsedDocument, Refused, Selection, Walked, read_metadata_file,
    stamp_of, walk,
};
use crate::store::{
    DocumentRecord, FileDocument, FileKey, FileRecord, FileStamp, Id, Row, StoreReader, hash,
};
use crate::{Base, IndexOptions, KbError, KbSettings, ReadingSettings};

/// Something that was read.
pub(super) enum Input {
    Document(Box<InputDocument>),
    Unchanged(UnchangedFile),
    Refused(Vec<Refused>),
    /// A file is done; it has this many bytes.
    FileDone(usize),
}

/// Mails inside mails whose attached files are read.
const DEEPEST_ATTACHED: usize = 5;

/// A file that is unchanged, and the documents and files that are attached to it.
type KnownFile = (FileRecord, Vec<(Id, Arc<InputFile>)>);

/// A file that has not changed since it became a document.
pub(super) struct UnchangedFile {
    pub(super) document: Id,
    pub(super) file: Arc<InputFile>,
    /// Where it is to be kept because another one or none was.
    pub(super) stamp: Option<FileStamp>,
    /// The fields that are said of it now; `None` leaves those that it has.
    pub(super) metadata: Option<Metadata>,
}

/// A document as it was read.
pub(super) struct InputDocument {
    pub(super) draft: ParsedDocument,
    pub(super) file: Arc<InputFile>,
    /// Hash of the file, if nothing but the document and what is attached came of it, and its stamp.
    pub(super) content: Option<([u8; 32], Option<FileStamp>)>,
    /// The files attached to this one that became documents, those inside of them included.
    pub(super) attached: Vec<FileKey>,
}

/// Takes what is read, one by one; an error ends the reading.
pub(super) type InputSink<'a> = dyn FnMut(Input) -> Result<(), KbError> + 'a;

/// Reads input files.
pub(super) struct InputReader {
    base: Arc<Base>,
    options: IndexOptions,
    pub(super) selection: Selection,
    /// Names the settings that documents are chunked with.
    pub(super) cut_with: Id,
    reading: ParseOptions,
    pub(super) read_with: ReadWith,
}

/// Names how files are read.
#[derive(Clone, Copy)]
pub(super) struct ReadWith {
    /// Of a file that was read whole. Another version may read more of it.
    whole: Id,
    /// Of a file of which something was not read: with more time, or a program that was missing, it
    /// may be.
    in_part: Id,
    /// Of either, by versions that did not distinguish them and had no other settings than the
    /// defaults; `None` where the settings are others.
    pub(super) former: Option<Id>,
}

impl InputReader {
    pub(super) fn new(
        base: &Arc<Base>,
        options: &IndexOptions,
        settings: &KbSettings,
    ) -> Result<Self, KbError> {
        let cut_with = CutSettings::from(settings).fingerprint();
        Ok(Self {
            base: Arc::clone(base),
            options: options.clone(),
            selection: Selection::new(options)?,
            cut_with,
            reading: settings.reading.options(),
            read_with: ReadWith::new(options, settings, cut_with),
        })
    }

    /// The files of the inputs.
    pub(super) fn walk(&self, inputs: &[PathBuf]) -> Result<Walked, KbError> {
        walk(inputs, &self.base.dir, &self.selection)
    }

    /// Reads files in order; those that the base knows only if they have changed.
    pub(super) fn read_all(
        &self,
        files: &[Arc<InputFile>],
        may_be_known: bool,
        sink: &mut InputSink<'_>,
    ) -> Result<(), KbError> {
        for file in files {
            self.read_file(file, may_be_known, sink)?;
            sink(Input::FileDone(usize::try_from(file.bytes).unwrap_or(usize::MAX)))?;
        }
        Ok(())
    }

    fn read_file(
        &self,
        file: &Arc<InputFile>,
        may_be_known: bool,
        sink: &mut InputSink<'_>,
    ) -> Result<(), KbError> {
        let unchanged = if may_be_known { self.unchanged_file(file)? } else { None };
        let (unchanged_file, attached) = unchanged.unzip();
        // Before the bytes: one that is written in between is read again by the next build.
        let stamp = stamp_of(&file.path);
        let sidecar = match read_metadata_file(&file.path) {
            Ok(sidecar) => sidecar,
            Err(refusal) => {
                return sink(Input::Refused(vec![Refused::new(&file.path, None, refusal)]));
            }
        };
        let mut unchanged = |document, stamp| {
            let itself = (document, Arc::clone(file), stamp);
            let attached = attached.iter().flatten().cloned().map(|(id, file)| (id, file, None));
            attached.chain([itself]).try_for_each(|(document, file, stamp)| {
                let metadata = sidecar.clone();
                sink(Input::Unchanged(UnchangedFile { document, file, stamp, metadata }))
            })
        };
        if let Some(record) = &unchanged_file
            && record.stamp.is_some()
            && record.stamp == stamp
            && !self.options.rehash
        {
            return unchanged(record.document, None);
        }
        let bytes = match file.load() {
            Ok(bytes) => bytes,
            Err(refusal) => {
                return sink(Input::Refused(vec![Refused::new(&file.path, None, refusal)]));
            }
        };
        match unchanged_file.filter(|record| record.content == *blake3::hash(&bytes).as_bytes()) {
            Some(record) => unchanged(record.document, stamp),
            None => self
                .read_documents((file, stamp), bytes, &mut |input| {
                    sink(match input {
                        Input::Document(mut document) => {
                            let stated = document.draft.metadata.take();
                            document.draft.metadata = overlaid(stated, sidecar.as_ref());
                            Input::Document(document)
                        }
                        input => input,
                    })
                })
                .map(drop),
        }
    }

    /// Reads a file's bytes into documents, what is attached to it first. Returns the files that are
    /// attached.
    fn read_documents(
        &self,
        (file, stamp): (&Arc<InputFile>, Option<FileStamp>),
        bytes: Vec<u8>,
        sink: &mut InputSink<'_>,
    ) -> Result<Vec<FileKey>, KbError> {
        let content = (*blake3::hash(&bytes).as_bytes(), stamp);
        let document = |draft, content, attached| {
            let file = Arc::clone(file);
            Input::Document(Box::new(InputDocument { draft, file, content, attached }))
        };
        let mut last: Option<ParsedDocument> = None;
        let mut several = false;
        let (parser, format) = (self.base.parser(), self.options.format);
        let reader = FileReader { parser, options: &self.reading, format };
        let refused = reader.read(file, bytes, &mut |draft| {
            let Some(before) = last.replace(draft) else { return Ok(()) };
            several = true;
            sink(document(before, None, vec![]))
        })?;
        let mut attached = vec![];
        if let Some(mut last) = last {
            attached = self.read_attached(file, &mut last.parsed, sink)?;
            let document_of_file = last.naming == Naming::Stable && last.name == file.name;
            let alone = !several && refused.is_empty() && document_of_file;
            sink(document(last, alone.then_some(content), attached.clone()))?;
        }
        if !refused.is_empty() {
            sink(Input::Refused(refused))?;
        }
        Ok(attached)
    }

    /// Reads the files that are attached to one, with the warning that it gets for each which is not
    /// read.
    fn read_attached(
        &self,
        file: &InputFile,
        parsed: &mut Parsed,
        sink: &mut InputSink<'_>,
    ) -> Result<Vec<FileKey>, KbError> {
        let mut attached = vec![];
        for Attachment { name, bytes } in std::mem::take(&mut parsed.attachments) {
            let not_read = |why: &str| format!("the attached file `{name}` is not read: {why}");
            let part = Arc::new(file.attached(&name, bytes.len()));
            if part.depth() > DEEPEST_ATTACHED {
                parsed.warnings.push(not_read("it is inside too many others; give it by itself"));
                continue;
            }
            let warnings = &mut parsed.warnings;
            let inside = self.read_documents((&part, None), bytes, &mut |input| match input {
                Input::Refused(refused) => {
                    let reasons = refused
                        .iter()
                        .map(|Refused { reason, hint, .. }| not_read(&format!("{reason}; {hint}")));
                    warnings.extend(reasons);
                    // What it was when it could be read stays.
                    let key = FileKey::of(&part.origin);
                    if self.base.store.read(|reader| reader.file(key))?.is_some() {
                        attached.push(key);
                    }
                    Ok(())
                }
                input => {
                    attached.push(FileKey::of(&part.origin));
                    sink(input)
                }
            })?;
            attached.extend(inside);
        }
        attached.dedup();
        Ok(attached)
    }

    /// What is known of a file that became a document which the base has as this run would make it,
    /// with the documents and files that are attached to it.
    pub(super) fn unchanged_file(&self, file: &InputFile) -> Result<Option<KnownFile>, KbError> {
        let store = &self.base.store;
        store.read(|reader| {
            let key = FileKey::of(&file.origin);
            let Some(record) = self.known_document(reader, key)? else { return Ok(None) };
            let mut attached = vec![];
            for key in reader.attached(key)? {
                let unchanged = self.known_document(reader, key)?.zip(reader.file_document(key)?);
                let Some((record, FileDocument { name, origin, .. })) = unchanged else {
                    return Ok(None);
                };
                let (path, bytes) = (file.path.clone(), 0);
                attached.push((record.document, Arc::new(InputFile { path, name, origin, bytes })));
            }
            Ok(Some((record, attached)))
        })
    }

    /// A file of this key that became a document which the base has as this run would make it.
    fn known_document(
        &self,
        reader: &StoreReader<'_>,
        key: FileKey,
    ) -> heed::Result<Option<FileRecord>> {
        let Some(record) = reader.file(key)? else { return Ok(None) };
        let Some(row) = reader.find(Layer::Document, record.document)? else { return Ok(None) };
        let document: DocumentRecord = reader.linked(row)?;
        let ReadWith { whole, in_part, former } = self.read_with;
        let is_read = record.read_with == whole
            || (record.read_with == in_part && !self.options.rehash)
            || (Some(record.read_with) == former && document.warnings.is_empty());
        let stays = is_read && document.cut_with == self.cut_with;
        Ok(stays.then_some(record))
    }

    /// How a file is known from now on that became this document alone.
    pub(super) fn record(
        &self,
        (content, stamp): ([u8; 32], Option<FileStamp>),
        document: (Id, &ParsedDocument),
    ) -> FileRecord {
        let (document, draft) = document;
        let is_whole = draft.parsed.warnings.is_empty();
        let read_with = if is_whole { self.read_with.whole } else { self.read_with.in_part };
        FileRecord { content, read_with, document, stamp }
    }
}

impl ReadWith {
    fn new(options: &IndexOptions, settings: &KbSettings, cut_with: Id) -> Self {
        let format = format!("{:?}", options.format);
        let version = env!("CARGO_PKG_VERSION");
        let former = hash(&[format.as_bytes(), version.as_bytes(), &cut_with.to_be_bytes()]);
        let (ocr, effort) = (settings.reading.ocr_fingerprint(), settings.reading.effort());
        let whole = hash(&[&former.to_be_bytes(), ocr.as_bytes()]);
        let in_part = hash(&[&whole.to_be_bytes(), effort.as_bytes()]);
        let is_default = ocr == ReadingSettings::default().ocr_fingerprint();
        Self { whole, in_part, former: is_default.then_some(former) }
    }
}

/// The fields of a document: its record's, and in their place those in the file next to its file.
fn overlaid(metadata: Option<Metadata>, sidecar: Option<&Metadata>) -> Option<Metadata> {
    match sidecar {
        Some(sidecar) => Some(metadata.unwrap_or_default().overlaid(sidecar)),
        None => metadata,
    }
}

/// Whether a document is chunked with other settings than these.
pub(super) fn is_cut_otherwise(
    reader: &StoreReader<'_>,
    row: Row,
    cut_with: Id,
) -> heed::Result<bool> {
    let record: DocumentRecord = reader.linked(row)?;
    Ok(record.cut_with != cut_with)
}
