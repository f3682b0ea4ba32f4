//! Summarizing tables, sections longer than a chunk and documents: chunks, windows of a model's
//! length, sections, documents. What has not changed is not summarized again.
use std::collections::BTreeMap;
use std::sync::Arc;

use halma_core::{Edge, Layer, Prompt};
use minijinja::{Value, context};

use super::forecast::Texts;
use super::reply_check::{complaint, length};
use super::windows::pack;
use super::{
    AskStage, BuildContext, Driver, LedgerUnit, SourceChunk, SourceDocument, SourceTable,
    StageError, StageReport,
};
use crate::error::run_blocking;
use crate::store::{
    At, Id, Link, Row, Store, StoreReader, StoreWriter, SummaryRecord, Task, UnitKey, hash,
    summary_id,
};
use crate::{KbError, Phase};

/// Characters of text that one call summarizes: some 6,000 tokens, which small local models take.
const WINDOW: usize = 24_000;

/// A text is summarized in this many steps at most; each makes it some twenty times shorter.
const DEEPEST: u32 = 6;

/// Numbers of units: the last step of a node is 0, windows of step `n` begin at `n << 24`.
const STEP: u32 = 1 << 24;

/// Tokens of a summary, as expected.
const SUMMARY_TOKENS: u64 = 220;

/// Documents that are read at the same time.
const BATCH: usize = 256;

/// Something to summarize.
struct Target {
    node: At,
    /// Hash of the node's id.
    id: Id,
    document: Row,
    name: String,
    title: String,
    part: &'static str,
    /// Its text, or the summaries it is made of.
    pieces: Vec<String>,
}

/// What one call summarizes.
pub(crate) struct Window {
    document: String,
    title: String,
    part: &'static str,
    texts: Vec<String>,
}

impl Window {
    fn input(&self, prompt: Id) -> Id {
        let prompt = prompt.to_be_bytes();
        let mut parts: Vec<&[u8]> = vec![&prompt, self.title.as_bytes(), self.part.as_bytes()];
        parts.extend(self.texts.iter().map(String::as_bytes));
        hash(&parts)
    }
}

/// Summaries of sections by their rows; `None` where one is missing.
type SectionSummaries = BTreeMap<Row, Option<String>>;

pub(crate) struct Summarize {
    context: Arc<BuildContext>,
    prompt: Id,
}

/// Summarizes every section and document that needs it. Returns how many summaries there are.
pub(crate) async fn summarize(
    context: &Arc<BuildContext>,
) -> Result<(StageReport, usize), KbError> {
    let driver = Driver::new(Summarize::new(context));
    let store = context.store();
    let rows = store.read(|reader| reader.all_rows(Layer::Document))?;
    let mut report = StageReport::default();
    for batch in rows.chunks(BATCH) {
        let (context, batch) = (Arc::clone(context), batch.to_vec());
        let documents =
            run_blocking("reading documents", move || load(context.store(), &batch)).await?;
        let tables = documents.iter().flat_map(tables).collect();
        run_steps(&driver, tables, &mut report).await?;
        let sections = documents.iter().flat_map(sections).collect();
        let made = run_steps(&driver, sections, &mut report).await?;
        let whole = documents.iter().filter_map(|document| whole(document, &made)).collect();
        run_steps(&driver, whole, &mut report).await?;
    }
    let count = store.read(|reader| reader.count(Layer::Summary))?;
    Ok((report, usize::try_from(count).unwrap_or(usize::MAX)))
}

/// The documents that are summarized: those of more than one chunk or with tables.
fn load(store: &Store, rows: &[Row]) -> Result<Vec<SourceDocument>, KbError> {
    store.read(|reader| {
        let mut documents = vec![];
        for row in rows {
            let document = SourceDocument::load(reader, *row)?;
            let summarized =
                |document: &SourceDocument| is_long(document) || !document.tables.is_empty();
            documents.extend(document.filter(summarized));
        }
        Ok(documents)
    })
}

fn is_long(document: &SourceDocument) -> bool {
    document.chunks().nth(1).is_some()
}

fn texts(chunks: &[SourceChunk]) -> impl Iterator<Item = String> {
    chunks.iter().map(|chunk| chunk.text.trim().to_owned())
}

