//! What a trained reader of passages is to Halma: a small model that marks where a passage answers
//! a question.
use std::ops::Range;

use crate::LlmError;

/// Reads passages for a question, token by token, with a model that is small enough to run on the
/// processor.
///
/// Its functions compute for some tens of milliseconds and block: call them where that is allowed.
pub trait PassageReader: Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> &str;

    /// What it says of each text, in order. A text is a passage after its title and a full stop.
    fn read(&self, question: &str, texts: &[&str]) -> Result<Vec<Reading>, LlmError>;

    /// The words of a question that a text should hold to answer it, as byte ranges in the order of
    /// the question; `None` where the model has not learned that.
    fn keywords(&self, question: &str) -> Result<Option<Vec<Range<usize>>>, LlmError>;
}

/// What a reader says of one text, window by window where the text is long.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    pub windows: Vec<ReadingWindow>,
}

/// What a reader says of a stretch of a text. Scores are logits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadingWindow {
    /// That no span of the window answers.
    pub none: f32,
    /// Tokens of the text.
    pub tokens: Vec<TokenScore>,
    pub kinds: KindScores,
    /// That the window helps with the question; `None` where the model has not learned that.
    pub relevance: Option<f32>,
}

/// How well an answer starts and ends at a token; `range` is in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenScore {
    pub range: Range<usize>,
    pub start: f32,
    pub end: f32,
}

/// In what form a window answers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct KindScores {
    pub span: f32,
    pub yes: f32,
    pub no: f32,
    pub none: f32,
}

/// A span that a reader has scored; `range` is in bytes of what it stands in.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredSpan {
    pub range: Range<usize>,
    /// By how much it is preferred to no answer.
    pub score: f32,
}

/// The longest span that is looked for, in tokens.
const LONGEST_SPAN: usize = 24;

impl Reading {
    /// By how much the text from `range.start` to `range.end`, in bytes, is preferred to no answer;
    /// in the best of the windows that hold it whole.
    pub fn score(&self, range: &Range<usize>) -> Option<f32> {
        let of = |window: &ReadingWindow| Some(span_score(&window.tokens, range)? - window.none);
        self.windows.iter().filter_map(of).max_by(f32::total_cmp)
    }

    /// The spans of the text that are preferred most, at most `count`, the best first.
    pub fn best(&self, count: usize) -> Vec<ScoredSpan> {
        let mut scored: Vec<ScoredSpan> = vec![];
        for window in &self.windows {
            for (at, first) in window.tokens.iter().enumerate() {
                for last in window.tokens[at..].iter().take(LONGEST_SPAN) {
                    let range = first.range.start..last.range.end;
                    let score = first.start + last.end - window.none;
                    scored.push(ScoredSpan { range, score });
                }
            }
        }
        let by_score = |a: &ScoredSpan, b: &ScoredSpan| {
            b.score.total_cmp(&a.score).then(a.range.start.cmp(&b.range.start))
        };
        if scored.len() > 4 * count && count > 0 {
            scored.select_nth_unstable_by(4 * count, by_score);
            scored.truncate(4 * count);
        }
        scored.sort_by(by_score);
        // A span in the overlap of two windows is found twice.
        let mut kept: Vec<ScoredSpan> = vec![];
        for span in scored {
            if kept.len() < count && kept.iter().all(|other| other.range != span.range) {
                kept.push(span);
            }
        }
        kept
    }

    /// The highest relevance of its windows.
    pub fn relevance(&self) -> Option<f32> {
        self.windows.iter().filter_map(|window| window.relevance).max_by(f32::total_cmp)
    }
}

/// The score of the tokens that a range starts and ends in.
fn span_score(tokens: &[TokenScore], range: &Range<usize>) -> Option<f32> {
    let first = tokens.iter().find(|token| token.range.end > range.start)?;
    let last = tokens.iter().rev().find(|token| token.range.start < range.end)?;
    let whole = first.range.start <= range.start && last.range.end >= range.end;
    whole.then_some(first.start + last.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(range: Range<usize>, start: f32, end: f32) -> TokenScore {
        TokenScore { range, start, end }
    }

    #[test]
    fn a_span_is_scored_by_the_tokens_at_its_ends() {
        let tokens = vec![token(0..3, 1.0, 0.0), token(4..7, 0.5, 2.0), token(8..9, -1.0, 0.25)];
        let window = ReadingWindow { none: 1.0, tokens, ..ReadingWindow::default() };
        // A window that holds the end of the text only, and likes it more.
        let second = ReadingWindow { tokens: vec![token(4..7, 4.0, 4.0)], ..Default::default() };
        let reading = Reading { windows: vec![window, second] };
        assert_eq!(reading.score(&(0..7)), Some(2.0));
        assert_eq!(reading.score(&(4..7)), Some(8.0));
        assert_eq!(reading.score(&(0..12)), None);
        let best = reading.best(2);
        assert_eq!(best[0], ScoredSpan { range: 4..7, score: 8.0 });
        assert_eq!(best[1], ScoredSpan { range: 0..7, score: 2.0 });
        assert!(reading.best(0).is_empty() && Reading::default().best(3).is_empty());
        assert_eq!(reading.relevance(), None);
    }
}
