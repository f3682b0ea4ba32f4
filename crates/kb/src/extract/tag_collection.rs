//! The collection of all tags of the base: near-duplicates are one, chunks lead to their tags, and
//! names of tags have vectors.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use halma_core::{Edge, EmbedRole, Layer};
use serde::{Deserialize, Serialize};

use super::names::form;
use crate::embedding::embed_texts;
use crate::error::run_blocking;
use crate::lexical::query_terms;
use crate::stages::{BuildContext, Driver, StageReport, Tag, TagClasses};
use crate::store::{ChunkRecord, Id, Link, Row, StoreWriter, TagRecord, Task, UnitKey, hash};
use crate::{Base, KbError};

/// A class of tags.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TagClass {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
}

/// The classes of the corpus as they are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TagVocabulary {
    /// Chunks are tagged again when this changes.
    pub(crate) version: Id,
    pub(crate) classes: Vec<TagClass>,
    /// How many chunks there were.
    pub(crate) chunks: u64,
}

/// Tags of one text: class and tag, as the model wrote it.
pub(crate) type Tags = Vec<(String, String)>;

pub(crate) const CLASSES_KEY: UnitKey =
    UnitKey { task: Task::TagClasses, layer: Layer::Tag, at: 0 };

/// Tags every chunk that is not tagged yet. Returns how many tags the base has.
pub(super) async fn tag_all(context: &Arc<BuildContext>) -> Result<(StageReport, usize), KbError> {
    let (mut report, vocabulary) = classes(context).await?;
    if let Some(vocabulary) = vocabulary {
        report.add(Driver::new(Tag::new(context, vocabulary)).run_backlog().await?);
    }
    let base = Arc::clone(&context.base);
    let tags = run_blocking("storing tags", move || collect(&base)).await?;
    if context.settings.vectors.tag {
        embed(context).await?;
    }
    Ok((report, tags))
}

/// The classes of the corpus, asked for when there are none or when it has outgrown them.
async fn classes(
    context: &Arc<BuildContext>,
) -> Result<(StageReport, Option<TagVocabulary>), KbError> {
    let driver = Driver::new(TagClasses::new(context));
    let store = context.store();
    let current =
        || store.read(|reader| driver.stage().current(reader, reader.count(Layer::Chunk)?));
    let held = current()?;
    if held.is_some() {
        return Ok((StageReport::default(), held));
    }
    let unit = store.read(|reader| driver.stage().unit(reader))?;
    let report = driver.run_all(unit.into_iter().collect()).await?;
    Ok((report, current()?))
}

/// What tags that are one have in common: the stems of their words in any order.
fn tag_key(tag: &str) -> String {
    let mut stems = query_terms(tag);
    stems.sort();
    if stems.is_empty() { form(tag) } else { stems.join(" ") }
}

fn tag_id(class: &str, key: &str) -> Id {
    hash(&[class.as_bytes(), key.as_bytes()])
}

/// Makes the collection of all tags and sets the tags of the chunks. Returns how many there are.
fn collect(base: &Base) -> Result<usize, KbError> {
    let store = &base.store;
    store.write(|writer| {
        let mut spelled: BTreeMap<(String, String), BTreeMap<String, usize>> = BTreeMap::new();
        let mut count = |tags: &Tags| {
            for (class, tag) in tags {
                let spellings = spelled.entry((class.clone(), tag_key(tag))).or_default();
                *spellings.entry(tag.clone()).or_default() += 1;
            }
        };
        let mut chunks: Vec<(Row, Tags)> = vec![];
        for result in writer.results::<Tags>(Task::Tag)? {
            let (key, tags) = result?;
            count(&tags);
            chunks.push((key.row(), tags));
        }
        let mut rows: HashMap<(String, String), Row> = HashMap::new();
        for ((class, key), spellings) in &spelled {
            let row = put(writer, (class, key), spellings)?;
            rows.insert((class.clone(), key.clone()), row);
        }
        let rows_of = |tags: &Tags| -> BTreeSet<Row> {
            let row = |(class, tag): &(String, String)| rows.get(&(class.clone(), tag_key(tag)));
            tags.iter().filter_map(row).copied().collect()
        };
        for (chunk, tags) in &chunks {
            set_chunk_tags(writer, *chunk, &rows_of(tags))?;
        }
        remove_unused(writer)?;
        Ok(rows.len())
    })
}

/// The tag under its most frequent spelling.
fn put(
    writer: &mut StoreWriter<'_>,
    (class, key): (&str, &str),
    spellings: &BTreeMap<String, usize>,
) -> heed::Result<Row> {
    let best = spellings.iter().max_by_key(|(name, count)| (**count, std::cmp::Reverse(*name)));
    let name = best.map(|(name, _)| name.clone()).unwrap_or_default();
    let record = TagRecord { id: tag_id(class, key), class: class.to_owned(), name };
    Ok(writer.put_by_id(&record)?.0)
}

/// Brings the tags of a chunk to these.
fn set_chunk_tags(
    writer: &mut StoreWriter<'_>,
    chunk: Row,
    tags: &BTreeSet<Row>,
) -> heed::Result<()> {
    if writer.node::<ChunkRecord>(chunk)?.is_none() {
        return Ok(());
    }
    let from = (Layer::Chunk, chunk);
    let mut held = BTreeSet::new();
    for link in writer.edges_from(from, Some(Edge::Tagged))? {
        if !tags.contains(&link.to.1) {
            writer.remove_edge(&link)?;
        }
        held.insert(link.to.1);
    }
    for tag in tags.difference(&held) {
        let to = (Layer::Tag, *tag);
        writer.put_edge(Link::new(from, Edge::Tagged, to))?;
    }
    Ok(())
}

/// Takes out tags that no chunk has.
fn remove_unused(writer: &mut StoreWriter<'_>) -> heed::Result<()> {
    for row in writer.all_rows(Layer::Tag)? {
        if !writer.is_led_to((Layer::Tag, row), Edge::Tagged)? {
            writer.remove_node::<TagRecord>(row)?;
        }
    }
    Ok(())
}

/// Embeds the names of tags, so that a query finds those that mean what it says.
async fn embed(context: &BuildContext) -> Result<(), KbError> {
    let Some(embedder) = &context.embedder else { return Ok(()) };
    let store = context.store();
    let (number, open) = store.read(|reader| {
        // The base's chunks are embedded first: without a number there is nothing to compare.
        let Some((number, _)) = reader.embedder(embedder.model())? else {
            return Ok((0, vec![]));
        };
        let mut open = vec![];
        for row in reader.without_vector(Some(number), Layer::Tag)? {
            open.extend(reader.node::<TagRecord>(row)?.map(|tag| (row, tag.name)));
        }
        Ok((number, open))
    })?;
    let names: Vec<&str> = open.iter().map(|(_, name)| name.as_str()).collect();
    match embed_texts(embedder.as_ref(), &names, EmbedRole::Passage).await {
        Ok(vectors) => store.write(|writer| {
            for ((row, _), vector) in open.iter().zip(&vectors) {
                writer.put_vector(number, (Layer::Tag, *row), vector)?;
            }
            Ok(())
        }),
        // Tags are found by their words until the next run.
        Err(error) => {
            tracing::warn!("the tags are not embedded: {error}");
            Ok(())
        }
    }
}
