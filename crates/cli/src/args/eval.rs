//! Arguments of `halma eval`.
use std::path::PathBuf;

use clap::Subcommand;
use halma_core::Mode;
use halma_eval::judge::{Protocol, Scheme};
use halma_eval::{Condition, Format, Profile};

use super::choice::{Choice, one_of};
use super::{BudgetArgs, Set};

const EXAMPLES: &str = "Examples:
  halma eval questions.jsonl --kb .halma --strategy naive,kar3       your own questions on your base
  halma eval hotpotqa_dev.json --sample 100 --strategy kar3 --grid n=1..10
  halma eval questions.jsonl --estimate --strategy kar3              estimate the cost
  halma eval compare .halma/eval/questions#naive .halma/eval/questions#kar3
  halma eval preset run kar3-table1 hotpotqa_dev.json --sample 100";

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
    /// Compare two runs question by question: differences, their confidence, flipped questions
    Compare(EvalCompare),
    /// Run the tables of the papers and show our figures next to the paper's
    #[command(subcommand)]
    Preset(PresetCommand),
}

#[derive(clap::Args)]
pub(crate) struct EvalRun {
    /// Question file: your own (JSON lines with `question` and `answers`) or a data set in its
    /// official format (`halma data list`). A base made of its passages is of all of them: `--limit`
    /// does not limit it
    #[arg(required = true)]
    pub(crate) file: Option<PathBuf>,
    /// Format of the data set [default: recognised by the keys of the records]
    #[arg(long, value_name = "SET")]
    pub(crate) format: Option<Format>,
    /// Strategies, separated by commas
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',', default_value = "naive,kar3")]
    pub(crate) strategy: Vec<String>,
    /// Run every strategy at every combination of values: n=1..10, kar3.mode=graph|dense
    #[arg(long, value_name = "KEY=VALUES")]
    pub(crate) grid: Vec<String>,
    /// Ask --probe questions of each strategy, estimate the cost of the rest, and stop. Where the
    /// base is missing or incomplete, estimate the cost of the base, and build and ask nothing
    #[arg(long)]
    pub(crate) estimate: bool,
    /// Questions that --estimate asks of each strategy; their answers are stored. 0 asks none
    #[arg(long, value_name = "N", default_value_t = 5, requires = "estimate")]
    pub(crate) probe: u16,
    /// Print all columns: words in common, tokens, passages found, the papers' own figures
    #[arg(long)]
    pub(crate) all: bool,
    /// Ask no strategy; measure what searches in these modes find
    #[arg(long, value_name = "MODES", value_parser = super::choice::mode(), value_delimiter = ',')]
    #[arg(conflicts_with_all = ["strategy", "grid", "judge", "assess"])]
    pub(crate) retrieval: Vec<Mode>,
    #[command(flatten)]
    pub(crate) how: EvalHow,
}

/// Which questions of a file are used.
#[derive(clap::Args)]
pub(crate) struct ChosenQuestions {
    /// Use only questions with this property: kind=bridge, hops=2|3, domain!=finance
    #[arg(long = "where", value_name = "KEY=VALUES")]
    #[arg(help_heading = "Questions")]
    pub(crate) conditions: Vec<Condition>,
    /// Use only the questions whose ids are in this file: one a line, or JSON records
    #[arg(long, value_name = "FILE", help_heading = "Questions")]
    pub(crate) ids: Option<PathBuf>,
    /// Use only the first N questions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "Questions")]
    pub(crate) limit: Option<u32>,
    /// Draw N questions at random
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "Questions", conflicts_with = "limit")]
    pub(crate) sample: Option<u32>,
    /// Seed of everything that is drawn
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = "Questions")]
    pub(crate) seed: u64,
}

