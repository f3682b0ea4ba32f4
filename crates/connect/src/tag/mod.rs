//! Taggers of named entities: rules, a chat model that is asked, a token classifier from a file.
mod asked;
mod classes;
mod cues;
mod onnx;
mod place;
mod rules;
mod settings;

pub use asked::AskedTagger;
pub use onnx::TokenClassifier;
pub use rules::Rules;
pub use settings::{TaggerKind, TaggerSettings, tagger};
