//! What can be written after `halma kg`.
use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use halma_engine::KgFormat;

use super::KbDir;

#[derive(clap::Args)]
pub(crate) struct Kg {
    #[command(subcommand)]
    pub(crate) command: KgCommand,
}

#[derive(Subcommand)]
pub(crate) enum KgCommand {
    /// Load RDF files beside the documents of a base; a broken file changes nothing
    Load(KgLoadArgs),
    /// What is loaded, in figures
    Show(KgShow),
    /// Entities of a name, the best fit first
    Find(KgFind),
    /// Facts about an entity: of a relation, or of what ties it to another
    Relate(KgRelate),
    /// Which of some entities meet a condition
    Filter(KgFilter),
    /// Remove a loaded graph, or all
    Unload(KgUnload),
}

#[derive(clap::Args)]
pub(crate) struct KgLoadArgs {
    /// Turtle (.ttl), N-Triples (.nt), N-Quads (.nq), `TriG` (.trig) or RDF/XML (.rdf)
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// What the files are [default: told by their names]
    #[arg(long, value_enum)]
    pub(crate) format: Option<RdfArg>,
    /// What the graph is called; several files become one [default: the file's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) graph: Option<String>,
    /// Remove what the graph held before
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum RdfArg {
    Turtle,
    #[value(name = "ntriples")]
    NTriples,
    #[value(name = "nquads")]
    NQuads,
    #[value(name = "trig")]
    TriG,
    #[value(name = "rdfxml")]
    RdfXml,
}

impl From<RdfArg> for KgFormat {
    fn from(format: RdfArg) -> Self {
        match format {
            RdfArg::Turtle => Self::Turtle,
            RdfArg::NTriples => Self::NTriples,
            RdfArg::NQuads => Self::NQuads,
            RdfArg::TriG => Self::TriG,
            RdfArg::RdfXml => Self::RdfXml,
        }
    }
}

#[derive(clap::Args)]
pub(crate) struct KgShow {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KgFind {
    pub(crate) name: String,
    /// What tells it from others of the name
    #[arg(long, value_name = "TEXT")]
    pub(crate) descriptor: Option<String>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) top: u32,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KgRelate {
    pub(crate) name: String,
    /// The relation or attribute in words
    #[arg(required_unless_present = "to")]
    pub(crate) relation: Option<String>,
    /// Tell what ties it to this instead
    #[arg(long, value_name = "NAME", conflicts_with = "relation")]
    pub(crate) to: Option<String>,
    /// What tells the entity from others of the name
    #[arg(long, value_name = "TEXT")]
    pub(crate) descriptor: Option<String>,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KgFilter {
    /// Names of the entities
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    /// A comparison: "height > 300 m", "born before 1900", "located in France", "is a lighthouse"
    #[arg(long, value_name = "TEXT")]
    pub(crate) condition: String,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct KgUnload {
    /// The graph, as `halma kg show` names it
    #[arg(required_unless_present = "all")]
    pub(crate) graph: Option<String>,
    /// All loaded graphs
    #[arg(long, conflicts_with = "graph")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
