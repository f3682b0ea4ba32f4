//! Taggers of named entities: rules, and a token classifier from a file. A chat model in their
//! place is asked by core.
mod classes;
mod cues;
mod onnx;
mod rules;
mod settings;

pub use onnx::TokenClassifier;
pub use rules::Rules;
pub use settings::{TaggerKind, TaggerSettings, tagger};
