//! Hits without scores, and the texts that are searched.
use halma_core::{Hit, Layer, Span};

use super::LayerRecord;
use super::types::{ChunkRecord, DocumentRecord, SectionRecord};
use crate::store::{Id, Row, StoreReader, TextPlace, node_id};

/// Of a document or section its beginning is searched: what it is about stands there, and the rest
/// is found in its chunks. In bytes.
pub(super) const BEGINNING: usize = 4000;

/// Of this the vector of a document or section without a summary is made, in bytes: more than local
/// embedders read.
pub(super) const EMBEDDED: usize = 2000;

/// A node that belongs to no single document.
pub(super) fn shared(layer: Layer, id: Id, title: &str, text: String) -> Hit {
    Hit {
        id: node_id(layer, id),
        layer,
        parent: None,
        title: title.to_owned(),
        document: String::new(),
        section: None,
        page: None,
        text,
        score: 0.0,
        cosine: None,
        parts: vec![],
        span: Span::default(),
    }
}

/// What a hit takes from its document.
pub(super) fn in_document(record: &DocumentRecord, layer: Layer, id: Id, span: Span) -> Hit {
    let name = record.names.first().cloned().unwrap_or_default();
    let page = record.pages.iter().rev().find(|(_, start)| *start <= span.start);
    Hit {
        title: if record.title.is_empty() { name.clone() } else { record.title.clone() },
        document: name,
        page: page.map(|(number, _)| *number).filter(|_| layer != Layer::Document),
        span,
        ..shared(layer, id, "", String::new())
    }
}

/// What a hit takes from the chunk it stands in: everything but its text.
pub(super) fn in_chunk<N: LayerRecord>(
    node: &N,
    reader: &StoreReader<'_>,
    chunk: Row,
) -> heed::Result<Hit> {
    let chunk: ChunkRecord = reader.linked(chunk)?;
    let parent = Some(node_id(Layer::Chunk, chunk.id));
    Ok(Hit { parent, ..in_section(node, reader, chunk.section, chunk.place)? })
}

/// What a hit takes from the section it stands in: everything but its text.
pub(super) fn in_section<N: LayerRecord>(
    node: &N,
    reader: &StoreReader<'_>,
    section: Row,
    place: TextPlace,
) -> heed::Result<Hit> {
    let section: SectionRecord = reader.linked(section)?;
    let document: DocumentRecord = reader.linked(section.document)?;
    let parent = Some(node_id(Layer::Section, section.id));
    let hit = in_document(&document, N::LAYER, node.id(), place.span());
    Ok(Hit { parent, section: section.name, ..hit })
}

/// The title of a document.
pub(super) fn title(reader: &StoreReader<'_>, document: Row) -> heed::Result<String> {
    Ok(reader.linked::<DocumentRecord>(document)?.title)
}

/// The parts of a searched text, empty ones left out.
pub(super) fn joined(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}
