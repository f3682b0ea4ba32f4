//! Cutting by a model or the embedder, many documents at a time and before any of them is written:
//! a document that cannot be cut is left for the next run as a whole.
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::StreamExt;
use halma_core::{Embedder, Error, Limit, Meter, Setup, UsageTotal};
use halma_parse::Parsed;

use crate::cut::{Cut, CutMemory, CutModels, CutSettings, cut};
use crate::store::Id;
use crate::{Base, Chunks, KbError, KbSettings};

/// After so many failures in a row the rest is left for another run.
const GIVE_UP_AFTER: usize = 16;

/// A document to be cut.
pub(super) struct Uncut<'a> {
    pub(super) id: Id,
    pub(super) name: &'a str,
    pub(super) title: &'a str,
    pub(super) parsed: &'a Parsed,
}

pub(super) struct Cutting {
    settings: CutSettings,
    concurrency: usize,
    embedder: Option<Arc<dyn Embedder>>,
    setup: Arc<Setup>,
    meter: Arc<Meter>,
    memory: CutMemory,
    runtime: tokio::runtime::Handle,
    stopped: AtomicBool,
    failures: AtomicUsize,
    pub(super) told: Told,
}

/// What came of cutting so far.
#[derive(Default)]
pub(super) struct Told {
    pub(super) fell_back: usize,
    pub(super) usage: UsageTotal,
    /// Documents that could not be cut.
    pub(super) pending: usize,
    pub(super) failure: Option<String>,
    pub(super) spent: Option<Limit>,
}

impl Cutting {
    pub(super) fn new(
        base: &Base,
        settings: &KbSettings,
        (setup, meter): (&Arc<Setup>, &Arc<Meter>),
    ) -> Self {
        Self {
            settings: CutSettings::of(settings),
            concurrency: settings.concurrency.max(1),
            embedder: base.embedder.clone(),
            setup: Arc::clone(setup),
            meter: Arc::clone(meter),
            memory: CutMemory::default(),
            runtime: tokio::runtime::Handle::current(),
            stopped: AtomicBool::new(false),
            failures: AtomicUsize::new(0),
            told: Told::default(),
        }
    }

    /// Whether somebody is asked where to cut.
    pub(super) fn asks(&self) -> bool {
        matches!(self.settings.chunks, Chunks::Semantic | Chunks::Model)
    }

    pub(super) fn settings(&self) -> &CutSettings {
        &self.settings
    }

    /// Cuts documents, each of its own id; those that could not be cut are missing. Blocks, so it
    /// is called beside the runtime.
    pub(super) fn cut_all(&mut self, documents: &[Uncut<'_>]) -> Result<HashMap<Id, Cut>, KbError> {
        let cutting = documents.iter().map(|document| async {
            if self.stopped.load(Ordering::Relaxed) {
                return (document.id, None);
            }
            let done = self.cut_one(document).await;
            (document.id, Some(done))
        });
        let done: Vec<_> = self.runtime.block_on(
            futures::stream::iter(cutting).buffered(self.concurrency).collect::<Vec<_>>(),
        );
        let mut cuts = HashMap::new();
        for (id, done) in done {
            match done {
                Some(Ok(cut)) => {
                    self.told.fell_back += cut.fell_back;
                    self.told.usage.add(cut.usage);
                    cuts.insert(id, cut);
                    continue;
                }
                Some(Err(KbError::Cut { source: Error::Spent(limit), .. })) => {
                    self.told.spent = Some(limit);
                }
                Some(Err(error @ (KbError::Cut { .. } | KbError::Embed { .. }))) => {
                    self.told.failure = Some(error.to_string());
                }
                Some(Err(error)) => return Err(error),
                None => {}
            }
            self.told.pending += 1;
        }
        Ok(cuts)
    }

    async fn cut_one(&self, document: &Uncut<'_>) -> Result<Cut, KbError> {
        let with = CutModels {
            embedder: self.embedder.as_ref(),
            setup: &self.setup,
            meter: &self.meter,
            memory: &self.memory,
            document: document.name,
        };
        let done = cut(document.parsed, document.title, &self.settings, &with).await;
        if done.is_ok() {
            self.failures.store(0, Ordering::Relaxed);
        } else {
            let spent = matches!(done, Err(KbError::Cut { source: Error::Spent(_), .. }));
            let in_row = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
            if spent || in_row >= GIVE_UP_AFTER {
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
        done
    }
}
