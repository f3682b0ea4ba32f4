//! The work that a run of `index` would do: the same reading, judging and cutting, with nothing
//! written.
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use halma_core::{Layer, Setup};

use super::Selection;
use super::desk::{Desk, Incoming, Verdict, document_id};
use super::estimate::Estimate;
use super::forecast::{FORECASTERS, Forecast, Planned, PlannedChunk, sentences_of};
use super::inputs::{cut, cut_with, look, title_of, unchanged};
use crate::cut::Outline;
use crate::read::{Draft, InputFile, Naming, read};
use crate::store::{
    ChunkRecord, DocumentRecord, Id, Row, SectionRecord, State, sameness, under_headings,
};
use crate::{Atoms, Base, IndexOptions, KbError, KbSettings};

/// Waiting texts whose lengths are looked at; the others are taken to be like them.
const SAMPLE: usize = 5000;

/// What would be done.
#[derive(Default)]
pub(super) struct Plan {
    /// Its counts of documents and chunks.
    pub(super) estimate: Estimate,
    pub(super) forecasts: Vec<Forecast>,
    /// Texts to embed that are there already or come without a model.
    pub(super) texts: u64,
    pub(super) characters: u64,
}

pub(super) struct Planner<'a> {
    base: &'a Base,
    settings: &'a KbSettings,
    options: &'a IndexOptions,
    setup: &'a Setup,
    desk: Desk,
    plan: Plan,
    forecasts: BTreeMap<&'static str, Forecast>,
    /// Chunks of documents that would be replaced.
    leaving: HashSet<Row>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        base: &'a Base,
        settings: &'a KbSettings,
        options: &'a IndexOptions,
        setup: &'a Setup,
    ) -> Self {
        Self {
            base,
            settings,
            options,
            setup,
            desk: Desk::new(cut_with(settings), false),
            plan: Plan::default(),
            forecasts: BTreeMap::new(),
            leaving: HashSet::new(),
        }
    }

    pub(super) fn run(mut self, inputs: &[PathBuf]) -> Result<Plan, KbError> {
        let selection = Selection::new(self.options)?;
        let walked = look(self.base, inputs, (self.options, &selection))?;
        self.plan.estimate.refused.clone_from(&walked.refused);
        for file in &walked.files {
            self.file(file)?;
        }
        self.waiting_chunks()?;
        self.waiting_texts()?;
        self.plan.forecasts = self.forecasts.into_values().collect();
        Ok(self.plan)
    }

    fn file(&mut self, file: &InputFile) -> Result<(), KbError> {
        let bytes = match file.load() {
            Ok(bytes) => bytes,
            Err(refusal) => {
                self.plan.estimate.refused.push(refusal.of(&file.path));
                return Ok(());
            }
        };
        if let Some(id) = unchanged(self.base, (file, &bytes), (self.options, &self.desk))? {
            let name = file.name.as_str();
            let origin = file.origin.as_str();
            let incoming = Incoming { id, name, naming: Naming::Own, source: name, origin };
            let store = &self.base.store;
            store.read(|txn| self.desk.judge((store, txn), incoming))?;
            self.plan.estimate.documents_unchanged += 1;
            return Ok(());
        }
        let format = self.options.format;
        let refused = read(file, bytes, format, &mut |draft| self.document(&draft, &file.origin))?;
        self.plan.estimate.refused.extend(refused);
        Ok(())
    }

    fn document(&mut self, draft: &Draft, origin: &str) -> Result<(), KbError> {
        let store = &self.base.store;
        let id = document_id(title_of(draft), &draft.parsed.text);
        let Draft { name, naming, source, .. } = draft;
        let incoming = Incoming { id, name, naming: *naming, source, origin };
        let counts = &mut self.plan.estimate;
        let former = match store.read(|txn| self.desk.judge((store, txn), incoming))? {
            Verdict::Known { first: true, .. } => {
                counts.documents_unchanged += 1;
                return Ok(());
            }
            Verdict::Known { .. } | Verdict::Repeated => return Ok(()),
            Verdict::Recut { row, .. } => {
                counts.documents_replaced += 1;
                Some(row)
            }
            Verdict::New { replaces: None, .. } => {
                counts.documents_new += 1;
                None
            }
            Verdict::New { name, replaces: Some(row) } => {
                let record: DocumentRecord = store.read(|txn| store.linked(txn, row))?;
                counts.documents_replaced += 1;
                (record.names == [name]).then_some(row)
            }
        };
        let mut held = HashMap::new();
        if let Some(row) = former {
            held = self.leave(row)?;
        }
        self.cut(draft, held)
    }

    /// The chunks that a replaced document has, by what makes them the same, and whether their
    /// atoms are made.
    fn leave(&mut self, row: Row) -> Result<HashMap<Id, Vec<bool>>, KbError> {
        let (store, kind) = (&self.base.store, self.settings.atoms);
        let (held, leaving) = store.read(|txn| {
            let mut held: HashMap<Id, Vec<bool>> = HashMap::new();
            let mut leaving = vec![];
            for (sameness, chunk) in store.samenesses(txn, row)? {
                let unit = store.unit(txn, chunk)?.filter(|unit| unit.atoms == kind);
                let done = unit.is_some_and(|unit| matches!(unit.state, State::Done(_)));
                held.entry(sameness).or_default().push(done);
                leaving.push(chunk);
            }
            Ok((held, leaving))
        })?;
        self.leaving.extend(leaving);
        Ok(held)
    }

    /// Cuts a document and foresees what its chunks will cost.
    fn cut(&mut self, draft: &Draft, mut held: HashMap<Id, Vec<bool>>) -> Result<(), KbError> {
        let title = title_of(draft);
        let Outline { sections, .. } = cut(draft, self.settings);
        let mut chunks = vec![];
        for section in &sections {
            let heading = section.name.as_deref().filter(|_| section.indexed);
            for piece in &section.chunks {
                let (begin, end) = piece.place.bytes;
                let text = piece.text.as_deref().unwrap_or(&draft.parsed.text[begin..end]);
                let searched = under_headings(title, heading, text);
                let same = held.get_mut(&sameness(&searched, text, piece.text.is_none()));
                let done = same.and_then(Vec::pop);
                self.plan.estimate.chunks_kept += usize::from(done.is_some());
                if done.is_none() {
                    self.plan.texts += 1;
                    self.plan.characters += searched.len() as u64;
                }
                chunks.push(PlannedChunk { section: heading, text, fresh: done != Some(true) });
            }
        }
        self.plan.estimate.chunks += chunks.len();
        self.foresee(title, &chunks)
    }

    fn foresee(&mut self, title: &str, chunks: &[PlannedChunk<'_>]) -> Result<(), KbError> {
        let planned = Planned { title, chunks, settings: self.settings, setup: self.setup };
        for forecaster in FORECASTERS {
            for forecast in forecaster(&planned)? {
                let Some(sum) = self.forecasts.get_mut(forecast.prompt) else {
                    self.forecasts.insert(forecast.prompt, forecast);
                    continue;
                };
                sum.units += forecast.units;
                sum.calls += forecast.calls;
                sum.prompt_tokens += forecast.prompt_tokens;
                sum.completion_tokens += forecast.completion_tokens;
                sum.texts += forecast.texts;
            }
        }
        if self.settings.atoms == Atoms::Sentences {
            let (texts, characters) = sentences_of(&planned);
            self.plan.texts += texts;
            self.plan.characters += characters;
        }
        Ok(())
    }

    /// Chunks of the base that an earlier run left without atoms.
    fn waiting_chunks(&mut self) -> Result<(), KbError> {
        let (store, kind) = (&self.base.store, self.settings.atoms);
        let mut rows = store.read(|txn| store.unatomized(txn, kind))?;
        rows.retain(|row| !self.leaving.contains(row));
        for row in rows {
            let (title, section, text) = store.read(|txn| {
                let chunk: ChunkRecord = store.linked(txn, row)?;
                let document: DocumentRecord = store.linked(txn, chunk.document)?;
                let section: SectionRecord = store.linked(txn, chunk.section)?;
                let heading = section.name.filter(|_| section.indexed);
                Ok((document.title, heading, store.chunk_text(txn, &chunk)?))
            })?;
            let section = section.as_deref();
            self.foresee(&title, &[PlannedChunk { section, text: &text, fresh: true }])?;
        }
        Ok(())
    }

    /// Texts of the base that have no vector of the embedder in use.
    fn waiting_texts(&mut self) -> Result<(), KbError> {
        let Some(embedder) = &self.base.embedder else { return Ok(()) };
        let store = &self.base.store;
        let (texts, characters) = store.read(|txn| {
            let mut rows = if store.aim(txn)?.as_deref() == Some(embedder.model()) {
                store.awaiting_vector(txn)?
            } else {
                let mut all = vec![];
                for layer in [Layer::Chunk, Layer::Atom] {
                    let rows = store.rows(txn, layer, 0, usize::MAX)?;
                    all.extend(rows.into_iter().map(|row| (layer, row)));
                }
                all
            };
            rows.retain(|(layer, row)| *layer != Layer::Chunk || !self.leaving.contains(row));
            let step = rows.len().div_ceil(SAMPLE).max(1);
            let mut characters = 0;
            for (layer, row) in rows.iter().step_by(step) {
                let text = store.searched_text(txn, *layer, *row)?;
                characters += text.map_or(0, |text| text.len() as u64) * step as u64;
            }
            Ok((rows.len() as u64, characters))
        })?;
        self.plan.texts += texts;
        self.plan.characters += characters;
        Ok(())
    }
}
