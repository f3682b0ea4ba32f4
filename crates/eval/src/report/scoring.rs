//! One kept question to one line of the report. The only place where metrics meet answers.
use super::{Fate, Loss, QuestionResult};
use crate::metrics::{score, support_recall};
use crate::record::{Record, Verdict};
use crate::runner::Ruling;
use crate::{DataSet, Item, Metric, Profile, Score};

/// How the answers of a data set are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    profile: Profile,
    metric: Metric,
}

impl Measure {
    pub(crate) fn of(data: &DataSet) -> Self {
        Self { profile: Profile::of(data.format), metric: data.format.entry().metric }
    }
}

/// Scores a kept question; `ruling` is the judge's on its answer, where there was one.
pub(crate) fn result(
    measure: Measure,
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
            // Where nothing can be answered, to say so is right and all else is wrong.
            let score = match (answer.abstained, item.answerable) {
                (true, false) => {
                    Score { em: 1.0, f1: 1.0, precision: 1.0, recall: 1.0, cover_em: 1.0 }
                }
                (true, true) | (false, false) => Score::default(),
                (false, true) => score(measure.profile, &answer.text, &item.answers),
            };
            let value = measure.metric.value(item, answer);
            let fate = match (answer.abstained, is_right(measure, (score, value), ruling)) {
                (_, true) => Fate::Right,
                (true, false) => Fate::Abstained,
                (false, false) => Fate::Wrong,
            };
            QuestionResult {
                fate,
                score: Some(score),
                value: Some(value),
                abstained: answer.abstained,
                support: support_recall(&item.gold, &answer.citations),
                ruling,
                lost: Loss::of(record, fate),
                partial: answer.partial,
                ..unscored
            }
        }
    }
}

/// A judge decides where one was asked and could be understood; else exact match does, and for
/// answers that are no span of words also the full score of the data set's own metric.
fn is_right(measure: Measure, (score, value): (Score, f64), ruling: Option<Ruling>) -> bool {
    match ruling {
        Some(Ruling::Right) => true,
        Some(Ruling::Wrong) => false,
        Some(Ruling::Unreadable) | None => {
            let spans = matches!(measure.metric, Metric::Span(_));
            score.em >= 1.0 || (!spans && value >= 1.0)
        }
    }
}

/// Hops by the data set; where it does not say, one for each gold passage.
pub(super) fn hops(item: &Item) -> Option<usize> {
    let told = item.hops.and_then(|hops| usize::try_from(hops).ok());
    told.or((!item.gold.is_empty()).then_some(item.gold.len()))
}
