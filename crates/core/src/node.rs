//! Nodes of the knowledge base as a search returns them, and the edges between them.
use serde::{Deserialize, Serialize};

/// The name of a node, derived from its content, so that the same input gives the same base.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct NodeId(pub String);

impl From<&str> for NodeId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl std::fmt::Display for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One kind of node (PIKE-RAG, Figure 3): sources, corpus, distilled knowledge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    Document,
    Section,
    Chunk,
    Table,
    Figure,
    /// A row of a table.
    Row,
    Atom,
    Summary,
    Tag,
    Entity,
    /// Entity – relation – entity.
    Fact,
    Community,
}

impl Layer {
    pub const ALL: [Self; 12] = [
        Self::Document,
        Self::Section,
        Self::Chunk,
        Self::Table,
        Self::Figure,
        Self::Row,
        Self::Atom,
        Self::Summary,
        Self::Tag,
        Self::Entity,
        Self::Fact,
        Self::Community,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Section => "section",
            Self::Chunk => "chunk",
            Self::Table => "table",
            Self::Figure => "figure",
            Self::Row => "row",
            Self::Atom => "atom",
            Self::Summary => "summary",
            Self::Tag => "tag",
            Self::Entity => "entity",
            Self::Fact => "fact",
            Self::Community => "community",
        }
    }
}

/// One kind of directed edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// Document → section → chunk; section → table, figure; table → row.
    Contains,
    /// Chunk → the chunk after it.
    Next,
    /// Document → document that its text names.
    RefersTo,
    /// Document → document that a hyperlink leads to.
    LinksTo,
    /// Atom, summary, fact, row, table, figure → what it was made of.
    DerivedFrom,
    /// Chunk, atom → entity, with how often.
    Mentions,
    /// Entity → entity: a fact, or sentences in which both stand.
    Relates,
    /// Chunk → tag.
    Tagged,
    /// Entity → community; community → the larger one it is a part of.
    MemberOf,
    /// Tag of questions → tag of the chunks that answer them.
    MapsTo,
}

impl Edge {
    pub const ALL: [Self; 10] = [
        Self::Contains,
        Self::Next,
        Self::RefersTo,
        Self::LinksTo,
        Self::DerivedFrom,
        Self::Mentions,
        Self::Relates,
        Self::Tagged,
        Self::MemberOf,
        Self::MapsTo,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Contains => "contains",
            Self::Next => "next",
            Self::RefersTo => "refers_to",
            Self::LinksTo => "links_to",
            Self::DerivedFrom => "derived_from",
            Self::Mentions => "mentions",
            Self::Relates => "relates",
            Self::Tagged => "tagged",
            Self::MemberOf => "member_of",
            Self::MapsTo => "maps_to",
        }
    }
}

/// A range of characters (Unicode scalar values, not bytes) of a document's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// A node that a search found.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Hit {
    pub id: NodeId,
    pub layer: Layer,
    /// The chunk an atom belongs to, the section a chunk belongs to.
    pub parent: Option<NodeId>,
    /// The document's name: its path below the indexed folder, or the record's id.
    pub document: String,
    pub title: String,
    pub section: Option<String>,
    pub page: Option<u32>,
    pub text: String,
    /// What the list is ordered by: cosine for a dense search, BM25 for a word search, the fused
    /// reciprocal rank for a hybrid one, the sum of its parts for a graph search.
    pub score: f32,
    /// Cosine in `[-1, 1]` between query and node, where both have a vector. Thresholds are
    /// stated in it (`docs/concepts/scores.md`).
    pub cosine: Option<f32>,
    /// What the score is made of; empty where it is one thing only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ScorePart>,
    pub span: Span,
}

/// What one layer or way of searching added to a score.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScorePart {
    /// `dense`, `bm25`, `entities`, `titles`, `summaries`, …; an edge's or a layer's own name.
    pub name: String,
    pub score: f32,
    /// What gave it: the summary, the tags, the entities. One that the question does not name is
    /// followed by how it was reached: `[alias]`, `[similar name]`, `[sentence]` or `[fact]`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub through: String,
}

impl ScorePart {
    /// The layer whose nodes gave it; `None` for the layer that was searched.
    pub fn layer(&self) -> Option<Layer> {
        match self.name.as_str() {
            "entities" | "titles" | "led_to" => Some(Layer::Entity),
            "summaries" => Some(Layer::Summary),
            "tags" => Some(Layer::Tag),
            "feedback" => Some(Layer::Atom),
            name => Layer::ALL.into_iter().find(|layer| layer.name() == name),
        }
    }

    /// The kind of edge by which it came from there.
    pub fn edge(&self) -> Option<Edge> {
        match self.name.as_str() {
            "entities" | "titles" | "led_to" => Some(Edge::Mentions),
            // "chunk" is the chunk of an atom.
            "summaries" | "chunk" | "feedback" => Some(Edge::DerivedFrom),
            "tags" => Some(Edge::Tagged),
            "links" => Some(Edge::LinksTo),
            name => Edge::ALL.into_iter().find(|edge| edge.name() == name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_names_the_layer_and_the_edge_that_gave_it() {
        for (name, layer, edge) in [
            ("dense", None, None),
            ("entities", Some(Layer::Entity), Some(Edge::Mentions)),
            ("titles", Some(Layer::Entity), Some(Edge::Mentions)),
            ("tags", Some(Layer::Tag), Some(Edge::Tagged)),
            ("links", None, Some(Edge::LinksTo)),
            ("next", None, Some(Edge::Next)),
            ("summaries", Some(Layer::Summary), Some(Edge::DerivedFrom)),
        ] {
            let part = ScorePart { name: name.to_owned(), score: 1.0, through: String::new() };
            assert_eq!((part.layer(), part.edge()), (layer, edge), "{name}");
        }
    }
}
