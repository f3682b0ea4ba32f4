//! The stages of a build: describing figures, chunking, atomizing, embedding, and extracting
//! knowledge. A stage says what its units of work are, what one is expected to cost, how it is done
//! and how its result is stored; [`Driver`] does everything else for all of them, and an estimate
//! is the sum of their forecasts over the same units.
mod ask;
mod atomize;
mod chunk;
mod describe;
mod driver;
mod embed;
mod embed_queue;
mod forecast;
mod knowledge;
mod reply_check;
mod scan;
mod source;
mod summaries;
mod surroundings;
mod windows;

use std::collections::BTreeMap;
use std::sync::Arc;

use halma_core::{BoxError, Cx, Embedder, Error, Limit, Llm, Meter, Setup};

pub(crate) use ask::{AskStage, LedgerUnit};
pub(crate) use atomize::{Atomize, atomized_with};
pub(crate) use chunk::{Chunk, Uncut};
pub(crate) use describe::{Describe, FigureRequest, insert_description};
pub(crate) use driver::{Driver, StageReport};
pub(crate) use embed::{Embed, Embedded, Searched};
pub(crate) use embed_queue::{EmbedQueue, embed_queue};
pub(crate) use forecast::{Corpus, Forecaster, StageForecast, Tally, Texts};
#[cfg(test)]
pub(crate) use knowledge::FactsReply;
pub(crate) use knowledge::{
    Communities, CommunityRequest, CommunityText, Comparison, ComparisonSide, Facts, MAX_ENTITIES,
    MAX_FACTS, MapTags, Rows, SameEntity, SampleRequest, ShownTag, StatedRow, Tag, TagClasses,
    TagForecast,
};
pub(crate) use source::{
    Passage, SourceChunk, SourceDocument, SourceSection, SourceTable, prompt_hash,
};
pub(crate) use summaries::{Summarize, summarize};

use crate::store::{Cost, History, Id, Row, Store, StoreReader, StoreWriter, Task};
use crate::{Base, BasePart, KbError, KbSettings, Phase, Progress};

/// Deletes what quotes documents and is outside the base.
pub type Forget = Arc<dyn Fn(&[String]) -> Result<(), BoxError> + Send + Sync>;

/// What the stages of one build share.
#[derive(Clone)]
pub struct BuildContext {
    pub base: Arc<Base>,
    pub settings: KbSettings,
    /// The models and their prompts.
    pub setup: Arc<Setup>,
    /// The embedder that texts get vectors of.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// What units are asked with whose results are kept, by prompt; of other prompts that is the
    /// wording in use.
    pub prompts: BTreeMap<String, u64>,
    /// The most atoms of a chunk that atoms were rebuilt with, where it was another number than the
    /// base was made with.
    pub rebuilt_max_atoms: Option<usize>,
    /// Parts of the base that the run is asked to rebuild.
    pub rebuild: Vec<BasePart>,
    /// The budget of the build.
    pub meter: Arc<Meter>,
    pub progress: Progress,
    /// Called before documents whose source is gone are removed, and after it. Blocks the thread.
    pub forget: Forget,
    /// Called when the build may write: at first, and after each time that it has made room for a
    /// deletion, before it reads the base again. It may block.
    pub on_turn: Arc<dyn Fn() + Send + Sync>,
}

impl BuildContext {
    /// Without a limit of what may be spent, and reporting no progress.
    pub fn new(base: &Arc<Base>, settings: &KbSettings, setup: &Arc<Setup>) -> Self {
        Self {
            base: Arc::clone(base),
            embedder: base.options.embedder.clone(),
            prompts: BTreeMap::new(),
            rebuilt_max_atoms: None,
            rebuild: vec![],
            settings: settings.clone(),
            setup: Arc::clone(setup),
            meter: Arc::new(Meter::unlimited()),
            progress: Arc::new(|_| ()),
            forget: Arc::new(|_| Ok(())),
            on_turn: Arc::new(|| ()),
        }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.base.store
    }

    /// What units of a prompt are asked with, as it is noted in the ledger: units asked with
    /// another wording are done again.
    pub(crate) fn prompt_input(&self, prompt: &str) -> Id {
        let recorded = self.prompts.get(prompt).copied();
        recorded.unwrap_or_else(|| prompt_hash(&self.setup, prompt))
    }

    /// The model that a prompt goes to.
    pub(crate) fn model_of(&self, prompt: &str) -> &Arc<dyn Llm> {
        let info = self.setup.prompts.list().into_iter().find(|info| info.name == prompt);
        self.setup.models.for_role(info.as_ref().map_or("", |info| info.role.as_str()))
    }
}

