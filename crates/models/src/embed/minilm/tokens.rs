//! Text to token ids.
use std::path::Path;

use tokenizers::{Tokenizer, TruncationParams};

use super::weights::WeightsError;

/// Longer texts are cut: what the model was published with.
pub(super) const MAX_TOKENS: usize = 256;

/// A tokenizer that cuts long texts and never pads; padding depends on the batch.
pub(super) struct Tokens(Tokenizer);

impl Tokens {
    /// `positions`: how many tokens the model can take.
    pub(super) fn open(path: &Path, positions: usize) -> Result<Self, WeightsError> {
        let wrong = |error: tokenizers::Error| WeightsError::Tokenizer {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let mut tokenizer = Tokenizer::from_file(path).map_err(wrong)?;
        let truncation = TruncationParams {
            max_length: MAX_TOKENS.min(positions),
            ..TruncationParams::default()
        };
        tokenizer.with_truncation(Some(truncation)).map_err(wrong)?;
        tokenizer.with_padding(None);
        Ok(Self(tokenizer))
    }

    /// At most [`MAX_TOKENS`] ids, the special ones included.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>, tokenizers::Error> {
        Ok(self.0.encode_fast(text, true)?.get_ids().to_vec())
    }
}
