use std::path::PathBuf;
use std::str::FromStr as _;

use clap::{Subcommand, ValueEnum};
use halma_core::Mode;
use halma_eval::Format;
use halma_eval::blend::Kind;
use halma_eval::judge::{Protocol, Scheme};

use super::{BudgetArgs, KbDir, Set};

const EXAMPLES: &str = "Examples:
  halma eval questions.jsonl --kb .halma --strategy naive,kar3       your own questions on your base
  halma eval hotpotqa_dev.json --sample 100 --strategy kar3 --grid n=1..10
  halma eval questions.jsonl --estimate --strategy kar3              what would it take?
  halma eval compare .halma/eval/questions#naive .halma/eval/questions#kar3
  halma eval preset kar3-table1 hotpotqa_dev.json --sample 100";

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Eval {
    #[command(subcommand)]
    pub(crate) command: Option<EvalCommand>,
    #[command(flatten)]
    pub(crate) run: EvalRun,
}

#[derive(Subcommand)]
pub(crate) enum EvalCommand {
    /// Two runs on the same questions: how far apart, how sure, which questions flipped
    Compare(EvalCompare),
    /// The tables of the papers: what they compare, and our figures beside theirs
    Preset(EvalPreset),
    /// Make questions that need two of: your base, a knowledge graph, results of a web search
    BuildBlend(EvalBuildBlend),
}

#[derive(clap::Args)]
pub(crate) struct EvalRun {
    /// The questions: a file of your own (JSON lines with `question` and `answers`) or of a set in
    /// its official format (`halma data list`)
    #[arg(required = true)]
    pub(crate) file: Option<PathBuf>,
    /// The set's format [default: told by the keys of the records]
    #[arg(long, value_name = "SET", value_parser = format)]
    pub(crate) format: Option<Format>,
    /// Strategies, separated by commas
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',', default_value = "naive,kar3")]
    pub(crate) strategy: Vec<String>,
    /// Every strategy at every combination of values: n=1..10, kar3.mode=graph|dense
    #[arg(long, value_name = "KEY=VALUES")]
    pub(crate) grid: Vec<String>,
    /// Ask --probe questions of each strategy, say what the whole would take, and stop
    #[arg(long)]
    pub(crate) estimate: bool,
    /// Questions that --estimate asks of each strategy; they are kept. 0 asks none
    #[arg(long, value_name = "N", default_value_t = 5, requires = "estimate")]
    pub(crate) probe: u16,
    /// Ask no strategy; measure what searches in these modes find
    #[arg(long, value_name = "MODES", value_parser = super::choice::mode(), value_delimiter = ',')]
    pub(crate) retrieval: Vec<Mode>,
    #[command(flatten)]
    pub(crate) how: EvalHow,
}

/// What evaluations of all kinds share.
#[derive(clap::Args)]
pub(crate) struct EvalHow {
    #[command(flatten)]
    pub(crate) set: Set,
    /// Only the first N questions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "Questions")]
    pub(crate) limit: Option<u32>,
    /// N questions drawn by the seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "Questions", conflicts_with = "limit")]
    pub(crate) sample: Option<u32>,
    /// The seed of `--sample`
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = "Questions")]
    pub(crate) seed: u64,
    /// Folder of the knowledge base [default: one of the file's own passages, below
    /// .halma/eval/NAME; .halma where the file brings none]
    #[arg(long, value_name = "DIR")]
    pub(crate) kb: Option<PathBuf>,
    /// Search nothing: for strategies that answer from memory (direct, cot)
    #[arg(long, conflicts_with = "kb")]
    pub(crate) no_kb: bool,
    /// Measure with a base that was built from another file all the same
    #[arg(long)]
    pub(crate) force: bool,
    /// Folder for answers, traces and the report; a second run goes on there
    /// [default: .halma/eval/NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Questions at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) concurrency: u16,
    /// Have the model of the role `judge` rule on every answer, by a paper's protocol [default of a
    /// preset: its paper's]
    #[arg(long, value_name = "PROTOCOL", value_enum)]
    pub(crate) judge: Option<ProtocolArg>,
    /// Have that model assess every answer by criteria, separated by commas
    #[arg(long, value_name = "SCHEMES", value_enum, value_delimiter = ',')]
    pub(crate) assess: Vec<SchemeArg>,
    /// For the whole evaluation; a single question is under [budget.ask]
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct EvalPreset {
    /// A table of a paper, or `list`
    pub(crate) name: String,
    /// Question files of the table's sets; without one the table's rows are shown
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) how: EvalHow,
}

#[derive(clap::Args)]
pub(crate) struct EvalCompare {
    /// An output folder or its report.json; REPORT#LABEL for one of several runs
    #[arg(value_name = "A")]
    pub(crate) first: String,
    /// The same for the other one; `#LABEL` alone is a run of the first report
    #[arg(value_name = "B")]
    pub(crate) second: String,
    /// Resamples of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) resamples: u32,
    /// The seed of the bootstrap
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct EvalBuildBlend {
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// The file to write, JSON lines in the shape of BlendQA
    #[arg(long, short, value_name = "FILE", default_value = "blend.jsonl")]
    pub(crate) out: PathBuf,
    /// Which pairs of sources, separated by commas
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = kind)]
    #[arg(default_value = "kg-text,kg-web,text-web")]
    pub(crate) kinds: Vec<Kind>,
    /// So many questions of each kind
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) each: u32,
    /// The order in which the passages of the base are tried
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Who words the questions [default: the model of the role `proposer`, where there is one]
    #[arg(long, value_name = "BY", value_enum)]
    pub(crate) wording: Option<WordingArg>,
    /// The name of the source of web results
    #[arg(long, value_name = "NAME", default_value = "web")]
    pub(crate) web: String,
    /// For the whole; a single passage is under [budget.ask]
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    /// Print the questions and what was dropped as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How questions come by their words.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum WordingArg {
    /// By rules: repeatable, plain, of few patterns
    Rules,
    /// By the model of the role `proposer`
    Model,
}

/// How a judge is asked.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ProtocolArg {
    /// PIKE-RAG's: does the answer agree with any gold answer?
    Pike,
    /// DEC's: does it mean the same as the gold answer?
    Dec,
}

impl From<Protocol> for ProtocolArg {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Pike => Self::Pike,
            Protocol::Dec => Self::Dec,
        }
    }
}

impl From<ProtocolArg> for Protocol {
    fn from(protocol: ProtocolArg) -> Self {
        match protocol {
            ProtocolArg::Pike => Self::Pike,
            ProtocolArg::Dec => Self::Dec,
        }
    }
}

/// By which criteria answers are assessed.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum SchemeArg {
    /// How answer, question and cited passages fit together: five shares
    Ragas,
    /// Open questions: five criteria from 1 to 5
    Creative,
    /// Forecasts: the direction, and the interval, against what came
    Forecast,
}

impl From<SchemeArg> for Scheme {
    fn from(scheme: SchemeArg) -> Self {
        match scheme {
            SchemeArg::Ragas => Self::Ragas,
            SchemeArg::Creative => Self::Creative,
            SchemeArg::Forecast => Self::Forecast,
        }
    }
}

/// A set by its name on the command line.
pub(super) fn format(name: &str) -> Result<Format, String> {
    Format::from_str(name)
}

/// A pair of sources by its name on the command line.
fn kind(name: &str) -> Result<Kind, String> {
    Kind::from_str(name)
}
