//! A dry run of `index`: the same reading and resolving, and the forecasts of the same stages over
//! the same units, with nothing asked or written.
mod texts;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use halma_core::Layer;

use self::texts::{embedded_rows, layer_texts, tables};
use super::estimate::Estimate;
use super::reader::{Input, InputDocument, InputReader};
use super::resolver::{DocumentResolver, Incoming, IngestAction, document_id};
use crate::cut::{CutSettings, expected_cut};
use crate::extract::forecasters;
use crate::read::ParsedDocument;
use crate::stages::{
    Atomize, BuildContext, Chunk, Corpus, Describe, FigureRequest, Forecaster, SourceChunk,
    SourceDocument, SourceSection, StageForecast, Tally, Uncut, insert_description,
};
use crate::store::{
    DocumentRecord, Id, Outline, Row, SectionDraft, sameness, section_sameness, under_headings,
};
use crate::{Atoms, IndexOptions, KbError};

/// Waiting texts whose lengths are looked at; the others are taken to be like them.
const SAMPLE: usize = 5000;

/// What a run would do.
#[derive(Default)]
pub(super) struct Preview {
    /// Its counts of documents and chunks.
    pub(super) estimate: Estimate,
    /// In the order of the build.
    pub(super) forecasts: Vec<StageForecast>,
    /// Texts to embed that do not come from a model, and their characters.
    pub(super) texts: u64,
    pub(super) characters: u64,
}

/// Chunks that a replaced document has, by what makes them the same.
type Former = HashMap<Id, VecDeque<Row>>;

pub(super) struct Previewer {
    context: Arc<BuildContext>,
    cut_settings: CutSettings,
    resolver: DocumentResolver,
    preview: Preview,
    corpus: Corpus,
    describe: Tally<Describe>,
    chunk: Tally<Chunk>,
    stages: Vec<Box<dyn Forecaster>>,
    /// Documents that are counted already, and rows of those that would be replaced.
    met: HashSet<Id>,
    leaving: HashSet<Row>,
}

impl Previewer {
    pub(super) fn new(context: &Arc<BuildContext>) -> Result<Self, KbError> {
        let cut_settings = CutSettings::from(&context.settings);
        let mut stages = forecasters(context)?;
        if context.settings.atoms != Atoms::None {
            stages.insert(0, Box::new(Tally::new(Atomize::new(context, None))));
        }
        Ok(Self {
            context: Arc::clone(context),
            cut_settings,
            resolver: DocumentResolver::new(cut_settings.fingerprint(), &context.base),
            preview: Preview::default(),
            corpus: Corpus::default(),
            describe: Tally::new(Describe::new(context)),
            chunk: Tally::new(Chunk::new(context)),
            stages,
            met: HashSet::new(),
            leaving: HashSet::new(),
        })
    }

    pub(super) fn run(
        mut self,
        inputs: &[PathBuf],
        options: &IndexOptions,
    ) -> Result<Preview, KbError> {
        let reader = InputReader::new(&self.context.base, options, &self.context.settings)?;
        let walked = reader.walk(inputs)?;
        self.preview.estimate.refused.clone_from(&walked.refused);
        let files: Vec<_> = walked.files.into_iter().map(Arc::new).collect();
        reader.read_all(&files, true, &mut |input| self.take(input))?;
        self.add_backlog()?;
        self.add_waiting_texts()?;
        self.finish()
    }

    fn take(&mut self, input: Input) -> Result<(), KbError> {
        match input {
            Input::Document(document) => self.add(*document)?,
            Input::Unchanged(unchanged) => {
                let incoming = Incoming::of_file(unchanged.document, &unchanged.file);
                let store = self.context.store();
                store.read(|reader| self.resolver.resolve(reader, incoming))?;
                self.preview.estimate.documents_unchanged += 1;
            }
            Input::Refused(refused) => self.preview.estimate.refused.extend(refused),
            Input::FileDone(_) => {}
        }
        Ok(())
    }

