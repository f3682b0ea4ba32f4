//! Questions that are answered, and what is said of the answers.
pub(crate) mod asking;
mod conversations;
mod feedback;
