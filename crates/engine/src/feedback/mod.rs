//! Feedback on answers: what of a run may become knowledge, checking it, and answering a question
//! again by what was accepted (PIKE-RAG, Figure 2 and Section 4.1).
mod candidates;
mod give;
mod recall;
mod verify;

pub use self::give::{FeedbackRequest, LONGEST_CORRECTION, LONGEST_NOTE};
pub(crate) use self::recall::Recall;
pub use self::verify::{DeferredCandidate, VerifiedFeedback};
