//! One kept question to one line of the report. The only place where metrics meet answers.
use super::{Fate, Loss, QuestionResult};
use crate::metrics::{score, support_recall};
use crate::record::{Record, Verdict};
use crate::runner::Ruling;
use crate::{Item, Profile, Score};

/// Scores a kept question; `ruling` is the judge's on its answer, where there was one.
pub(crate) fn result(
    profile: Profile,
    item: &Item,
    record: &Record,
    ruling: Option<Ruling>,
) -> QuestionResult {
    let (prompt, completion) = record.tokens();
    let unscored = QuestionResult {
        tokens: prompt + completion,
        hops: record.hops,
        sub_questions: record.digest.as_ref().map_or(0, |digest| digest.sub_questions),
        latency_ms: record.latency_ms,
        usage: record.usage,
        ..QuestionResult::default()
    };
    match &record.outcome {
        Verdict::Stopped { .. } => unscored,
        Verdict::Failed { .. } => {
            let lost = Loss::of(record, Fate::Failed);
            QuestionResult { fate: Fate::Failed, lost, ..unscored }
        }
        Verdict::Answered(answer) => {
            // Without a gold answer the question has none, and to say so is right.
            let score = match (answer.abstained, item.answers.is_empty()) {
                (true, true) => Score { em: 1.0, f1: 1.0, precision: 1.0, recall: 1.0 },
                (true, false) | (false, true) => Score::default(),
                (false, false) => score(profile, &answer.text, &item.answers),
            };
            let fate = match (answer.abstained, is_right(score, ruling)) {
                (_, true) => Fate::Right,
                (true, false) => Fate::Abstained,
                (false, false) => Fate::Wrong,
            };
            QuestionResult {
                fate,
                score: Some(score),
                support: support_recall(&item.gold, &answer.citations),
                ruling,
                lost: Loss::of(record, fate),
                partial: answer.partial,
                ..unscored
            }
        }
    }
}

/// A judge decides where one was asked and could be understood; else exact match does.
fn is_right(score: Score, ruling: Option<Ruling>) -> bool {
    match ruling {
        Some(Ruling::Right) => true,
        Some(Ruling::Wrong) => false,
        Some(Ruling::Unreadable) | None => score.em >= 1.0,
    }
}

/// Hops by the data set: `2hop` of `MuSiQue`, `3hop1`; where it does not say, one for each gold
/// passage.
pub(super) fn hops(item: &Item) -> Option<usize> {
    let kind = item.kind.as_deref().unwrap_or_default();
    let told = kind.split_once("hop").and_then(|(count, _)| count.parse().ok());
    told.or((!item.gold.is_empty()).then_some(item.gold.len()))
}
