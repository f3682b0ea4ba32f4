//! Choose hop by hop: of the best chunks, first the best, then each time the one that adds most to
//! those chosen before, by the question's words that were still open and by the names that lead on.
use super::GraphContext;
use super::score::{COVERS, ChunkScore, LED_TO};
use crate::KbError;
use crate::lexical::LexicalIndex;
use crate::mentions::short_hash;
use crate::store::{Row, SparseRows};
use crate::terms::term_hash;

/// The question's terms with what each weighs.
pub(super) struct QueryTerms {
    /// Each by what it is in the languages of the base.
    hashes: Vec<Vec<u32>>,
    /// The share of the question's idf mass.
    shares: Vec<f32>,
}

impl QueryTerms {
    pub(super) fn new(question: &str, index: &LexicalIndex) -> Result<Self, KbError> {
        let words = index.query_words(question)?;
        let mut idf = vec![];
        for word in &words {
            // A word is as specific as the commonest of its stems.
            let stems = word.iter().map(|term| index.idf(term));
            let stems = stems.collect::<Result<Vec<f32>, KbError>>()?;
            idf.push(stems.into_iter().fold(f32::INFINITY, f32::min));
        }
        let all: f32 = idf.iter().sum();
        let shares = idf.into_iter().map(|idf| if all > 0.0 { idf / all } else { 0.0 }).collect();
        let hash = |term: &String| short_hash(term_hash(term));
        let hashes = |word: &Vec<String>| word.iter().map(hash).collect();
        Ok(Self { hashes: words.iter().map(hashes).collect(), shares })
    }

    /// Which of the terms a text with these words holds, one bit each: a query has at most 64.
    fn terms_in(&self, words: &[u32]) -> u64 {
        let is_contained = |hash: &u32| words.binary_search(hash).is_ok();
        let any = |word: &Vec<u32>| u64::from(word.iter().any(is_contained));
        self.hashes.iter().rev().fold(0, |bits, word| bits << 1 | any(word))
    }

    fn share(&self, terms: u64) -> f32 {
        let has_term = |at: usize| terms >> at & 1 == 1;
        self.shares.iter().enumerate().filter(|(at, _)| has_term(*at)).map(|(_, share)| share).sum()
    }
}

impl GraphContext<'_> {
    /// Chooses `limit` of the first chunks one by one; the others follow as they were. Scores never
    /// rise, so that sorting by them keeps the order.
    pub(super) fn hop_by_hop(
        &self,
        terms: &QueryTerms,
        mut open: Vec<ChunkScore>,
        limit: usize,
    ) -> heed::Result<Vec<ChunkScore>> {
        let rest = open.split_off(self.settings.hops.min(open.len()));
        let terms_of = |scored: &ChunkScore| self.cache.terms(self.reader, scored.row);
        let bits = open.iter().map(|scored| Ok(terms.terms_in(&terms_of(scored)?)));
        let mut bits: Vec<u64> = bits.collect::<heed::Result<_>>()?;
        // The titles of each chunk with their importance.
        let mut titles: Vec<Vec<(Row, f32)>> = open.iter().map(|c| self.titles(c.row)).collect();
        let (mut chosen, mut covered, mut named) = (vec![], 0, SparseRows::default());
        let mut least = f32::INFINITY;
        while chosen.len() < limit && !open.is_empty() {
            let mut best: Option<(usize, ChunkScore)> = None;
            for (at, scored) in open.iter().enumerate() {
                let covers = self.settings.covers * terms.share(bits[at] & !covered);
                let led_to = self.settings.led_to * led_to(&titles[at], &named);
                let mut next = ChunkScore { score: scored.score + covers + led_to, ..*scored };
                (next.parts[COVERS], next.parts[LED_TO]) = (covers, led_to);
                if best.as_ref().is_none_or(|(_, best)| next.score > best.score) {
                    best = Some((at, next));
                }
            }
            let Some((at, next)) = best else { break };
            open.remove(at);
            covered |= bits.remove(at);
            titles.remove(at);
            if let Some(place) = self.walk().find(next.row) {
                named.extend(self.walk().names(place));
            }
            least = next.score.min(least);
            chosen.push(ChunkScore { score: least, ..next });
        }
        let below = |left: ChunkScore| ChunkScore { score: left.score.min(least), ..left };
        chosen.extend(open.into_iter().chain(rest).map(below));
        Ok(chosen)
    }

    /// The titles of a chunk, each with i(e).
    fn titles(&self, chunk: Row) -> Vec<(Row, f32)> {
        let Some(place) = self.walk().find(chunk) else { return vec![] };
        let titles = self.walk().titles(place);
        titles.map(|title| (title, self.walk().importance(title))).collect()
    }
}

/// i(e) of a title of the chunk that one of the chosen names.
fn led_to(titles: &[(Row, f32)], named: &SparseRows) -> f32 {
    let named = titles.iter().filter(|(title, _)| named.contains(title));
    named.map(|(_, importance)| *importance).fold(0.0, f32::max)
}