/// The tables of a document, by their first rows.
fn tables(document: &SourceDocument) -> Vec<Target> {
    let target = |table: &SourceTable| Target {
        node: (Layer::Table, table.row.unwrap_or(Row::MAX)),
        id: table.id,
        document: document.row.unwrap_or(Row::MAX),
        name: document.name().to_owned(),
        title: if table.name.is_empty() {
            document.title.clone()
        } else {
            format!("{} > {}", document.title, table.name)
        },
        part: "table",
        pieces: vec![table.text.clone()],
    };
    document.tables.iter().map(target).collect()
}

/// Sections of more than one chunk, of documents that have several sections.
fn sections(document: &SourceDocument) -> Vec<Target> {
    if document.sections.len() < 2 {
        return vec![];
    }
    let long = document.sections.iter().filter(|section| section.chunks.len() > 1);
    let target = |section: &super::SourceSection| Target {
        node: (Layer::Section, section.row.unwrap_or(Row::MAX)),
        id: section.id,
        document: document.row.unwrap_or(Row::MAX),
        name: document.name().to_owned(),
        title: match &section.name {
            Some(name) => format!("{} > {name}", document.title),
            None => document.title.clone(),
        },
        part: "section",
        pieces: texts(&section.chunks).collect(),
    };
    long.map(target).collect()
}

/// A document of more than one chunk, by the summaries of its sections where there are some. One
/// with a section whose summary is missing waits for it.
fn whole(document: &SourceDocument, made: &SectionSummaries) -> Option<Target> {
    let mut pieces = vec![];
    for section in &document.sections {
        let named = section.name.as_deref().unwrap_or("");
        match section.row.and_then(|row| made.get(&row)) {
            Some(Some(summary)) => pieces.push(format!("{named}\n{summary}")),
            Some(None) => return None,
            None => pieces.extend(texts(&section.chunks)),
        }
    }
    is_long(document).then(|| Target {
        node: (Layer::Document, document.row.unwrap_or(Row::MAX)),
        id: document.id,
        document: document.row.unwrap_or(Row::MAX),
        name: document.name().to_owned(),
        title: document.title.clone(),
        part: "document",
        pieces,
    })
}

/// Summarizes targets of one kind, step by step. Returns the summary of each.
async fn run_steps(
    driver: &Driver<Summarize>,
    mut open: Vec<Target>,
    report: &mut StageReport,
) -> Result<SectionSummaries, KbError> {
    let mut made = SectionSummaries::new();
    let stage = driver.stage();
    let store = stage.context.store();
    for step in 1..=DEEPEST {
        if open.is_empty() {
            break;
        }
        let (mut units, mut waiting) = (vec![], vec![]);
        for target in &open {
            let windows = stage.windows(target, step);
            waiting.push(windows.iter().map(|unit| (unit.key, unit.input)).collect::<Vec<_>>());
            units.extend(windows);
        }
        let units = store.read(|reader| {
            let mut left = vec![];
            for unit in units {
                if !unit.is_done(reader)? {
                    left.push(unit);
                }
            }
            Ok(left)
        })?;
        report.add(driver.run_all(units).await?);
        open = take_up(store, open, waiting, &mut made)?;
    }
    for target in open {
        give_up(&target, &mut made);
    }
    Ok(made)
}

/// Stores what is finished; returns what needs another step, made of the summaries of this one.
fn take_up(
    store: &Store,
    open: Vec<Target>,
    waiting: Vec<Vec<(UnitKey, Id)>>,
    made: &mut SectionSummaries,
) -> Result<Vec<Target>, KbError> {
    store.write(|writer| {
        let mut next = vec![];
        for (mut target, keys) in open.into_iter().zip(waiting) {
            let mut summaries: Vec<String> = vec![];
            for (key, input) in &keys {
                summaries.extend(writer.done::<String>(*key, *input)?);
            }
            let row = target.node.1;
            if summaries.len() < keys.len() {
                made.insert(row, None);
            } else if keys.len() == 1 {
                let summary = summaries.concat();
                put(writer, &target, &summary)?;
                made.insert(row, Some(summary));
            } else if length(&summaries) >= length(&target.pieces) {
                // Another step would not make it shorter either.
                give_up(&target, made);
            } else {
                target.pieces = summaries;
                next.push(target);
            }
        }
        Ok(next)
    })
}

/// Leaves a node without a summary.
fn give_up(target: &Target, made: &mut SectionSummaries) {
    let (part, title) = (target.part, &target.title);
    tracing::warn!("no summary of the {part} `{title}`: the summaries of its parts are too long");
    made.insert(target.node.1, None);
}

