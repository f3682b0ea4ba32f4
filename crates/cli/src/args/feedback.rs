//! Arguments of `halma feedback`.
use clap::Subcommand;
use halma_engine::{CandidateState, Verdict};

use super::KbDir;
use super::choice::{Choice, one_of};

#[derive(clap::Args)]
pub(crate) struct Feedback {
    #[command(subcommand)]
    pub(crate) command: FeedbackCommand,
}

#[derive(Subcommand)]
pub(crate) enum FeedbackCommand {
    /// Say whether an answer is right, and what it should be
    Add(FeedbackAdd),
    /// List feedback, newest first
    List(FeedbackList),
    /// Print feedback with what of it may become knowledge
    Show(FeedbackShow),
    /// Accept candidates as knowledge: the next search finds them
    Accept(FeedbackAccept),
    /// Reject candidates; what was accepted of them is taken back
    Reject(FeedbackDecide),
    /// Take back what was accepted, without a trace in the base
    Undo(FeedbackDecide),
    /// Delete feedback with everything that was accepted of it
    Delete(FeedbackDelete),
}

const VERDICTS: &[Choice<Verdict>] = &[
    Choice::new("right", Verdict::Right, "The answer is right"),
    Choice::new("wrong", Verdict::Wrong, "The answer is wrong"),
    Choice::new("incomplete", Verdict::Incomplete, "The answer lacks something"),
];

const STATES: &[Choice<CandidateState>] = &[
    Choice::new("pending", CandidateState::Pending, "Waiting for a decision"),
    Choice::new("accepted", CandidateState::Accepted, "Found by searches"),
    Choice::new("rejected", CandidateState::Rejected, "Not to become knowledge"),
    Choice::new("undone", CandidateState::Undone, "Accepted, and taken back"),
];

#[derive(clap::Args)]
pub(crate) struct FeedbackAdd {
    /// Id of the run, as `halma ask` prints it, or `last` for the latest one
    pub(crate) run: String,
    /// What you say of the answer
    #[arg(long, value_parser = one_of(VERDICTS))]
    pub(crate) verdict: Verdict,
    /// What the answer should be
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) correction: String,
    /// Anything else about the answer
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) note: String,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct FeedbackList {
    /// Only feedback that this API key gave or decided about; `verifier` is one of them
    #[arg(long, value_name = "KEY")]
    pub(crate) by: Option<String>,
    /// Only feedback with this text in question, answer, correction, note or a candidate
    #[arg(long, value_name = "TEXT")]
    pub(crate) about: Option<String>,
    /// Only feedback on this run
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Only feedback with this verdict
    #[arg(long, value_parser = one_of(VERDICTS))]
    pub(crate) verdict: Option<Verdict>,
    /// Only feedback with a candidate in this state
    #[arg(long, value_parser = one_of(STATES))]
    pub(crate) state: Option<CandidateState>,
    /// Only feedback that other feedback contradicts
    #[arg(long)]
    pub(crate) contradicted: bool,
    /// Start after this feedback (for paging)
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<String>,
    /// Maximum number
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) top: u32,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct FeedbackShow {
    /// Id of the feedback
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct FeedbackAccept {
    #[command(flatten)]
    pub(crate) decide: FeedbackDecide,
    /// Accept it although other feedback says otherwise
    #[arg(long, conflicts_with = "verify")]
    pub(crate) despite: bool,
    /// Let the model of role `judge` decide: it accepts what the passages support and nothing in the
    /// base contradicts
    #[arg(long, conflicts_with = "candidate")]
    pub(crate) verify: bool,
}

#[derive(clap::Args)]
pub(crate) struct FeedbackDecide {
    /// Id of the feedback
    pub(crate) id: String,
    /// Only the candidate with this number; may be repeated [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) candidate: Vec<usize>,
    #[command(flatten)]
    pub(crate) kb: KbDir,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct FeedbackDelete {
    /// Id of the feedback
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) kb: KbDir,
}
