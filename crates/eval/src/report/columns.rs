//! The one list of what is measured. The tables, the Markdown, the comparison, the presets and the
//! viewer iterate over it: a new metric is a function in `metrics/` and an entry here.
use halma_core::Answer;

use super::model::{Report, Run};
use super::outcome::AnswerOutcome;
use super::values::{Better, ColumnHead, ValueFormat};
use crate::data::DataSet;
use crate::figures::{nearest_rank, number, ratio};
use crate::judge::Ruling;
use crate::metrics::{Gold, GoldPassage, Metric, Score, support_recall, tokens_per_correct};
use crate::record::Record;

/// A column of every table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name in JSON.
    pub key: &'static str,
    pub title: &'static str,
    /// What it means, for a legend.
    pub meaning: &'static str,
    pub format: ValueFormat,
    /// `None` where neither more nor less is better.
    pub better: Option<Better>,
    /// What a report must have for it, in a sentence after "it needs".
    pub(crate) needs: &'static str,
    /// Shown in the terminal, where lines are short.
    pub(crate) in_terminal: bool,
    /// Shown by kind of question and by hops.
    pub(crate) in_groups: bool,
    /// The value of one answered question, if each has one; then runs can be compared by it.
    pub(crate) question: Option<fn(&Case<'_>) -> Option<f64>>,
    /// The value of a run; without it, the mean over its questions that have one.
    pub(crate) run: Option<fn(&Run) -> Option<f64>>,
}

/// How the answers of a data set are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    pub(crate) metric: Metric,
    /// Whether a judge rules on the answers.
    pub(crate) judged: bool,
}

impl Measure {
    pub(crate) fn new(data: &DataSet, judged: bool) -> Self {
        Self { metric: data.format.entry().metric, judged }
    }
}

/// What the values of an answered question are computed from.
pub(crate) struct Case<'a> {
    pub(crate) measure: Measure,
    pub(crate) gold: Gold<'a>,
    pub(crate) gold_passages: &'a [GoldPassage],
    pub(crate) answer: &'a Answer,
    pub(crate) record: &'a Record,
    pub(crate) score: Score,
    /// Whether the answer counts as right.
    pub(crate) right: bool,
    /// The judge's, where there was one.
    pub(crate) ruling: Option<Ruling>,
}

const SCORED: &str = "scored questions";
const PASSAGES: &str = "questions that name gold passages";
const UNANSWERABLE: &str = "questions that cannot be answered";

