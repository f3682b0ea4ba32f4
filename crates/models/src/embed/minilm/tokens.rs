//! Text to token ids.
use std::path::Path;

use tokenizers::{Tokenizer, TruncationParams};

use super::weights::WeightsError;

/// Longer texts are cut: what the model was published with.
pub const MAX_TOKENS: usize = 256;

/// Texts are padded to a multiple of so many tokens, so that many of them are of one length.
const STEP: usize = 8;

/// A tokenizer that cuts long texts and never pads.
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    max_tokens: usize,
}

impl Tokens {
    /// `positions`: how many tokens the model can take.
    pub(super) fn open(path: &Path, positions: usize) -> Result<Self, WeightsError> {
        let wrong = |error: tokenizers::Error| WeightsError::Tokenizer {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let mut tokenizer = Tokenizer::from_file(path).map_err(wrong)?;
        let max_tokens = MAX_TOKENS.min(positions);
        let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(wrong)?;
        tokenizer.with_padding(None);
        Ok(Self { tokenizer, max_tokens })
    }

    pub(super) fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The length that a text of so many ids is padded to. It depends on the text alone, so that
    /// its vector does not depend on the other texts of its batch.
    pub(super) fn padded(&self, ids: usize) -> usize {
        ids.next_multiple_of(STEP).min(self.max_tokens).max(ids)
    }

    /// At most [`MAX_TOKENS`] ids, the special ones included.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>, tokenizers::Error> {
        Ok(self.tokenizer.encode_fast(text, true)?.get_ids().to_vec())
    }
}
