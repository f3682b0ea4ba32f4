//! What the truth holds: records, keys and ids.
use halma_core::{Layer, NodeId, Span};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of everything below; a base of a newer one is not opened.
pub(crate) const FORMAT: u32 = 1;

/// The number of a node within its layer. Rows are never used twice.
pub(crate) type Row = u32;

/// Rows `0..1` of a layer, as stored.
pub(crate) type Rows = (Row, Row);

/// 64 bits of a blake3 hash of what a node is.
pub(crate) type Id = u64;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentRecord {
    pub(crate) id: Id,
    /// The first is the one shown; the others hold the same text and title.
    pub(crate) names: Vec<String>,
    /// The input file it came from, as named in the report.
    pub(crate) source: String,
    pub(crate) title: String,
    pub(crate) url: Option<String>,
    pub(crate) date: Option<String>,
    pub(crate) sections: Rows,
    pub(crate) chunks: Rows,
    /// The chunk size it was cut with.
    pub(crate) chunk_chars: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SectionRecord {
    pub(crate) id: Id,
    pub(crate) document: Row,
    /// The headings above it, joined; `None` for text above the first heading.
    pub(crate) name: Option<String>,
    /// Whether the name says something about the content, so that it is indexed with it.
    pub(crate) indexed: bool,
    pub(crate) place: Place,
    pub(crate) chunks: Rows,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChunkRecord {
    pub(crate) id: Id,
    pub(crate) document: Row,
    pub(crate) section: Row,
    pub(crate) place: Place,
    /// Its text where that is not the document's text at `place` (table rows).
    pub(crate) text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AtomRecord {
    pub(crate) id: Id,
    pub(crate) chunk: Row,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
}

/// Where something stands in its document's text, in bytes and in characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) bytes: (usize, usize),
    pub(crate) chars: (usize, usize),
}

impl Place {
    pub(crate) fn span(self) -> Span {
        Span { start: self.chars.0, end: self.chars.1 }
    }
}

/// An embedder that the base holds vectors of; its number is its place in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EmbedderRecord {
    pub(crate) model: String,
    pub(crate) dimensions: u32,
}

/// What came of atomizing a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AtomUnit {
    pub(crate) atoms: crate::Atoms,
    pub(crate) state: State,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum State {
    Pending,
    Done(Rows),
    Failed { reason: String, attempts: u32 },
}

pub(crate) const LAYERS: [Layer; 4] = [Layer::Document, Layer::Section, Layer::Chunk, Layer::Atom];

/// The number a layer has in keys.
pub(crate) fn number(layer: Layer) -> usize {
    match layer {
        Layer::Document => 0,
        Layer::Section => 1,
        Layer::Chunk => 2,
        Layer::Atom => 3,
    }
}

fn byte(layer: Layer) -> u8 {
    b"0123"[number(layer)]
}

/// The key of an id: the layer's byte, then the id.
pub(crate) fn id_key(layer: Layer, id: Id) -> [u8; 9] {
    let mut key = [byte(layer); 9];
    key[1..].copy_from_slice(&id.to_be_bytes());
    key
}

/// The key of a vector, a failed embedding (`embedder` 0) or a tombstone (`embedder` 0).
pub(crate) fn row_key(embedder: u8, layer: Layer, row: Row) -> [u8; 6] {
    let mut key = [embedder, byte(layer), 0, 0, 0, 0];
    key[2..].copy_from_slice(&row.to_be_bytes());
    key
}

/// The first two bytes of [`row_key`].
pub(crate) fn row_prefix(embedder: u8, layer: Layer) -> [u8; 2] {
    [embedder, byte(layer)]
}

/// The row at the end of a key.
pub(crate) fn row_of(key: &[u8]) -> Row {
    key.last_chunk().map_or(Row::MAX, |row| Row::from_be_bytes(*row))
}

/// Hashes parts so that no two lists of parts run together.
pub(crate) fn hash(parts: &[&[u8]]) -> Id {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let bytes = *hasher.finalize().as_bytes();
    bytes.first_chunk().map_or(0, |head| Id::from_be_bytes(*head))
}

pub(crate) fn node_id(layer: Layer, id: Id) -> NodeId {
    let letter = ["d", "s", "c", "a"][number(layer)];
    NodeId(format!("{letter}-{id:016x}"))
}

/// What [`node_id`] made; `None` for an id that no base gives.
pub(crate) fn parse_id(id: &NodeId) -> Option<(Layer, Id)> {
    let (letter, hex) = id.0.split_once('-')?;
    let at = ["d", "s", "c", "a"].iter().position(|known| *known == letter)?;
    let id = (hex.len() == 16).then(|| Id::from_str_radix(hex, 16).ok())??;
    Some((LAYERS[at], id))
}

pub(crate) fn encode<T: Serialize>(record: &T) -> heed::Result<Vec<u8>> {
    postcard::to_stdvec(record).map_err(|e| heed::Error::Encoding(e.into()))
}

pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> heed::Result<T> {
    postcard::from_bytes(bytes).map_err(|e| heed::Error::Decoding(e.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_and_nothing_else_is() {
        let id = node_id(Layer::Chunk, 0xab);
        assert_eq!(id.0, "c-00000000000000ab");
        assert_eq!(parse_id(&id), Some((Layer::Chunk, 0xab)));
        for wrong in ["", "c", "c-ab", "x-00000000000000ab", "c-00000000000000ax", "c-é"] {
            assert_eq!(parse_id(&NodeId(wrong.into())), None, "{wrong}");
        }
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
    }
}
