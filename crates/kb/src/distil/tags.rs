//! Tags (PIKE-RAG, Figure 7): classes found in a sample of the corpus, tags of those classes for
//! every chunk, and the collection of all tags with near-duplicates made one.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::store::Writer as RwTxn;
use halma_core::{Cx, Edge, EmbedRole, Error, Layer, Prompt, Setup};
use minijinja::context;
use serde::{Deserialize, Serialize};

use super::learn::LearnedFrom;
use super::names::form;
use super::passage::{Passage, prompt_hash};
use super::units::{Distiller, Job, Ran, run};
use crate::error::run_blocking;
use crate::lexical::query_terms;
use crate::store::{ChunkRecord, Id, Link, Reading, Row, Store, TagRecord, Task, UnitKey, hash};
use crate::{Base, KbError, Stage};

const CLASSES: Prompt<ClassesReply> = Prompt::json("kb/tag_classes");
pub(super) const TAG: Prompt<TagReply> = Prompt::json("kb/tag");

/// Passages that the classes are found in, and how much is shown of each.
const SAMPLE: usize = 24;
const SAMPLE_CHARS: usize = 600;
const MOST_CLASSES: usize = 12;
pub(super) const MOST_TAGS: usize = 16;
/// A longer tag is a sentence.
const LONGEST_TAG: usize = 80;

/// The classes are found anew when the base has grown to so many times what they were found in:
/// often enough to fit, seldom enough that tagging everything again costs no more than once more.
const GROWN: u64 = 2;

