//! Text to token ids: a pair of texts for a model that judges both, and a long text window by
//! window for one that judges every token.
use std::ops::Range;

use tokenizers::{EncodeInput, Encoding, Tokenizer, TruncationParams};

use super::{Files, OnnxError};

/// Tokens that two neighbouring windows share, so that a name at the edge of one is seen whole in
/// the other.
const SHARED: usize = 64;

/// What a graph reads of one text or pair.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    pub(crate) ids: Vec<u32>,
    /// 0 for the first text, 1 for the second.
    pub(crate) types: Vec<u32>,
}

/// A stretch of a text that fits a model.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) row: Row,
    /// Where each token stands, in characters of the text; `None` for special ones.
    pub(crate) places: Vec<Option<Range<usize>>>,
}

/// A tokenizer that never pads.
pub(crate) struct Tokens {
    /// Cuts the longer one of a pair.
    cutting: Tokenizer,
    whole: Tokenizer,
    /// The special ones included.
    limit: usize,
}

impl Tokens {
    pub(crate) fn open(files: &Files) -> Result<Self, OnnxError> {
        let wrong = |e: tokenizers::Error| OnnxError::tokenizer(&files.tokenizer, &e);
        let max_tokens = files.max_tokens();
        if max_tokens < 8 {
            return Err(files.wrong(format!("the model takes {max_tokens} tokens")));
        }
        let mut whole = Tokenizer::from_file(&files.tokenizer).map_err(wrong)?;
        whole.with_padding(None).with_truncation(None).map_err(wrong)?;
        let mut cutting = whole.clone();
        let params = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
        cutting.with_truncation(Some(params)).map_err(wrong)?;
        Ok(Self { cutting, whole, limit: max_tokens })
    }

    /// Both texts in one row; the longer one is cut where they do not fit.
    pub(crate) fn pair(&self, first: &str, second: &str) -> Result<Row, String> {
        let input = EncodeInput::from((first, second));
        let encoding = self.cutting.encode_fast(input, true).map_err(|e| e.to_string())?;
        Ok(Row { ids: encoding.get_ids().to_vec(), types: encoding.get_type_ids().to_vec() })
    }

    /// The whole text in as many windows as it needs, each with the special tokens around it.
    pub(crate) fn windows(&self, text: &str) -> Result<Vec<Window>, String> {
        let encoding = self.whole.encode_char_offsets(text, true).map_err(|e| e.to_string())?;
        let special = encoding.get_special_tokens_mask();
        let before = special.iter().take_while(|special| **special == 1).count();
        let all = special.len();
        let after = special[before..].iter().rev().take_while(|special| **special == 1).count();
        let content = before..all - after;
        let room = self.limit.saturating_sub(before + after).max(1);
        let shared = SHARED.min(room / 4);
        let mut windows = vec![];
        let mut start = content.start;
        loop {
            let end = (start + room).min(content.end);
            let shown = (0..before).chain(start..end).chain(content.end..all);
            windows.push(window(&encoding, shown, &(start..end)));
            if end == content.end {
                return Ok(windows);
            }
            start = end - shared;
        }
    }
}

/// These tokens of an encoding; those outside of `content` are special and stand nowhere.
fn window(
    encoding: &Encoding,
    shown: impl Iterator<Item = usize>,
    content: &Range<usize>,
) -> Window {
    let mut window = Window { row: Row::default(), places: vec![] };
    for at in shown {
        let (start, end) = encoding.get_offsets()[at];
        window.row.ids.push(encoding.get_ids()[at]);
        window.row.types.push(encoding.get_type_ids()[at]);
        window.places.push((content.contains(&at) && start < end).then_some(start..end));
    }
    window
}
