//! What can be written after `halma index`.
use std::path::PathBuf;

use clap::ValueEnum;

use super::{BudgetArgs, KbDir};

#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Index {
    /// Files and folders: PDF, office documents, HTML, EPUB, e-mail, Markdown, text, CSV, images,
    /// JSONL records, contexts of question sets
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// What the files are
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: FileFormat,
    /// What a chunk's atoms are
    #[arg(long, value_enum)]
    pub(crate) atoms: Option<AtomsArg>,
    /// How documents are cut into chunks
    #[arg(long, value_enum)]
    pub(crate) chunks: Option<ChunksArg>,
    /// Where entities come from
    #[arg(long, value_enum)]
    pub(crate) entities: Option<EntitiesArg>,
    /// Only files whose path below the folder fits this glob; may be given several times
    #[arg(long, value_name = "GLOB", help_heading = "Files")]
    pub(crate) include: Vec<String>,
    /// No files whose path below the folder fits this glob; may be given several times
    #[arg(long, value_name = "GLOB", help_heading = "Files")]
    pub(crate) exclude: Vec<String>,
    /// Remove documents whose files are gone from the folders given
    #[arg(long, help_heading = "Files")]
    pub(crate) prune: bool,
    /// Go on watching the folders, and index again whenever something in them changes
    #[arg(long, help_heading = "Files", conflicts_with = "estimate")]
    pub(crate) watch: bool,
    /// Say what it would cost, and do nothing
    #[arg(long, help_heading = "Budget")]
    pub(crate) estimate: bool,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum FileFormat {
    /// Recognise each by its content
    #[default]
    Auto,
    Hotpotqa,
    #[value(name = "2wiki")]
    TwoWiki,
    Musique,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum AtomsArg {
    /// Questions the chunk answers, by the atomizer's model
    Questions,
    /// Its sentences; no model needed
    Sentences,
    /// None: search chunks only
    None,
}

impl AtomsArg {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Questions => "questions",
            Self::Sentences => "sentences",
            Self::None => "none",
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ChunksArg {
    /// Below headings; tables and list items stay whole
    Structure,
    /// So many tokens, with an overlap
    Fixed,
    /// So many sentences, with an overlap
    Sentences,
    /// Where the meaning changes, by the embedder
    Semantic,
    /// Where a model puts the boundary; each chunk with a summary
    Model,
}

impl ChunksArg {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Structure => "structure",
            Self::Fixed => "fixed",
            Self::Sentences => "sentences",
            Self::Semantic => "semantic",
            Self::Model => "model",
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum EntitiesArg {
    /// Names found by rules; no model needed
    Names,
    /// A model tells entities with their descriptions and relations
    Model,
    /// None
    None,
}

impl EntitiesArg {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Names => "names",
            Self::Model => "model",
            Self::None => "none",
        }
    }
}