/// Notes how many units there were of a stage whose units only an earlier stage could tell, for the
/// next estimate.
pub(crate) fn remember_units<S: Stage>(
    stage: &S,
    writer: &mut StoreWriter<'_>,
    corpus: &Corpus,
    actual: usize,
) -> heed::Result<()> {
    let expected = stage.expect(writer, corpus)?.map_or(0, |(count, _)| count);
    let Some(prompt) = stage.prompt() else { return Ok(()) };
    let mut history = History::default();
    let model = stage.context().model_of(prompt).model().to_owned();
    history.add_units(prompt, &model, expected, actual as u64);
    writer.add_history(&history)
}

/// One kind of work of a build.
pub(crate) trait Stage: Send + Sync + Sized + 'static {
    /// Everything that doing the unit takes.
    type Unit: Send + Sync + 'static;
    type Output: Send + 'static;

    /// As it is shown while it runs.
    const PHASE: Phase;

    /// As it is named in an estimate: the task in its prompt's file.
    fn name(&self) -> &'static str;

    /// The prompt that a model is asked with; `None` where no model is asked.
    fn prompt(&self) -> Option<&'static str>;

    fn context(&self) -> &Arc<BuildContext>;

    fn pace(&self) -> Pace {
        Pace::of_models(&self.context().settings)
    }

    /// The units of a document that are left to do. Units that are known only when an earlier stage
    /// is done are made of what is expected of that. By default no unit is of a stored document.
    fn units(
        &self,
        _txn: &StoreReader<'_>,
        _document: &SourceDocument,
    ) -> heed::Result<Vec<Self::Unit>> {
        Ok(vec![])
    }

    /// The documents of the base that have units left. By default those are looked at that came
    /// since the stage was last complete, and those of units that failed.
    fn backlog(&self, reader: &StoreReader<'_>) -> heed::Result<Backlog> {
        scan::scan(self, reader)
    }

    /// The task of the units, which are all of chunks, and what they are asked with: a document
    /// whose units were all done or noted as failed has no other one until that changes. `None`
    /// where that is not so: all documents are looked at each time.
    fn scanned_by(&self) -> Option<(Task, Id)> {
        None
    }

    /// For units that belong to no single document: how many are expected, all like this one.
    fn expect(
        &self,
        _txn: &StoreReader<'_>,
        _corpus: &Corpus,
    ) -> heed::Result<Option<(u64, Self::Unit)>> {
        Ok(None)
    }

    /// What a unit is expected to cost, before anything is known about the model.
    fn forecast(&self, unit: &Self::Unit) -> Cost;

    /// Does a unit. `None`: what it is about is gone.
    fn run(
        &self,
        cx: &Cx,
        unit: &Self::Unit,
    ) -> impl Future<Output = Result<Option<Self::Output>, StageError>> + Send;

    /// Stores the result of a unit, or the reason for which it failed.
    fn store(
        &self,
        writer: &mut StoreWriter<'_>,
        unit: &Self::Unit,
        result: Result<Self::Output, String>,
    ) -> heed::Result<()>;

    /// Called after what was stored has been committed.
    fn committed(&self) {}

    /// How much of the progress a unit is.
    fn weight(&self, _unit: &Self::Unit) -> usize {
        1
    }

    /// Texts in a result that are embedded next.
    fn texts(&self, _output: &Self::Output) -> u64 {
        0
    }
}

/// How a stage is driven.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Units done at the same time.
    pub(crate) in_flight: usize,
    /// Results that may wait to be written.
    pub(crate) queued: usize,
    /// After this many failures in a row the rest is left for another run: the endpoint is down or
    /// refuses the key, and every further call would only cost time.
    pub(crate) give_up_after: usize,
    /// Whether a model that refuses the first units cannot do the task at all, as an offline model.
    /// Units are done one at a time until one is answered.
    pub(crate) may_be_unable: bool,
}

impl Pace {
    /// The pace of a stage that asks models.
    pub(crate) fn of_models(settings: &KbSettings) -> Self {
        let in_flight = settings.concurrency.max(1);
        Self { in_flight, queued: in_flight, give_up_after: 16, may_be_unable: true }
    }
}

/// Documents of the base with units left, and how many units these are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backlog {
    pub(crate) documents: Vec<Row>,
    pub(crate) units: usize,
}

/// Why a unit has no result.
pub(crate) enum StageError {
    /// The budget is spent: the unit was not tried.
    Spent(Limit),
    /// The model failed, or its reply did not fit.
    Model(Error),
    /// Something else that may work in the next run.
    Failed(KbError),
    /// The base cannot be read or written: the run ends.
    Base(KbError),
}

impl From<Error> for StageError {
    fn from(error: Error) -> Self {
        match error {
            Error::Spent(limit) => Self::Spent(limit),
            error => Self::Model(error),
        }
    }
}
