//! One recorded question to one line of the report. The only place where metrics meet answers.
use halma_core::Answer;

use super::column::{Case, Measure};
use super::columns::COLUMNS;
use super::model::QuestionResult;
use super::outcome::{AnswerOutcome, ErrorCause};
use super::values::Values;
use crate::data::Item;
use crate::judge::Ruling;
use crate::metrics::{Score, score};
use crate::record::{Record, RecordOutcome};

/// Scores a recorded question; `ruling` is the judge's on its answer, where there was one.
pub(crate) fn result(
    measure: Measure,
    item: &Item,
    record: &Record,
    ruling: Option<Ruling>,
) -> QuestionResult {
    let (prompt, completion) = record.tokens();
    let unscored = QuestionResult {
        tokens: prompt + completion,
        latency_ms: record.latency_ms,
        usage: record.usage,
        ..QuestionResult::default()
    };
    match &record.outcome {
        RecordOutcome::Stopped { .. } => unscored,
        RecordOutcome::Failed { .. } => {
            let outcome = AnswerOutcome::Failed;
            let error_cause = ErrorCause::find(record, outcome);
            QuestionResult { outcome, error_cause, ..unscored }
        }
        RecordOutcome::Answered(answer) => {
            let case = case(measure, item, (record, answer), ruling);
            let outcome = match (answer.abstained, case.right) {
                (_, true) => AnswerOutcome::Right,
                (true, false) => AnswerOutcome::Abstained,
                (false, false) => AnswerOutcome::Wrong,
            };
            QuestionResult {
                outcome,
                values: values(&case),
                abstained: answer.abstained,
                ruling,
                error_cause: ErrorCause::find(record, outcome),
                partial: answer.partial,
                ..unscored
            }
        }
    }
}

fn case<'a>(
    measure: Measure,
    item: &'a Item,
    (record, answer): (&'a Record, &'a Answer),
    ruling: Option<Ruling>,
) -> Case<'a> {
    // Where nothing can be answered, to say so is right and all else is wrong.
    let score = match (answer.abstained, item.answerable) {
        (true, false) => Score { em: 1.0, f1: 1.0, precision: 1.0, recall: 1.0, cover_em: 1.0 },
        (true, true) | (false, false) => Score::default(),
        (false, true) => score(measure.metric.profile(), &answer.text, &item.answers),
    };
    let gold = item.gold_answer();
    // A judge decides where there is one and it could be understood; else exact match does, and
    // for answers that are not a span of words also the full score of the data set's own metric.
    let right = match ruling {
        Some(Ruling::Right) => true,
        Some(Ruling::Wrong) => false,
        Some(Ruling::Unreadable) | None => {
            let full = || measure.metric.value(answer, &gold) >= 1.0;
            score.em >= 1.0 || (!measure.metric.is_span() && full())
        }
    };
    let gold_passages = &item.gold;
    Case { measure, gold, gold_passages, answer, record, score, right, ruling }
}

fn values(case: &Case<'_>) -> Values {
    let mut values = Values::default();
    for column in COLUMNS {
        values.set(column.key, column.question.and_then(|value| value(case)));
    }
    values
}

/// Hops by the data set; where it does not say, one for each gold passage.
pub(super) fn hops(item: &Item) -> Option<usize> {
    let stated = item.hops.and_then(|hops| usize::try_from(hops).ok());
    stated.or((!item.gold.is_empty()).then_some(item.gold.len()))
}
