//! Documents that lead to one another: by a hyperlink, or because the text of one names the title
//! of the other.
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use halma_core::{Edge, Layer};

use crate::error::run_blocking;
use crate::parallel::in_order;
use crate::store::{
    At, DocumentRecord, Link, LinkTarget, Row, Store, StoreReader, StoreWriter, Task, UnitKey,
};
use crate::{Base, KbError};

/// Documents whose edges are written in one transaction.
const BATCH: usize = 1024;

/// Entities of which a thread remembers the documents that have them as their title, at most.
const MAX_TITLED: usize = 100_000;

/// A title that more chunks name than this is a common word, and says nothing about who refers to
/// whom.
const COMMON: usize = 2_000;

/// Ties the documents that are new to those they lead to and to those that lead to them.
pub(super) async fn run(base: &Arc<Base>) -> Result<(), KbError> {
    let base = Arc::clone(base);
    run_blocking("linking documents", move || {
        refer_new(&base.store)?;
        follow_renamed(&base.store)
    })
    .await
}

fn refer_new(store: &Store) -> Result<(), KbError> {
    let rows =
        store.read(|reader| reader.rows(Layer::Document, reader.referred_to()?, usize::MAX))?;
    let batches: Vec<&[Row]> = rows.chunks(BATCH).collect();
    in_order(
        &batches,
        |titles: &mut Titles, rows| {
            let read_links = |reader: &StoreReader<'_>| {
                let links = rows.iter().map(|row| name_each_other(reader, titles, *row));
                links.collect::<heed::Result<Vec<_>>>()
            };
            Ok((store.read(read_links)?, *rows))
        },
        |(links, rows)| {
            store.write(|writer| {
                for link in links.iter().flat_map(|(_, links)| links) {
                    writer.put_edge(*link)?;
                }
                let mut documents = rows.iter().zip(&links);
                documents
                    .try_for_each(|(row, (hyperlinks, _))| follow(writer, *row, hyperlinks))?;
                rows.last().map_or(Ok(()), |last| writer.set_referred_to(last + 1))
            })
        },
    )
}

fn follow_renamed(store: &Store) -> Result<(), KbError> {
    let renamed = store.read(|reader| reader.open_rows(Task::Links, Layer::Document))?;
    for rows in renamed.chunks(BATCH) {
        store.write(|writer| {
            rows.iter().try_for_each(|row| {
                if let Some(record) = writer.node::<DocumentRecord>(*row)? {
                    follow(writer, *row, &Hyperlinks::new(record))?;
                }
                writer.forget_unit(UnitKey::of(Task::Links, (Layer::Document, *row)))
            })
        })?;
    }
    Ok(())
}

/// The hyperlinks of a new document, and edges between it and those whose titles it names, and
/// those that name its title.
fn name_each_other(
    reader: &StoreReader<'_>,
    titles: &mut Titles,
    row: Row,
) -> heed::Result<(Hyperlinks, Vec<Link>)> {
    let mut weights: BTreeMap<(Row, Row), f32> = BTreeMap::new();
    let record: DocumentRecord = reader.linked(row)?;
    for chunk in record.chunks.0..record.chunks.1 {
        for named in reader.edges_from((Layer::Chunk, chunk), Some(Edge::Mentions))? {
            for titled in titles.titled(reader, named.to)?.iter().filter(|titled| **titled != row) {
                *weights.entry((row, *titled)).or_default() += named.weight;
            }
        }
    }
    for title in reader.edges_from((Layer::Document, row), Some(Edge::Mentions))? {
        let naming = reader.first_edges_to(title.to, Edge::Mentions, COMMON)?;
        if naming.len() >= COMMON {
            continue;
        }
        for (layer, chunk) in naming {
            if layer != Layer::Chunk {
                continue;
            }
            let of: crate::store::ChunkRecord = reader.linked(chunk)?;
            // Those that are new themselves are counted from their own side.
            if of.document < row {
                *weights.entry((of.document, row)).or_default() += 1.0;
            }
        }
    }
    let link = |((from, to), weight)| {
        let (from, to) = ((Layer::Document, from), (Layer::Document, to));
        Link { from, edge: Edge::RefersTo, to, weight }
    };
    Ok((Hyperlinks::new(record), weights.into_iter().map(link).collect()))
}

