//! From the input files to the store: files are read on a thread of their own, figures described and
//! documents chunked by models, and whole batches of them inserted while the next one is read.
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::indexing::IndexingRequests;
use super::ingest::{Cuts, Ingest, IngestItem, ReadyDocument};
use super::reader::{Input, InputDocument, InputReader, UnchangedFile};
use super::report::IndexReport;
use super::resolver::document_id;
use super::write_lease::WriteLease;
use super::{link, prune};
use crate::error::run_blocking;
use crate::read::{InputFile, ReadWarning, Refused};
use crate::stages::{BuildContext, Chunk, Describe, Driver, FigureRequest, insert_description};
use crate::{IndexOptions, KbError, Phase, PhaseProgress, Progress};

/// Documents are written this many at a time, or this many bytes of them. Ids are hashes, so every
/// transaction touches pages all over a large base: few large ones write far less than many small.
const BATCH: usize = 4000;
const BATCH_BYTES: usize = 16_000_000;

/// Documents in the first batch, so that something is stored while the second is read; each has twice
/// as many as the one before.
const FIRST_BATCH: usize = 1000;

/// Documents that are read ahead.
const AHEAD: usize = 8;

/// What waits for its batch.
enum Waiting {
    Document(Box<InputDocument>),
    Unchanged(UnchangedFile),
}

pub(super) struct Intake {
    context: Arc<BuildContext>,
    lease: WriteLease,
    options: IndexOptions,
    reader: Arc<InputReader>,
    ingest: Arc<Mutex<Ingest>>,
    describe: Driver<Describe>,
    chunk: Driver<Chunk>,
    batch: Vec<Waiting>,
    batch_bytes: usize,
    /// Documents that the batch gets at most.
    batch_limit: usize,
    /// The batch before, which is stored while this one is read.
    storing: Option<JoinHandle<Result<(), KbError>>>,
    /// What was refused, and what was not read, since then.
    refused: Vec<Refused>,
    warnings: Vec<ReadWarning>,
    /// Asked for what was stored, once a batch was full: few documents are indexed at the end.
    indexing: IndexingRequests,
    was_full: bool,
}

impl Intake {
    pub(super) fn new(
        context: &Arc<BuildContext>,
        lease: WriteLease,
        options: &IndexOptions,
        indexing: IndexingRequests,
    ) -> Result<Self, KbError> {
        let reader = InputReader::new(&context.base, options, &context.settings)?;
        let mut ingest = Ingest::new(context);
        ingest.metadata = options.metadata.clone();
        Ok(Self {
            context: Arc::clone(context),
            lease,
            options: options.clone(),
            reader: Arc::new(reader),
            ingest: Arc::new(Mutex::new(ingest)),
            describe: Driver::new(Describe::new(context)),
            chunk: Driver::new(Chunk::new(context)),
            batch: vec![],
            batch_bytes: 0,
            batch_limit: FIRST_BATCH,
            storing: None,
            refused: vec![],
            warnings: vec![],
            indexing,
            was_full: false,
        })
    }

    pub(super) async fn run(mut self, inputs: &[PathBuf]) -> Result<IndexReport, KbError> {
        let (reader, inputs) = (Arc::clone(&self.reader), inputs.to_owned());
        let walked = run_blocking("looking for files", move || reader.walk(&inputs)).await?;
        self.ingest.lock().report.refused.clone_from(&walked.refused);
        let files: Vec<_> = walked.files.iter().cloned().map(Arc::new).collect();
        self.read_all(files, true).await?;
        let retry = std::mem::take(&mut self.ingest.lock().retry);
        self.read_all(retry, false).await?;
        if self.options.prune {
            let (context, reader) = (Arc::clone(&self.context), Arc::clone(&self.reader));
            self.blocking("removing documents", move |ingest| {
                prune::prune(&context, ingest, &walked, &reader.selection)
            })
            .await?;
        }
        Ok(std::mem::take(&mut self.ingest.lock().report))
    }

