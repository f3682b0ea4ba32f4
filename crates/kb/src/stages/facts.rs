//! Extracting the entities and facts of every chunk.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use halma_core::{Cx, Prompt};
use minijinja::{Value, context};

use super::{
    BuildContext, Cost, LedgerUnit, Passage, SourceDocument, Stage, StageError, prompt_hash,
};
use crate::Phase;
use crate::extract::names::form;
use crate::extract::{Extraction, FactsReply, MOST_ENTITIES, MOST_FACTS};
use crate::store::{Id, Reader, Task, UnitKey, Writer};

const FACTS: Prompt<FactsReply> = Prompt::json("kb/facts");

/// Tokens of a reply for each token of text: nine entities and nine facts in 110 tokens, as
/// recorded for 1,890 passages of encyclopaedias, with descriptions and sentences.
const REPLY_PER_TOKEN: u64 = 5;
const SHORTEST_REPLY: u64 = 40;

pub(crate) struct Facts {
    context: Arc<BuildContext>,
    prompt: Id,
}

impl Facts {
    pub(crate) fn new(context: &Arc<BuildContext>) -> Self {
        let prompt = prompt_hash(&context.setup, FACTS.name);
        Self { context: Arc::clone(context), prompt }
    }
}

fn variables(passage: &Passage) -> Value {
    context! {
        chunk => context! {
            title => &passage.title,
            section => &passage.section,
            text => &passage.text,
        },
        most_entities => MOST_ENTITIES,
        most_facts => MOST_FACTS,
    }
}

impl Stage for Facts {
    type Unit = LedgerUnit<Passage>;
    type Output = Extraction;

    const PHASE: Phase = Phase::Facts;

    fn name(&self) -> &'static str {
        "facts"
    }

    fn prompt(&self) -> Option<&'static str> {
        Some(FACTS.name)
    }

    fn context(&self) -> &Arc<BuildContext> {
        &self.context
    }

    fn units(
        &self,
        reader: &Reader<'_>,
        document: &SourceDocument,
    ) -> heed::Result<Vec<LedgerUnit<Passage>>> {
        document.open_passages(reader, (Task::Facts, self.prompt))
    }

    fn forecast(&self, unit: &LedgerUnit<Passage>) -> Cost {
        let tokens = unit.request.text.len() as u64 / 4;
        let reply = (tokens * REPLY_PER_TOKEN).max(SHORTEST_REPLY);
        Cost::of_call(&self.context.setup, FACTS.name, &variables(&unit.request), reply)
    }

    /// Names that do not occur in the text and ends of facts that are not among the entities are
    /// asked for again once; what is still wrong then is left out and counted.
    async fn run(
        &self,
        cx: &Cx,
        unit: &LedgerUnit<Passage>,
    ) -> Result<Option<Extraction>, StageError> {
        let passage = &unit.request;
        cx.quote(&passage.document);
        let text = form(&passage.whole());
        let tries = AtomicUsize::new(0);
        let check = |reply: &FactsReply| match reply.complaint(&text) {
            Some(complaint) if tries.fetch_add(1, Ordering::Relaxed) == 0 => Err(complaint),
            _ => Ok(()),
        };
        let reply = cx.ask_checked(&FACTS, variables(passage), check).await?;
        Ok(Some(reply.accept(&passage.whole())))
    }

    fn store(
        &self,
        writer: &mut Writer<'_>,
        unit: &LedgerUnit<Passage>,
        result: Result<Extraction, String>,
    ) -> heed::Result<()> {
        unit.record(writer, result)
    }
}

impl SourceDocument {
    /// The passages that this task is not done for.
    pub(super) fn open_passages(
        &self,
        reader: &Reader<'_>,
        (task, asked_with): (Task, Id),
    ) -> heed::Result<Vec<LedgerUnit<Passage>>> {
        let mut units = vec![];
        for (section, chunk) in self.chunks() {
            let passage = self.passage(section, chunk);
            let (key, input) = (UnitKey::of(task, chunk.at()), passage.input(asked_with));
            let unit = LedgerUnit { key, input, request: passage };
            if !unit.request.text.is_empty() && !unit.is_done(reader)? {
                units.push(unit);
            }
        }
        Ok(units)
    }
}
