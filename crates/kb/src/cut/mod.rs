//! Cutting a document into sections and chunks, with the tables and figures it holds.
//!
//! The chunks' own parts tile the text: nothing between them is lost, white space goes with the
//! chunk before it. What a chunk shows may begin earlier (overlap), or read otherwise (rows).
mod atoms;
mod model;
mod parts;
mod pieces;
mod plan;
mod rows;
mod semantic;
mod structure;
mod tables;
mod windows;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use halma_core::{Cx, Embedder};
use halma_parse::Parsed;

pub(crate) use self::atoms::AtomSource;
pub(crate) use self::model::CUT;
use self::pieces::{Grain, Piece, units};
use self::plan::{CutPlan, Segment};
use crate::store::{Id, Outline, hash};
use crate::{Chunks, KbError, KbSettings};

/// Part of the settings' hash: grows when the same settings cut otherwise than before.
const VERSION: u8 = 2;

/// What of the settings decides how documents are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CutSettings {
    pub(crate) chunks: Chunks,
    pub(crate) chunk_chars: usize,
    pub(crate) chunk_tokens: usize,
    pub(crate) chunk_overlap: usize,
    pub(crate) sentences: usize,
    pub(crate) sentence_overlap: usize,
}

impl From<&KbSettings> for CutSettings {
    fn from(settings: &KbSettings) -> Self {
        Self {
            chunks: settings.chunks,
            chunk_chars: settings.chunk_chars.max(1),
            chunk_tokens: settings.chunk_tokens,
            chunk_overlap: settings.chunk_overlap,
            sentences: settings.sentences,
            sentence_overlap: settings.sentence_overlap,
        }
    }
}

impl CutSettings {
    /// Names what a document is cut with; another name means that it is cut again.
    pub(crate) fn fingerprint(&self) -> Id {
        let (kind, sizes) = match self.chunks {
            Chunks::Structure => (0, [0, 0]),
            Chunks::Fixed => (1, [self.chunk_tokens, self.chunk_overlap]),
            Chunks::Sentences => (2, [self.sentences, self.sentence_overlap]),
            Chunks::Semantic => (3, [0, 0]),
            Chunks::Model => (4, [0, 0]),
        };
        let [a, b] = sizes.map(usize::to_le_bytes);
        hash(&[&[VERSION, kind], &self.chunk_chars.to_le_bytes(), &a, &b])
    }
}

/// A document as cut.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cut {
    pub(crate) outline: Outline,
    /// Ends of chunks that the model did not give and the structure had to.
    pub(crate) fell_back: usize,
}

/// What is asked where to cut.
pub(crate) struct CutModels<'a> {
    pub(crate) cx: &'a Cx,
    pub(crate) embedder: Option<&'a Arc<dyn Embedder>>,
}

/// Cuts a document by settings that need no model; `None` for those that do.
pub(crate) fn cut_now(parsed: &Parsed, title: &str, settings: &CutSettings) -> Option<Cut> {
    let plan = CutPlan::new(parsed, title, settings);
    let mut pieces = vec![];
    for segment in plan.segments() {
        match segment {
            Segment::Rows(table, range) => pieces.extend(plan.rows(table, &range)),
            Segment::Flow(range) => match settings.chunks {
                Chunks::Structure => {
                    let cut = structure::pieces(parsed, range, settings.chunk_chars);
                    pieces.extend(cut.into_iter().map(Piece::plain));
                }
                Chunks::Fixed => {
                    let tokens = windows::tokens(&parsed.text, &range);
                    let sizes = (settings.chunk_tokens, settings.chunk_overlap);
                    pieces.extend(windows::windows(&tokens, sizes.0, sizes.1));
                }
                Chunks::Sentences => {
                    let limit = settings.chunk_chars;
                    let sentences = windows::whole_sentences(&parsed.text, &range, limit);
                    let sizes = (settings.sentences, settings.sentence_overlap);
                    pieces.extend(windows::windows(&sentences, sizes.0, sizes.1));
                }
                Chunks::Semantic | Chunks::Model => return None,
            },
        }
    }
    Some(Cut { outline: plan.outline(pieces), ..Cut::default() })
}

/// Cuts a document.
///
/// # Errors
/// When an embedder that is needed is missing or fails, when the model fails, or when the budget is
/// spent: the document is not cut then, and what was paid for is in the cache of replies.
pub(crate) async fn cut(
    parsed: &Parsed,
    title: &str,
    settings: &CutSettings,
    with: &CutModels<'_>,
) -> Result<Cut, KbError> {
    if let Some(cut) = cut_now(parsed, title, settings) {
        return Ok(cut);
    }
    let plan = CutPlan::new(parsed, title, settings);
    let limit = settings.chunk_chars;
    let source = model::CutText { text: &parsed.text, title, limit };
    let mut cutter = model::Cutter::new(source, with.cx);
    let mut pieces = vec![];
    for segment in plan.segments() {
        match segment {
            Segment::Rows(table, range) => pieces.extend(plan.rows(table, &range)),
            Segment::Flow(range) if settings.chunks == Chunks::Semantic => {
                let embedder = with.embedder.ok_or(KbError::CutWithoutEmbedder)?;
                let units = units(parsed, &range, limit, Grain::Sentence);
                let cut = semantic::pieces(&parsed.text, units, limit, embedder.as_ref()).await?;
                pieces.extend(cut.into_iter().map(Piece::plain));
            }
            Segment::Flow(range) => {
                pieces.extend(cutter.chunks(&plan.model_pieces(&range)).await?);
            }
        }
    }
    let fell_back = cutter.fell_back;
    Ok(Cut { outline: plan.outline(pieces), fell_back })
}

/// How a document is expected to be cut, and what is asked for that.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExpectedCut {
    pub(crate) outline: Outline,
    /// The variables of the calls of [`CUT`].
    pub(crate) requests: Vec<minijinja::Value>,
    /// Texts that are embedded to find where the subject changes.
    pub(crate) embedded: usize,
}

/// What is expected of cutting a document, without asking anything: a model is expected to fill its
/// chunks, and the embedder to cut where the structure does.
pub(crate) fn expected_cut(parsed: &Parsed, title: &str, settings: &CutSettings) -> ExpectedCut {
    if let Some(Cut { outline, .. }) = cut_now(parsed, title, settings) {
        return ExpectedCut { outline, ..ExpectedCut::default() };
    }
    let limit = settings.chunk_chars;
    let plan = CutPlan::new(parsed, title, settings);
    let (mut expected, mut pieces) = (ExpectedCut::default(), vec![]);
    for segment in plan.segments() {
        match segment {
            Segment::Rows(table, range) => pieces.extend(plan.rows(table, &range)),
            Segment::Flow(range) if settings.chunks == Chunks::Semantic => {
                expected.embedded += units(parsed, &range, limit, Grain::Sentence).len();
            }
            Segment::Flow(range) => {
                let shown = plan.model_pieces(&range);
                let source = model::CutText { text: &parsed.text, title, limit };
                pieces.extend(source.expected_chunks(&shown, &mut expected.requests));
            }
        }
    }
    expected.outline = if settings.chunks == Chunks::Semantic {
        let structure = CutSettings { chunks: Chunks::Structure, ..*settings };
        cut_now(parsed, title, &structure).unwrap_or_default().outline
    } else {
        plan.outline(pieces)
    };
    expected
}
