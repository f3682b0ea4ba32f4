//! Feedback on answers, and the knowledge that is accepted from it (PIKE-RAG, Figure 2 and Section
//! 4.1): a person says whether an answer is right, and what it found is accepted as atoms, which are
//! searched like any others, are marked, and are taken back without trace.
mod decide;
mod give;
mod index;
mod known;
mod list;
mod settings;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use self::index::FeedbackIndex;
pub use self::known::KnownAnswer;
pub use self::list::FeedbackQuery;
pub use self::settings::FeedbackSettings;
pub(crate) use self::types::feedback_id;
pub use self::types::{
    CandidateDraft, CandidateKind, CandidateState, Check, Decision, Feedback, FeedbackCandidate,
    FeedbackDraft, Verdict,
};
