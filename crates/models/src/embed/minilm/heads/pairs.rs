//! Questions and passages to token ids: `[CLS] question [SEP] passage [SEP]`, window by window.
use std::ops::Range;

use tokenizers::Tokenizer;

use super::file::Info;

/// Tokens that two neighbouring windows share, so that an answer at the edge of one is seen whole
/// in the other.
const SHARED: usize = 64;

/// A question, alone or with a stretch of a passage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pair {
    pub(super) ids: Vec<u32>,
    /// Tokens that belong to the question, the special ones around it included.
    pub(super) first: usize,
    /// Where each token stands, in bytes of the question or the passage; `None` for special ones.
    pub(super) places: Vec<Option<Range<usize>>>,
}

/// A text's tokens without special ones.
struct Piece {
    ids: Vec<u32>,
    places: Vec<Range<usize>>,
}

pub(super) struct Pairs {
    tokenizer: Tokenizer,
    start: u32,
    stop: u32,
    max_length: usize,
    max_question: usize,
}

impl Pairs {
    pub(super) fn new(tokenizer: &Tokenizer, info: &Info) -> Result<Self, String> {
        let mut tokenizer = tokenizer.clone();
        tokenizer.with_truncation(None).map_err(|e| e.to_string())?;
        tokenizer.with_padding(None);
        let special = |name: &str| {
            let id = tokenizer.token_to_id(name);
            id.ok_or_else(|| format!("the tokenizer has no `{name}`"))
        };
        let (start, stop) = (special("[CLS]")?, special("[SEP]")?);
        let (max_length, max_question) = (info.max_length, info.max_question);
        Ok(Self { tokenizer, start, stop, max_length, max_question })
    }

    /// The question alone.
    pub(super) fn question(&self, question: &str) -> Result<Pair, String> {
        let piece = self.piece(question)?;
        Ok(self.opening(&piece, self.max_length - 2))
    }

    /// The question with each stretch of each text; the windows of one text after each other.
    pub(super) fn windows(&self, question: &str, texts: &[&str]) -> Result<Vec<Vec<Pair>>, String> {
        let opening = self.opening(&self.piece(question)?, self.max_question);
        texts.iter().map(|text| self.windows_of(&opening, text)).collect()
    }

    fn windows_of(&self, opening: &Pair, text: &str) -> Result<Vec<Pair>, String> {
        let piece = self.piece(text)?;
        let room = self.max_length.saturating_sub(opening.ids.len() + 1).max(1);
        let shared = SHARED.min(room / 4);
        let mut windows = vec![];
        let mut from = 0;
        loop {
            let to = (from + room).min(piece.ids.len());
            let mut window = opening.clone();
            window.ids.extend(&piece.ids[from..to]);
            window.ids.push(self.stop);
            window.places.extend(piece.places[from..to].iter().cloned().map(Some));
            window.places.push(None);
            windows.push(window);
            if to == piece.ids.len() {
                return Ok(windows);
            }
            from = to - shared;
        }
    }

    fn opening(&self, question: &Piece, limit: usize) -> Pair {
        let count = question.ids.len().min(limit);
        let mut ids = vec![self.start];
        ids.extend(&question.ids[..count]);
        ids.push(self.stop);
        let mut places = vec![None];
        places.extend(question.places[..count].iter().cloned().map(Some));
        places.push(None);
        Pair { first: ids.len(), ids, places }
    }

    fn piece(&self, text: &str) -> Result<Piece, String> {
        let encoding = self.tokenizer.encode(text, false).map_err(|e| e.to_string())?;
        let places = encoding.get_offsets().iter().map(|&(from, to)| from..to).collect();
        Ok(Piece { ids: encoding.get_ids().to_vec(), places })
    }
}
