//! The one list of what is measured. The tables, the Markdown, the comparison, the presets and the
//! viewer iterate over it: a new metric is a function in `metrics/` and an entry here.
use super::column::{
    Case, Column, INDEXED, PASSAGES, answerability, assessed, by_question, by_run, cost, counted,
    each, gold_read, percent,
};
use super::model::Run;
use super::outcome::AnswerOutcome;
use super::values::{Better, ValueFormat};
use crate::figures::{mean, nearest_rank, number, ratio};
use crate::judge::{CREATIVE, ERROR, NAIVE_ERROR, Ruling, Scheme};
use crate::metrics::{support_recall, tokens_per_correct};

/// All columns, in the order in which they are shown.
pub static COLUMNS: &[Column] = &[
    Column {
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
    gold_read("gold_passages", "gold", "gold passages of all questions", |run| {
        Some(number(run.gold.measured()?.passages))
    }),
    gold_read("gold_read", "read", "gold passages that the reader was given", |run| {
        Some(number(run.gold.measured()?.read))
    }),
    percent(gold_read("gold_read_share", "% read", "of all gold passages", |run| {
        let gold = run.gold.measured()?;
        Some(number(gold.read) / number(gold.passages))
    })),
    gold_read("complete", "complete", "questions whose reader was given all of theirs", |run| {
        Some(number(run.gold.measured()?.complete))
    }),
    percent(gold_read("complete_share", "% complete", "of the questions that name any", |run| {
        let gold = run.gold.measured()?;
        Some(number(gold.complete) / number(gold.questions))
    })),
    Column {
        needs: "keywords extracted by DEC's prompt",
        ..by_question("keyword_match", "keyword match", "keywords that stand in the text", |case| {
            case.record.digest.as_ref()?.keyword_match
        })
    },
    Column {
        needs: "a plan by DEC's prompt",
        ..by_question("fidelity", "fidelity", "words of the plan that the question has", |case| {
            case.record.digest.as_ref()?.plan_fidelity
        })
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
    assessed("direction_accuracy", "direction", "forecasts that go where it went", |run| {
        run.criterion(Scheme::Forecast, "direction_accuracy")
    }),
    assessed("interval_coverage", "coverage", "what came lies in the forecast's interval", |run| {
        run.criterion(Scheme::Forecast, "interval_coverage")
    }),
    Column {
        format: ValueFormat::Decimal,
        better: Some(Better::Lower),
        ..assessed("absolute_error", "MAE", "mean absolute error of the forecasts", |run| {
            run.criterion(Scheme::Forecast, ERROR)
        })
    },
    Column {
        better: Some(Better::Lower),
        ..assessed("error_ratio", "MAE/naive", "that error, of the last value's", |run| {
            let naive = run.criterion(Scheme::Forecast, NAIVE_ERROR)?;
            Some(run.criterion(Scheme::Forecast, ERROR)? / naive).filter(|ratio| ratio.is_finite())
        })
    },
    Column {
        format: ValueFormat::Decimal,
        ..assessed("creative", "creative", "the five criteria, from 1 to 5", |run| {
            let points = CREATIVE.iter().filter_map(|name| run.criterion(Scheme::Creative, name));
            mean(points)
        })
    },
    Column {
        format: ValueFormat::Decimal,
        ..assessed("distinct_ideas", "ideas", "different ideas of an answer", |run| {
            run.criterion(Scheme::Creative, "distinct_ideas")
        })
    },
    assessed("preferred", "preferred", "to the first strategy's answer, in both orders", |run| {
        run.criterion(Scheme::Pairwise, "preferred")
    }),
    counted("abstained", "abst.", "abstained", |run| Some(number(run.abstained))),
    counted("failed", "failed", "ended in an error", |run| Some(number(run.failed))),
    counted("malformed", "malformed", "replies that did not fit at first", |run| {
        Some(number(run.malformed))
    }),
    Column {
        format: ValueFormat::Decimal,
        better: None,
        ..by_question("hops", "hops", "turns with a search", |case| Some(number(case.record.hops)))
    },
    Column {
        format: ValueFormat::Decimal,
        better: None,
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
        question: Some(|case| {
            let (prompt, completion) = case.record.tokens();
            Some(ratio(prompt + completion, 1))
        }),
        ..cost(
            by_run("tokens", "tokens/q", "tokens a question, cached replies included", |run| {
                per_question(run, run.tokens.all())
            }),
            ValueFormat::Count,
        )
    },
    each("prompt_tokens", "prompt/q", "tokens of prompts a question", |run| {
        per_question(run, run.tokens.prompt)
    }),
    each("completion_tokens", "completion/q", "tokens of replies a question", |run| {
        per_question(run, run.tokens.completion)
    }),
    Column {
        ..cost(
            by_run("tokens_in_all", "tokens", "tokens of all questions", |run| {
                (run.completed() > 0).then(|| ratio(run.tokens.all(), 1))
            }),
            ValueFormat::Count,
        )
    },
    each("searches", "searches/q", "searches of the base a question", |run| {
        let searches: usize = run.searches.iter().map(|layer| layer.searches).sum();
        per_question(run, searches as u64)
    }),
    Column {
        needs: "a source named `web`",
        ..each("web_searches", "web/q", "steps a question that asked the source `web`", |run| {
            let web = run.sources.iter().find(|source| source.source == "web")?;
            Some(ratio(web.times as u64, run.completed()))
        })
    },
    Column {
        needs: INDEXED,
        ..each("chunk_prompt", "prompt/chunk", "tokens of prompts a chunk, for the base", |run| {
            Some(run.atomizing?.per_chunk()?.1)
        })
    },
    Column {
        needs: INDEXED,
        ..each("chunk_completion", "completion/chunk", "tokens of replies a chunk", |run| {
            Some(run.atomizing?.per_chunk()?.2)
        })
    },
    Column {
        needs: INDEXED,
        ..each("chunk_tokens", "tokens/chunk", "tokens a chunk, for the base", |run| {
            let (_, prompt, completion) = run.atomizing?.per_chunk()?;
            Some(prompt + completion)
        })
    },
    Column {
        needs: INDEXED,
        format: ValueFormat::Count,
        better: None,
        ..each("chunks", "chunks", "chunks of the base", |run| {
            Some(number(run.atomizing.filter(|base| base.per_chunk().is_some())?.chunks))
        })
    },
    cost(
        by_run("atc", "ATC", "tokens for each right answer", |run| {
            tokens_per_correct(run.tokens.all(), run.count(AnswerOutcome::Right))
        }),
        ValueFormat::Count,
    ),
    cost(
        by_run("p50", "median time", "of a question", |run| latency(run, 50)),
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

fn per_question(run: &Run, sum: u64) -> Option<f64> {
    (run.completed() > 0).then(|| ratio(sum, run.completed()))
}

fn calls(run: &Run) -> f64 {
    let calls = run.usage.llm_calls + run.usage.cached_calls;
    ratio(calls, run.completed().max(1))
}

fn latency(run: &Run, percent: usize) -> Option<f64> {
    let scored = run.results.iter().filter(|result| result.is_scored());
    let mut times: Vec<f64> = scored.map(|result| result.latency_ms).collect();
    times.sort_by(f64::total_cmp);
    nearest_rank(&times, percent)
}
