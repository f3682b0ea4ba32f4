//! Keys, ids and encodings of what is stored.
use halma_core::{Edge, Layer, NodeId, Span};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of everything below; a base of another one is not opened.
pub(crate) const FORMAT: u32 = 8;

/// The number of a node within its layer. Rows are never used twice.
pub(crate) type Row = u32;

/// Rows `0..1` of a layer, as stored.
pub(crate) type Rows = (Row, Row);

/// 64 bits of a blake3 hash of what a node is.
pub(crate) type Id = u64;

/// Where something stands in its document's text, in bytes and in characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TextPlace {
    pub(crate) bytes: (usize, usize),
    pub(crate) chars: (usize, usize),
}

impl TextPlace {
    pub(crate) fn span(self) -> Span {
        Span { start: self.chars.0, end: self.chars.1 }
    }
}

/// An embedder that the base holds vectors of; its number is its place in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EmbedderRecord {
    pub(crate) model: String,
    pub(crate) dimensions: u32,
    /// How to open it again, as the caller described it; empty when it did not.
    pub(crate) origin: String,
}

/// Number of layers.
pub(crate) const LAYERS: usize = Layer::ALL.len();

/// Every layer with its letter in ids and the name of its database. The order is that of the format,
/// which gives layers their numbers, and is only ever added to.
const LAYER_FORMAT: [(Layer, char, &str); LAYERS] = [
    (Layer::Document, 'd', "documents"),
    (Layer::Section, 's', "sections"),
    (Layer::Chunk, 'c', "chunks"),
    (Layer::Atom, 'a', "atoms"),
    (Layer::Table, 't', "tables"),
    (Layer::Figure, 'g', "figures"),
    (Layer::Row, 'r', "rows"),
    (Layer::Summary, 'u', "summaries"),
    (Layer::Tag, 'l', "tags"),
    (Layer::Entity, 'e', "entities"),
    (Layer::Fact, 'f', "facts"),
    (Layer::Community, 'm', "communities"),
];

/// The bytes of the layers in keys, by number.
const BYTES: &[u8; LAYERS] = b"0123456789ab";

/// The name of each layer's database, in the order of its number.
pub(super) fn layer_databases() -> impl Iterator<Item = &'static str> {
    LAYER_FORMAT.into_iter().map(|(.., name)| name)
}

/// The number a layer has in keys.
pub(crate) fn number(layer: Layer) -> usize {
    LAYER_FORMAT.iter().position(|(other, ..)| *other == layer).unwrap_or(LAYERS)
}

/// The byte of a layer in keys.
pub(crate) fn byte(layer: Layer) -> u8 {
    BYTES[number(layer)]
}

/// The layer of a byte in a key.
pub(crate) fn layer_of(byte: u8) -> Option<Layer> {
    let at = BYTES.iter().position(|other| *other == byte)?;
    Some(LAYER_FORMAT[at].0)
}

/// The byte of an edge in keys; the order is that of the format and is only ever added to.
pub(crate) fn edge_byte(edge: Edge) -> u8 {
    match edge {
        Edge::Contains => b'c',
        Edge::Next => b'n',
        Edge::RefersTo => b'r',
        Edge::LinksTo => b'l',
        Edge::DerivedFrom => b'd',
        Edge::Mentions => b'm',
        Edge::Relates => b'e',
        Edge::Tagged => b't',
        Edge::MemberOf => b'o',
        Edge::MapsTo => b'p',
    }
}

pub(crate) fn edge_of(byte: u8) -> Option<Edge> {
    Edge::ALL.into_iter().find(|edge| edge_byte(*edge) == byte)
}

/// A node by layer and row: what edges lead from and to.
pub(crate) type At = (Layer, Row);

/// The key of an edge: where it leads from, its kind, where it leads to.
pub(crate) fn edge_key(from: At, edge: Edge, to: At) -> [u8; 11] {
    let mut key = [0; 11];
    key[..5].copy_from_slice(&at_key(from));
    key[5] = edge_byte(edge);
    key[6..].copy_from_slice(&at_key(to));
    key
}

/// The first bytes of the keys of a node's edges.
pub(crate) fn at_key((layer, row): At) -> [u8; 5] {
    let mut key = [byte(layer), 0, 0, 0, 0];
    key[1..].copy_from_slice(&row.to_be_bytes());
    key
}

/// What [`edge_key`] made.
pub(crate) fn edge_of_key(key: &[u8]) -> Option<(At, Edge, At)> {
    let key: &[u8; 11] = key.try_into().ok()?;
    let at = |bytes: &[u8]| Some((layer_of(bytes[0])?, row_of(bytes)));
    Some((at(&key[..5])?, edge_of(key[5])?, at(&key[6..])?))
}

/// The key of an id: the layer's byte, then the id.
pub(crate) fn id_key(layer: Layer, id: Id) -> [u8; 9] {
    let mut key = [byte(layer); 9];
    key[1..].copy_from_slice(&id.to_be_bytes());
    key
}

/// The key of a vector, or of a tombstone (`embedder` 0).
pub(crate) fn row_key(embedder: u8, layer: Layer, row: Row) -> [u8; 6] {
    let mut key = [embedder, byte(layer), 0, 0, 0, 0];
    key[2..].copy_from_slice(&row.to_be_bytes());
    key
}

/// The first two bytes of [`row_key`].
pub(crate) fn row_prefix(embedder: u8, layer: Layer) -> [u8; 2] {
    [embedder, byte(layer)]
}

/// What [`row_key`] made: embedder, layer, row.
pub(crate) fn of_row_key(key: &[u8]) -> Option<(u8, Layer, Row)> {
    let key: &[u8; 6] = key.try_into().ok()?;
    Some((key[0], layer_of(key[1])?, row_of(key)))
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
    let letter = LAYER_FORMAT[number(layer)].1;
    NodeId(format!("{letter}-{id:016x}"))
}

/// What [`node_id`] made; `None` for an id that no base gives.
pub(crate) fn parse_id(id: &NodeId) -> Option<(Layer, Id)> {
    let (letter, hex) = id.0.split_once('-')?;
    let letter = letter.chars().next().filter(|_| letter.len() == 1)?;
    let (layer, ..) = LAYER_FORMAT.iter().find(|(_, layer_letter, _)| *layer_letter == letter)?;
    let id = (hex.len() == 16).then(|| Id::from_str_radix(hex, 16).ok())??;
    Some((*layer, id))
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