/// The documents that have entities as their titles. What is named often is named by many documents
/// of a batch, and finding them means going through all that name it.
#[derive(Default)]
struct Titles(HashMap<At, Vec<Row>>);

impl Titles {
    /// The documents that have this entity as their title.
    fn titled(&mut self, reader: &StoreReader<'_>, entity: At) -> heed::Result<&[Row]> {
        if self.0.len() >= MAX_TITLED {
            self.0.clear();
        }
        Ok(match self.0.entry(entity) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(free) => free.insert(titled(reader, entity)?),
        })
    }
}

/// The documents that have this entity as their title.
fn titled(reader: &StoreReader<'_>, entity: At) -> heed::Result<Vec<Row>> {
    let naming = reader.first_edges_to(entity, Edge::Mentions, COMMON)?;
    if naming.len() >= COMMON {
        return Ok(vec![]);
    }
    Ok(naming.into_iter().filter(|at| at.0 == Layer::Document).map(|at| at.1).collect())
}

/// Edges along the hyperlinks of a document, and along those of others that lead to it. Where its
/// links lead is noted: a document may come there later.
fn follow(writer: &mut StoreWriter<'_>, row: Row, hyperlinks: &Hyperlinks) -> heed::Result<()> {
    if !writer.holds((Layer::Document, row))? {
        return Ok(());
    }
    for path in &hyperlinks.targets {
        writer.put_link_target(LinkTarget::new(path, row))?;
        if let Some(to) = writer.named(path)? {
            link(writer, row, to)?;
        }
    }
    for name in &hyperlinks.names {
        for target in writer.link_targets(name)? {
            match writer.node::<DocumentRecord>(target.document)? {
                Some(other) if targets(&other).contains(name) => {
                    link(writer, target.document, row)?;
                }
                Some(_) => {}
                None => writer.forget_link_target(target)?,
            }
        }
    }
    Ok(())
}

fn link(writer: &mut StoreWriter<'_>, from: Row, to: Row) -> heed::Result<()> {
    if from == to {
        return Ok(());
    }
    let (from, to) = ((Layer::Document, from), (Layer::Document, to));
    writer.put_edge(Link::new(from, Edge::LinksTo, to))
}

/// Where the hyperlinks of a document lead, and the names under which those of others lead to it.
struct Hyperlinks {
    names: Vec<String>,
    targets: BTreeSet<String>,
}

impl Hyperlinks {
    fn new(record: DocumentRecord) -> Self {
        Self { targets: targets(&record), names: record.names }
    }
}

/// The names that the hyperlinks of a document lead to, under any of its own.
fn targets(record: &DocumentRecord) -> BTreeSet<String> {
    let paths = record.links.iter().filter_map(|(_, target)| path_of(target));
    let of = |path| record.names.iter().map(move |name| below(name, path));
    paths.flat_map(of).collect()
}

/// The path of a target that is no address and no place in the same document.
fn path_of(target: &str) -> Option<&str> {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    (!path.is_empty() && !path.contains(':') && !path.starts_with("//")).then_some(path)
}

/// A path as seen from a document, below the folder that was indexed.
fn below(document: &str, path: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    if path.starts_with('/') {
        parts.clear();
    }
    let decoded = path.replace("%20", " ");
    let mut parts: Vec<String> = parts.into_iter().map(str::to_owned).collect();
    for part in decoded.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part.to_owned()),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_seen_from_its_document() {
        assert_eq!(below("a/b.md", "c.md"), "a/c.md");
        assert_eq!(below("a/b.md", "../c%20d.md"), "c d.md");
        assert_eq!(below("a/b.md", "/c/./d.md"), "c/d.md");
        assert_eq!(path_of("c.md#top"), Some("c.md"));
        for elsewhere in ["#top", "https://a.example/c.md", "mailto:a@b.example", "//a.example"] {
            assert_eq!(path_of(elsewhere), None, "{elsewhere}");
        }
    }
}
