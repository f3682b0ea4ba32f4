//! Arguments of `halma kg`.
use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::NonEmptyStringValueParser;
use halma_engine::KgFormat;

use super::KbDir;
use super::choice::{Choice, one_of};

#[derive(clap::Args)]
pub(crate) struct Kg {
    #[command(subcommand)]
    pub(crate) command: KgCommand,
}

#[derive(Subcommand)]
pub(crate) enum KgCommand {
    /// Load files of facts next to the documents of a base; an invalid file changes nothing
    Load(KgLoadArgs),
    /// Print statistics of the loaded graphs
    Show(KgShow),
    /// Find entities by name, best match first
    Find(KgFind),
    /// Print facts about an entity: one relation, or its connections to another entity
    Relate(KgRelate),
    /// Print the entities that meet a condition
    Filter(KgFilter),
    /// Remove one loaded graph, or all
    Unload(KgUnload),
}

#[derive(clap::Args)]
pub(crate) struct KgLoadArgs {
    /// Turtle (.ttl), N-Triples (.nt), N-Quads (.nq), `TriG` (.trig), RDF/XML (.rdf) or KQA Pro's kb.json
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Format of the files [default: by their extension]
    #[arg(long, value_parser = one_of(FORMATS))]
    pub(crate) format: Option<KgFormat>,
    /// Name of the graph; several files become one graph [default: the name of the file]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) graph: Option<String>,
    /// Remove the previous content of the graph
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const FORMATS: &[Choice<KgFormat>] = &[
    Choice::new("turtle", KgFormat::Turtle, "Turtle"),
    Choice::new("ntriples", KgFormat::NTriples, "N-Triples"),
    Choice::new("nquads", KgFormat::NQuads, "N-Quads"),
    Choice::new("trig", KgFormat::TriG, "TriG"),
    Choice::new("rdfxml", KgFormat::RdfXml, "RDF/XML"),
    Choice::new("kqapro", KgFormat::KqaPro, "KQA Pro's kb.json"),
];

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
    /// Name of the entity
    pub(crate) name: String,
    /// Description that distinguishes it from others of the same name
    #[arg(long, value_name = "TEXT")]
    pub(crate) descriptor: Option<String>,
    /// Maximum number of entities
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
    /// Name of the entity
    pub(crate) name: String,
    /// Relation or attribute, in words
    #[arg(required_unless_present = "to")]
    pub(crate) relation: Option<String>,
    /// Print its connections to this entity instead
    #[arg(long, value_name = "NAME", conflicts_with = "relation")]
    pub(crate) to: Option<String>,
    /// Description that distinguishes the entity from others of the same name
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
    /// Comparison: "height > 300 m", "born before 1900", "located in France", "is a lighthouse"
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
    /// Name of the graph, as printed by `halma kg show`
    #[arg(required_unless_present = "all")]
    pub(crate) graph: Option<String>,
    /// Remove all loaded graphs
    #[arg(long, conflicts_with = "graph")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
