//! Tasks that check an answer: `support` against passages, `judge` against the right answer.
pub(crate) mod judge;
pub(crate) mod support;
