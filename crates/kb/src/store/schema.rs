//! What the truth holds: records, keys and ids.
use halma_core::{Edge, Layer, NodeId, Span};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of everything below; a base of another one is not opened.
pub(crate) const FORMAT: u32 = 3;

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
    pub(crate) tables: Rows,
    pub(crate) figures: Rows,
    /// Hash of the settings it was cut with: another hash means that it is cut again.
    pub(crate) cut_with: Id,
    /// `pdf`, `docx`, `markdown` …
    pub(crate) format: String,
    pub(crate) author: Option<String>,
    /// ISO 639-1, as in `en`.
    pub(crate) language: Option<String>,
    /// Page numbers with the character at which each begins.
    pub(crate) pages: Vec<(u32, usize)>,
    /// Hyperlinks: where they stand (in characters), and where they lead.
    pub(crate) links: Vec<((usize, usize), String)>,
    /// What of it could not be read, with what to do.
    pub(crate) warnings: Vec<String>,
    /// For each of its names the file it came from, so that what is gone can be told.
    pub(crate) origins: Vec<String>,
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
    /// Of its heading, counted from 1; 0 for text above the first heading.
    pub(crate) level: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChunkRecord {
    pub(crate) id: Id,
    pub(crate) document: Row,
    pub(crate) section: Row,
    pub(crate) place: Place,
    /// Its text where that is not the document's text at `place` (table rows).
    pub(crate) text: Option<String>,
    /// What the cutting model said it is about (PIKE-RAG, Figure 5); searched with the text.
    pub(crate) summary: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableRecord {
    pub(crate) id: Id,
    /// `None` for a table made from facts.
    pub(crate) document: Option<Row>,
    pub(crate) section: Option<Row>,
    pub(crate) place: Place,
    pub(crate) caption: Option<String>,
    pub(crate) columns: Vec<Column>,
    /// Its rows in the row layer.
    pub(crate) rows: Rows,
    pub(crate) page: Option<u32>,
    /// Cells of the body that cover several places: row, column, rows, columns.
    pub(crate) merged: Vec<(u32, u32, u32, u32)>,
    /// For a table made from facts: the relation it was made of.
    pub(crate) relation: Option<String>,
}

/// A column of a table: its name as written, and what all its values are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
}

/// What all values of a column are, empty ones aside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ColumnKind {
    #[default]
    Text,
    Integer,
    Number,
    /// Stored as `2023-01-31`.
    Date,
    /// Yes or no.
    Truth,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowRecord {
    pub(crate) id: Id,
    pub(crate) table: Row,
    /// The chunk that holds it.
    pub(crate) chunk: Row,
    /// Counted from 1, as in the document.
    pub(crate) number: u32,
    pub(crate) place: Place,
    /// As written, one for each column.
    pub(crate) cells: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FigureRecord {
    pub(crate) id: Id,
    pub(crate) document: Row,
    pub(crate) section: Row,
    pub(crate) place: Place,
    pub(crate) caption: Option<String>,
    /// By a vision model, where one is configured.
    pub(crate) description: Option<String>,
    pub(crate) page: Option<u32>,
}

/// A summary of a section or document, or of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SummaryRecord {
    pub(crate) id: Id,
    pub(crate) document: Row,
    /// What it sums up is where its `derived_from` edge leads.
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TagRecord {
    pub(crate) id: Id,
    pub(crate) class: String,
    pub(crate) name: String,
}

/// Something with a name. Which chunks and atoms name it is in their `mentions` edges; an entity
/// that nothing mentions any more is removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntityRecord {
    /// Hash of its key, so that the same name is the same entity.
    pub(crate) id: Id,
    /// The normalised name, and what tells it from others of the same name.
    pub(crate) key: String,
    /// As it is shown.
    pub(crate) name: String,
    /// `person`, `place` …; empty where nobody said.
    pub(crate) kind: String,
    pub(crate) description: String,
    /// Other names it goes by, normalised.
    pub(crate) aliases: Vec<String>,
}

/// Entity – relation – entity, said by one chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FactRecord {
    pub(crate) id: Id,
    pub(crate) chunk: Row,
    pub(crate) head: Row,
    pub(crate) relation: String,
    pub(crate) tail: Row,
    /// The fact as a sentence.
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommunityRecord {
    pub(crate) id: Id,
    /// 0 for the smallest.
    pub(crate) level: u8,
    pub(crate) title: String,
    pub(crate) summary: String,
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
    /// How to open it again, in the words of whoever opened it; empty when nobody said.
    pub(crate) origin: String,
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

/// Number of layers.
pub(crate) const LAYERS: usize = Layer::ALL.len();

/// The number a layer has in keys, and its letter in ids. The order is that of the format and is
/// only ever added to.
const LETTERS: [(Layer, char); LAYERS] = [
    (Layer::Document, 'd'),
    (Layer::Section, 's'),
    (Layer::Chunk, 'c'),
    (Layer::Atom, 'a'),
    (Layer::Table, 't'),
    (Layer::Figure, 'g'),
    (Layer::Row, 'r'),
    (Layer::Summary, 'u'),
    (Layer::Tag, 'l'),
    (Layer::Entity, 'e'),
    (Layer::Fact, 'f'),
    (Layer::Community, 'm'),
];

/// The number a layer has in keys.
pub(crate) fn number(layer: Layer) -> usize {
    LETTERS.iter().position(|(known, _)| *known == layer).unwrap_or(LAYERS)
}

/// The byte of a layer in keys.
pub(crate) fn byte(layer: Layer) -> u8 {
    b"0123456789ab"[number(layer)]
}

/// The layer of a byte in a key.
pub(crate) fn layer_of(byte: u8) -> Option<Layer> {
    let at = b"0123456789ab".iter().position(|known| *known == byte)?;
    Some(LETTERS[at].0)
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
    let letter = LETTERS[number(layer)].1;
    NodeId(format!("{letter}-{id:016x}"))
}

/// What [`node_id`] made; `None` for an id that no base gives.
pub(crate) fn parse_id(id: &NodeId) -> Option<(Layer, Id)> {
    let (letter, hex) = id.0.split_once('-')?;
    let letter = letter.chars().next().filter(|_| letter.len() == 1)?;
    let (layer, _) = LETTERS.iter().find(|(_, known)| *known == letter)?;
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
