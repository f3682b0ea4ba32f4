//! Filters of a search as the rows of a layer that they let in, so that they hold before the limit
//! is taken. A filter that nothing fits lets nothing in.
use std::ops::Range;

use halma_core::{Edge, Filter, Layer};

use super::tag_index::TagIndex;
use crate::names::fits;
use crate::store::{
    At, AtomRecord, DocumentRecord, Row, RowSet, SectionRecord, StoreReader, admits_document,
    admits_name,
};

/// The rows of a layer that a filter lets in.
pub(crate) fn allowed(
    reader: &StoreReader<'_>,
    filter: &Filter,
    layer: Layer,
) -> heed::Result<RowSet> {
    let mut corpus = Corpus::default();
    let selection = Selection { filter, tagged: tagged(reader, &filter.tags)? };
    for node in reader.nodes::<DocumentRecord>()? {
        let (row, document) = node?;
        if is_document(filter, &document) {
            corpus.add(reader, row, &document, &selection)?;
        }
    }
    match layer {
        Layer::Document => Ok(corpus.documents),
        Layer::Section => Ok(corpus.sections),
        Layer::Chunk => Ok(corpus.chunks),
        Layer::Atom => {
            let mut atoms = RowSet::default();
            for chunk in reader.all_rows(Layer::Chunk)? {
                if corpus.chunks.contains(chunk) {
                    reader.atoms_of(chunk)?.for_each(|atom| atoms.insert(atom));
                }
            }
            // What was accepted from an answer is in when everything is that it rests on.
            for row in reader.accepted_atoms()? {
                let below = reader.node::<AtomRecord>(row)?.map(|atom| atom.chunks_below());
                if below.is_some_and(|below| below.iter().all(|c| corpus.chunks.contains(*c))) {
                    atoms.insert(row);
                }
            }
            Ok(atoms)
        }
        other => corpus.resting_on(reader, other),
    }
}

/// Of the document in this row: all its rows of a layer, and those that a filter lets in; `None` when it is gone.
pub(crate) fn allowed_of_document(
    reader: &StoreReader<'_>,
    filter: &Filter,
    row: Row,
    layer: Layer,
) -> heed::Result<Option<(Range<Row>, RowSet)>> {
    let Some(document) = reader.node::<DocumentRecord>(row)? else { return Ok(None) };
    let mut corpus = Corpus::default();
    if is_document(filter, &document) {
        corpus.add(reader, row, &document, &Selection { filter, tagged: None })?;
    }
    Ok(Some(match layer {
        Layer::Document => (row..row + 1, corpus.documents),
        Layer::Section => (document.sections.0..document.sections.1, corpus.sections),
        _ => (document.chunks.0..document.chunks.1, corpus.chunks),
    }))
}

fn is_document(filter: &Filter, document: &DocumentRecord) -> bool {
    let any_name = filter.documents.is_empty() && filter.metadata.is_empty();
    let named = |at: usize| admits_name(filter, document, at);
    admits_document(filter, document) && (any_name || (0..document.names.len()).any(named))
}

/// The chunks with one of the tags, by any of its names or by words that samples map to it; `None`
/// where none is asked for.
fn tagged(reader: &StoreReader<'_>, tags: &[String]) -> heed::Result<Option<RowSet>> {
    if tags.is_empty() {
        return Ok(None);
    }
    let (index, mut chunks) = (TagIndex::load(reader)?, RowSet::default());
    for tag in tags.iter().flat_map(|name| index.called(name)) {
        for link in reader.edges_to((Layer::Tag, tag.row), Some(Edge::Tagged))? {
            if link.from.0 == Layer::Chunk {
                chunks.insert(link.from.1);
            }
        }
    }
    Ok(Some(chunks))
}

fn is_section(filter: &Filter, name: Option<&str>) -> bool {
    let fits_one = |pattern: &String| {
        let (pattern, name) = (pattern.to_lowercase(), name.unwrap_or("").to_lowercase());
        fits(&pattern, &name) || name.split(" > ").any(|heading| fits(&pattern, heading))
    };
    filter.sections.is_empty() || name.is_some() && filter.sections.iter().any(fits_one)
}

/// Which sections and chunks of a document are selected.
struct Selection<'a> {
    filter: &'a Filter,
    /// The chunks with one of the tags asked for; `None` where none is.
    tagged: Option<RowSet>,
}

/// The part of the corpus that a filter admits.
#[derive(Default)]
struct Corpus {
    documents: RowSet,
    sections: RowSet,
    chunks: RowSet,
}

impl Corpus {
    /// Adds what of a document is selected.
    fn add(
        &mut self,
        reader: &StoreReader<'_>,
        row: Row,
        document: &DocumentRecord,
        selection: &Selection<'_>,
    ) -> heed::Result<()> {
        let Selection { filter, tagged } = selection;
        if filter.sections.is_empty() && tagged.is_none() {
            self.documents.insert(row);
            (document.sections.0..document.sections.1).for_each(|row| self.sections.insert(row));
            (document.chunks.0..document.chunks.1).for_each(|row| self.chunks.insert(row));
            return Ok(());
        }
        for section in document.sections.0..document.sections.1 {
            let Some(record) = reader.node::<SectionRecord>(section)? else { continue };
            if !is_section(filter, record.name.as_deref()) {
                continue;
            }
            for chunk in record.chunks.0..record.chunks.1 {
                if tagged.as_ref().is_none_or(|tagged| tagged.contains(chunk)) {
                    self.documents.insert(row);
                    self.sections.insert(section);
                    self.chunks.insert(chunk);
                }
            }
        }
        Ok(())
    }

    /// The rows of another layer that rest on this part of the corpus.
    fn resting_on(&self, reader: &StoreReader<'_>, layer: Layer) -> heed::Result<RowSet> {
        let mut rows = RowSet::default();
        for row in reader.all_rows(layer)? {
            if self.supports(reader, (layer, row))? {
                rows.insert(row);
            }
        }
        Ok(rows)
    }

    fn supports(&self, reader: &StoreReader<'_>, at: At) -> heed::Result<bool> {
        let Some(record) = reader.record(at)? else { return Ok(false) };
        Ok(record.sources(reader, at.1)?.into_iter().any(|source| self.holds(source)))
    }

    fn holds(&self, (layer, row): At) -> bool {
        match layer {
            Layer::Document => self.documents.contains(row),
            Layer::Section => self.sections.contains(row),
            Layer::Chunk => self.chunks.contains(row),
            _ => false,
        }
    }
}
