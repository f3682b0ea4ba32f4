//! Arguments of `halma train`.
use std::path::PathBuf;

use clap::Subcommand;
use halma_eval::Format;
use halma_eval::judge::Protocol;
use halma_eval::train::{ChatFormat, OnEntities, PairKind, Share};

use super::choice::{Choice, one_of};
use super::eval::{ChosenQuestions, EvalHow, PROTOCOLS};
use super::{BudgetArgs, Set};

const EXAMPLES: &str = "Examples:
  halma train collect questions.jsonl --kb .halma --out runs.jsonl --estimate
  halma train collect questions.jsonl --kb .halma --out runs.jsonl --max-usd 20
  halma train collect --from-feedback --consent --kb .halma --out runs.jsonl
  halma train pairs runs.jsonl --format trl --kind sft --held-out test.jsonl --out pairs
  halma train keywords hotpotqa_train.json --sample 1000 --out keywords

train/README.md continues with training and serving the model.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Train {
    #[command(subcommand)]
    pub(crate) command: TrainCommand,
}

#[derive(Subcommand)]
pub(crate) enum TrainCommand {
    /// Answer questions by kar3 with sampled contexts, again until right, and keep every round
    Collect(Box<TrainCollect>),
    /// Make training pairs for a proposer from collected rounds
    Pairs(TrainPairs),
    /// Make training data for the keywords of dec
    Keywords(Box<TrainKeywords>),
}

/// Which questions, over which base.
#[derive(clap::Args)]
pub(crate) struct TrainQuestions {
    /// Format of the data set [default: recognised by the keys of the records]
    #[arg(long, value_name = "SET", help_heading = "Questions")]
    pub(crate) data_format: Option<Format>,
    #[command(flatten)]
    pub(crate) chosen: ChosenQuestions,
    /// Folder of the knowledge base [default: one made of the file's own passages in
    /// .halma/eval/NAME; kb.url of the configuration or .halma if the file has none]
    #[arg(long, value_name = "DIR")]
    pub(crate) kb: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) set: Set,
    /// Number of questions asked concurrently
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) concurrency: u16,
    /// For the whole command; [budget.ask] limits a single round
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl TrainQuestions {
    /// The same questions and base as of an evaluation with these flags.
    pub(crate) fn into_how(self, judge: Option<Protocol>) -> EvalHow {
        EvalHow {
            set: self.set,
            chosen: self.chosen,
            kb: self.kb,
            no_kb: false,
            with_feedback: false,
            force: false,
            out: None,
            concurrency: self.concurrency,
            judge,
            profile: None,
            assess: vec![],
            budget: self.budget,
            json: self.json,
        }
    }
}

#[derive(clap::Args)]
pub(crate) struct TrainCollect {
    /// Question file: your own (JSON lines with `question` and `answers`) or a data set in its
    /// official format (`halma data list`)
    #[arg(required_unless_present = "from_feedback", conflicts_with = "from_feedback")]
    pub(crate) file: Option<PathBuf>,
    /// Take the questions from the base's feedback: answers that were marked right, and corrections
    #[arg(long, requires = "consent", help_heading = "Questions")]
    pub(crate) from_feedback: bool,
    /// Confirm that the people who asked and gave the feedback agreed to training with it
    #[arg(long, requires = "from_feedback", help_heading = "Questions")]
    pub(crate) consent: bool,
    #[command(flatten)]
    pub(crate) questions: TrainQuestions,
    /// File for the rounds, JSON lines; their traces go to FILE.traces. A second run continues it
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Rounds of a question at most: the first without sampling, each other with a seed of its own
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) rounds: u16,
    /// An answer is right from this value of the question set's metric on
    #[arg(long, value_name = "VALUE", default_value_t = 1.0, value_parser = share_of_one)]
    pub(crate) right: f64,
    /// Let the model of the role `judge` decide what is right, by a paper's protocol
    #[arg(long, value_name = "PROTOCOL", value_parser = one_of(PROTOCOLS))]
    pub(crate) judge: Option<Protocol>,
    /// Collect --probe questions, estimate the cost of the rest, and stop
    #[arg(long)]
    pub(crate) estimate: bool,
    /// Questions that --estimate collects; they are kept
    #[arg(long, value_name = "N", default_value_t = 3, requires = "estimate")]
    pub(crate) probe: u16,
}

/// What becomes of training examples, of either kind.
#[derive(clap::Args)]
pub(crate) struct TrainFiles {
    /// What reads the files: trl, llama-factory, openai
    #[arg(long, value_name = "FORMAT", default_value = "trl")]
    pub(crate) format: ChatFormat,
    /// Question file of a later evaluation: its questions are never trained on; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) held_out: Vec<PathBuf>,
    /// Percentage of the questions to hold out of the training, in heldout.jsonl
    #[arg(long, value_name = "PERCENT", default_value = "10", value_parser = share)]
    pub(crate) share: Share,
    /// Replace files of an earlier run that would change
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(clap::Args)]
pub(crate) struct TrainPairs {
    /// File of `halma train collect`
    pub(crate) file: PathBuf,
    /// Folder for train.jsonl, heldout.jsonl and statistics.json
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Replies to be learned (sft), or preferences between a right and a wrong one (dpo)
    #[arg(long, value_name = "KIND", value_parser = one_of(PAIR_KINDS), default_value = "sft")]
    pub(crate) kind: PairKind,
    /// What to do with questions that share a name with a question of --held-out
    #[arg(long, value_name = "WHAT", value_parser = one_of(SHARED_NAMES), default_value = "report")]
    pub(crate) shared_names: OnEntities,
    #[command(flatten)]
    pub(crate) files: TrainFiles,
    /// Print the statistics as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct TrainKeywords {
    /// Question file: your own (JSON lines with `question` and `answers`) or a data set in its
    /// official format (`halma data list`)
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) questions: TrainQuestions,
    /// Folder for train.jsonl, heldout.jsonl, statistics.json and what was collected; a second run
    /// continues there
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Drop keywords that stand together in more passages of the base than this
    #[arg(long = "most-passages", value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) max_passages: u16,
    #[command(flatten)]
    pub(crate) files: TrainFiles,
}

const PAIR_KINDS: &[Choice<PairKind>] =
    &[Choice::new("sft", PairKind::Sft, ""), Choice::new("dpo", PairKind::Dpo, "")];

const SHARED_NAMES: &[Choice<OnEntities>] = &[
    Choice::new("report", OnEntities::Report, "Count them and keep them"),
    Choice::new("drop", OnEntities::Drop, "Leave them out"),
];

fn share(text: &str) -> Result<Share, String> {
    match text.parse::<u8>() {
        Ok(share @ 0..=90) => Ok(Share(share)),
        _ => Err("it is not a percentage from 0 to 90".into()),
    }
}

fn share_of_one(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err("it is not a number above 0 and up to 1".into()),
    }
}