    fn add(&mut self, document: InputDocument) -> Result<(), KbError> {
        let InputDocument { mut draft, file, .. } = document;
        let figures = if self.context.settings.describe_figures {
            FigureRequest::take_from(0, &mut draft)
        } else {
            vec![]
        };
        for figure in &figures {
            let (_, at) = figure.place();
            insert_description(&mut draft.parsed, at, &Describe::expected_text());
        }
        let id = document_id(draft.shown_title(), &draft.parsed.text);
        let context = Arc::clone(&self.context);
        let store = context.store();
        let incoming = Incoming::of_draft(id, &draft, &file);
        let action = store.read(|reader| self.resolver.resolve(reader, incoming))?;
        let counts = &mut self.preview.estimate;
        let former = match action {
            IngestAction::Keep { first, .. } => {
                counts.documents_unchanged += usize::from(first);
                return Ok(());
            }
            // Twice in the input.
            _ if !self.met.insert(id) => return Ok(()),
            IngestAction::Rechunk { row, .. } => {
                counts.documents_replaced += 1;
                Some(row)
            }
            IngestAction::Add { replaces: None, .. } => {
                counts.documents_new += 1;
                None
            }
            IngestAction::Add { name, replaces: Some(row) } => {
                let record: DocumentRecord = store.read(|reader| reader.linked(row))?;
                counts.documents_replaced += 1;
                (record.names == [name]).then_some(row)
            }
        };
        for figure in &figures {
            self.describe.add(figure);
        }
        let uncut = Uncut { id, draft: Arc::new(draft) };
        if self.chunk.stage().asks() {
            self.chunk.add(&uncut);
        }
        self.add_document(&uncut, former)
    }

    /// Chunks a document as it is expected to be and adds what its chunks will cost. Chunks that a
    /// former document has keep what was made of them.
    fn add_document(&mut self, uncut: &Uncut, former: Option<Row>) -> Result<(), KbError> {
        let draft = &uncut.draft;
        let context = Arc::clone(&self.context);
        let store = context.store();
        let mut chunks = Former::new();
        let mut sections = Former::new();
        if let Some(row) = former {
            self.leaving.insert(row);
            store.read(|reader| {
                for (sameness, chunk) in reader.samenesses(row)? {
                    chunks.entry(sameness).or_default().push_back(chunk);
                }
                for (sameness, section) in reader.section_samenesses(row)? {
                    sections.entry(sameness).or_default().push_back(section);
                }
                Ok(())
            })?;
        }
        let outline = expected_cut(&draft.parsed, draft.shown_title(), &self.cut_settings).outline;
        let made = layer_texts(&context.settings, draft, &outline);
        self.preview.texts += made.texts;
        self.preview.characters += made.characters;
        let tables = tables(&draft.parsed.text, &outline);
        let Outline { sections: drafts, .. } = outline;
        let mut document = SourceDocument {
            id: uncut.id,
            names: vec![draft.name.clone()],
            title: draft.shown_title().to_owned(),
            tables,
            ..SourceDocument::default()
        };
        for section in drafts {
            document.sections.push(self.section(draft, section, &mut chunks, &mut sections));
        }
        store.read(|reader| {
            for stage in &mut self.stages {
                stage.add_document(reader, &document)?;
            }
            Ok(())
        })
    }

