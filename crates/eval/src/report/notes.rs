//! What must be known to read a run's figures: what is not in them, and what makes them doubtful.
use super::model::Run;
use super::values::ValueFormat;
use crate::components::LostReplies;
use crate::figures::{number, ratio};

/// A share of searches with nothing near from which the threshold is probably wrong for the
/// embedder (methods of KAR³: thresholds were measured on other scales).
const MUCH_NOTHING: f64 = 0.2;

/// Questions with gold passages from which finding none of them means something.
const ENOUGH: usize = 5;

/// `1 question`, `2 questions`.
pub(crate) fn questions(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} question{plural}")
}

impl Run {
    /// Plain sentences without the run's name. The first of them are the most serious.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![];
        self.missing(&mut notes);
        self.doubtful(&mut notes);
        self.assessing(&mut notes);
        if let Some(answerability) = self.answerability {
            let percent = |value| ValueFormat::Percent.render(value);
            notes.push(format!(
                "distinguishing what can be answered from what cannot: accuracy {}, precision {}, recall {}, \
                 F1 {}, specificity {}; right of the answered {}, right of all {}",
                percent(answerability.accuracy),
                percent(answerability.precision),
                percent(answerability.recall),
                percent(answerability.f1),
                percent(answerability.specificity),
                percent(answerability.conditional),
                percent(answerability.overall)
            ));
        }
        let queries: usize = self.sources.iter().map(|source| source.times).sum();
        if queries > 0 {
            let share = |times: usize| ratio(times as u64, queries as u64) * 100.0;
            let sources: Vec<String> = self
                .sources
                .iter()
                .map(|one| format!("{} {:.1} % ({})", one.source, share(one.times), one.times))
                .collect();
            notes.push(format!("sources queried: {}", sources.join(", ")));
        }
        if self.taken_over > 0 {
            notes.push(format!("{} taken over from earlier runs", questions(self.taken_over)));
        }
        notes
    }

    /// The mean exact match with a 0 for every failed question.
    fn em_if_failed_were_wrong(&self) -> Option<f64> {
        let scored = self.questions_with("em");
        let sum = self.values.get("em")? * number(scored);
        Some(sum / number(scored + self.failed))
    }

    /// What is not in the figures.
    fn missing(&self, notes: &mut Vec<String>) {
        if self.unasked > 0 {
            notes.push(format!(
                "{} not asked to the end because the whole budget was spent; run again with a \
                 larger one to continue",
                questions(self.unasked)
            ));
        }
        if self.failed > 0 {
            let kinds: Vec<String> =
                self.failed_by_kind.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            let sure = self.em_if_failed_were_wrong().map_or(String::new(), |em| {
                format!(" (with them as wrong, EM would be {:.1})", em * 100.0)
            });
            notes.push(format!(
                "{} failed ({}), not in any mean{sure}; the next run asks again",
                questions(self.failed),
                kinds.join(", ")
            ));
        }
        if self.retrieval_failed > 0 {
            let failed = questions(self.retrieval_failed);
            notes.push(format!("the search for R@k failed for {failed}"));
        }
        let Some(judged) = &self.judged else { return };
        if judged.unreadable > 0 {
            notes.push(format!(
                "{} rulings of the judge could not be read and are counted apart",
                judged.unreadable
            ));
        }
        if judged.failed > 0 {
            let failed = judged.failed;
            notes.push(format!(
                "the judge could not be asked about {failed} answers; the next run asks it again"
            ));
        }
    }

    fn doubtful(&self, notes: &mut Vec<String>) {
        if self.partial > 0 {
            notes.push(format!("{} answers are partial (spent budget)", self.partial));
        }
        if let Some(LostReplies { answers, reason }) = &self.lost_replies {
            notes.push(format!(
                "{} were answered without the reply of a model or a source that failed, and are in \
                 every mean; for example {reason}",
                questions(*answers)
            ));
        }
        if let Some(share) = self.nothing_near.filter(|share| *share > MUCH_NOTHING) {
            notes.push(format!(
                "{:.0} % of the searches found nothing above the threshold; if the \
                 documents have the answers, lower `embedder.atom_threshold` or \
                 `embedder.chunk_threshold`",
                share * 100.0
            ));
        }
        let gold = self.questions_with("support");
        if gold >= ENOUGH && self.retrieval.r10 == Some(0.0) && !self.searches.is_empty() {
            notes.push(
                "a search with the question finds none of the gold passages; is the base built \
                 from these questions' documents?"
                    .into(),
            );
        }
        let repaired: u64 = self.components.iter().map(|part| part.malformed).sum();
        let calls: u64 = self.components.iter().map(|part| part.calls).sum();
        if ratio(repaired, calls) > 0.05 {
            notes.push(format!(
                "{:.0} % of the replies did not fit at first and were asked for again",
                ratio(repaired, calls) * 100.0
            ));
        }
        if self.prompts.values().any(|hashes| hashes.len() > 1) {
            notes.push("a prompt was asked in different words; the figures mix them".into());
        }
    }
}
