//! How a base is built and opened.
mod calibration;
mod feedback;
mod reading;
mod rebuilt_part;
mod search;
mod table_target;
mod url;
mod vector_layers;

use std::path::PathBuf;
use std::sync::Arc;

use halma_core::{Embedder, Metadata};
use serde::{Deserialize, Serialize};

pub use self::calibration::{Calibration, DenseTrust};
pub use self::feedback::FeedbackSettings;
pub(crate) use self::reading::LARGEST;
pub use self::reading::ReadingSettings;
pub(crate) use self::rebuilt_part::MAX_CHUNKS_UNASKED;
pub use self::rebuilt_part::{BasePart, KeptPart};
pub(crate) use self::search::least_cosine;
pub use self::search::{GraphSettings, SearchSettings};
pub use self::table_target::{TableTarget, TargetColumn};
pub use self::url::BaseUrl;
pub use self::vector_layers::VectorLayers;

/// The `[kb]` table of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the configuration")]
pub struct KbSettings {
    /// The base where `--kb` names none; means nothing here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<BaseUrl>,
    /// The level of PIKE-RAG that a base is made for, from 0 to 4: it gives defaults to the other
    /// keys (`halma_engine`'s configuration), and means nothing here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// What atoms are made of.
    pub atoms: Atoms,
    /// How documents are cut into chunks.
    pub chunks: Chunks,
    /// A chunk holds at most this many characters (with `sentences`: each of its sentences; not
    /// with `fixed`). A table that is longer is cut into its rows.
    pub chunk_chars: usize,
    /// For `chunks = "fixed"`: the most tokens of a chunk, and how many of them it shares with the
    /// chunk before, at most half. A token is a word, a number or a mark; what is longer than 16
    /// letters counts once for every 16, and a Chinese or Japanese character is one.
    pub chunk_tokens: usize,
    pub chunk_overlap: usize,
    /// For `chunks = "sentences"`: sentences of a chunk, and how many of them it shares with the
    /// chunk before, at most half.
    pub sentences: usize,
    pub sentence_overlap: usize,
    /// Chunks that are atomized at the same time.
    pub concurrency: usize,
    /// At most this many atoms are kept of one chunk.
    pub max_atoms: usize,
    /// Whether figures are described by the model of role `vision`; on when one is named.
    pub describe_figures: bool,
    /// How entities are found.
    pub entities: Entities,
    /// Whether chunks are tagged, by the model of role `distiller`.
    pub tags: bool,
    /// Whether sections and documents longer than a chunk are summed up, by the same model.
    pub summaries: bool,
    /// Whether entities are grouped into communities.
    pub communities: bool,
    /// Tables that the model of role `distiller` fills, passage by passage.
    pub tables_of: Vec<TableTarget>,
    /// Whether vectors are stored as the embedder gives them, four bytes a dimension, and not as one
    /// byte a dimension. It holds for vectors that are stored from then on with another embedder.
    pub keep_f32: bool,
    /// The layers that have vectors.
    pub vectors: VectorLayers,
    /// How files are read.
    pub reading: ReadingSettings,
    /// Settings of searching.
    pub search: SearchSettings,
    /// The weights of graph search.
    pub graph: GraphSettings,
}

impl Default for KbSettings {
    fn default() -> Self {
        Self {
            url: None,
            level: None,
            atoms: Atoms::Questions,
            chunks: Chunks::Structure,
            chunk_chars: 1500,
            chunk_tokens: 256,
            chunk_overlap: 32,
            sentences: 12,
            sentence_overlap: 4,
            concurrency: 16,
            max_atoms: 24,
            describe_figures: false,
            entities: Entities::default(),
            tags: false,
            summaries: false,
            communities: false,
            tables_of: vec![],
            keep_f32: false,
            vectors: VectorLayers::default(),
            reading: ReadingSettings::default(),
            search: SearchSettings::default(),
            graph: GraphSettings::default(),
        }
    }
}

