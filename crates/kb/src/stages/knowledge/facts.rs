//! Extracting the entities and facts of every chunk.
use std::sync::Arc;

use halma_core::Prompt;
use minijinja::{Value, context};

use super::super::forecast::Texts;
use super::facts_reply::{FactsReply, MAX_ENTITIES, MAX_FACTS};
use crate::stages::{AskStage, BuildContext, LedgerUnit, Passage, SourceDocument, StageError};
use crate::store::{Extraction, Id, StoreReader, Task, UnitKey};
use crate::terms::form;
use crate::{Phase, VectorLayers};

const REPLY_PER_TOKEN: u64 = 5;

/// Characters of text for each entity and each fact, and of its description or sentence.
const TEXT_PER_FACT: usize = 49;
const SENTENCE: usize = 80;

pub(crate) struct Facts {
    context: Arc<BuildContext>,
    prompt: Id,
}

impl Facts {
    pub(crate) fn new(context: &Arc<BuildContext>) -> Self {
        let prompt = context.prompt_input(Self::PROMPT.name);
        Self { context: Arc::clone(context), prompt }
    }
}

impl AskStage for Facts {
    type Request = Passage;
    type Reply = FactsReply;
    type Stored = Extraction;

    const PHASE: Phase = Phase("extracting facts");
    const TASK: &'static str = "facts";
    const PROMPT: Prompt<FactsReply> = Prompt::json("kb/facts");
    /// At least.
    const REPLY_TOKENS: u64 = 40;

    fn build(&self) -> &Arc<BuildContext> {
        &self.context
    }

    fn open(
        &self,
        reader: &StoreReader<'_>,
        document: &SourceDocument,
    ) -> heed::Result<Vec<LedgerUnit<Passage>>> {
        document.open_passages(reader, Task::Facts, self.prompt)
    }

    fn asked_with(&self) -> Option<(Task, Id)> {
        Some((Task::Facts, self.prompt))
    }

    fn variables(&self, passage: &Passage) -> Value {
        context! {
            chunk => context! {
                title => &passage.title,
                section => &passage.section,
                text => &passage.text,
            },
            most_entities => MAX_ENTITIES,
            most_facts => MAX_FACTS,
        }
    }

    /// As many for each token of text: nine entities and nine facts in 110 tokens, as recorded for
    /// 1,890 passages of encyclopaedias, with descriptions and sentences.
    fn reply_tokens(&self, passage: &Passage) -> u64 {
        (passage.text.len() as u64 / 4 * REPLY_PER_TOKEN).max(Self::REPLY_TOKENS)
    }

    fn expected_texts(&self, passage: &Passage) -> Texts {
        let VectorLayers { entity, fact, .. } = self.context.settings.vectors;
        let each = (passage.text.len() / TEXT_PER_FACT) as u64;
        let texts = each * (u64::from(entity) + u64::from(fact));
        Texts { texts, characters: texts * SENTENCE as u64 }
    }

    fn count_texts(&self, extraction: &Extraction) -> u64 {
        let VectorLayers { entity, fact, .. } = self.context.settings.vectors;
        let count = |number: usize, wanted: bool| if wanted { number as u64 } else { 0 };
        count(extraction.mentions.len(), entity) + count(extraction.facts.len(), fact)
    }

    fn documents<'a>(&self, passage: &'a Passage) -> Vec<&'a str> {
        vec![&passage.document]
    }

    /// Names that do not occur in the text and ends of facts that are not among the entities are
    /// asked for again once; what is still wrong then is left out and counted.
    fn complaint(&self, passage: &Passage, reply: &FactsReply, first: bool) -> Option<String> {
        if first { reply.complaint(&form(&passage.whole())) } else { None }
    }

    fn accept(&self, passage: &Passage, reply: FactsReply) -> Result<Extraction, StageError> {
        Ok(reply.accept(&passage.whole()))
    }
}

impl SourceDocument {
    /// The passages that this task is not done for.
    pub(in crate::stages) fn open_passages(
        &self,
        reader: &StoreReader<'_>,
        task: Task,
        asked_with: Id,
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
