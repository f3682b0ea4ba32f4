//! Summaries of documents and of sections longer than a chunk: chunks, windows of a model's
//! length, sections, documents. What has not changed is not summed up again.
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::Writer as RwTxn;
use halma_core::{Cx, Edge, Layer, Prompt};
use minijinja::context;

use super::passage::prompt_hash;
use super::units::{Distiller, Fault, Job, Ran, run};
use crate::error::run_blocking;
use crate::store::{
    At, ChunkRecord, DocumentRecord, Id, Link, Reading, Row, Rows, SectionRecord, Store,
    SummaryRecord, Task, UnitKey, hash,
};
use crate::{Base, KbError, Stage};

const SUMMARISE: Prompt<String> = Prompt::text("kb/summarise");

/// Characters of text that one call sums up: some 6,000 tokens, which small local models take.
pub(super) const WINDOW: usize = 24_000;

/// A text is summed up in so many steps at most; each makes it some twenty times shorter.
const DEEPEST: u32 = 6;

/// Numbers of units: the last step of a node is 0, windows of step `n` begin at `n << 24`.
const STEP: u32 = 1 << 24;

/// Something to sum up.
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

/// One call.
struct Window {
    document: String,
    title: String,
    part: &'static str,
    texts: Vec<String>,
}

/// Documents that are read at the same time.
const BATCH: usize = 256;

/// Sums up every section and document that needs it. Returns how many summaries there are.
pub(super) async fn sum_up_all(distiller: &Arc<Distiller>) -> Result<(Ran, usize), KbError> {
    let prompt = prompt_hash(&distiller.setup, SUMMARISE.name);
    let base = &distiller.base;
    let rows = base.store.read(|txn| base.store.rows(txn, Layer::Document, 0, usize::MAX))?;
    let mut ran = Ran::default();
    for batch in rows.chunks(BATCH) {
        if ran.pending > 0 {
            // The budget is spent or the model is gone: the rest is not tried.
            let (base, batch) = (Arc::clone(base), batch.to_vec());
            ran.pending +=
                run_blocking("reading documents", move || long_ones(&base, &batch)).await?;
            continue;
        }
        let (of, rows) = (Arc::clone(base), batch.to_vec());
        let sections = run_blocking("reading sections", move || sections(&of, &rows)).await?;
        let (asked, made) = sum_up(distiller, sections, prompt).await?;
        ran.add(asked);
        let (of, rows) = (Arc::clone(base), batch.to_vec());
        let documents =
            run_blocking("reading documents", move || documents(&of, &rows, &made)).await?;
        ran.add(sum_up(distiller, documents, prompt).await?.0);
    }
    let count = base.store.read(|txn| base.store.count(txn, Layer::Summary))?;
    Ok((ran, usize::try_from(count).unwrap_or(usize::MAX)))
}

fn is_long(document: &DocumentRecord) -> bool {
    document.chunks.1 - document.chunks.0 > 1
}

/// How many of these documents are summed up at all.
fn long_ones(base: &Base, rows: &[Row]) -> Result<usize, KbError> {
    base.store.read(|txn| {
        let mut count = 0;
        for row in rows {
            let document: Option<DocumentRecord> = base.store.node(txn, *row)?;
            count += usize::from(document.is_some_and(|document| is_long(&document)));
        }
        Ok(count)
    })
}

/// Sections of more than one chunk, of documents that have other sections beside them.
fn sections(base: &Base, rows: &[Row]) -> Result<Vec<Target>, KbError> {
    let store = &base.store;
    store.read(|txn| {
        let mut targets = vec![];
        for row in rows {
            let Some(document) = store.node::<DocumentRecord>(txn, *row)? else { continue };
            if document.sections.1 - document.sections.0 < 2 {
                continue;
            }
            for at in document.sections.0..document.sections.1 {
                let section: SectionRecord = store.linked(txn, at)?;
                if section.chunks.1 - section.chunks.0 < 2 {
                    continue;
                }
                let title = match &section.name {
                    Some(name) => format!("{} > {name}", document.title),
                    None => document.title.clone(),
                };
                targets.push(Target {
                    node: (Layer::Section, at),
                    id: section.id,
                    document: *row,
                    name: document.names.first().cloned().unwrap_or_default(),
                    title,
                    part: "section",
                    pieces: texts(store, txn, section.chunks)?,
                });
            }
        }
        Ok(targets)
    })
}

