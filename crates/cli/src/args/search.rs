//! Arguments of `halma search`.
use halma_core::{ConfigError, DateBound, Filter, Layer, MetadataFilter, Mode};

use super::{KbDir, choice};

/// Options that apply to the base only, not to external sources.
const BASE_OPTIONS: [&str; 11] = [
    "layer",
    "mode",
    "explain",
    "document",
    "section",
    "kind",
    "tag",
    "since",
    "until",
    "conditions",
    "feedback",
];

#[derive(clap::Args)]
pub(crate) struct Search {
    /// The query
    #[arg(required_unless_present = "kept")]
    pub(crate) query: Option<String>,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Kind of node to search
    #[arg(long, value_parser = choice::layer(), default_value = Layer::Chunk.name())]
    pub(crate) layer: Layer,
    /// How the query is compared with the nodes
    #[arg(long, value_parser = choice::mode(), default_value = Mode::default().name())]
    pub(crate) mode: Mode,
    /// Maximum number of hits
    #[arg(long, alias = "limit", value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) top: u32,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Search an external source instead of the base: `web`
    #[arg(long, value_name = "NAME", conflicts_with_all = BASE_OPTIONS)]
    pub(crate) source: Option<String>,
    /// Print the cached web searches as JSON lines, without searching
    #[arg(long, conflicts_with_all = BASE_OPTIONS, conflicts_with_all = ["query", "source", "json"])]
    pub(crate) kept: bool,
    /// Print what each layer and each kind of edge gave to each score, and whether the hit counts as
    /// near
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print the hits as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Restricts hits. An option that is given several times names alternatives.
#[derive(clap::Args)]
pub(crate) struct FilterArgs {
    /// Only documents with this name; `*` matches any characters
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    pub(crate) document: Vec<String>,
    /// Only text below this heading; `*` matches any characters
    #[arg(long, value_name = "HEADING", help_heading = "Filters")]
    pub(crate) section: Vec<String>,
    /// Only files of this format, as printed by `halma kb list`
    #[arg(long = "type", value_name = "FORMAT", help_heading = "Filters")]
    pub(crate) kind: Vec<String>,
    /// Only chunks with this tag
    #[arg(long, value_name = "TAG", help_heading = "Filters")]
    pub(crate) tag: Vec<String>,
    /// Only documents dated on this day or later: 2023, 2023-01 or 2023-01-31
    #[arg(long, value_name = "DATE", help_heading = "Filters")]
    pub(crate) since: Option<DateBound>,
    /// Only documents dated on this day or earlier
    #[arg(long, value_name = "DATE", help_heading = "Filters")]
    pub(crate) until: Option<DateBound>,
    /// `true`: only what was accepted from answers; `false`: nothing of it [default: both, as
    /// feedback.search of the configuration says]
    #[arg(long, value_name = "BOOL", help_heading = "Filters")]
    pub(crate) feedback: Option<bool>,
    #[command(flatten)]
    pub(crate) fields: Where,
}

/// Conditions on the fields of documents, all of which must be met.
#[derive(clap::Args)]
pub(crate) struct Where {
    /// Only documents whose field meets this: FIELD=VALUE, FIELD=ONE,OTHER, FIELD>=VALUE, FIELD<VALUE;
    /// may be repeated
    #[arg(long = "where", value_name = "CONDITION", help_heading = "Filters")]
    pub(crate) conditions: Vec<String>,
}

impl Where {
    pub(crate) fn filter(&self) -> Result<MetadataFilter, ConfigError> {
        let mut filter = MetadataFilter::default();
        for condition in &self.conditions {
            filter.add(condition).map_err(|e| ConfigError {
                file: "--where".into(),
                key: condition.clone(),
                reason: e.reason.into(),
                hint: "write, for example, --where team=legal or --where 'year>=2020'".into(),
            })?;
        }
        Ok(filter)
    }
}

impl TryFrom<FilterArgs> for Filter {
    type Error = ConfigError;

    fn try_from(args: FilterArgs) -> Result<Self, ConfigError> {
        Ok(Self {
            metadata: args.fields.filter()?,
            documents: args.document,
            sections: args.section,
            formats: args.kind,
            tags: args.tag,
            since: args.since,
            until: args.until,
            feedback: args.feedback,
        })
    }
}