/// What evaluations of all kinds share.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct EvalHow {
    #[command(flatten)]
    pub(crate) set: Set,
    #[command(flatten)]
    pub(crate) chosen: ChosenQuestions,
    /// Folder of the knowledge base [default: one made of the file's own passages in
    /// .halma/eval/NAME; kb.url of the configuration or .halma if the file has none]
    #[arg(long, value_name = "DIR")]
    pub(crate) kb: Option<PathBuf>,
    /// Search nothing, for strategies that answer from memory (direct, cot)
    #[arg(long, conflicts_with = "kb")]
    pub(crate) no_kb: bool,
    /// Use a knowledge base built from a different file
    #[arg(long)]
    pub(crate) force: bool,
    /// Folder for answers, traces and the report; a second run resumes there
    /// [default: .halma/eval/NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Search what was accepted from answers as well (`halma feedback`); without it accepted answers
    /// to the questions are not measured [default: feedback.eval of the configuration]
    #[arg(long)]
    pub(crate) with_feedback: bool,
    /// Number of questions asked concurrently
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) concurrency: u16,
    /// Let the model of the role `judge` rule on every answer, by a paper's protocol [default for a
    /// preset: its paper's]
    #[arg(long, value_name = "PROTOCOL", value_parser = one_of(PROTOCOLS))]
    pub(crate) judge: Option<Protocol>,
    /// Normalise answers before they are compared as this script does [default: the data set's; for
    /// a preset its paper's]
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    pub(crate) profile: Option<Profile>,
    /// Let that model assess every answer by these criteria, separated by commas
    #[arg(long, value_name = "SCHEMES", value_parser = one_of(SCHEMES), value_delimiter = ',')]
    pub(crate) assess: Vec<Scheme>,
    /// For the whole evaluation; [budget.ask] limits a single question
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum PresetCommand {
    /// List the tables: what each is run on, or why it is not run
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the rows of a table, its protocol, its files, and what departs from the paper
    Show {
        /// Name of the table, as printed by `halma eval preset list`
        name: String,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Run the rows of a table on its question files
    Run(Box<EvalPreset>),
    /// The name of a table without a command
    #[command(external_subcommand)]
    Other(Vec<String>),
}

#[derive(clap::Args)]
pub(crate) struct EvalPreset {
    /// Name of the table, as printed by `halma eval preset list`
    pub(crate) name: String,
    /// Question files of the table's data sets [default: those of the paper, found in --data]
    pub(crate) files: Vec<PathBuf>,
    /// Folder in which, and below which, the published question files are looked for
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) how: EvalHow,
}

#[derive(clap::Args)]
pub(crate) struct EvalCompare {
    /// Output folder or its report.json; REPORT#LABEL selects one of several runs
    #[arg(value_name = "A")]
    pub(crate) first: String,
    /// The second run, in the same form; `#LABEL` alone is a run of the first report
    #[arg(value_name = "B")]
    pub(crate) second: String,
    /// Number of bootstrap resamples
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) resamples: u32,
    /// Seed of the bootstrap
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const PROTOCOLS: &[Choice<Protocol>] = &[
    Choice::new("pike", Protocol::Pike, "PIKE-RAG's: does the answer agree with any gold answer?"),
    Choice::new("dec", Protocol::Dec, "DEC's: does it mean the same as the gold answer?"),
];

const SCHEMES: &[Choice<Scheme>] = &[
    Choice::new(
        "ragas",
        Scheme::Ragas,
        "How answer, question and cited passages fit together: five shares",
    ),
    Choice::new(
        "creative",
        Scheme::Creative,
        "Open questions: five criteria from 1 to 5, and the number of different ideas",
    ),
    Choice::new(
        "forecast",
        Scheme::Forecast,
        "Forecasts: the direction, the interval, and the error, against what came",
    ),
    Choice::new(
        "pairwise",
        Scheme::Pairwise,
        "Open questions: whether the answer is better than that of the first strategy, in both \
         orders",
    ),
];

fn profile(name: &str) -> Result<Profile, String> {
    Profile::named(name).ok_or_else(|| {
        let names: Vec<&str> = Profile::ALL.iter().map(|profile| profile.name()).collect();
        format!("it is not one of {}", names.join(", "))
    })
}