/// A mean over questions: a fraction of which more is better.
const fn by_question(
    key: &'static str,
    title: &'static str,
    meaning: &'static str,
    question: fn(&Case<'_>) -> Option<f64>,
) -> Column {
    Column {
        key,
        title,
        meaning,
        format: ValueFormat::Percent,
        better: Some(Better::Higher),
        needs: SCORED,
        in_terminal: true,
        in_groups: false,
        question: Some(question),
        run: None,
    }
}

/// A figure of a whole run, a fraction of which more is better.
const fn by_run(
    key: &'static str,
    title: &'static str,
    meaning: &'static str,
    run: fn(&Run) -> Option<f64>,
) -> Column {
    Column { question: None, run: Some(run), ..by_question(key, title, meaning, |_| None) }
}

/// A count of questions in a run.
const fn counted(
    key: &'static str,
    title: &'static str,
    meaning: &'static str,
    run: fn(&Run) -> Option<f64>,
) -> Column {
    Column { format: ValueFormat::Count, better: None, ..by_run(key, title, meaning, run) }
}

/// One of the figures of DEC's Table 4.
const fn answerability(
    key: &'static str,
    title: &'static str,
    meaning: &'static str,
    run: fn(&Run) -> Option<f64>,
) -> Column {
    Column { needs: UNANSWERABLE, in_terminal: false, ..by_run(key, title, meaning, run) }
}

const fn cost(column: Column, format: ValueFormat) -> Column {
    Column { format, better: Some(Better::Lower), ..column }
}

/// All columns, in the order in which they are shown.
pub static COLUMNS: &[Column] = &[
    Column {
        in_terminal: false,
        in_groups: true,
        ..by_question(
            "right",
            "right",
            "answered rightly: by the judge where there is one, else by exact match or the full \
             score of the data set's own metric",
            |case| Some(number(usize::from(case.right))),
        )
    },
    Column {
        needs: "a data set that is not scored by words",
        ..by_question("score", "score", "by the data set's own metric", |case| {
            let metric = case.measure.metric;
            (!metric.is_span()).then(|| metric.value(case.answer, &case.gold))
        })
    },
    Column {
        needs: "a model judge (`--judge`)",
        ..by_question("judged", "Acc", "right by the model judge", judged)
    },
    Column {
        in_groups: true,
        ..by_question("em", "EM", "exact match with a gold answer", |case| Some(case.score.em))
    },
    Column {
        in_groups: true,
        ..by_question("f1", "F1", "words shared with a gold answer", |case| Some(case.score.f1))
    },
    by_question("precision", "P", "share of the answer's words that are right", |case| {
        Some(case.score.precision)
    }),
    by_question("recall", "R", "share of the gold answer's words that are given", |case| {
        Some(case.score.recall)
    }),
    Column {
        in_terminal: false,
        ..by_question("cover_em", "CoverEM", "a gold answer stands in the answer", |case| {
            Some(case.score.cover_em)
        })
    },
    Column {
        in_groups: true,
        needs: PASSAGES,
        ..by_question("support", "support", "gold passages that are cited", |case| {
            support_recall(case.gold_passages, &case.answer.citations)
        })
    },
    Column {
        needs: PASSAGES,
        ..by_run("r2", "R@2", "gold passages among the first 2 hits", |run| run.retrieval.r2)
    },
    Column {
        needs: PASSAGES,
        ..by_run("r5", "R@5", "gold passages among the first 5 hits", |run| run.retrieval.r5)
    },
    Column {
        needs: PASSAGES,
        ..by_run("r10", "R@10", "gold passages among the first 10 hits", |run| run.retrieval.r10)
    },
    answerability(
        "answerable",
        "answerable",
        "distinguished what can be answered from what cannot",
        |run| run.answerability?.accuracy,
    ),
    answerability("answerable_precision", "answerable P", "precision of it", |run| {
        run.answerability?.precision
    }),
    answerability("answerable_recall", "answerable R", "recall of it", |run| {
        run.answerability?.recall
    }),
    answerability("answerable_f1", "answerable F1", "F1 of it", |run| run.answerability?.f1),
    answerability("specificity", "specificity", "unanswerable questions abstained from", |run| {
        run.answerability?.specificity
    }),
    answerability("conditional_accuracy", "C Acc", "right of the answered questions", |run| {
        run.answerability?.conditional
    }),
    answerability("overall_accuracy", "O Acc", "right of all, abstentions included", |run| {
        run.answerability?.overall
    }),
    counted("abstained", "abst.", "abstained", |run| Some(number(run.abstained))),
    counted("failed", "failed", "ended in an error", |run| Some(number(run.failed))),
    Column {
        in_terminal: false,
        ..counted("malformed", "malformed", "replies that did not fit at first", |run| {
            Some(number(run.malformed))
        })
    },
    Column {
        format: ValueFormat::Decimal,
        better: None,
        in_terminal: false,
        ..by_question("hops", "hops", "turns with a search", |case| Some(number(case.record.hops)))
    },
    Column {
        format: ValueFormat::Decimal,
        better: None,
        in_terminal: false,
        ..by_question("sub_questions", "#SQA", "sub-questions searched for", |case| {
            Some(number(case.record.sub_questions()))
        })
    },
    Column {
        better: None,
        ..cost(
            by_run("calls", "calls/q", "calls of models a question, cached ones included", |run| {
                Some(calls(run))
            }),
            ValueFormat::Decimal,
        )
    },
    Column {
        question: Some(|case| Some(tokens_of_question(case))),
        ..cost(
            by_run("tokens", "tokens/q", "tokens a question, cached replies included", |run| {
                (run.asked() > 0).then(|| ratio(run.tokens.all(), run.asked()))
            }),
            ValueFormat::Count,
        )
    },
    cost(
        by_run("atc", "ATC", "tokens for each right answer", |run| {
            tokens_per_correct(run.tokens.all(), run.count(AnswerOutcome::Right))
        }),
        ValueFormat::Count,
    ),
    cost(
        by_run("p50", "p50", "median time of a question", |run| latency(run, 50)),
        ValueFormat::Milliseconds,
    ),
    cost(
        by_run("p95", "p95", "95th percentile of the times of questions", |run| latency(run, 95)),
        ValueFormat::Milliseconds,
    ),
    Column {
        better: None,
        ..cost(
            by_run("usd", "USD", "dollars paid, without cached replies", |run| Some(run.usage.usd)),
            ValueFormat::Dollars,
        )
    },
];

/// The column of this key.
pub fn column(key: &str) -> Option<&'static Column> {
    COLUMNS.iter().find(|column| column.key == key)
}

/// Abstentions are not shown to the judge; they are right where there is no answer. An unreadable
/// ruling is not in any mean.
fn judged(case: &Case<'_>) -> Option<f64> {
    let right = match case.ruling {
        _ if !case.measure.judged => return None,
        Some(Ruling::Right) => true,
        Some(Ruling::Wrong) => false,
        None if case.answer.abstained => case.right,
        Some(Ruling::Unreadable) | None => return None,
    };
    Some(number(usize::from(right)))
}

#[expect(clippy::cast_precision_loss, reason = "tokens of one question")]
fn tokens_of_question(case: &Case<'_>) -> f64 {
    let (prompt, completion) = case.record.tokens();
    (prompt + completion) as f64
}

fn calls(run: &Run) -> f64 {
    let calls = run.usage.llm_calls + run.usage.cached_calls;
    ratio(calls, run.asked().max(1))
}

fn latency(run: &Run, percent: usize) -> Option<f64> {
    let scored = run.results.iter().filter(|result| result.is_scored());
    let mut times: Vec<f64> = scored.map(|result| result.latency_ms).collect();
    times.sort_by(f64::total_cmp);
    nearest_rank(&times, percent)
}

impl Report {
    /// The columns for which some run has a value. The data set's own metric is named.
    pub(crate) fn columns(&self) -> Vec<(&'static Column, String)> {
        let metric = self.runs.first().map(|run| run.metric.name());
        let used =
            |column: &&Column| self.runs.iter().any(|run| run.values.get(column.key).is_some());
        let titled = |column: &'static Column| match &metric {
            Some(name) if column.key == "score" => (column, name.clone()),
            _ => (column, column.title.to_owned()),
        };
        COLUMNS.iter().filter(used).map(titled).collect()
    }

    /// The same, as the report carries them.
    pub(crate) fn column_heads(&self) -> Vec<ColumnHead> {
        let head = |(column, title): (&'static Column, String)| ColumnHead {
            key: column.key.to_owned(),
            title,
            meaning: column.meaning.to_owned(),
            format: column.format,
            better: column.better,
            in_groups: column.in_groups,
        };
        self.columns().into_iter().map(head).collect()
    }
}
