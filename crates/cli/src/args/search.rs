//! What can be written after `halma search`.
use clap::ValueEnum;
use halma_core::{Filter, Layer, Mode};

use super::KbDir;

/// What only a search of the base knows.
const OF_THE_BASE: [&str; 9] =
    ["layer", "mode", "explain", "document", "section", "kind", "tag", "since", "until"];

#[derive(clap::Args)]
pub(crate) struct Search {
    /// What to look for
    #[arg(required_unless_present = "kept")]
    pub(crate) query: Option<String>,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    #[arg(long, value_enum, default_value = "chunk")]
    pub(crate) layer: LayerArg,
    #[arg(long, value_enum, default_value = "graph")]
    pub(crate) mode: ModeArg,
    /// At most this many hits
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) top: u32,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Search this source beside the base instead: `web`
    #[arg(long, value_name = "NAME", conflicts_with_all = OF_THE_BASE)]
    pub(crate) source: Option<String>,
    /// Print the searches of the web that are kept, one a line as JSON, and search for nothing
    #[arg(long, conflicts_with_all = OF_THE_BASE, conflicts_with_all = ["query", "source", "json"])]
    pub(crate) kept: bool,
    /// Say what each score is made of
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print the hits as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LayerArg {
    Document,
    Section,
    Chunk,
    Table,
    Figure,
    Row,
    Atom,
    Summary,
    Tag,
    Entity,
    Fact,
    Community,
}

impl From<LayerArg> for Layer {
    fn from(layer: LayerArg) -> Self {
        match layer {
            LayerArg::Document => Self::Document,
            LayerArg::Section => Self::Section,
            LayerArg::Chunk => Self::Chunk,
            LayerArg::Table => Self::Table,
            LayerArg::Figure => Self::Figure,
            LayerArg::Row => Self::Row,
            LayerArg::Atom => Self::Atom,
            LayerArg::Summary => Self::Summary,
            LayerArg::Tag => Self::Tag,
            LayerArg::Entity => Self::Entity,
            LayerArg::Fact => Self::Fact,
            LayerArg::Community => Self::Community,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ModeArg {
    /// By shared words
    Bm25,
    /// By vectors
    Dense,
    /// Both, fused
    Hybrid,
    /// Both on every layer, propagated along the graph to chunks
    Graph,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Bm25 => Self::Bm25,
            ModeArg::Dense => Self::Dense,
            ModeArg::Hybrid => Self::Hybrid,
            ModeArg::Graph => Self::Graph,
        }
    }
}

/// What a hit must belong to. An option that is given several times names alternatives.
#[derive(clap::Args)]
pub(crate) struct FilterArgs {
    /// Only in documents of this name; `*` stands for any characters
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    pub(crate) document: Vec<String>,
    /// Only below this heading; `*` stands for any characters
    #[arg(long, value_name = "HEADING", help_heading = "Filters")]
    pub(crate) section: Vec<String>,
    /// Only in files of this format, as `halma kb list` shows it
    #[arg(long = "type", value_name = "FORMAT", help_heading = "Filters")]
    pub(crate) kind: Vec<String>,
    /// Only in chunks with this tag
    #[arg(long, value_name = "TAG", help_heading = "Filters")]
    pub(crate) tag: Vec<String>,
    /// Only in documents of this date or later: 2023, 2023-01 or 2023-01-31
    #[arg(long, value_name = "DATE", help_heading = "Filters")]
    pub(crate) since: Option<String>,
    /// Only in documents of this date or earlier
    #[arg(long, value_name = "DATE", help_heading = "Filters")]
    pub(crate) until: Option<String>,
}

impl From<FilterArgs> for Filter {
    fn from(args: FilterArgs) -> Self {
        Self {
            documents: args.document,
            sections: args.section,
            formats: args.kind,
            tags: args.tag,
            since: args.since,
            until: args.until,
        }
    }
}
