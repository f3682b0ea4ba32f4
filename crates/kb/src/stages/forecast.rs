//! What the stages of a build are expected to cost: the sum of their forecasts over the units that
//! a build would do. The estimate corrects it by what the base has seen of the model.
use super::{SourceDocument, Stage};
use halma_core::{Setup, estimate_tokens};
use minijinja::Value;

use crate::store::{Cost, Row, StoreReader};

/// What a build is about, for stages whose units are made by earlier stages.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Corpus {
    /// Chunks that the base will have, and their characters.
    pub(crate) chunks: u64,
    pub(crate) characters: u64,
    /// Those of the chunks whose entities are not known yet.
    pub(crate) fresh: u64,
}

/// What one stage is expected to do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StageForecast {
    /// As [`Stage::name`] says.
    pub(crate) stage: &'static str,
    pub(crate) prompt: Option<&'static str>,
    pub(crate) units: u64,
    pub(crate) cost: Cost,
}

/// The forecast of a stage, unit by unit.
pub(crate) trait Forecaster {
    /// Counts the units of a document that is not in the base yet.
    fn add_document(
        &mut self,
        reader: &StoreReader<'_>,
        document: &SourceDocument,
    ) -> heed::Result<()>;

    /// Counts what is left to do of the documents of the base, but for some.
    fn add_backlog(
        &mut self,
        reader: &StoreReader<'_>,
        is_skipped: &dyn Fn(Row) -> bool,
    ) -> heed::Result<()>;

    /// Counts the units that are expected, see [`Stage::expect`].
    fn add_expected(&mut self, reader: &StoreReader<'_>, corpus: &Corpus) -> heed::Result<()>;

    fn forecast(&self) -> StageForecast;
}

/// Adds up the forecasts of one stage.
pub(crate) struct Tally<S: Stage> {
    stage: S,
    units: u64,
    cost: Cost,
}

impl<S: Stage> Tally<S> {
    pub(crate) fn new(stage: S) -> Self {
        Self { stage, units: 0, cost: Cost::default() }
    }

    pub(crate) fn stage(&self) -> &S {
        &self.stage
    }

    pub(crate) fn add(&mut self, unit: &S::Unit) {
        self.units += 1;
        self.cost += self.stage.forecast(unit);
    }
}

impl<S: Stage> Forecaster for Tally<S> {
    fn add_document(
        &mut self,
        reader: &StoreReader<'_>,
        document: &SourceDocument,
    ) -> heed::Result<()> {
        for unit in self.stage.units(reader, document)? {
            self.add(&unit);
        }
        Ok(())
    }

    fn add_backlog(
        &mut self,
        reader: &StoreReader<'_>,
        is_skipped: &dyn Fn(Row) -> bool,
    ) -> heed::Result<()> {
        let mut documents = self.stage.backlog(reader)?.documents;
        documents.retain(|row| !is_skipped(*row));
        for row in documents {
            let document = SourceDocument::load(reader, row)?;
            if let Some(document) = document {
                self.add_document(reader, &document)?;
            }
        }
        Ok(())
    }

    fn add_expected(&mut self, reader: &StoreReader<'_>, corpus: &Corpus) -> heed::Result<()> {
        if let Some((count, unit)) = self.stage.expect(reader, corpus)? {
            self.units += count;
            self.cost += self.stage.forecast(&unit) * count;
        }
        Ok(())
    }

    fn forecast(&self) -> StageForecast {
        let (stage, prompt) = (self.stage.name(), self.stage.prompt());
        StageForecast { stage, prompt, units: self.units, cost: self.cost }
    }
}

/// Texts that are embedded, and their characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Texts {
    pub(crate) texts: u64,
    pub(crate) characters: u64,
}

impl Texts {
    /// Adds a text of so many characters.
    pub(crate) fn add(&mut self, characters: usize) {
        self.texts += 1;
        self.characters += characters as u64;
    }
}

impl Cost {
    /// One call of a prompt with these variables, whose reply has about this many tokens. A prompt
    /// that cannot be rendered costs nothing: the stage itself says what is wrong with it.
    pub(crate) fn of_call(setup: &Setup, prompt: &str, variables: &Value, reply: u64) -> Self {
        let Ok(rendered) = setup.prompts.render(prompt, variables) else { return Self::default() };
        Self {
            calls: 1,
            prompt_tokens: estimate_tokens(&rendered.messages),
            completion_tokens: reply.min(rendered.max_tokens.into()),
            ..Self::default()
        }
    }
}
