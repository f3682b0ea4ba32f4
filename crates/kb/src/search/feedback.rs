//! What feedback says about searches of chunks: an accepted answer speaks for the chunks that it
//! rests on when a similar question is asked, and an answer that was wrong against those it cited.
use std::sync::Arc;

use halma_core::{Layer, ScorePart};

use super::{Ranked, Search};
use crate::memory::{FeedbackIndex, KnownQuestion, terms_of};
use crate::settings::FeedbackSettings;
use crate::store::{Id, Row, feedback_id};

/// The name of the part of a score that feedback gives.
const FEEDBACK: &str = "feedback";

impl FeedbackIndex {
    /// Adds to the scores of ranked chunks what feedback on similar questions says of them. Chunks
    /// that only feedback leads to join the list.
    pub(crate) fn weigh(
        &self,
        search: &Search<'_>,
        settings: &FeedbackSettings,
        lists: &mut [Vec<Ranked>],
    ) {
        if self.accepted.is_empty() && (self.wrong.is_empty() || settings.penalty <= 0.0) {
            return;
        }
        let admitted = search.admitted(Layer::Chunk);
        for (text, list) in search.query.texts.iter().zip(lists) {
            let terms = terms_of(text);
            let best = list.iter().map(|ranked| ranked.score).fold(0.0_f32, f32::max);
            let near =
                |question: &&Arc<KnownQuestion>| question.similarity(&terms) >= settings.similarity;
            for question in self.accepted.iter().filter(near).filter(|_| settings.weight > 0.0) {
                let gain = settings.weight * question.similarity(&terms) * best.max(f32::EPSILON);
                for row in question.chunks.iter().filter(|row| admitted.admits(**row)) {
                    add(list, *row, gain, question.feedback);
                }
            }
            for question in self.wrong.iter().filter(near).filter(|_| settings.penalty > 0.0) {
                let share = settings.penalty * question.similarity(&terms);
                for row in &question.chunks {
                    if let Some(ranked) = list.iter().find(|ranked| ranked.row == *row) {
                        let loss = share * ranked.score.abs();
                        add(list, *row, -loss, question.feedback);
                    }
                }
            }
            list.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
        }
    }
}

fn add(list: &mut Vec<Ranked>, row: Row, score: f32, feedback: Id) {
    let part = ScorePart { name: FEEDBACK.to_owned(), score, through: feedback_id(feedback) };
    match list.iter_mut().find(|ranked| ranked.row == row) {
        Some(ranked) => {
            ranked.score += score;
            ranked.led_to |= score > 0.0;
            ranked.parts.push(part);
        }
        None => list.push(Ranked { row, score, led_to: true, parts: vec![part] }),
    }
}
