//! A deletion while a build runs.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, Llm, LlmError, Models, Prompts, Setup};
use halma_testkit::Toy;
use tokio::sync::Notify;

use super::common::{Asker, Bench, Words};
use crate::{BuildContext, IndexOptions, PROMPTS};

/// [`Asker`] whose first call never ends.
#[derive(Default)]
pub(super) struct Hanging {
    asker: Asker,
    hung: AtomicBool,
    pub(super) question_received: Notify,
}

impl Hanging {
    pub(super) fn setup(self: &Arc<Self>) -> Arc<Setup> {
        let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
        Arc::new(Setup::new(Models::new(Arc::clone(self) as _), Toy::empty(), prompts))
    }
}

#[async_trait]
impl Llm for Hanging {
    fn model(&self) -> &'static str {
        "hanging"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        if !self.hung.swap(true, Ordering::Relaxed) {
            self.question_received.notify_one();
            return std::future::pending().await;
        }
        self.asker.chat(request).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_does_not_wait_for_a_build_that_then_goes_on_without_the_document() {
    let bench = Bench::asking();
    for name in ["one", "two", "three"] {
        bench.write(&format!("{name}.md"), format!("# {name}\n\nAbout {name} there is a text."));
    }
    let base = bench.open(Some(Words::new()));
    let model = Arc::new(Hanging::default());
    let setup = model.setup();
    let context = BuildContext::new(&base, &bench.settings, &setup);
    let (inputs, options) = ([bench.input()], IndexOptions::default());
    let build = crate::index(context, &inputs, &options);
    let deletion = async {
        model.question_received.notified().await;
        let base = Arc::clone(&base);
        tokio::task::spawn_blocking(move || base.delete(&["two.md".into()])).await.unwrap()
    };
    let (report, deleted) = tokio::join!(build, deletion);
    let (report, deleted) = (report.unwrap(), deleted.unwrap());
    assert_eq!(deleted.names, ["two.md"]);
    assert_eq!(report.pending_units + report.failed_units, 0, "{report:?}");
    let names = |base: &crate::Base| {
        let names = base.store.read(|reader| reader.document_names()).unwrap();
        names.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names(&base), ["one.md", "three.md"]);
    assert!(base.inspector().verify().unwrap().is_sound());
    // The next run is asked for it in so many words.
    let context = BuildContext::new(&base, &bench.settings, &setup);
    let report = crate::index(context, &inputs, &options).await.unwrap();
    assert_eq!((report.documents_new, names(&base).len()), (1, 3));
}
