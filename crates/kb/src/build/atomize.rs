//! Chunks into atoms, many at a time; what fails stays in the ledger for the next run.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::StreamExt;
use halma_core::{Cx, Error, Layer, Limit, Meter, Setup, UsageTotal};
use tokio::sync::mpsc;

use super::Unembedded;
use super::forecast::{ATOMIZE, chunk_variables, expected_questions, expected_texts};
use crate::atom::{AtomDraft, Source};
use crate::error::run_blocking;
use crate::store::{ChunkRecord, DocumentRecord, Expected, History, Row};
use crate::{Atoms, Base, KbError, KbSettings, Progress, Stage, Step};

/// Chunks whose atoms are written in one transaction.
const BATCH: usize = 4096;

/// After so many failures of the model in a row the rest is left for another run: the endpoint is
/// down or refuses the key, and every further call would only cost time.
const GIVE_UP_AFTER: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Atomized {
    pub(super) atoms: usize,
    /// Atoms that were left out: more than are kept of one chunk.
    pub(super) cut: usize,
    pub(super) usage: UsageTotal,
    pub(super) spent: Option<Limit>,
    pub(super) failure: Option<String>,
}

pub(super) struct Atomizer {
    pub(super) base: Arc<Base>,
    pub(super) settings: KbSettings,
    pub(super) setup: Arc<Setup>,
    pub(super) meter: Arc<Meter>,
    pub(super) progress: Progress,
}

/// What came of one chunk.
enum Unit {
    Atoms {
        atoms: Vec<AtomDraft>,
        cut: usize,
    },
    Failed(String),
    /// Nothing was tried, or the budget was spent.
    Pending(Option<Limit>),
}

struct Asked {
    chunk: Row,
    unit: Unit,
    usage: UsageTotal,
    history: History,
}

impl Atomizer {
    /// Atomizes what waits; the rows of new atoms go into `queue`, which is closed at the end.
    pub(super) async fn run(
        self,
        queue: mpsc::UnboundedSender<Unembedded>,
    ) -> Result<Atomized, KbError> {
        let (base, kind) = (Arc::clone(&self.base), self.settings.atoms);
        let rows = run_blocking("reading the ledger", move || {
            base.store.read(|txn| base.store.unatomized(txn, kind))
        })
        .await?;
        let this = Arc::new(self);
        if kind == Atoms::Questions {
            return this.ask_all(rows, queue).await;
        }
        run_blocking("cutting sentences", move || this.cut_all(&rows, &queue)).await
    }

    fn told(&self, done: usize, total: usize) {
        (self.progress)(Step { stage: Stage::Atomize, done, total });
    }

    /// Sentences need no model: one pass on one thread.
    fn cut_all(
        &self,
        rows: &[Row],
        queue: &mpsc::UnboundedSender<Unembedded>,
    ) -> Result<Atomized, KbError> {
        let mut atomized = Atomized::default();
        let mut done = 0;
        for batch in rows.chunks(BATCH) {
            let mut made = vec![];
            for chunk in batch {
                let atoms = match (self.settings.atoms, self.source(*chunk)?) {
                    (Atoms::Sentences, Some((source, _))) => {
                        source.sentence_atoms(self.settings.max_atoms)
                    }
                    _ => vec![],
                };
                made.push((*chunk, Unit::Atoms { atoms, cut: 0 }));
            }
            atomized.atoms += self.write(&made, &History::default(), queue)?;
            done += batch.len();
            self.told(done, rows.len());
        }
        Ok(atomized)
    }

    /// Asks the model for every chunk's questions.
    async fn ask_all(
        self: Arc<Self>,
        rows: Vec<Row>,
        queue: mpsc::UnboundedSender<Unembedded>,
    ) -> Result<Atomized, KbError> {
        let total = rows.len();
        let stop = Arc::new(AtomicBool::new(false));
        let failures = Arc::new(AtomicUsize::new(0));
        let ask = |chunk: Row| {
            let (this, stop) = (Arc::clone(&self), Arc::clone(&stop));
            let failures = Arc::clone(&failures);
            // A task of its own, so that parsing the replies uses all cores.
            tokio::spawn(async move { this.ask(chunk, &stop, &failures).await })
        };
        let (written, results) = mpsc::channel(self.settings.concurrency.max(1));
        let asking = async {
            let mut asked = futures::stream::iter(rows)
                .map(ask)
                .buffer_unordered(self.settings.concurrency.max(1));
            while let Some(joined) = asked.next().await {
                let doing = "atomizing";
                let died =
                    |e: tokio::task::JoinError| KbError::Died { doing, reason: e.to_string() };
                if written.send(joined.map_err(died)??).await.is_err() {
                    break;
                }
            }
            drop(written);
            Ok::<(), KbError>(())
        };
        let (asked, stored) =
            tokio::join!(asking, Arc::clone(&self).store_all(results, queue, total));
        let atomized = stored?;
        asked?;
        Ok(atomized)
    }