    /// Work on what is ingested, on a thread where it may block.
    fn blocking<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&mut Ingest) -> Result<T, KbError> + Send + 'static,
    ) -> impl Future<Output = Result<T, KbError>> + Send + 'static {
        let (ingest, lock) = (Arc::clone(&self.ingest), Arc::clone(&self.lease.lock));
        run_blocking(doing, move || {
            let _lock = lock;
            work(&mut ingest.lock())
        })
    }

    /// Waits until the batch before is stored. Only then is `ingest` free for others.
    async fn stored(&mut self) -> Result<(), KbError> {
        if let Some(storing) = self.storing.take() {
            storing.await.map_err(|e| KbError::worker_panicked("storing", &e))??;
        }
        let refused = std::mem::take(&mut self.refused);
        let warnings = std::mem::take(&mut self.warnings);
        let report = &mut self.ingest.lock().report;
        report.refused.extend(refused);
        report.warnings.extend(warnings);
        Ok(())
    }

    /// Reads files and inserts what is in them.
    async fn read_all(
        &mut self,
        files: Vec<Arc<InputFile>>,
        may_be_known: bool,
    ) -> Result<(), KbError> {
        let bytes = |file: &Arc<InputFile>| usize::try_from(file.bytes).unwrap_or(usize::MAX);
        let total = files.iter().map(bytes).sum();
        let (sender, inputs) = mpsc::channel(AHEAD);
        let reader = Arc::clone(&self.reader);
        let reading = run_blocking("reading", move || {
            reader.read_all(&files, may_be_known, &mut |input| {
                sender.blocking_send(input).map_err(|_| KbError::Interrupted)
            })
        });
        let (read, taken) = tokio::join!(reading, self.take_all(inputs, total));
        taken?;
        read
    }

    async fn take_all(
        &mut self,
        mut inputs: mpsc::Receiver<Input>,
        total: usize,
    ) -> Result<(), KbError> {
        let mut done = 0;
        while let Some(input) = inputs.recv().await {
            match input {
                Input::Document(document) => self.enqueue(document).await?,
                Input::Unchanged(unchanged) => {
                    self.batch.push(Waiting::Unchanged(unchanged));
                    self.flush_if_full().await?;
                }
                Input::Refused(refused) => self.refused.extend(refused),
                Input::FileDone(bytes) => {
                    done += bytes;
                    (self.context.progress)(PhaseProgress { phase: Phase::READ, done, total });
                }
            }
        }
        self.flush().await?;
        self.stored().await
    }

    async fn enqueue(&mut self, mut document: Box<InputDocument>) -> Result<(), KbError> {
        let path = &document.file.path;
        let parsed = &mut document.draft.parsed;
        let warnings = parsed.warnings.iter().map(|text| ReadWarning::new(path, text));
        self.warnings.extend(warnings);
        let images = parsed.figures.iter().filter_map(|figure| figure.image.as_ref());
        self.batch_bytes += parsed.text.len();
        if self.context.settings.describe_figures {
            self.batch_bytes += images.map(|(_, bytes)| bytes.len()).sum::<usize>();
        } else {
            // Nothing else looks at them.
            parsed.figures.iter_mut().for_each(|figure| figure.image = None);
        }
        self.batch.push(Waiting::Document(document));
        self.flush_if_full().await
    }

    async fn flush_if_full(&mut self) -> Result<(), KbError> {
        if self.batch.len() >= self.batch_limit || self.batch_bytes >= BATCH_BYTES {
            self.batch_limit = BATCH.min(2 * self.batch_limit);
            self.was_full = true;
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), KbError> {
        self.stored().await?;
        let mut batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        if batch.is_empty() {
            return Ok(());
        }
        let incomplete = self.describe(&mut batch).await?;
        let ready = |(at, waiting)| self.ready(waiting, !incomplete.contains(&at));
        let batch: Arc<Vec<IngestItem>> = Arc::new(
            batch.into_iter().enumerate().map(ready).filter(|item| self.is_wanted(item)).collect(),
        );
        let cuts = self.chunk(&batch).await?;
        let context = Arc::clone(&self.context);
        let indexing = self.was_full.then(|| self.indexing.clone());
        let storing = self.blocking("storing", move |ingest| {
            let is_due = ingest.insert_all(&batch, cuts)?;
            match indexing {
                Some(indexing) if is_due => indexing.publish(),
                Some(indexing) => indexing.enter(),
                None if is_due => super::make_visible(&context.base, &context.progress)?,
                None => {}
            }
            // While the next batch is read, which takes one thread.
            link::link_new(context.store(), &context.settings, &(Arc::new(|_| ()) as Progress))
        });
        self.storing = Some(tokio::spawn(storing));
        Ok(())
    }

    /// Whether an item was not deleted since the build began.
    fn is_wanted(&self, item: &IngestItem) -> bool {
        match item {
            IngestItem::Document(document) => !self.lease.deleted.contains(&document.id),
            IngestItem::Unchanged(_) => true,
        }
    }

    /// A document as it is inserted; its id is that of its text with the figures in words.
    fn ready(&self, waiting: Waiting, is_complete: bool) -> IngestItem {
        match waiting {
            Waiting::Unchanged(unchanged) => IngestItem::Unchanged(unchanged),
            Waiting::Document(document) => {
                let InputDocument { draft, file, content, attached } = *document;
                let id = document_id(draft.shown_title(), &draft.parsed.text);
                let content = content.filter(|_| is_complete);
                let record = content.map(|content| self.reader.record(content, (id, &draft)));
                let draft = Arc::new(draft);
                IngestItem::Document(ReadyDocument { id, draft, file, record, attached })
            }
        }
    }

    /// Describes the figures of a batch, where that is wanted. Returns the places of documents with
    /// figures that the model would not describe; they are tried again when the document is read
    /// again.
    async fn describe(&mut self, batch: &mut [Waiting]) -> Result<HashSet<usize>, KbError> {
        if !self.context.settings.describe_figures {
            return Ok(HashSet::new());
        }
        let mut figures = vec![];
        for (at, waiting) in batch.iter_mut().enumerate() {
            if let Waiting::Document(document) = waiting {
                figures.extend(FigureRequest::take_from(at, &mut document.draft));
            }
        }
        let requested: Vec<(usize, usize)> = figures.iter().map(FigureRequest::place).collect();
        let report = self.describe.run_all(figures).await?;
        let mut descriptions = self.describe.stage().take();
        descriptions.sort_unstable();
        let mut described = HashSet::new();
        for (at, figure, text) in descriptions {
            if let Some(Waiting::Document(document)) = batch.get_mut(at) {
                insert_description(&mut document.draft.parsed, figure, &text);
                described.insert((at, figure));
            }
        }
        let left = requested.into_iter().filter(|place| !described.contains(place));
        let incomplete = left.map(|(at, _)| at).collect();
        let sum = &mut self.ingest.lock().report;
        sum.figures_described += report.done;
        sum.figures_failed += report.failed + report.pending;
        sum.usage.add(report.usage);
        sum.spent = sum.spent.or(report.spent);
        sum.failure = report.failure.or(sum.failure.take());
        Ok(incomplete)
    }

    /// Chunks the new documents of a batch where a model or the embedder is asked.
    async fn chunk(&mut self, batch: &Arc<Vec<IngestItem>>) -> Result<Cuts, KbError> {
        if !self.chunk.stage().asks() {
            return Ok(Cuts::default());
        }
        let batch = Arc::clone(batch);
        let uncut = self.blocking("reading", move |ingest| ingest.uncut(&batch)).await?;
        let mut failed: HashSet<_> = uncut.iter().map(|uncut| uncut.id).collect();
        let report = self.chunk.run_all(uncut).await?;
        let done: HashMap<_, _> = self.chunk.stage().take();
        failed.retain(|id| !done.contains_key(id));
        let sum = &mut self.ingest.lock().report;
        sum.cut_by_structure += done.values().map(|cut| cut.fell_back).sum::<usize>();
        sum.usage.add(report.usage);
        sum.pending_units += report.failed + report.pending;
        sum.spent = sum.spent.or(report.spent);
        sum.failure = report.failure.or(sum.failure.take());
        Ok(Cuts { done, failed })
    }
}
