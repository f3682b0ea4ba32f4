//! Read access to a knowledge base.
use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{BoxError, DateBound, Edge, Hit, Layer, MetadataFilter, NodeId};

/// How a search compares the query with the nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// By the words they share.
    Bm25,
    /// By the cosine of their vectors.
    Dense,
    /// Both, fused by reciprocal rank.
    Hybrid,
    /// Both, and from the names in the query along the graph to the chunks (PIKE-RAG, Figure 8),
    /// or to their atoms. For other layers it is [`Mode::Hybrid`]. The default of every interface.
    #[default]
    Graph,
}

impl Mode {
    pub const ALL: [Self; 4] = [Self::Bm25, Self::Dense, Self::Hybrid, Self::Graph];

    pub fn name(self) -> &'static str {
        match self {
            Self::Bm25 => "bm25",
            Self::Dense => "dense",
            Self::Hybrid => "hybrid",
            Self::Graph => "graph",
        }
    }

    /// What it compares, in a few words.
    pub fn description(self) -> &'static str {
        match self {
            Self::Bm25 => "Keywords",
            Self::Dense => "Embedding vectors",
            Self::Hybrid => "Keywords and vectors, fused",
            Self::Graph => "Both on all layers, propagated along the graph to chunks",
        }
    }
}

/// The least cosine a hit must have. Cosines of different embedders are not comparable, so a
/// strategy asks for the usual threshold and the base resolves it for its embedder; a user who
/// states a number gets that number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MinScore {
    Any,
    Usual,
    At(f32),
    /// The usual threshold, lowered by so much.
    UsualLess(f32),
}

impl MinScore {
    /// The setting of a strategy: a number, or the embedder's usual threshold.
    pub fn from_setting(setting: Option<f32>) -> Self {
        setting.map_or(Self::Usual, Self::At)
    }

    /// The threshold lowered by so much.
    #[must_use]
    pub fn lowered(self, by: f32) -> Self {
        match self {
            Self::Any => Self::Any,
            Self::Usual => Self::UsualLess(by),
            Self::At(least) => Self::At(least - by),
            Self::UsualLess(less) => Self::UsualLess(less + by),
        }
    }
}

/// A search with one or several texts in one pass; every text gets its own list of hits.
#[derive(Debug, Clone)]
pub struct Query {
    pub texts: Vec<String>,
    pub layer: Layer,
    pub mode: Mode,
    /// At most this many hits for each text.
    pub limit: usize,
    pub min_score: MinScore,
    /// Nodes not to return, neither themselves nor what they are parent of.
    pub exclude: Vec<NodeId>,
    pub filter: Filter,
}

impl Query {
    /// A search of everything in a layer, with no least cosine.
    pub fn new(texts: Vec<String>, layer: Layer, mode: Mode, limit: usize) -> Self {
        let (min_score, exclude, filter) = (MinScore::Any, vec![], Filter::default());
        Self { texts, layer, mode, limit, min_score, exclude, filter }
    }
}

/// What a hit must belong to. An empty list asks for nothing; several values of one list are
/// alternatives; all lists must be met.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// Names of documents; `*` stands for any characters.
    pub documents: Vec<String>,
    /// Headings; `*` stands for any characters, case is ignored.
    pub sections: Vec<String>,
    /// Formats of files, as `halma kb list` shows them: `pdf`, `docx`, `markdown` …
    pub formats: Vec<String>,
    /// Tags of chunks, by name.
    pub tags: Vec<String>,
    /// Documents dated on this day or later, as `2023-01-31`, `2023-01` or `2023`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub since: Option<DateBound>,
    /// Documents dated on this day or earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub until: Option<DateBound>,
    /// Conditions on the fields that users gave to documents.
    #[serde(skip_serializing_if = "MetadataFilter::is_empty")]
    pub metadata: MetadataFilter,
    /// `true`: only what was accepted from answers; `false`: nothing of it, and nothing weighed by
    /// it. By default `feedback.search` of the configuration decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<bool>,
}