    /// Asks for one chunk's questions.
    async fn ask(
        &self,
        chunk: Row,
        stop: &AtomicBool,
        failures: &AtomicUsize,
    ) -> Result<Asked, KbError> {
        let usage = UsageTotal::default();
        let history = History::default();
        let pending = |limit| Asked { chunk, unit: Unit::Pending(limit), usage, history };
        if stop.load(Ordering::Relaxed) {
            return Ok(pending(None));
        }
        let Some((source, names)) = self.source(chunk)? else { return Ok(pending(None)) };
        let cx = Cx::new(Arc::clone(&self.setup), Arc::clone(&self.meter), None);
        for name in &names {
            cx.quote(name);
        }
        let reply = cx.ask(&ATOMIZE, chunk_variables(&source.title, &source.text)).await;
        let trace = cx.trace();
        let usage = trace.usage();
        let completion = expected_questions(&source.text);
        let texts = expected_texts(completion, &self.settings);
        let mut expected = Expected { completion, texts, made: 0 };
        let unit = match reply {
            Ok(questions) => {
                failures.store(0, Ordering::Relaxed);
                let most = self.settings.max_atoms;
                let cut = questions.len().saturating_sub(most);
                let atoms = source.question_atoms(questions, most);
                expected.made = atoms.len() as u64;
                Unit::Atoms { atoms, cut }
            }
            Err(Error::Spent(limit)) => {
                stop.store(true, Ordering::Relaxed);
                Unit::Pending(Some(limit))
            }
            Err(error) => {
                let model_failed = matches!(error, Error::Llm { .. });
                let in_row =
                    if model_failed { failures.fetch_add(1, Ordering::Relaxed) + 1 } else { 0 };
                if in_row >= GIVE_UP_AFTER {
                    stop.store(true, Ordering::Relaxed);
                }
                Unit::Failed(error.to_string())
            }
        };
        let mut history = History::default();
        history.saw(&trace, expected);
        Ok(Asked { chunk, unit, usage, history })
    }

    /// Writes results as they come: what has come while the last ones were written is written
    /// next, so that little is lost when the process dies.
    async fn store_all(
        self: Arc<Self>,
        mut results: mpsc::Receiver<Asked>,
        queue: mpsc::UnboundedSender<Unembedded>,
        total: usize,
    ) -> Result<Atomized, KbError> {
        let mut atomized = Atomized::default();
        let mut done = 0;
        while let Some(first) = results.recv().await {
            let mut batch = vec![];
            let mut history = History::default();
            let mut next = Some(first);
            while let Some(asked) = next {
                done += 1;
                atomized.usage.add(asked.usage);
                history.add(&asked.history);
                self.told(done, total);
                match &asked.unit {
                    Unit::Failed(reason) => atomized.failure = Some(reason.clone()),
                    Unit::Pending(Some(limit)) => atomized.spent = Some(*limit),
                    Unit::Pending(None) => {}
                    Unit::Atoms { cut, .. } => atomized.cut += cut,
                }
                batch.push((asked.chunk, asked.unit));
                next = if batch.len() < BATCH { results.try_recv().ok() } else { None };
            }
            let (this, queue) = (Arc::clone(&self), queue.clone());
            let write = move || this.write(&batch, &history, &queue);
            atomized.atoms += run_blocking("storing atoms", write).await?;
        }
        if atomized.cut > 0 {
            let (cut, most) = (atomized.cut, self.settings.max_atoms);
            tracing::warn!("{cut} atoms were left out: at most {most} are kept of one chunk");
        }
        Ok(atomized)
    }

    /// Writes a batch and queues its atoms for embedding; returns how many there are.
    fn write(
        &self,
        batch: &[(Row, Unit)],
        history: &History,
        queue: &mpsc::UnboundedSender<Unembedded>,
    ) -> Result<usize, KbError> {
        let (store, kind) = (&self.base.store, self.settings.atoms);
        let rows = store.write(|txn| {
            let mut rows = vec![];
            for (chunk, unit) in batch {
                match unit {
                    Unit::Atoms { atoms, .. } => {
                        rows.extend(store.put_atoms(txn, *chunk, kind, atoms)?);
                    }
                    Unit::Failed(reason) => store.atomizing_failed(txn, *chunk, kind, reason)?,
                    Unit::Pending(_) => {}
                }
            }
            store.add_history(txn, history)?;
            Ok(rows)
        })?;
        for row in &rows {
            // Nobody listens where there is no embedder.
            let _ = queue.send((Layer::Atom, *row));
        }
        Ok(rows.len())
    }

    /// A chunk as atoms are made of it, with the names of its document; `None` when it was
    /// replaced.
    fn source(&self, row: Row) -> Result<Option<(Source, Vec<String>)>, KbError> {
        let store = &self.base.store;
        store.read(|txn| {
            let Some(chunk) = store.node::<ChunkRecord>(txn, row)? else { return Ok(None) };
            let document: DocumentRecord = store.linked(txn, chunk.document)?;
            let source = Source {
                title: document.title,
                text: store.chunk_text(txn, &chunk)?,
                place: chunk.place,
                verbatim: chunk.text.is_none(),
            };
            Ok(Some((source, document.names)))
        })
    }
}
