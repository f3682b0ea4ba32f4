//! Questions that are answered, and what is said of the answers.
mod asking;
mod feedback;