/// What the atoms of a chunk are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Atoms {
    /// The questions that the chunk answers, by the model of role `atomizer`.
    #[default]
    Questions,
    /// Its sentences, the title put in for a leading pronoun. No model is asked.
    Sentences,
    None,
}

/// How documents are cut into chunks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chunks {
    /// Below headings and between sentences; tables and list items stay whole.
    #[default]
    Structure,
    /// A fixed number of tokens, with overlap.
    Fixed,
    /// A fixed number of sentences, with overlap.
    Sentences,
    /// Where the subject changes, as the embedder sees it.
    Semantic,
    /// Where the model of role `cutter` says, with a summary of each chunk (PIKE-RAG, Figure 5).
    Model,
}

/// How entities are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entities {
    /// The names in the text. No model is asked.
    #[default]
    Names,
    /// By the model of role `distiller`, with types, descriptions and facts.
    Model,
    None,
}

/// The least cosines that count as a match with the embedder in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    pub chunk: Option<f32>,
    pub atom: Option<f32>,
}

/// Where thresholds come from besides what is measured in the base.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ThresholdSources {
    /// Those of the configuration, which hold whatever is measured.
    pub configured: Thresholds,
    /// Those that were measured for the embedder with questions. What chance gives in a base says
    /// less, so it holds for other embedders only.
    pub usual: Thresholds,
}

impl ThresholdSources {
    /// Those in use, with what was measured in the base.
    pub(crate) fn or(self, measured: Option<Calibration>) -> Thresholds {
        let (configured, usual) = (self.configured, self.usual);
        Thresholds {
            chunk: configured.chunk.or(usual.chunk).or(measured.map(|measured| measured.chunk)),
            atom: configured.atom.or(usual.atom).or(measured.map(|measured| measured.atom)),
        }
    }
}

/// What a base is opened with.
#[derive(Clone, Default)]
pub struct BaseOptions {
    /// Without one only BM25 is searched.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// How the embedder is opened, in the caller's own words; [`crate::Base::embedded_by`] gives
    /// them back when another embedder is configured one day.
    pub origin: String,
    /// The embedder that the base's vectors are of, where that is another one: searches use it
    /// until every text has a vector of the new one.
    pub former: Option<Former>,
    pub thresholds: ThresholdSources,
    /// Settings of searching.
    pub search: SearchSettings,
    /// The weights of graph search.
    pub graph: GraphSettings,
    /// How what was accepted from answers is searched.
    pub feedback: FeedbackSettings,
    /// Child processes that read files and run SQL; without them both happen in this process, where
    /// they cannot be stopped.
    pub workers: Option<Arc<crate::workers::Workers>>,
}

/// An embedder that is on its way out.
#[derive(Clone)]
pub struct Former {
    pub embedder: Arc<dyn Embedder>,
    pub thresholds: ThresholdSources,
}

/// How an input file is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputFormat {
    /// By its name and what it holds.
    #[default]
    Auto,
    Hotpotqa,
    TwoWiki,
    Musique,
}

/// What a run of `index` is asked for, besides its inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexOptions {
    pub format: InputFormat,
    /// Patterns of the files of a folder that are read; with none all are. `*` stands for any
    /// characters but `/`, `**` for any folders; a pattern without `/` is one for the name alone.
    /// Files that are given by themselves are always read.
    pub include: Vec<String>,
    /// Patterns of the files and folders below a folder that are left out.
    pub exclude: Vec<String>,
    /// Whether documents that came from below the given folders and are not there any more are
    /// removed.
    pub prune: bool,
    /// Whether every file is read to see if it has changed, also where its size and times are what
    /// they were.
    pub rehash: bool,
    /// Parts of the base that are made again as the configuration says. Everything else stays as
    /// the base was made, and new documents are treated like the others.
    pub rebuild: Vec<BasePart>,
    /// Fields of every document of the inputs, also of those that are known already; they come
    /// before those in files and records.
    pub metadata: Metadata,
    /// The configuration file in use, which may hold passwords and keys: it is never read, also
    /// where it is given by itself. The engine sets it.
    pub configuration: Option<PathBuf>,
}
