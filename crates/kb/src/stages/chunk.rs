//! Chunking by a model or the embedder, many documents at a time and before any of them is stored:
//! a document that cannot be chunked is left for the next run as a whole.
use std::collections::HashMap;
use std::sync::Arc;

use halma_core::{Cx, Error};
use parking_lot::Mutex;

use super::{BuildContext, Pace, Stage, StageError};
use crate::cut::{CUT, Cut, CutModels, CutSettings, cut, expected_cut};
use crate::read::ParsedDocument;
use crate::store::{Cost, Id, StoreWriter};
use crate::vectors::BATCH;
use crate::{Chunks, KbError, Phase};

/// Tokens of a reply: where the passage ends, its summary and what is known so far.
const REPLY_TOKENS: u64 = 130;

/// A document to chunk.
pub(crate) struct Uncut {
    pub(crate) id: Id,
    pub(crate) draft: Arc<ParsedDocument>,
}

/// Chunks documents; the chunks are in memory until their documents are stored.
pub(crate) struct Chunk {
    context: Arc<BuildContext>,
    settings: CutSettings,
    cuts: Mutex<HashMap<Id, Cut>>,
}

impl Chunk {
    pub(crate) fn new(context: &Arc<BuildContext>) -> Self {
        let settings = CutSettings::from(&context.settings);
        Self { context: Arc::clone(context), settings, cuts: Mutex::default() }
    }

    /// Whether a model or the embedder is asked where to cut.
    pub(crate) fn asks(&self) -> bool {
        matches!(self.settings.chunks, Chunks::Semantic | Chunks::Model)
    }

    /// What was chunked since this was last called; documents that could not be are missing.
    pub(crate) fn take(&self) -> HashMap<Id, Cut> {
        std::mem::take(&mut *self.cuts.lock())
    }
}

impl Stage for Chunk {
    type Unit = Uncut;
    type Output = Cut;

    const PHASE: Phase = Phase("chunking");

    fn name(&self) -> &'static str {
        "cut"
    }

    fn prompt(&self) -> Option<&'static str> {
        (self.settings.chunks == Chunks::Model).then_some(CUT)
    }

    fn context(&self) -> &Arc<BuildContext> {
        &self.context
    }

    fn pace(&self) -> Pace {
        Pace { may_be_unable: false, ..Pace::of_models(&self.context.settings) }
    }

    /// What is asked if every chunk is as long as it may be.
    fn forecast(&self, unit: &Uncut) -> Cost {
        let expected = expected_cut(&unit.draft.parsed, unit.draft.shown_title(), &self.settings);
        let setup = &self.context.setup;
        let mut calls = Cost::default();
        for variables in &expected.requests {
            calls += Cost::of_call(setup, CUT, variables, REPLY_TOKENS);
        }
        let embedded = expected.embedded.div_ceil(BATCH) as u64;
        Cost { calls: calls.calls + embedded, ..calls }
    }

    async fn run(&self, cx: &Cx, unit: &Uncut) -> Result<Option<Cut>, StageError> {
        let ParsedDocument { name, parsed, .. } = unit.draft.as_ref();
        cx.quote(name);
        let with = CutModels { cx, embedder: self.context.embedder.as_ref() };
        let title = unit.draft.shown_title();
        match cut(parsed, title, &self.settings, &with).await {
            Ok(cut) => Ok(Some(cut)),
            Err(KbError::Cut { source: Error::Spent(limit), .. }) => Err(StageError::Spent(limit)),
            Err(error @ (KbError::Cut { .. } | KbError::Embed { .. })) => {
                Err(StageError::Failed(error))
            }
            Err(error) => Err(StageError::Base(error)),
        }
    }

    fn store(
        &self,
        _: &mut StoreWriter<'_>,
        unit: &Uncut,
        result: Result<Cut, String>,
    ) -> heed::Result<()> {
        if let Ok(cut) = result {
            let mut cuts = self.cuts.lock();
            cuts.insert(unit.id, cut);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use halma_core::{ChatReply, ChatRequest, Layer, Llm, LlmError, Models, Prompts, Setup, Usage};
    use halma_testkit::Toy;

    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::build::IndexReport;
    use crate::settings::IndexOptions;
    use crate::{Atoms, Base, BaseOptions, KbSettings, PROMPTS};

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
            let shown = &request.messages.last().unwrap().text;
            if !self.fails_on.is_empty() && shown.contains(self.fails_on) {
                return Err(LlmError::refused("the model is down"));
            }
            let text = r#"{"end": 1, "summary": "Fish live.", "forward": "Of fish."}"#.to_owned();
            let usage = Usage { prompt_tokens: 100, completion_tokens: 10, ..Usage::default() };
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
        let context = BuildContext::new(base, &settings, &setup);
        crate::index(context, &[input.to_owned()], &IndexOptions::default()).await.unwrap()
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
        let texts = base.store.read(|reader| {
            let chunk: crate::store::ChunkRecord = reader.linked(0)?;
            Ok((reader.count(Layer::Chunk)?, chunk.summary))
        });
        assert_eq!(texts.unwrap(), (3, Some("Fish live.".to_owned())));

        let better = Arc::new(Cutter::default());
        let report = index(&base, &input, Arc::clone(&better)).await;
        assert_eq!((report.documents_new, report.documents_unchanged), (1, 2));
        assert_eq!(report.pending_units, 0);
        assert_eq!(better.calls.load(Ordering::Relaxed), 1, "what was cut is not asked again");
    }
}
