//! Writing the title and summary of every community of entities.
use std::sync::Arc;

use halma_core::{Cx, Layer, Prompt};
use minijinja::{Value, context};
use serde::{Deserialize, Serialize};

use super::{
    BuildContext, Corpus, Cost, LedgerUnit, SourceDocument, Stage, StageError, prompt_hash,
};
use crate::Phase;
use crate::extract::communities_exist;
use crate::store::{Id, Reader, Task, UnitKey, Writer, hash};

const COMMUNITY: Prompt<CommunityText> = Prompt::json("kb/community");

/// Communities of all levels for two chunks: 2,680 for 1,669 chunks and 4,549 for 3,197 in Edge et
/// al., "From Local to Global" (2024), Table 3.
const COMMUNITIES_PER_TWO_CHUNKS: u64 = 3;

/// Tokens of a reply: a title and some six sentences.
const REPLY_TOKENS: u64 = 160;

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
        let prompt = prompt_hash(&context.setup, COMMUNITY.name);
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

impl Stage for Communities {
    type Unit = LedgerUnit<CommunityRequest>;
    type Output = CommunityText;

    const PHASE: Phase = Phase::Communities;

    fn name(&self) -> &'static str {
        "community"
    }

    fn prompt(&self) -> Option<&'static str> {
        Some(COMMUNITY.name)
    }

    fn context(&self) -> &Arc<BuildContext> {
        &self.context
    }

    /// Which communities there are is known when the entities are.
    fn units(
        &self,
        _: &Reader<'_>,
        _: &SourceDocument,
    ) -> heed::Result<Vec<LedgerUnit<CommunityRequest>>> {
        Ok(vec![])
    }

    fn expect(
        &self,
        reader: &Reader<'_>,
        corpus: &Corpus,
    ) -> heed::Result<Option<(u64, LedgerUnit<CommunityRequest>)>> {
        let made = communities_exist(reader)?;
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

    fn forecast(&self, unit: &LedgerUnit<CommunityRequest>) -> Cost {
        let setup = &self.context.setup;
        Cost::of_call(setup, COMMUNITY.name, &unit.request.variables, REPLY_TOKENS)
    }

    async fn run(
        &self,
        cx: &Cx,
        unit: &LedgerUnit<CommunityRequest>,
    ) -> Result<Option<CommunityText>, StageError> {
        for document in &unit.request.documents {
            cx.quote(document);
        }
        let check = |reply: &CommunityText| {
            let empty = reply.title.trim().is_empty() || reply.summary.trim().is_empty();
            if empty { Err("`title` or `summary` is empty".to_owned()) } else { Ok(()) }
        };
        Ok(Some(cx.ask_checked(&COMMUNITY, unit.request.variables.clone(), check).await?))
    }

    fn store(
        &self,
        writer: &mut Writer<'_>,
        unit: &LedgerUnit<CommunityRequest>,
        result: Result<CommunityText, String>,
    ) -> heed::Result<()> {
        unit.record(writer, result)
    }
}