impl Filter {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Passages in the order in which they stand or were stored.
#[derive(Debug, Clone)]
pub struct PassageQuery {
    pub which: Which,
    pub limit: usize,
    /// Of passages that an expression matches; a document that is named is read whatever it says.
    pub filter: Filter,
}

/// Which passages.
#[derive(Debug, Clone)]
pub enum Which {
    /// Those that a regular expression matches, in the syntax of the crate `regex`.
    Matching(String),
    /// Those of a document (its name or id) or of a section (its id), from a place on that counts
    /// from 0; or from a passage (its id) on, where -2 begins two before it.
    From(String, i64),
}

/// A part of the passages that a query is about.
#[derive(Debug, Clone, Default)]
pub struct Passages {
    /// Each with the byte of its text at which the first match begins; 0 without an expression.
    pub hits: Vec<(Hit, usize)>,
    /// The place of the first hit in its document or section; 0 with an expression.
    pub first: usize,
    /// How many passages the document or section has, or match among those that were read.
    pub total: usize,
    /// What was not read of what may match.
    pub limitation: Option<String>,
}

/// What a query over the base's tables gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SqlResult {
    pub columns: Vec<String>,
    pub rows: Vec<SqlRow>,
    /// Names of the documents whose tables were read.
    pub documents: Vec<String>,
    /// Rows beyond the limit were left out.
    pub cut: bool,
}

/// One row of a result with the nodes it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SqlRow {
    #[cfg_attr(feature = "schema", schema(value_type = Vec<serde_json::Value>))]
    pub values: Vec<serde_json::Value>,
    /// Rows or tables of the base, as many as are known.
    pub sources: Vec<NodeId>,
}

/// What a base holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Catalog {
    /// Nodes of each layer; layers without nodes are left out.
    pub counts: BTreeMap<Layer, u64>,
    /// The tables that [`Knowledge::run_sql`] can read.
    pub tables: Vec<TableSchema>,
}

impl Catalog {
    /// How many nodes of a layer there are.
    pub fn count(&self, layer: Layer) -> u64 {
        self.counts.get(&layer).copied().unwrap_or(0)
    }
}

/// A table as a query names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableSchema {
    pub name: String,
    /// Its caption; empty where it has none.
    pub caption: String,
    /// The document it stands in; empty for one that was put together from several.
    pub document: String,
    pub rows: usize,
    pub columns: Vec<ColumnSchema>,
}

/// What all values of a column are, empty ones aside. Bases store the number of the variant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    #[default]
    Text,
    Integer,
    Number,
    /// Stored as `2023-01-31`.
    Date,
    /// Yes or no; 1 or 0 in SQL. Configurations and bases may still call it `truth`.
    #[serde(alias = "truth")]
    Boolean,
}

impl ColumnKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Date => "date",
            Self::Boolean => "boolean",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnSchema {
    pub name: String,
    pub kind: ColumnKind,
    /// What its numbers count: `%`, `USD`, `mg`; empty where nothing says so.
    pub unit: String,
}

/// A tag that a text means.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TagMatch {
    pub id: NodeId,
    pub name: String,
    /// How surely, from 0 to 1: 1 for a tag that the text names; for one that its words stand for,
    /// how often samples say so; for one that it is near to, the cosine.
    pub weight: f32,
    /// The words that stand for it; empty for a tag that is only near.
    pub through: String,
}

/// A layered knowledge base, read.
#[async_trait]
pub trait Knowledge: Send + Sync {
    /// One list of hits for each text of the query, best first, each deterministic.
    async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError>;

    /// The node with this id, whose score says nothing.
    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError>;

    /// The nodes that an edge leads to, or with `None` any edge; both ways, outgoing first.
    async fn neighbours(
        &self,
        id: &NodeId,
        edge: Option<Edge>,
    ) -> Result<Vec<(Edge, Hit)>, BoxError>;

    /// Passages of a document in their order, or those that a regular expression matches.
    async fn passages(&self, _query: &PassageQuery) -> Result<Passages, BoxError> {
        Err("this base does not know the order of its passages".into())
    }

    /// The tags that a text means, the surest first; of those that it does not name, the ones with
    /// at least this cosine. A base without tags has none.
    async fn tags(&self, _text: &str, _near: f32) -> Result<Vec<TagMatch>, BoxError> {
        Ok(vec![])
    }

    /// Runs a read-only SQL query over the base's tables.
    async fn run_sql(&self, sql: &str) -> Result<SqlResult, BoxError>;

    /// How much of each layer there is, and the tables.
    async fn catalog(&self) -> Result<Catalog, BoxError>;
}
