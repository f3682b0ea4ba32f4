//! The collection of all tags of the base: synonyms are one, chunks lead to their tags, words of
//! questions to the tags that they stand for, and names of tags have vectors.
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use halma_core::{Edge, EmbedRole, Layer};

use super::learned_tags::put_learned;
use super::tag_joins::{TagJoiner, tag_id, tag_key};
use crate::error::run_blocking;
use crate::stages::{BuildContext, Driver, StageReport, Tag, TagClasses};
use crate::store::{
    ChunkRecord, ChunkTag, Id, Link, QUESTION_CLASS, Row, StoreWriter, TagRecord, TagVocabulary,
    Tags, Task,
};
use crate::vectors::{embed_texts, other_dimensions};
use crate::{Base, KbError};

/// Tags every chunk that is not tagged yet. Returns how many tags the base has.
pub(super) async fn tag_all(context: &Arc<BuildContext>) -> Result<(StageReport, usize), KbError> {
    let (mut report, vocabulary) = classes(context).await?;
    if let Some(vocabulary) = vocabulary {
        report.add(Driver::new(Tag::new(context, vocabulary)).run_backlog().await?);
    }
    let tags = collect_and_embed(context).await?;
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
    let existing = current()?;
    if existing.is_some() {
        return Ok((StageReport::default(), existing));
    }
    let unit = store.read(|reader| driver.stage().unit(reader))?;
    let report = driver.run_all(unit.into_iter().collect()).await?;
    Ok((report, current()?))
}

/// Makes the collection of all tags, sets the tags of the chunks, and ties what was learned from
/// questions to them. Returns how many tags there are.
pub(super) fn collect(base: &Base) -> Result<usize, KbError> {
    let store = &base.store;
    store.write(|writer| {
        let mut joiner = TagJoiner::default();
        let mut chunks: Vec<(Row, Tags)> = vec![];
        for result in writer.results::<Tags>(Task::Tag)? {
            let (key, tags) = result?;
            for tag in &tags {
                joiner.add(tag);
            }
            chunks.push((key.row(), tags));
        }
        let tags = joiner.joined();
        let mut rows: HashMap<Id, Row> = HashMap::new();
        for tag in &tags {
            let id = tag_id(&tag.class, &tag.keys[0]);
            let (class, name, also) = (tag.class.clone(), tag.name.clone(), tag.also.clone());
            let row = writer.put_by_id(&TagRecord { id, class, name, also })?.0;
            rows.extend(tag.keys.iter().map(|key| (tag_id(&tag.class, key), row)));
        }
        for (chunk, tags) in &chunks {
            let row = |tag: &ChunkTag| rows.get(&tag_id(&tag.class, &tag_key(&tag.name)));
            set_chunk_tags(writer, *chunk, &tags.iter().filter_map(row).copied().collect())?;
        }
        put_learned(writer, &rows)?;
        remove_unused(writer)?;
        Ok(tags.len())
    })
}

/// Collects the tags again with what was learned, and embeds them. Returns how many there are.
pub(crate) async fn collect_and_embed(context: &Arc<BuildContext>) -> Result<usize, KbError> {
    let base = Arc::clone(&context.base);
    let tags = run_blocking("storing tags", move || collect(&base)).await?;
    if context.settings.vectors.tag {
        embed(context).await?;
    }
    Ok(tags)
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
    let mut existing = BTreeSet::new();
    for link in writer.edges_from(from, Some(Edge::Tagged))? {
        if !tags.contains(&link.to.1) {
            writer.remove_edge(&link)?;
        }
        existing.insert(link.to.1);
    }
    for tag in tags.difference(&existing) {
        let to = (Layer::Tag, *tag);
        writer.put_edge(Link::new(from, Edge::Tagged, to))?;
    }
    Ok(())
}

/// Takes out tags that no chunk has, then words of questions that stand for no tag.
fn remove_unused(writer: &mut StoreWriter<'_>) -> heed::Result<()> {
    let (mut unused, mut terms) = (vec![], vec![]);
    for node in writer.nodes::<TagRecord>()? {
        let (row, tag) = node?;
        if tag.class == QUESTION_CLASS {
            terms.push(row);
        } else if !writer.is_led_to((Layer::Tag, row), Edge::Tagged)? {
            unused.push(row);
        }
    }
    for row in unused {
        writer.remove_node::<TagRecord>(row)?;
    }
    for row in terms {
        if writer.edges_from((Layer::Tag, row), Some(Edge::MapsTo))?.is_empty() {
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
            let (model, dimensions) = (embedder.model(), vectors.first().map_or(0, Vec::len));
            if let Some(stored) = writer.other_dimensions(model, dimensions)? {
                if !open.is_empty() {
                    let error = other_dimensions(model, dimensions, stored);
                    tracing::warn!("the tags are not embedded: {error}");
                }
                return Ok(());
            }
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