/// Documents of more than one chunk, by the summaries of their sections where there are some. One
/// with a section whose summary is missing waits for it.
fn documents(
    base: &Base,
    rows: &[Row],
    made: &BTreeMap<Row, Option<String>>,
) -> Result<Vec<Target>, KbError> {
    let store = &base.store;
    store.read(|txn| {
        let mut targets = vec![];
        for row in rows {
            let document = store.node::<DocumentRecord>(txn, *row)?.filter(is_long);
            let Some(document) = document else { continue };
            let (mut pieces, mut complete) = (vec![], true);
            for section in document.sections.0..document.sections.1 {
                let record: SectionRecord = store.linked(txn, section)?;
                let named = record.name.as_deref().unwrap_or("");
                match made.get(&section) {
                    Some(Some(summary)) => pieces.push(format!("{named}\n{summary}")),
                    Some(None) => complete = false,
                    None => pieces.extend(texts(store, txn, record.chunks)?),
                }
            }
            targets.extend(complete.then(|| Target {
                node: (Layer::Document, *row),
                id: document.id,
                document: *row,
                name: document.names.first().cloned().unwrap_or_default(),
                title: document.title.clone(),
                part: "document",
                pieces,
            }));
        }
        Ok(targets)
    })
}

fn texts(store: &Store, txn: &Reading<'_>, chunks: Rows) -> heed::Result<Vec<String>> {
    let mut texts = vec![];
    for row in chunks.0..chunks.1 {
        if let Some(chunk) = store.node::<ChunkRecord>(txn, row)? {
            texts.push(store.chunk_text(txn, &chunk)?.trim().to_owned());
        }
    }
    Ok(texts)
}

/// Sums up targets of one kind, step by step. Returns the summary of each, or that it is missing.
async fn sum_up(
    distiller: &Arc<Distiller>,
    mut open: Vec<Target>,
    prompt: Id,
) -> Result<(Ran, BTreeMap<Row, Option<String>>), KbError> {
    let (mut ran, mut made) = (Ran::default(), BTreeMap::new());
    for step in 1..=DEEPEST {
        if open.is_empty() {
            break;
        }
        let (mut jobs, mut waiting) = (vec![], vec![]);
        for target in &open {
            let windows = pack(&target.pieces, WINDOW);
            let last = windows.len() == 1;
            let mut keys = vec![];
            for (number, texts) in (0_u32..).zip(windows) {
                let part = if last { 0 } else { step * STEP + number };
                let key = UnitKey::part(Task::Summarise, target.node, part);
                let window = Window {
                    document: target.name.clone(),
                    title: target.title.clone(),
                    part: if last { target.part } else { "part" },
                    texts,
                };
                let input = window.input(prompt);
                keys.push((key, input));
                jobs.push(Job { key, input, of: window });
            }
            waiting.push((last, keys));
        }
        let base = &distiller.base;
        let jobs = base.store.read(|txn| {
            let mut left = vec![];
            for job in jobs {
                if !base.store.is_done(txn, job.key, job.input)? {
                    left.push(job);
                }
            }
            Ok(left)
        })?;
        let asked = run(distiller, Stage::Summarise, jobs, |cx, window| async move {
            Ok::<_, Fault>(Some(ask(&cx, window).await?))
        });
        ran.add(asked.await?);
        open = take_up(base, open, waiting, &mut made)?;
    }
    Ok((ran, made))
}

