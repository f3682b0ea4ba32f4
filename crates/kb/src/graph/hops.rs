//! Choose hop by hop: of the best chunks, first the best, then each time the one that adds most to
//! those chosen before, by the question's words that were still open and by the names that lead on.
use std::collections::HashSet;

use halma_core::ScorePart;

use super::Ground;
use super::score::Scored;
use crate::KbError;
use crate::store::Row;
use crate::words::{WordIndex, held_terms, query_terms};

/// The question's terms with what each weighs.
pub(crate) struct Terms {
    terms: Vec<String>,
    /// The share of the question's idf mass.
    shares: Vec<f32>,
}

impl Terms {
    pub(crate) fn new(question: &str, words: &WordIndex) -> Result<Self, KbError> {
        let terms = query_terms(question);
        let idf: Vec<f32> =
            terms.iter().map(|term| words.idf(term)).collect::<Result<_, KbError>>()?;
        let all: f32 = idf.iter().sum();
        let shares = idf.into_iter().map(|idf| if all > 0.0 { idf / all } else { 0.0 }).collect();
        Ok(Self { terms, shares })
    }

    /// Which of the terms a text holds, one bit each.
    fn held(&self, text: &str) -> u64 {
        held_terms(text, &self.terms)
    }

    fn share(&self, held: u64) -> f32 {
        let held = |at: usize| held >> at & 1 == 1;
        self.shares.iter().enumerate().filter(|(at, _)| held(*at)).map(|(_, share)| share).sum()
    }
}

/// A chunk to choose from, with its text as it is searched.
pub(crate) struct Candidate {
    pub(crate) scored: Scored,
    pub(crate) text: String,
}

impl Ground<'_> {
    /// `most` of the candidates in the order in which they are chosen. Scores never rise, so that
    /// sorting by them keeps the order.
    pub(crate) fn hop_by_hop(
        &self,
        terms: &Terms,
        candidates: Vec<Candidate>,
        most: usize,
    ) -> heed::Result<Vec<Scored>> {
        let (mut open, mut held): (Vec<Scored>, Vec<u64>) = (vec![], vec![]);
        for candidate in candidates {
            held.push(terms.held(&candidate.text));
            open.push(candidate.scored);
        }
        let (mut chosen, mut covered, mut named) = (vec![], 0, HashSet::new());
        let mut least = f32::INFINITY;
        while chosen.len() < most && !open.is_empty() {
            let mut best: Option<(usize, f32, [f32; 2])> = None;
            for (at, scored) in open.iter().enumerate() {
                let gains = [
                    self.settings.covers * terms.share(held[at] & !covered),
                    self.settings.led_to * self.led_to(scored.row, &named)?,
                ];
                let value = scored.score + gains[0] + gains[1];
                if best.is_none_or(|(_, most, _)| value > most) {
                    best = Some((at, value, gains));
                }
            }
            let Some((at, value, gains)) = best else { break };
            let mut next = open.remove(at);
            covered |= held.remove(at);
            named.extend(&self.memory.chunk((self.store, self.txn), next.row)?.names);
            for (name, score) in [("covers", gains[0]), ("led_to", gains[1])] {
                let (name, through) = (name.to_owned(), String::new());
                next.parts.extend((score > 0.0).then_some(ScorePart { name, score, through }));
            }
            least = value.min(least);
            chosen.push(Scored { score: least, ..next });
        }
        Ok(chosen)
    }

    /// i(e) of a title of the chunk that one of the chosen names.
    fn led_to(&self, chunk: Row, named: &HashSet<Row>) -> heed::Result<f32> {
        let from = (self.store, self.txn);
        let mut most = 0.0_f32;
        for title in self.memory.chunk(from, chunk)?.titles.iter().filter(|t| named.contains(t)) {
            most = most.max(self.memory.entity(from, *title)?.importance);
        }
        Ok(most)
    }
}
