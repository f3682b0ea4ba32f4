//! Writing the title and summary of every community of entities.
use std::sync::Arc;

use halma_core::{Layer, Prompt};
use minijinja::{Value, context};
use serde::{Deserialize, Serialize};

use super::super::forecast::Texts;
use crate::Phase;
use crate::stages::{AskStage, BuildContext, Corpus, LedgerUnit, StageError};
use crate::store::{Id, StoreReader, Task, UnitKey, hash};

/// Communities of all levels for two chunks: 2,680 for 1,669 chunks and 4,549 for 3,197 in Edge et
/// al., "From Local to Global" (2024), Table 3.
const COMMUNITIES_PER_TWO_CHUNKS: u64 = 3;

/// Entities and facts of a community, as expected, and the characters of each.
const EXPECTED_MEMBERS: usize = 8;
const EXPECTED_SENTENCE: usize = 80;

/// What is written about a community.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommunityText {
    pub(crate) title: String,
    pub(crate) summary: String,
}

/// A community as the model is shown it.
pub(crate) struct CommunityRequest {
    pub(crate) variables: Value,
    /// Names of the documents that speak of it.
    pub(crate) documents: Vec<String>,
}

pub(crate) struct Communities {
    context: Arc<BuildContext>,
    prompt: Id,
}

impl Communities {
    pub(crate) fn new(context: &Arc<BuildContext>) -> Self {
        let prompt = context.prompt_input(Self::PROMPT.name);
        Self { context: Arc::clone(context), prompt }
    }

    pub(crate) fn unit(
        &self,
        community: Id,
        request: CommunityRequest,
    ) -> LedgerUnit<CommunityRequest> {
        let key = UnitKey::with_id(Task::Community, Layer::Community, community);
        let rendered = request.variables.to_string();
        let input = hash(&[&self.prompt.to_be_bytes(), rendered.as_bytes()]);
        LedgerUnit { key, input, request }
    }
}

impl AskStage for Communities {
    type Request = CommunityRequest;
    type Reply = CommunityText;
    type Stored = CommunityText;

    const PHASE: Phase = Phase("describing communities");
    const TASK: &'static str = "community";
    const PROMPT: Prompt<CommunityText> = Prompt::json("kb/community");
    /// A title and some six sentences.
    const REPLY_TOKENS: u64 = 160;

    fn build(&self) -> &Arc<BuildContext> {
        &self.context
    }

    fn expectation(
        &self,
        reader: &StoreReader<'_>,
        corpus: &Corpus,
    ) -> heed::Result<Option<(u64, LedgerUnit<CommunityRequest>)>> {
        let made = reader.communities_exist()?;
        let fresh = if made { corpus.fresh } else { corpus.chunks };
        let sentence = "x".repeat(EXPECTED_SENTENCE);
        let entity =
            context! { name => "x".repeat(16), type => "person", description => &sentence };
        let entities = vec![entity; EXPECTED_MEMBERS];
        let facts = vec![sentence; EXPECTED_MEMBERS];
        let variables = context! { entities, facts, parts => Vec::<Value>::new() };
        let unit = self.unit(Id::MAX, CommunityRequest { variables, documents: vec![] });
        Ok(Some(((fresh * COMMUNITIES_PER_TWO_CHUNKS).div_ceil(2), unit)))
    }

    fn variables(&self, request: &CommunityRequest) -> Value {
        request.variables.clone()
    }

    fn expected_texts(&self, _: &CommunityRequest) -> Texts {
        let texts = u64::from(self.context.settings.vectors.community);
        Texts { texts, characters: texts * Self::REPLY_TOKENS * 4 }
    }

    fn count_texts(&self, _: &CommunityText) -> u64 {
        u64::from(self.context.settings.vectors.community)
    }

    fn documents<'a>(&self, request: &'a CommunityRequest) -> Vec<&'a str> {
        request.documents.iter().map(String::as_str).collect()
    }

    fn complaint(&self, _: &CommunityRequest, reply: &CommunityText, _: bool) -> Option<String> {
        let empty = reply.title.trim().is_empty() || reply.summary.trim().is_empty();
        empty.then(|| "`title` or `summary` is empty".to_owned())
    }

    fn accept(
        &self,
        _: &CommunityRequest,
        reply: CommunityText,
    ) -> Result<CommunityText, StageError> {
        Ok(reply)
    }
}
