//! Feedback on answers, and the knowledge that is accepted from it (PIKE-RAG, Figure 2 and Section
//! 4.1): a person says whether an answer is right, and what it found is accepted as atoms, which are
//! searched like any others, are marked, and are taken back without trace.
mod decide;
mod list;
mod recall;
mod submit;
#[cfg(test)]
mod tests;
mod types;

pub use self::list::FeedbackQuery;
pub use self::recall::KnownAnswer;
pub use self::types::{CandidateDraft, Decision, Feedback, FeedbackCandidate, FeedbackDraft};
