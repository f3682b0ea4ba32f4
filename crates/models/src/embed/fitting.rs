//! Requests that a server of embeddings takes: fewer texts where it refuses so many, and the
//! beginning of a text that is too long for its model.
use std::sync::atomic::{AtomicUsize, Ordering};

use halma_core::LlmError;
use halma_net::failure::{Complaint, Failed};

/// Bytes of a text that are left in any case.
const SHORTEST: usize = 100;

/// Why a request was refused, where a smaller one may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TooMuch {
    /// Texts of one request.
    Texts,
    /// Tokens of a text, as it seems.
    Tokens,
}

impl TooMuch {
    pub(super) fn of(failed: &Failed) -> Option<Self> {
        let (status, text) = match (&failed.error, &failed.complaint) {
            (_, Some(Complaint { status, text })) => (*status, text.clone()),
            (LlmError::TooLong { reason }, None) => (413, reason.to_lowercase()),
            _ => return None,
        };
        let names = |words: &[&str]| words.iter().any(|word| text.contains(word));
        // llama.cpp fails with 500 where one text is longer than its physical batch.
        if names(&["physical batch"]) {
            return Some(Self::Tokens);
        }
        if !matches!(status, 400 | 413 | 422) {
            return None;
        }
        if names(&[
            "batch",
            "at most",
            "too many inputs",
            "too many texts",
            "items",
            "array",
            "per request",
        ]) {
            return Some(Self::Texts);
        }
        let is_long = status == 413
            || names(&[
                "token",
                "too long",
                "too large",
                "length",
                "less than",
                "exceed",
                "limit",
                "maximum",
            ]);
        is_long.then_some(Self::Tokens)
    }
}

/// How many texts a server takes at once, as far as it is known.
#[derive(Debug)]
pub(super) struct TextLimit(AtomicUsize);

impl TextLimit {
    pub(super) fn new(texts: usize) -> Self {
        Self(AtomicUsize::new(texts))
    }

    pub(super) fn now(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// So many were refused: from now on it is the next smaller power of two.
    pub(super) fn refused(&self, texts: usize, model: &str) {
        let limit = (texts.next_power_of_two() / 2).max(1);
        if self.0.fetch_min(limit, Ordering::Relaxed) > limit {
            tracing::info!(model, limit, "the embedder takes fewer texts at once");
        }
    }
}

/// The search for a text that is too long among several.
#[derive(Default)]
pub(super) struct Bisection {
    /// The number of the first text after those of which one is too long.
    end: Option<usize>,
}

impl Bisection {
    /// One of so many texts from the `first` on is too long.
    pub(super) fn is_in(&mut self, first: usize, texts: usize) {
        self.end = Some(first + texts);
    }

    /// How many texts from `first` on to try; `None` where nothing is searched for.
    pub(super) fn next(&mut self, first: usize) -> Option<usize> {
        self.end = self.end.filter(|end| first < *end);
        self.end.map(|end| ((end - first) / 2).max(1))
    }
}

/// The first half of a text that is too long; `None` where it cannot be that it is.
pub(super) fn first_half(text: &str) -> Option<&str> {
    if text.len() < 2 * SHORTEST {
        return None;
    }
    Some(&text[..text.floor_char_boundary(text.len() / 2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_servers_say_of_requests_that_are_too_large() {
        let said = |status: u16, text: &str| {
            let complaint = Some(Complaint { status, text: text.to_lowercase() });
            TooMuch::of(&Failed { error: LlmError::refused(text), complaint })
        };
        for batch in [
            "batch size 128 > maximum allowed batch size 32",
            "BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch",
            "batch size is invalid, it should not be larger than 10",
            "Invalid request: total number of texts must be at most 96",
            "Requested 500000 tokens, max 300000 tokens per request",
        ] {
            assert_eq!(said(400, batch), Some(TooMuch::Texts), "{batch}");
        }
        for long in [
            "`inputs` must have less than 512 tokens. Given: 530",
            "This model's maximum context length is 512 tokens",
        ] {
            assert_eq!(said(422, long), Some(TooMuch::Tokens), "{long}");
        }
        let physical = "input is too large to process. increase the physical batch size";
        assert_eq!(said(500, physical), Some(TooMuch::Tokens));
        for other in [said(400, "the model is not known"), said(401, "batch"), said(500, "batch")] {
            assert_eq!(other, None);
        }
    }
}
