//! Arguments of `halma index`.
use std::path::PathBuf;

use halma_engine::{Atoms, BasePart, Chunks, Entities, InputFormat};

use super::choice::{Choice, one_of};
use super::{BudgetArgs, KbDir};

#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Index {
    /// Files and folders: PDF, office documents, HTML, EPUB, email, Markdown, text, CSV, images,
    /// JSONL records, contexts of question sets. Without any, what waits or has failed in a base is
    /// done, and what `--rebuild` names
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Format of the files
    #[arg(long, value_parser = one_of(FORMATS), default_value = "auto")]
    pub(crate) format: InputFormat,
    /// The level of PIKE-RAG that the base is made for, from 0 (files, chunks, tables) to 4: what is
    /// switched on for it is in the guide to documents, and other settings win [default: kb.level of
    /// the configuration]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=4))]
    pub(crate) level: Option<u8>,
    /// What the atoms of a chunk are [default: kb.atoms of the configuration, `questions`]
    #[arg(long, value_parser = one_of(ATOMS))]
    pub(crate) atoms: Option<Atoms>,
    /// How documents are split into chunks [default: kb.chunks of the configuration, `structure`]
    #[arg(long, value_parser = one_of(CHUNKS))]
    pub(crate) chunks: Option<Chunks>,
    /// How entities are found [default: kb.entities of the configuration, `names`]
    #[arg(long, value_parser = one_of(ENTITIES))]
    pub(crate) entities: Option<Entities>,
    /// Rebuild this part of an existing base as the configuration says; may be repeated. Without
    /// it a base stays as it was made, whatever the configuration says
    #[arg(long, value_name = "PART", value_parser = one_of(PARTS))]
    pub(crate) rebuild: Vec<BasePart>,
    /// Only files whose path below the folder matches this glob; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "Files")]
    pub(crate) include: Vec<String>,
    /// No files whose path below the folder matches this glob; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "Files")]
    pub(crate) exclude: Vec<String>,
    /// Give all documents of this run a field; may be repeated. It comes before the same field in
    /// FILE.meta.json next to a file and in `metadata` of a record
    #[arg(long, value_name = "FIELD=VALUE", help_heading = "Files")]
    pub(crate) meta: Vec<String>,
    /// Delete documents whose files are no longer in the given folders
    #[arg(long, help_heading = "Files")]
    pub(crate) prune: bool,
    /// Read every file to see if it has changed, also where its size and times are the same
    #[arg(long, help_heading = "Files")]
    pub(crate) rehash: bool,
    /// Keep watching the folders and index again whenever a file changes
    #[arg(long, help_heading = "Files", conflicts_with = "estimate")]
    pub(crate) watch: bool,
    /// Print what the run would cost, without indexing
    #[arg(long, help_heading = "Budget")]
    pub(crate) estimate: bool,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    /// Make no model calls in this process: leave them to `halma worker`. For a base at an address
    #[arg(long, conflicts_with = "estimate")]
    pub(crate) only_workers: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const PARTS: &[Choice<BasePart>] = &[
    Choice::new("atoms", BasePart::Atoms, "The atoms of every chunk"),
    Choice::new("chunks", BasePart::Chunks, "The chunks of the documents that are given"),
    Choice::new("entities", BasePart::Entities, "Entities and facts"),
    Choice::new("tags", BasePart::Tags, "Tags and their classes"),
    Choice::new("summaries", BasePart::Summaries, "Summaries of sections and documents"),
    Choice::new("communities", BasePart::Communities, "Communities of entities"),
    Choice::new("tables", BasePart::Tables, "Tables that are asked for (`tables_of`)"),
    Choice::new("vectors", BasePart::Vectors, "Which layers have vectors"),
    Choice::new("embedder", BasePart::Embedder, "All vectors, with the configured embedder"),
];

const FORMATS: &[Choice<InputFormat>] = &[
    Choice::new("auto", InputFormat::Auto, "Detect the format of each file"),
    Choice::new("hotpotqa", InputFormat::Hotpotqa, "Contexts of a HotpotQA file"),
    Choice::new("2wiki", InputFormat::TwoWiki, "Contexts of a 2WikiMultiHopQA file"),
    Choice::new("musique", InputFormat::Musique, "Contexts of a MuSiQue file"),
];

const ATOMS: &[Choice<Atoms>] = &[
    Choice::new("questions", Atoms::Questions, "Questions that the chunk answers, by a model"),
    Choice::new("sentences", Atoms::Sentences, "The sentences of the chunk; needs no model"),
    Choice::new("none", Atoms::None, "No atoms: only chunks are searched"),
];

const CHUNKS: &[Choice<Chunks>] = &[
    Choice::new("structure", Chunks::Structure, "By headings; keeps tables and list items whole"),
    Choice::new("fixed", Chunks::Fixed, "A fixed number of tokens, with overlap"),
    Choice::new("sentences", Chunks::Sentences, "A fixed number of sentences, with overlap"),
    Choice::new("semantic", Chunks::Semantic, "Where the topic changes, by the embedder"),
    Choice::new("model", Chunks::Model, "Where a model sets a boundary; adds a summary per chunk"),
];

const ENTITIES: &[Choice<Entities>] = &[
    Choice::new("names", Entities::Names, "Names, found by rules; needs no model"),
    Choice::new("model", Entities::Model, "Entities, descriptions and relations, by a model"),
    Choice::new("none", Entities::None, "No entities"),
];