/// Stores what is finished; returns what needs another step, made of the summaries of this one.
fn take_up(
    base: &Base,
    open: Vec<Target>,
    waiting: Vec<(bool, Vec<(UnitKey, Id)>)>,
    made: &mut BTreeMap<Row, Option<String>>,
) -> Result<Vec<Target>, KbError> {
    let store = &base.store;
    store.write(|txn| {
        let mut next = vec![];
        for (mut target, (last, keys)) in open.into_iter().zip(waiting) {
            let mut summaries: Vec<String> = vec![];
            for (key, input) in &keys {
                summaries.extend(store.done::<String>(txn, *key, *input)?);
            }
            let row = target.node.1;
            if summaries.len() < keys.len() {
                made.insert(row, None);
            } else if last {
                let summary = summaries.concat();
                put(store, txn, &target, &summary)?;
                made.insert(row, Some(summary));
            } else {
                target.pieces = summaries;
                next.push(target);
            }
        }
        Ok(next)
    })
}

/// Pieces together, in order, up to so many characters; a longer piece is cut.
fn pack(pieces: &[String], most: usize) -> Vec<Vec<String>> {
    let mut windows: Vec<Vec<String>> = vec![vec![]];
    let mut room = most;
    for piece in pieces {
        let mut rest = piece.as_str();
        while !rest.is_empty() {
            let length = rest.chars().count();
            let begun = windows.last().is_some_and(|window| !window.is_empty());
            if length > room && begun {
                windows.push(vec![]);
                room = most;
            }
            let end = rest.char_indices().nth(room).map_or(rest.len(), |(at, _)| at);
            let (head, tail) = rest.split_at(end);
            if let Some(window) = windows.last_mut() {
                window.push(head.to_owned());
            }
            room = room.saturating_sub(length.min(most));
            rest = tail;
        }
    }
    windows
}

impl Window {
    fn input(&self, prompt: Id) -> Id {
        let prompt = prompt.to_be_bytes();
        let mut parts: Vec<&[u8]> = vec![&prompt, self.title.as_bytes(), self.part.as_bytes()];
        parts.extend(self.texts.iter().map(String::as_bytes));
        hash(&parts)
    }
}

async fn ask(cx: &Cx, window: Window) -> Result<String, halma_core::Error> {
    cx.quote(&window.document);
    let Window { title, part, texts, .. } = window;
    cx.ask(&SUMMARISE, context! { title, part, texts }).await
}

/// The summary as a node that leads to what it sums up.
fn put(store: &Store, txn: &mut RwTxn<'_>, target: &Target, text: &str) -> heed::Result<()> {
    let id = hash(&[b"summary", &target.id.to_be_bytes()]);
    let record = SummaryRecord { id, document: target.document, text: text.to_owned() };
    let row = match store.find(txn, Layer::Summary, id)? {
        Some(row) if store.node::<SummaryRecord>(txn, row)?.as_ref() == Some(&record) => {
            return Ok(());
        }
        Some(row) => row,
        None => store.take_rows(txn, Layer::Summary, 1)?,
    };
    store.remove_vectors(txn, (Layer::Summary, row))?;
    store.put_node(txn, row, &record)?;
    let (from, to) = ((Layer::Summary, row), target.node);
    store.put_edge(txn, Link { from, edge: Edge::DerivedFrom, to, weight: 1.0 })
}

/// Takes out the summaries of a node, with the units they came from.
pub(super) fn forget(store: &Store, txn: &mut RwTxn<'_>, node: At) -> heed::Result<()> {
    for link in store.edges_to(txn, node, Some(Edge::DerivedFrom))? {
        if link.from.0 == Layer::Summary {
            store.remove_vectors(txn, link.from)?;
            store.remove_node::<SummaryRecord>(txn, link.from.1)?;
        }
    }
    for key in store.units_of(txn, node)? {
        store.forget_unit(txn, key)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_hold_all_text_in_order_and_no_more_than_they_may() {
        let pieces: Vec<String> = [3, 4, 25, 1, 9, 2].map(|n| "é".repeat(n)).to_vec();
        let windows = pack(&pieces, 10);
        let lengths: Vec<usize> =
            windows.iter().map(|w| w.iter().map(|t| t.chars().count()).sum()).collect();
        assert!(lengths.iter().all(|length| *length <= 10), "{lengths:?}");
        assert_eq!(windows.concat().concat(), pieces.concat());
        assert_eq!(pack(&["a".to_owned()], 10).len(), 1);
    }
}