impl Summarize {
    pub(crate) fn new(context: &Arc<BuildContext>) -> Self {
        let prompt = context.prompt_input(Self::PROMPT.name);
        Self { context: Arc::clone(context), prompt }
    }

    /// The windows of one step; one window alone is the last.
    fn windows(&self, target: &Target, step: u32) -> Vec<LedgerUnit<Window>> {
        let windows = pack(&target.pieces, WINDOW);
        let last = windows.len() == 1;
        let unit = |(number, texts): (u32, Vec<String>)| {
            let part = if last { 0 } else { step * STEP + number };
            let window = Window {
                document: target.name.clone(),
                title: target.title.clone(),
                part: if last { target.part } else { "part" },
                texts,
            };
            let key = UnitKey::part(Task::Summarise, target.node, part);
            LedgerUnit { key, input: window.input(self.prompt), request: window }
        };
        (0_u32..).zip(windows).map(unit).collect()
    }

    /// The units that a target has left, with its summary. Summaries that are not made yet are
    /// taken to be of the usual length.
    fn plan(
        &self,
        reader: &StoreReader<'_>,
        mut target: Target,
        units: &mut Vec<LedgerUnit<Window>>,
    ) -> heed::Result<String> {
        for step in 1..=DEEPEST {
            let mut summaries = vec![];
            for unit in self.windows(&target, step) {
                let done = reader.done::<String>(unit.key, unit.input)?;
                if done.is_none() {
                    units.push(unit);
                }
                summaries.push(done.unwrap_or_else(expected_summary));
            }
            if summaries.len() == 1 {
                return Ok(summaries.concat());
            }
            target.pieces = summaries;
        }
        Ok(expected_summary())
    }
}

fn expected_summary() -> String {
    "x".repeat(usize::try_from(SUMMARY_TOKENS * 4).unwrap_or(0))
}

impl AskStage for Summarize {
    type Request = Window;
    type Reply = String;
    type Stored = String;

    const PHASE: Phase = Phase("summarizing");
    const TASK: &'static str = "summarise";
    const PROMPT: Prompt<String> = Prompt::text("kb/summarise");
    const REPLY_TOKENS: u64 = SUMMARY_TOKENS;

    fn build(&self) -> &Arc<BuildContext> {
        &self.context
    }

    fn open(
        &self,
        reader: &StoreReader<'_>,
        document: &SourceDocument,
    ) -> heed::Result<Vec<LedgerUnit<Window>>> {
        let (mut units, mut document) = (vec![], document.clone());
        // Sections without a row get one to be found by.
        for (number, section) in (0..Row::MAX).rev().zip(&mut document.sections) {
            section.row = Some(section.row.unwrap_or(number));
        }
        for table in tables(&document) {
            self.plan(reader, table, &mut units)?;
        }
        let mut made = SectionSummaries::new();
        for section in sections(&document) {
            let row = section.node.1;
            made.insert(row, Some(self.plan(reader, section, &mut units)?));
        }
        if let Some(whole) = whole(&document, &made) {
            self.plan(reader, whole, &mut units)?;
        }
        Ok(units)
    }

    fn variables(&self, window: &Window) -> Value {
        context! { title => &window.title, part => window.part, texts => &window.texts }
    }

    fn expected_texts(&self, _: &Window) -> Texts {
        let texts = self.count_texts(&String::new());
        Texts { texts, characters: texts * SUMMARY_TOKENS * 4 }
    }

    fn count_texts(&self, _: &String) -> u64 {
        u64::from(self.context.settings.vectors.summary)
    }

    fn documents<'a>(&self, window: &'a Window) -> Vec<&'a str> {
        vec![&window.document]
    }

    fn complaint(&self, window: &Window, reply: &String, _: bool) -> Option<String> {
        complaint(&window.texts, reply)
    }

    fn accept(&self, _: &Window, reply: String) -> Result<String, StageError> {
        Ok(reply)
    }
}

/// The summary as a node that leads to what it sums up.
fn put(writer: &mut StoreWriter<'_>, target: &Target, text: &str) -> heed::Result<()> {
    let id = summary_id(target.id);
    let record = SummaryRecord { id, document: target.document, text: text.to_owned() };
    let (row, is_new) = writer.put_by_id(&record)?;
    writer.put_edge(Link::new((Layer::Summary, row), Edge::DerivedFrom, target.node))?;
    // Its vector is made of its summary.
    if is_new { writer.renew_vector_of(target.node) } else { Ok(()) }
}
