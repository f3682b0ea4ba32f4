//! Cutting by a model or the embedder, many documents at a time and before any of them is written:
//! a document that cannot be cut is left for the next run as a whole.
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::StreamExt;
use halma_core::{Cx, Embedder, Error, Limit, Meter, Setup, UsageTotal};
use halma_parse::Parsed;

use super::describe::{Described, describe};
use crate::cut::{Cut, CutMemory, CutModels, CutSettings, cut};
use crate::read::Draft;
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

    /// Puts the figures of a document into words. Blocks, as [`Cutting::cut_all`] does.
    pub(super) fn describe(&self, draft: &mut Draft) -> Described {
        let cx = Cx::new(Arc::clone(&self.setup), Arc::clone(&self.meter), None);
        cx.quote(&draft.name);
        let title = draft.title.clone().unwrap_or_default();
        let told = self.runtime.block_on(describe(&cx, &title, &mut draft.parsed));
        Described { usage: cx.trace().usage(), ..told }
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

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use halma_core::{
        Budget, ChatReply, ChatRequest, Layer, Llm, LlmError, Models, Prompts, Usage,
    };
    use halma_testkit::Toy;

    use super::*;
    use crate::{Atoms, BaseOptions, IndexOptions, IndexReport, PROMPTS};

    /// Ends every passage at its first piece; fails for texts that hold the word.
    #[derive(Default)]
    struct Cutter {
        fails_on: &'static str,
        calls: AtomicUsize,
    }

    #[async_trait]
    impl Llm for Cutter {
        fn model(&self) -> &'static str {
            "cutter"
        }

        async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            assert_eq!(request.task, "cut");
            assert_eq!(request.about.len(), 1, "the reply can be forgotten with its document");
            let shown = &request.messages[1].text;
            if !self.fails_on.is_empty() && shown.contains(self.fails_on) {
                return Err(LlmError::refused("the model is down"));
            }
            let text = r#"{"end": 1, "summary": "Fish live.", "forward": "Of fish."}"#.to_owned();
            let usage = Usage { prompt_tokens: 100, completion_tokens: 10 };
            Ok(ChatReply { text, usage, ..ChatReply::default() })
        }
    }

    async fn index(base: &Arc<Base>, input: &std::path::Path, model: Arc<Cutter>) -> IndexReport {
        let setup = Arc::new(Setup::new(
            Models::new(model),
            Toy::empty(),
            Arc::new(Prompts::shipped(&[PROMPTS]).unwrap()),
        ));
        let settings = KbSettings {
            atoms: Atoms::None,
            chunks: Chunks::Model,
            chunk_chars: 40,
            ..KbSettings::default()
        };
        let meter = Arc::new(Meter::new(Budget::default()));
        let inputs = [input.to_owned()];
        let progress: crate::Progress = Arc::new(|_| ());
        crate::index(base, &inputs, &IndexOptions::default(), &settings, &setup, &meter, progress)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn a_document_that_cannot_be_cut_waits_for_the_next_run_and_the_others_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let input = dir.path().join("in");
        std::fs::create_dir(&input).unwrap();
        std::fs::write(input.join("fish.md"), "Fish swim in water.\n\nBirds do not.\n").unwrap();
        std::fs::write(input.join("bad.md"), "Broken things lie here.\n").unwrap();
        std::fs::write(input.join("twin.md"), "---\ntitle: fish\n---\nOther fish.\n").unwrap();
        let base = Base::create_or_open(&dir.path().join("base"), BaseOptions::default()).unwrap();
        let model = Arc::new(Cutter { fails_on: "Broken", ..Cutter::default() });
        let report = index(&base, &input, Arc::clone(&model)).await;
        assert_eq!((report.documents_new, report.pending_units, report.chunks), (2, 1, 3));
        assert!(report.failure.unwrap().contains("the model is down"));
        assert_eq!(report.usage.prompt_tokens, 300, "the failed call cost nothing");
        let texts = base.store.read(|txn| {
            let chunk: crate::store::ChunkRecord = base.store.linked(txn, 0)?;
            Ok((base.store.count(txn, Layer::Chunk)?, chunk.summary))
        });
        assert_eq!(texts.unwrap(), (3, Some("Fish live.".to_owned())));

        let better = Arc::new(Cutter::default());
        let report = index(&base, &input, Arc::clone(&better)).await;
        assert_eq!((report.documents_new, report.documents_unchanged), (1, 2));
        assert_eq!(report.pending_units, 0);
        assert_eq!(better.calls.load(Ordering::Relaxed), 1, "what was cut is not asked again");
    }
}
