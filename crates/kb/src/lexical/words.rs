//! Rows whose texts may have certain words or parts of words, without scores.
use std::collections::BTreeSet;

use halma_core::text::{is_cjk, spelling};
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::tokenizer::{AsciiFoldingFilter, TextAnalyzer};
use tantivy::{DocAddress, DocSet, TERMINATED};

use super::LexicalIndex;
use crate::KbError;
use crate::store::RowSet;
use crate::terms::WordTokenizer;

/// Bytes by which a part of a word is found in a term.
const BEGINNING: usize = 3;

/// Bytes that a stemmer may put in the place of an ending.
const ENDING: usize = 2;

/// The beginning of a word that is not one, to see what of an ending is left after it.
const STEM: &str = "bordak";

/// A word as the index has it, but for its ending; or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LexicalWord {
    pub(crate) text: String,
    /// Whether nothing is missing at either end.
    pub(crate) whole: bool,
}

/// The words of a part of a text. The first and the last may go on outside of it.
pub(crate) fn words_of(part: &str) -> Vec<LexicalWord> {
    let (part, mut words) = (spelling(part), vec![]);
    let words_only = TextAnalyzer::builder(WordTokenizer::default()).filter(AsciiFoldingFilter);
    words_only.build().token_stream(&part).process(&mut |token| {
        let inside = token.offset_from > 0 && token.offset_to < part.len();
        let whole = inside || token.text.starts_with(is_cjk);
        words.push(LexicalWord { text: token.text.clone(), whole });
    });
    words
}

impl LexicalIndex {
    /// The rows of texts that may have a word of each list; `None` where no list can be looked up.
    pub(crate) fn holding(
        &self,
        lists: &[BTreeSet<LexicalWord>],
    ) -> Result<Option<RowSet>, KbError> {
        let lists: Vec<_> = lists.iter().filter_map(|list| self.parts(list)).collect();
        if lists.is_empty() {
            return Ok(None);
        }
        let mut rows = RowSet::default();
        self.add_rows(&lists, &mut rows).map_err(self.failed())?;
        Ok(Some(rows))
    }

    /// What a word of a list has of its term: its own letters, or the whole term. `None` where it may
    /// be an ending, of which terms have nothing.
    fn parts(&self, list: &BTreeSet<LexicalWord>) -> Option<Vec<String>> {
        let terms_of = |text: &str| self.languages.read().query_words(text).concat();
        let mut parts = vec![];
        for LexicalWord { text, whole } in list {
            let longer = terms_of(&format!("{STEM}{text}"));
            let remains = longer.iter().all(|term| may_have(term.as_bytes(), text.as_bytes()));
            if !whole && !remains {
                return None;
            }
            parts.push(text.clone());
            parts.extend(terms_of(text));
        }
        Some(parts)
    }

    /// Adds, for each segment, the rows with terms that may have a part of one list, of which these
    /// are the fewest.
    fn add_rows(&self, lists: &[Vec<String>], rows: &mut RowSet) -> tantivy::Result<()> {
        let searcher = self.reader.searcher();
        let columns = self.columns.of(&searcher)?;
        for (number, segment) in (0..).zip(searcher.segment_readers()) {
            let index = segment.inverted_index(self.text)?;
            let mut terms: Vec<Vec<TermInfo>> = vec![vec![]; lists.len()];
            let mut stream = index.terms().stream()?;
            while stream.advance() {
                for (parts, terms) in lists.iter().zip(&mut terms) {
                    if parts.iter().any(|part| may_have(stream.key(), part.as_bytes())) {
                        terms.push(stream.value().clone());
                    }
                }
            }
            let count = |terms: &Vec<TermInfo>| terms.iter().map(|term| term.doc_freq).sum::<u32>();
            for term in terms.into_iter().min_by_key(count).unwrap_or_default() {
                let basic = IndexRecordOption::Basic;
                let mut postings = index.read_postings_from_terminfo(&term, basic)?;
                while postings.doc() != TERMINATED {
                    let row = columns.row(DocAddress::new(number, postings.doc()));
                    if let Some(row) = row {
                        rows.insert(row);
                    }
                    postings.advance();
                }
            }
        }
        Ok(())
    }
}

/// Whether a word with this part may have become the term: the part stands in it, or the beginning
/// of the part does and ends it, since an ending is removed that the part reaches into.
fn may_have(term: &[u8], part: &[u8]) -> bool {
    let beginning = &part[..BEGINNING.min(part.len())];
    (0..=term.len().saturating_sub(beginning.len())).any(|start| {
        let tail = &term[start..];
        let same = || tail.iter().zip(part).take_while(|(a, b)| a == b).count();
        tail.starts_with(beginning) && (same() == part.len() || tail.len() - same() <= ENDING)
    })
}
