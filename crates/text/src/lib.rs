//! Plain functions over natural-language text, shared by all crates: sentences, words, names,
//! dates, numbers, word endings, similarity. No model, no file, no state. English where a rule
//! depends on the language, which the function then says.
mod cjk;
pub mod dates;
mod endings;
mod full_stops;
mod language;
pub mod marks;
mod names;
pub mod numbers;
mod sentences;
pub mod similarity;
mod spelling;
pub mod support;
mod values;
mod words;

pub use cjk::{cjk_names, cjk_runs, count_name, is_cjk, mixed_runs};
pub use dates::MONTHS;
pub use endings::{capitalize, stem, strip_ending};
pub use language::{language_of_words, letters};
pub use names::{Name, NameKind, folded, loose_parts, name_runs, names, normalise_name, quotes};
pub use numbers::thousands;
pub use sentences::{content_words, is_stop_word, sentences, words};
pub use spelling::{composed, spelling};
pub use values::{Value, value_at};
pub use words::{Shape, Word, Words, split_words};