#[derive(Debug, Clone, Deserialize)]
struct ClassesReply {
    classes: Vec<Class>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Class {
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct TagReply {
    tags: Vec<TagOf>,
}

#[derive(Debug, Clone, Deserialize)]
struct TagOf {
    class: String,
    tag: String,
}

/// The classes of the corpus as they are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Classes {
    /// Chunks are tagged again when this changes.
    pub(super) version: Id,
    pub(super) list: Vec<Class>,
    /// How many chunks there were.
    chunks: u64,
}

/// Tags of one text: class and tag, as the model wrote it.
pub(super) type Tags = Vec<(String, String)>;

pub(super) const CLASSES_KEY: UnitKey =
    UnitKey { task: Task::TagClasses, layer: Layer::Document, at: 0 };

/// Tags every chunk that is not tagged yet. Returns how many tags the base has.
pub(super) async fn tag_all(distiller: &Arc<Distiller>) -> Result<(Ran, usize), KbError> {
    let (mut ran, classes) = classes(distiller).await?;
    if let Some(classes) = classes {
        let input = asked_with(&distiller.setup, &classes);
        let of = move |passage: &Passage| passage.input(input);
        let jobs = super::chunk_jobs(distiller, Task::Tag, of).await?;
        let (own, classes) = (Arc::clone(distiller), Arc::new(classes));
        let tagged = run(distiller, Stage::Tag, jobs, move |cx, row| {
            let (distiller, classes) = (Arc::clone(&own), Arc::clone(&classes));
            async move {
                let Some(passage) = Passage::read(&distiller.base, row)? else { return Ok(None) };
                cx.quote(&passage.document);
                Ok(Some(ask(&cx, (&passage.title, &passage.text), &classes.list).await?))
            }
        })
        .await?;
        ran.add(tagged);
    }
    let base = Arc::clone(&distiller.base);
    let tags = run_blocking("storing tags", move || collect(&base)).await?;
    embed(&distiller.base).await?;
    Ok((ran, tags))
}

/// Hash of what tags are asked with beside the text.
pub(super) fn asked_with(setup: &Setup, classes: &Classes) -> Id {
    let prompt = prompt_hash(setup, TAG.name);
    hash(&[&prompt.to_be_bytes(), &classes.version.to_be_bytes()])
}

/// The classes of the corpus, asked for when there are none or when it has outgrown them.
async fn classes(distiller: &Arc<Distiller>) -> Result<(Ran, Option<Classes>), KbError> {
    let prompt = prompt_hash(&distiller.setup, CLASSES.name);
    let base = Arc::clone(&distiller.base);
    let (held, sample, chunks) = run_blocking("reading chunks", move || {
        base.store.read(|txn| {
            let chunks = base.store.count(txn, Layer::Chunk)?;
            let held = base.store.done::<Classes>(txn, CLASSES_KEY, prompt)?;
            let fits = |held: &Classes| {
                chunks <= held.chunks.saturating_mul(GROWN) && !held.list.is_empty()
            };
            let held = held.filter(fits);
            let sample = if held.is_none() { sample(&base.store, txn)? } else { vec![] };
            Ok((held, sample, chunks))
        })
    })
    .await?;
    if held.is_some() || sample.is_empty() {
        return Ok((Ran::default(), held));
    }
    let job = Job { key: CLASSES_KEY, input: prompt, of: sample };
    let ran = run(distiller, Stage::Tag, vec![job], move |cx, sample| async move {
        Ok(Some(Classes { chunks, ..find_classes(&cx, &sample).await? }))
    })
    .await?;
    let base = &distiller.base;
    let held = base.store.read(|txn| base.store.done(txn, CLASSES_KEY, prompt))?;
    Ok((ran, held))
}

/// The chunks with the smallest ids: a sample that is the same however they came in.
fn sample(store: &Store, txn: &Reading<'_>) -> heed::Result<Vec<Passage>> {
    let mut sample = vec![];
    for id in store.ids(txn, Layer::Chunk)? {
        if sample.len() >= SAMPLE {
            break;
        }
        let Some(row) = store.find(txn, Layer::Chunk, id)? else { continue };
        if let Some(mut passage) = Passage::of(store, txn, row)? {
            passage.text = passage.text.chars().take(SAMPLE_CHARS).collect();
            sample.push(passage);
        }
    }
    sample.sort_by(|a, b| (&a.title, &a.text).cmp(&(&b.title, &b.text)));
    Ok(sample)
}

async fn find_classes(cx: &Cx, sample: &[Passage]) -> Result<Classes, Error> {
    for passage in sample {
        cx.quote(&passage.document);
    }
    let chunk = |p: &Passage| context! { title => &p.title, text => &p.text };
    let chunks: Vec<minijinja::Value> = sample.iter().map(chunk).collect();
    let check = |reply: &ClassesReply| {
        let named = reply.classes.iter().filter(|class| !form(&class.name).is_empty()).count();
        if named == 0 { Err("there is no class with a name".to_owned()) } else { Ok(()) }
    };
    let reply = cx.ask_checked(&CLASSES, context! { chunks, most => MOST_CLASSES }, check).await?;
    let mut seen = BTreeSet::new();
    let mut classes = reply.classes;
    for class in &mut classes {
        class.name = class.name.trim().to_lowercase();
    }
    classes.retain(|class| !form(&class.name).is_empty() && seen.insert(form(&class.name)));
    classes.truncate(MOST_CLASSES);
    let mut parts: Vec<&[u8]> = vec![];
    for class in &classes {
        parts.extend([class.name.as_bytes(), class.description.as_bytes()]);
    }
    Ok(Classes { version: hash(&parts), list: classes, chunks: 0 })
}

/// The tags of a text. A class that there is not is asked for again once, then left out.
pub(super) async fn ask(
    cx: &Cx,
    (title, text): (&str, &str),
    classes: &[Class],
) -> Result<Tags, Error> {
    let known: HashMap<String, &str> =
        classes.iter().map(|class| (form(&class.name), class.name.as_str())).collect();
    let tries = AtomicUsize::new(0);
    let check = |reply: &TagReply| {
        let unknown = reply.tags.iter().find(|tag| !known.contains_key(&form(&tag.class)));
        match unknown {
            Some(tag) if tries.fetch_add(1, Ordering::Relaxed) == 0 => {
                Err(format!("there is no class `{}`", tag.class))
            }
            _ => Ok(()),
        }
    };
    let classes: Vec<minijinja::Value> = classes
        .iter()
        .map(|class| context! { name => &class.name, description => &class.description })
        .collect();
    let variables = context! { text, title, classes, most => MOST_TAGS };
    let reply = cx.ask_checked(&TAG, variables, check).await?;
    let mut tags: Tags = vec![];
    for TagOf { class, tag } in reply.tags {
        let Some(class) = known.get(&form(&class)) else { continue };
        let tag = tag.split_whitespace().collect::<Vec<_>>().join(" ");
        let pair = ((*class).to_owned(), tag);
        let sound = !form(&pair.1).is_empty() && pair.1.chars().count() <= LONGEST_TAG;
        if sound && !tags.contains(&pair) && tags.len() < MOST_TAGS {
            tags.push(pair);
        }
    }
    Ok(tags)
}

/// What tags that are one have in common: the stems of their words in any order.
pub(super) fn tag_key(tag: &str) -> String {
    let mut stems = query_terms(tag);
    stems.sort();
    if stems.is_empty() { form(tag) } else { stems.join(" ") }
}

pub(super) fn tag_id(class: &str, key: &str) -> Id {
    hash(&[class.as_bytes(), key.as_bytes()])
}

/// Makes the collection of all tags and hangs the chunks on it. Returns how many there are.
pub(super) fn collect(base: &Base) -> Result<usize, KbError> {
    let store = &base.store;
    store.write(|txn| {
        let mut spelled: BTreeMap<(String, String), BTreeMap<String, usize>> = BTreeMap::new();
        let mut count = |tags: &Tags| {
            for (class, tag) in tags {
                let spellings = spelled.entry((class.clone(), tag_key(tag))).or_default();
                *spellings.entry(tag.clone()).or_default() += 1;
            }
        };
        let mut chunks: Vec<(Row, Tags)> = vec![];
        store.each_done(txn, (Task::Tag, Layer::Chunk), |key, _, tags: Tags| {
            count(&tags);
            chunks.push((key.row(), tags));
            Ok(())
        })?;
        let mut learned: Vec<LearnedFrom> = vec![];
        store.each_done(txn, (Task::QuestionTags, Layer::Tag), |_, _, from: LearnedFrom| {
            count(&from.tags);
            learned.push(from);
            Ok(())
        })?;
        let mut rows: HashMap<(String, String), Row> = HashMap::new();
        for ((class, key), spellings) in &spelled {
            let row = put(store, txn, (class, key), spellings)?;
            rows.insert((class.clone(), key.clone()), row);
        }
        let rows_of = |tags: &Tags| -> BTreeSet<Row> {
            let row = |(class, tag): &(String, String)| rows.get(&(class.clone(), tag_key(tag)));
            tags.iter().filter_map(row).copied().collect()
        };
        for (chunk, tags) in &chunks {
            hang(store, txn, *chunk, &rows_of(tags))?;
        }
        map(store, txn, &learned, &rows_of)?;
        remove_unused(store, txn)?;
        Ok(rows.len())
    })
}

/// The tag under its most frequent spelling.
fn put(
    store: &Store,
    txn: &mut RwTxn<'_>,
    (class, key): (&str, &str),
    spellings: &BTreeMap<String, usize>,
) -> heed::Result<Row> {
    let best = spellings.iter().max_by_key(|(name, count)| (**count, std::cmp::Reverse(*name)));
    let name = best.map(|(name, _)| name.clone()).unwrap_or_default();
    let record = TagRecord { id: tag_id(class, key), class: class.to_owned(), name };
    let row = match store.find(txn, Layer::Tag, record.id)? {
        Some(row) => row,
        None => store.take_rows(txn, Layer::Tag, 1)?,
    };
    if store.node::<TagRecord>(txn, row)?.as_ref() != Some(&record) {
        store.remove_vectors(txn, (Layer::Tag, row))?;
        store.put_node(txn, row, &record)?;
    }
    Ok(row)
}

/// Brings the tags of a chunk to these.
fn hang(store: &Store, txn: &mut RwTxn<'_>, chunk: Row, tags: &BTreeSet<Row>) -> heed::Result<()> {
    if store.node::<ChunkRecord>(txn, chunk)?.is_none() {
        return Ok(());
    }
    let from = (Layer::Chunk, chunk);
    let mut held = BTreeSet::new();
    for link in store.edges_from(txn, from, Some(Edge::Tagged))? {
        if !tags.contains(&link.to.1) {
            store.remove_edge(txn, &link)?;
        }
        held.insert(link.to.1);
    }
    for tag in tags.difference(&held) {
        let to = (Layer::Tag, *tag);
        store.put_edge(txn, Link { from, edge: Edge::Tagged, to, weight: 1.0 })?;
    }
    Ok(())
}

/// Edges from the tags of sample questions to those of the chunks that answer them, weighed by how
/// many samples say so.
fn map(
    store: &Store,
    txn: &mut RwTxn<'_>,
    learned: &[LearnedFrom],
    rows_of: &impl Fn(&Tags) -> BTreeSet<Row>,
) -> heed::Result<()> {
    let mut weights: BTreeMap<(Row, Row), f32> = BTreeMap::new();
    for from in learned {
        let mut answering = BTreeSet::new();
        for chunk in &from.chunks {
            if let Some(row) = store.find(txn, Layer::Chunk, *chunk)? {
                let links = store.edges_from(txn, (Layer::Chunk, row), Some(Edge::Tagged))?;
                answering.extend(links.into_iter().map(|link| link.to.1));
            }
        }
        for tag in rows_of(&from.tags) {
            for to in answering.iter().filter(|to| **to != tag) {
                *weights.entry((tag, *to)).or_default() += 1.0;
            }
        }
    }
    for row in store.rows(txn, Layer::Tag, 0, usize::MAX)? {
        for link in store.edges_from(txn, (Layer::Tag, row), Some(Edge::MapsTo))? {
            if !weights.contains_key(&(row, link.to.1)) {
                store.remove_edge(txn, &link)?;
            }
        }
    }
    for ((from, to), weight) in weights {
        let (from, to) = ((Layer::Tag, from), (Layer::Tag, to));
        store.put_edge(txn, Link { from, edge: Edge::MapsTo, to, weight })?;
    }
    Ok(())
}

/// Takes out tags that neither a chunk nor a sample question has.
pub(super) fn remove_unused(store: &Store, txn: &mut RwTxn<'_>) -> heed::Result<()> {
    for row in store.rows(txn, Layer::Tag, 0, usize::MAX)? {
        remove_if_unused(store, txn, row)?;
    }
    Ok(())
}

pub(super) fn remove_if_unused(store: &Store, txn: &mut RwTxn<'_>, row: Row) -> heed::Result<()> {
    let tag = (Layer::Tag, row);
    let used = store.is_led_to(txn, tag, Edge::Tagged)?
        || !store.edges_from(txn, tag, Some(Edge::MapsTo))?.is_empty();
    if !used {
        store.remove_vectors(txn, tag)?;
        store.remove_node::<TagRecord>(txn, row)?;
    }
    Ok(())
}

/// Embeds the names of tags, so that a query finds those that mean what it says.
pub(super) async fn embed(base: &Arc<Base>) -> Result<(), KbError> {
    let Some(embedder) = &base.embedder else { return Ok(()) };
    let store = &base.store;
    let (number, open) = store.read(|txn| {
        // The base's chunks are embedded first: without a number there is nothing to compare.
        let Some((number, _)) = store.embedder(txn, embedder.model())? else {
            return Ok((0, vec![]));
        };
        let mut open = vec![];
        for row in store.without_vector(txn, Some(number), Layer::Tag)? {
            open.extend(store.node::<TagRecord>(txn, row)?.map(|tag| (row, tag.name)));
        }
        Ok((number, open))
    })?;
    for batch in open.chunks(128) {
        let texts: Vec<&str> = batch.iter().map(|(_, name)| name.as_str()).collect();
        match embedder.embed(&texts, EmbedRole::Passage).await {
            Ok(vectors) if vectors.len() == batch.len() => store.write(|txn| {
                for ((row, _), vector) in batch.iter().zip(&vectors) {
                    store.put_vector(txn, number, (Layer::Tag, *row), vector)?;
                }
                Ok(())
            })?,
            // Tags are found by their words until the next run.
            Ok(_) => break,
            Err(error) => {
                tracing::warn!("the tags are not embedded: {error}");
                break;
            }
        }
    }
    Ok(())
}
