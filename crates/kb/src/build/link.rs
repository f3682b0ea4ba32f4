//! Entities without a model: the names that chunks hold, and the titles and headings they stand
//! under, found by rule and tied to them by `mentions` edges. Which atoms name an entity, and which
//! entities stand together, is worked out from these when a search needs it.
use std::collections::HashMap;
use std::sync::Arc;

use halma_core::text::{NameKind, count_name, is_stop_word, names, normalise_name};
use halma_core::{Edge, Layer};

use crate::error::run_blocking;
use crate::parallel::in_order;
use crate::stages::BuildContext;
use crate::store::{
    At, ChunkRecord, DocumentRecord, EntityRecord, Id, Link, Row, SectionRecord, Store,
    StoreReader, StoreWriter, hash,
};
use crate::{Entities, KbError, Phase, PhaseProgress, Progress};

/// Changes whenever names are found otherwise, so that older bases are linked again.
const VERSION: u32 = 1;

/// Chunks whose names are written in one transaction.
const BATCH: usize = 2048;

/// Longer names are sentences in capitals, in bytes.
const LONGEST: usize = 90;

/// What is named at one place: key → (as written, how often).
type Named = HashMap<String, (String, f32)>;

/// What a batch ties to entities.
type BatchMentions = Vec<(At, Named)>;

/// Links the chunks that are new. What nothing names any more has gone with the documents that
/// named it.
pub(super) async fn run(context: &Arc<BuildContext>) -> Result<(), KbError> {
    if context.settings.entities == Entities::None {
        return Ok(());
    }
    let context = Arc::clone(context);
    run_blocking("linking names", move || link_all(context.store(), &context.progress)).await
}

fn link_all(store: &Store, progress: &Progress) -> Result<(), KbError> {
    let rows =
        store.read(|reader| reader.rows(Layer::Chunk, reader.linked_to(VERSION)?, usize::MAX))?;
    let batches: Vec<&[Row]> = rows.chunks(BATCH).collect();
    let (mut known, mut done) = (HashMap::new(), 0);
    in_order(
        &batches,
        |(): &mut (), rows| {
            let found =
                |reader: &StoreReader<'_>| rows.iter().map(|row| found_in(reader, *row)).collect();
            Ok((store.read(found)?, *rows))
        },
        |(found, linked): (Vec<BatchMentions>, &[Row])| {
            store.write(|writer| {
                for (at, named) in found.iter().flatten() {
                    write(writer, (*at, named), &mut known)?;
                }
                linked.last().map_or(Ok(()), |last| writer.set_linked_to(VERSION, last + 1))
            })?;
            done += linked.len();
            progress(PhaseProgress { stage: Phase::LINK, done, total: rows.len() });
            Ok(())
        },
    )
}

/// The names in a chunk; with the first chunk of a document or section the one in its title.
fn found_in(reader: &StoreReader<'_>, row: Row) -> heed::Result<BatchMentions> {
    let Some(chunk) = reader.node::<ChunkRecord>(row)? else { return Ok(vec![]) };
    let document: DocumentRecord = reader.linked(chunk.document)?;
    let section: SectionRecord = reader.linked(chunk.section)?;
    let mut found = vec![];
    let title = title_key(&document.title);
    if document.chunks.0 == row {
        found.extend(title.clone().map(|title| ((Layer::Document, chunk.document), title)));
    }
    let heading = section.name.as_deref().filter(|_| section.indexed).and_then(last_heading);
    if section.chunks.0 == row {
        found.extend(heading.clone().map(|heading| ((Layer::Section, chunk.section), heading)));
    }
    let text = reader.chunk_text(&chunk)?;
    let titles = [title, heading];
    let named = named_in(&text, titles.iter().flatten().flatten());
    if !named.is_empty() {
        found.push(((Layer::Chunk, row), named));
    }
    Ok(found)
}

/// A title as a name: without what stands in brackets after it, and as well without what stands
/// after a comma (`Lower Saxby, Ohio`).
fn title_key(title: &str) -> Option<Named> {
    let plain = title.split(" (").next().unwrap_or(title).trim();
    let short = plain.split_once(", ").map(|(short, _)| short);
    let mut named = Named::new();
    for written in [Some(plain), short].into_iter().flatten() {
        let key = normalise_name(written);
        if !key.is_empty() && key.len() <= LONGEST {
            named.insert(key, (written.to_owned(), 1.0));
        }
    }
    (!named.is_empty()).then_some(named)
}

/// The innermost heading, where it is a name and not `History` or `3.2`.
fn last_heading(name: &str) -> Option<Named> {
    let heading = name.rsplit(" > ").next().unwrap_or(name);
    title_key(heading).filter(|key| key.keys().any(|key| key.contains(' ')))
}

/// The names in a text, and the titles it stands under where it names them in any spelling.
fn named_in<'a>(
    text: &str,
    titles: impl Iterator<Item = (&'a String, &'a (String, f32))>,
) -> Named {
    let mut named = Named::new();
    for name in names(text) {
        if matches!(name.kind, NameKind::Value(_)) || name.range.len() > LONGEST {
            continue;
        }
        let written = &text[name.range];
        let key = normalise_name(written);
        if key.len() < 2 || is_stop_word(&key) || key.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        named.entry(key).or_insert_with(|| (written.to_owned(), 0.0)).1 += 1.0;
    }
    for (key, (written, _)) in titles {
        if !named.contains_key(key) {
            let times = count_name(key, &normalise_name(text));
            if let Some(times) = u16::try_from(times).ok().filter(|times| *times > 0) {
                named.insert(key.clone(), (written.clone(), f32::from(times)));
            }
        }
    }
    named
}

/// Ties a node to what it names; entities that are new are put in.
fn write(
    writer: &mut StoreWriter<'_>,
    (from, named): (At, &Named),
    known: &mut HashMap<Id, Row>,
) -> heed::Result<()> {
    // In order, so that the same input hands out the same rows.
    let mut sorted: Vec<_> = named.iter().collect();
    sorted.sort_unstable_by_key(|(key, _)| *key);
    for (key, (written, weight)) in sorted {
        let id = hash(&[key.as_bytes()]);
        let row = match known.get(&id) {
            Some(row) => *row,
            None => entity(writer, (id, key, written))?,
        };
        known.insert(id, row);
        let to = (Layer::Entity, row);
        writer.put_edge(Link { from, edge: Edge::Mentions, to, weight: *weight })?;
    }
    Ok(())
}

fn entity(writer: &mut StoreWriter<'_>, (id, key, written): (Id, &str, &str)) -> heed::Result<Row> {
    if let Some(row) = writer.find(Layer::Entity, id)? {
        return Ok(row);
    }
    let row = writer.take_rows(Layer::Entity, 1)?;
    let name = written.split_whitespace().collect::<Vec<_>>().join(" ");
    let record = EntityRecord {
        id,
        key: key.to_owned(),
        name,
        kind: String::new(),
        description: String::new(),
        aliases: vec![],
    };
    writer.put_node(row, &record)?;
    Ok(row)
}