    fn section(
        &mut self,
        draft: &ParsedDocument,
        section: SectionDraft,
        chunks: &mut Former,
        sections: &mut Former,
    ) -> SourceSection {
        let title = draft.shown_title();
        let heading = section.name.as_deref().filter(|_| section.indexed);
        let (begin, end) = section.place.bytes;
        let name = section.name.as_deref().unwrap_or("");
        let same = section_sameness(title, name, &draft.parsed.text[begin..end]);
        let row = sections.get_mut(&same).and_then(VecDeque::pop_front);
        let mut made = vec![];
        for chunk in section.chunks {
            let (begin, end) = chunk.place.bytes;
            let verbatim = chunk.text.is_none();
            let text = chunk.text.unwrap_or_else(|| draft.parsed.text[begin..end].to_owned());
            let searched = under_headings(title, heading, &text);
            let same = sameness(&searched, &text, verbatim);
            let row = chunks.get_mut(&same).and_then(VecDeque::pop_front);
            self.preview.estimate.chunks += 1;
            self.preview.estimate.chunks_kept += usize::from(row.is_some());
            self.corpus.chunks += 1;
            self.corpus.characters += text.len() as u64;
            if row.is_none() {
                self.corpus.fresh += 1;
                self.preview.texts += 1;
                self.preview.characters += searched.len() as u64;
            }
            made.push(SourceChunk { row, text, place: chunk.place, verbatim });
        }
        SourceSection { row, id: 0, name: section.name, chunks: made }
    }

    /// What earlier runs have left to do of documents that stay.
    fn add_backlog(&mut self) -> Result<(), KbError> {
        let context = Arc::clone(&self.context);
        let (store, leaving) = (context.store(), std::mem::take(&mut self.leaving));
        let is_leaving = |row: Row| leaving.contains(&row);
        store.read(|reader| {
            for stage in &mut self.stages {
                stage.add_backlog(reader, &is_leaving)?;
            }
            for node in reader.nodes::<DocumentRecord>()? {
                let (row, record) = node?;
                if !is_leaving(row) {
                    self.corpus.chunks += u64::from(record.chunks.1 - record.chunks.0);
                    self.corpus.characters += reader.text_bytes(row)? as u64;
                }
            }
            Ok(())
        })?;
        self.leaving = leaving;
        Ok(())
    }

    /// Texts of the base that have no vector of the embedder in use.
    fn add_waiting_texts(&mut self) -> Result<(), KbError> {
        let Some(embedder) = &self.context.embedder else { return Ok(()) };
        let store = self.context.store();
        let (texts, characters) = store.read(|reader| {
            let is_target = reader.target_model()?.as_deref() == Some(embedder.model());
            let mut rows = if is_target { reader.awaiting_vector()? } else { vec![] };
            let vector_layers = reader.vector_layers()?;
            for layer in self.context.settings.vectors.layers() {
                if !is_target || !vector_layers.holds(layer) {
                    rows.extend(embedded_rows(reader, layer)?);
                }
            }
            let mut leaving = HashSet::new();
            for row in &self.leaving {
                let record: DocumentRecord = reader.linked(*row)?;
                leaving.extend(record.chunks.0..record.chunks.1);
            }
            rows.retain(|(layer, row)| *layer != Layer::Chunk || !leaving.contains(row));
            let step = rows.len().div_ceil(SAMPLE).max(1);
            let mut characters = 0;
            for (layer, row) in rows.iter().step_by(step) {
                let text = reader.embedded_text(*layer, *row)?;
                characters += text.map_or(0, |text| text.len() as u64) * step as u64;
            }
            Ok((rows.len() as u64, characters))
        })?;
        self.preview.texts += texts;
        self.preview.characters += characters;
        Ok(())
    }

    /// Adds what the later stages are expected to find, and puts the forecasts in order.
    fn finish(mut self) -> Result<Preview, KbError> {
        let store = self.context.store();
        let facts = self.stages.iter().map(|stage| stage.forecast()).find(|f| f.stage == "facts");
        let mut corpus = self.corpus;
        corpus.fresh = facts.map_or(corpus.fresh, |facts| facts.units);
        let mut forecasts = vec![self.describe.forecast(), self.chunk.forecast()];
        store.read(|reader| {
            for stage in &mut self.stages {
                stage.add_expected(reader, &corpus)?;
            }
            Ok(())
        })?;
        forecasts.extend(self.stages.iter().map(|stage| stage.forecast()));
        self.preview.forecasts = forecasts.into_iter().filter(|f| f.units > 0).collect();
        Ok(self.preview)
    }
}
