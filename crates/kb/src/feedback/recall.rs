//! Accepted answers to a question that is asked again, in the same words or in others.
use std::collections::{BTreeSet, HashMap};

use halma_core::text::{normalise_name, words};
use halma_core::{Filter, Hit, Layer, Mode, NodeId, Query};

use crate::memory::terms_of;
use crate::settings::{FeedbackSettings, least_cosine};
use crate::store::{AtomRecord, Row, StoreReader, feedback_id, node_id, parse_id};
use crate::{Base, KbError};

/// Accepted questions that are compared by their vectors.
const NEAREST: usize = 8;

/// Words that turn a question into another one.
const TURNING: [&str; 6] = ["not", "never", "no", "without", "except", "first"];

/// An accepted answer that may be that of a question.
#[derive(Debug, Clone)]
pub struct KnownAnswer {
    /// Id of the feedback that it was accepted from.
    pub feedback: String,
    pub atom: NodeId,
    pub question: String,
    pub answer: String,
    /// Whether the question has the same words.
    pub is_same: bool,
    /// Of the questions: 1 for the same words, else the greater of the cosine of their vectors and
    /// the share of words in common.
    pub similarity: f32,
    /// The chunks that it rests on.
    pub passages: Vec<Hit>,
}

impl KnownAnswer {
    /// The answer of an accepted atom, with the same question.
    fn read(reader: &StoreReader<'_>, atom: AtomRecord) -> heed::Result<Option<Self>> {
        let chunks = atom.chunks_below();
        let Some(accepted) = atom.accepted else { return Ok(None) };
        let mut passages = vec![];
        for chunk in chunks {
            passages.extend(reader.hit((Layer::Chunk, chunk))?);
        }
        Ok(Some(Self {
            feedback: feedback_id(accepted.feedback),
            atom: node_id(Layer::Atom, atom.id),
            question: atom.text,
            answer: accepted.answer.trim().to_owned(),
            is_same: true,
            similarity: 1.0,
            passages,
        }))
    }
}

impl Base {
    /// Accepted answers to questions that are at least as similar as `feedback.recall_score`, the
    /// most similar first. Questions with other numbers, or with a word such as *not* that only one
    /// of them has, are not similar.
    pub async fn known_answers(&self, question: &str) -> Result<Vec<KnownAnswer>, KbError> {
        if !self.options.feedback.search {
            return Ok(vec![]);
        }
        let index = self.feedback_index().await?;
        let (form, terms) = (normalise_name(question), terms_of(question));
        let mut similar: HashMap<Row, (f32, bool)> = HashMap::new();
        for question in &index.accepted {
            let Some(atom) = question.atom else { continue };
            let is_same = question.form == form;
            let similarity = if is_same { 1.0 } else { question.similarity(&terms) };
            similar.insert(atom, (similarity, is_same));
        }
        if similar.is_empty() {
            return Ok(vec![]);
        }
        let least = self.options.feedback.recall_score;
        let chance = self.store.read(|reader| match reader.active_embedder()? {
            Some((number, _)) => reader.chance(number),
            None => Ok(0.0),
        })?;
        let least_near = least_cosine(least, FeedbackSettings::default().recall_score, chance);
        let near = self.nearest_accepted(question).await?;
        for (row, cosine) in near.into_iter().filter(|(_, cosine)| *cosine >= least_near) {
            if let Some((similarity, _)) = similar.get_mut(&row) {
                *similarity = similarity.max(cosine);
            }
        }
        similar.retain(|_, (similarity, is_same)| *is_same || *similarity >= least);
        self.store.read(|reader| {
            let mut answers = vec![];
            for (row, (similarity, is_same)) in similar {
                let Some(atom) = reader.node::<AtomRecord>(row)? else { continue };
                if is_same || marks(question) == marks(&atom.text) {
                    let answer = KnownAnswer::read(reader, atom)?;
                    answers.extend(answer.map(|a| KnownAnswer { is_same, similarity, ..a }));
                }
            }
            answers.sort_by(|a, b| {
                b.similarity.total_cmp(&a.similarity).then_with(|| a.atom.cmp(&b.atom))
            });
            Ok(answers)
        })
    }

    /// Accepted atoms by the cosine of their question, where they have vectors.
    async fn nearest_accepted(&self, question: &str) -> Result<Vec<(Row, f32)>, KbError> {
        let query = Query {
            filter: Filter { feedback: Some(true), ..Filter::default() },
            ..Query::new(vec![question.to_owned()], Layer::Atom, Mode::Hybrid, NEAREST)
        };
        let hits = self.find_plain(&query).await?.into_iter().flatten();
        self.store.read(|reader| {
            let mut rows = vec![];
            for hit in hits {
                let Some((layer, id)) = parse_id(&hit.id) else { continue };
                rows.extend(reader.find(layer, id)?.zip(hit.cosine));
            }
            Ok(rows)
        })
    }
}

/// What similar questions must have in common: numbers, and words that turn a question around.
fn marks(question: &str) -> BTreeSet<String> {
    let words = words(question).into_iter();
    words
        .filter(|word| TURNING.contains(&word.as_str()) || word.chars().any(|c| c.is_ascii_digit()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_numbers_and_negations_make_other_questions() {
        let same = |one, other| marks(one) == marks(other);
        assert!(same("Who built the pier?", "By whom was the pier built?"));
        assert!(!same("Who won in 2022?", "Who won in 2023?"));
        assert!(!same("Which drugs are approved?", "Which drugs are not approved?"));
    }
}
