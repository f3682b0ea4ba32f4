//! Lexical search: a BM25 index for each layer.
mod adding;
mod index;
mod merging;
mod near;
mod read_only;
mod top;
mod words;

pub(crate) use adding::{Adding, caught_up};
pub(crate) use index::{IndexedText, LexicalIndex, LexicalQuery};
pub(crate) use words::{LexicalWord, words_of};
