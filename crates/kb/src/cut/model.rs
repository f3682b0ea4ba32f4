//! Chunks that end where the model of role `cutter` says (PIKE-RAG, Figure 5).
//!
//! ```text
//! forward <- nothing
//! while text is left
//!     show the next pieces of the text, with `forward`     -> kb/cut.md
//!     chunk <- the pieces up to the one that the model names, stored with its summary and `forward`
//!     forward <- what the model says about the text so far
//! ```
//!
//! A chunk is never longer than the limit. Where the model names no piece that is there, the chunk
//! ends where cutting by structure would end it.
use std::ops::Range;

use halma_core::{Cx, Error, Prompt};
use minijinja::{Value, context};
use serde::Deserialize;

use super::pieces::Piece;
use crate::KbError;

/// The prompt that is asked for the end of a chunk.
pub(crate) const CUT: &str = CUT_PROMPT.name;
const CUT_PROMPT: Prompt<Reply> = Prompt::json("kb/cut");

/// What is shown beyond the largest chunk, so that the model sees where its subject ends: half as
/// much again.
const BEYOND: usize = 2;

/// The largest piece, as a share of the largest chunk.
pub(super) const PIECES: usize = 4;

/// Characters of a summary: it is searched and carried along, so it must not outgrow its chunk.
const LONGEST_SUMMARY: usize = 2000;

/// Characters of what is carried along, as expected: three sentences.
const EXPECTED_SUMMARY: usize = 240;

#[derive(Deserialize)]
struct Reply {
    /// The last piece of the chunk, counted from 1.
    end: usize,
    /// Of the chunk.
    summary: String,
    /// Of the text so far.
    forward: String,
}

/// A text to be cut.
#[derive(Clone, Copy)]
pub(super) struct CutText<'a> {
    pub(super) text: &'a str,
    pub(super) title: &'a str,
    /// The length of the largest chunk.
    pub(super) limit: usize,
}

/// Cuts a document, piece by piece.
pub(super) struct Cutter<'a> {
    source: CutText<'a>,
    /// What the text so far is about.
    forward: String,
    cx: &'a Cx,
    pub(super) fell_back: usize,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(source: CutText<'a>, cx: &'a Cx) -> Self {
        Self { source, forward: String::new(), cx, fell_back: 0 }
    }

    /// Joins pieces into chunks, each with its summary.
    pub(super) async fn chunks(&mut self, pieces: &[Range<usize>]) -> Result<Vec<Piece>, KbError> {
        let mut chunks = vec![];
        let mut from = 0;
        while from < pieces.len() {
            let (max_pieces, shown) = self.source.window(&pieces[from..]);
            let forward = Some(self.forward.clone()).filter(|forward| !forward.is_empty());
            let (count, summary) = self.ask(&pieces[from..from + shown], max_pieces).await?;
            let range = pieces[from].start..pieces[from + count - 1].end;
            let forward = forward.filter(|_| summary.is_some());
            chunks.push(Piece { summary, forward, ..Piece::plain(range) });
            from += count;
        }
        Ok(chunks)
    }

    /// How many of the pieces make the next chunk, and its summary.
    async fn ask(
        &mut self,
        shown: &[Range<usize>],
        max_pieces: usize,
    ) -> Result<(usize, Option<String>), KbError> {
        let variables = self.source.variables(shown, max_pieces, &self.forward);
        let check = |reply: &Reply| check(reply, max_pieces);
        match self.cx.ask_checked(&CUT_PROMPT, variables, check).await {
            Ok(reply) => {
                reply.forward.trim().clone_into(&mut self.forward);
                Ok((reply.end, Some(reply.summary.trim().to_owned())))
            }
            Err(Error::BadReply { .. }) => {
                self.fell_back += 1;
                Ok((max_pieces, None))
            }
            Err(source) => Err(KbError::Cut { title: self.source.title.to_owned(), source }),
        }
    }
}

fn check(reply: &Reply, max_pieces: usize) -> Result<(), String> {
    if reply.end == 0 || reply.end > max_pieces {
        return Err(format!("`end` is {}; it must be from 1 to {max_pieces}", reply.end));
    }
    for (name, summary) in [("summary", &reply.summary), ("forward", &reply.forward)] {
        let length = summary.chars().count();
        if length > LONGEST_SUMMARY {
            return Err(format!("`{name}` has {length} characters; at most {LONGEST_SUMMARY} fit"));
        }
        if summary.trim().is_empty() {
            return Err(format!("`{name}` is empty"));
        }
    }
    Ok(())
}

impl CutText<'_> {
    /// How many pieces a chunk may have, at least one, and how many are shown.
    fn window(self, pieces: &[Range<usize>]) -> (usize, usize) {
        let (mut max_pieces, mut shown, mut length) = (0, 0, 0);
        for piece in pieces {
            length += self.text[piece.clone()].chars().count();
            if length <= self.limit || max_pieces == 0 {
                max_pieces += 1;
            } else if length > self.limit + self.limit / BEYOND {
                break;
            }
            shown += 1;
        }
        (max_pieces, shown)
    }

    /// The variables of the prompt: the pieces that are shown, of which a chunk has at most `max_pieces`.
    fn variables(self, shown: &[Range<usize>], max_pieces: usize, forward: &str) -> Value {
        let piece = |range: &Range<usize>| self.text[range.clone()].trim().to_owned();
        let pieces: Vec<String> = shown.iter().map(piece).collect();
        context! { title => self.title, forward, pieces, last => max_pieces }
    }

    /// The chunks that a model is expected to make: every one has as many pieces as it may. The
    /// variables of the calls that it takes are added to `requests`.
    pub(super) fn expected_chunks(
        self,
        pieces: &[Range<usize>],
        requests: &mut Vec<Value>,
    ) -> Vec<Piece> {
        let (mut chunks, mut from) = (vec![], 0);
        while from < pieces.len() {
            let (max_pieces, shown) = self.window(&pieces[from..]);
            // A summary of the usual length is carried along.
            let first = requests.is_empty();
            let forward = if first { String::new() } else { "x".repeat(EXPECTED_SUMMARY) };
            requests.push(self.variables(&pieces[from..from + shown], max_pieces, &forward));
            chunks.push(Piece::plain(pieces[from].start..pieces[from + max_pieces - 1].end));
            from += max_pieces;
        }
        chunks
    }
}
