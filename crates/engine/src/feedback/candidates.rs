//! What of a run may become knowledge: the answer, what was found on the way to it, and series.
use std::collections::{BTreeMap, HashSet};

use halma_core::text::normalise_name;
use halma_core::{
    Answer, AnswerText, Citation, Event, HitLine, NodeId, ReplyStatus, SeriesForecast, Trace,
    parse_json, round,
};
use halma_kb::{CandidateDraft, CandidateKind, Verdict};
use serde::Deserialize;

use crate::storage::traces::StoredTrace;

/// Candidates of one run, at most.
const MAX_CANDIDATES: usize = 24;

/// Characters of a candidate's answer: a series or a synthesis may be long.
const MAX_ANSWER_CHARS: usize = 4_000;

/// Hits of a search that are looked at for an answer.
const MAX_HITS: usize = 10;

/// A reply that gives an answer, whatever else it says.
#[derive(Deserialize)]
struct Reply {
    answer: AnswerText,
}

/// What a part of the work searched for, and what was answered in it.
#[derive(Default)]
struct Part<'a> {
    queries: Vec<&'a str>,
    hits: Vec<&'a HitLine>,
    answer: Option<String>,
}

/// The candidates of a run. Of an answer that is wrong nothing is kept but its correction: what led
/// to it may be wrong as well.
pub(super) fn candidates(
    run: &StoredTrace,
    verdict: Verdict,
    correction: &str,
) -> Vec<CandidateDraft> {
    let (question, trace) = (run.head.question.as_str(), &run.body.trace);
    let answer = run.body.answer.as_ref();
    let mut candidates = vec![];
    candidates.extend(answer.and_then(|answer| whole(run, answer, verdict, correction)));
    if verdict != Verdict::Wrong {
        let cited = answer.map_or(&[][..], |answer| &answer.citations);
        candidates.extend(answers_on_the_way(trace, cited));
        candidates.extend(answer.into_iter().flat_map(steps));
        candidates.extend(trace.0.iter().filter_map(|event| match event {
            Event::SeriesForecast { series, .. } => series_of(series),
            _ => None,
        }));
    }
    let question_form = normalise_name(question);
    let mut seen = HashSet::new();
    let mut first = true;
    candidates.retain(|candidate| {
        let form = normalise_name(&candidate.question);
        // The first one may be the answer to the question itself.
        let repeats_question = form == question_form && !std::mem::take(&mut first);
        !repeats_question && !form.is_empty() && seen.insert(form)
    });
    candidates.truncate(MAX_CANDIDATES);
    candidates
}

/// The answer itself, or its correction.
fn whole(
    run: &StoredTrace,
    answer: &Answer,
    verdict: Verdict,
    correction: &str,
) -> Option<CandidateDraft> {
    let synthesis = was_creative(&run.head.strategy, &run.body.trace);
    let text = match (correction.trim(), verdict) {
        ("", Verdict::Right) if synthesis => answer.written(),
        ("", Verdict::Right) => &answer.text,
        ("", _) => return None,
        (correction, _) => correction,
    };
    let events = &run.body.trace.0;
    let computed = |event: &Event| matches!(event, Event::SqlExecuted { rows, .. } if *rows > 0);
    let forecast = |event: &Event| matches!(event, Event::SeriesForecast { .. });
    let kind = if synthesis {
        CandidateKind::Synthesis
    } else if events.iter().any(forecast) {
        CandidateKind::Series
    } else if events.iter().any(computed) {
        CandidateKind::Rows
    } else {
        CandidateKind::Answer
    };
    let sources = answer.citations.iter().map(|citation| citation.node.clone()).collect();
    draft(kind, &run.head.question, text, sources)
}

/// Whether the answer is ideas: of the strategy itself, or where `auto` went there.
fn was_creative(strategy: &str, trace: &Trace) -> bool {
    const CREATIVE: &str = "pike_l4";
    let began =
        |event: &Event| matches!(event, Event::SpanStarted { name, .. } if name == CREATIVE);
    strategy == CREATIVE || trace.0.iter().any(began)
}

/// Sub-questions with their answers: where a part of the work searched for one text and read an
/// answer, which stands in what it found. Passages that the whole answer cites come first.
fn answers_on_the_way(trace: &Trace, cited: &[Citation]) -> Vec<CandidateDraft> {
    let mut parts: BTreeMap<u32, Part<'_>> = BTreeMap::new();
    for event in &trace.0 {
        match event {
            Event::Searched { span, query, hits, .. } => {
                let part = parts.entry(*span).or_default();
                if !part.queries.contains(&query.as_str()) {
                    part.queries.push(query);
                }
                part.hits.extend(hits.iter().take(MAX_HITS));
            }
            Event::ModelCalled { span, reply, status: ReplyStatus::Valid, .. } => {
                if let Ok(Reply { answer: AnswerText(text) }) = parse_json::<Reply>(reply) {
                    parts.entry(*span).or_default().answer = Some(text);
                }
            }
            _ => {}
        }
    }
    let pair = |part: Part<'_>| {
        let ([query], Some(answer)) = (part.queries.as_slice(), part.answer) else { return None };
        let source = source(&part.hits, &answer, cited)?;
        draft(CandidateKind::SubAnswer, query, &answer, vec![source])
    };
    parts.into_values().filter_map(pair).collect()
}

/// The first hit that holds an answer's words, of a cited document before others.
fn source(hits: &[&HitLine], answer: &str, cited: &[Citation]) -> Option<NodeId> {
    let wanted = padded(answer);
    // Judgements stand in no text.
    if ["  ", " yes ", " no "].contains(&wanted.as_str()) {
        return None;
    }
    let holds = |text: &str| padded(text).contains(&wanted);
    let holding: Vec<_> = hits.iter().filter(|hit| holds(&hit.text) || holds(&hit.title)).collect();
    let is_cited = |hit: &HitLine| cited.iter().any(|c| c.node == hit.id || c.title == hit.title);
    let best = holding.iter().find(|hit| is_cited(hit)).or(holding.first())?;
    Some(best.id.clone())
}

fn padded(text: &str) -> String {
    format!(" {} ", normalise_name(text))
}

/// Questions that led to a cited passage, whose answers the trace does not tell: as questions of
/// that passage they are found again.
fn steps(answer: &Answer) -> Vec<CandidateDraft> {
    let step = |step: &halma_core::AnswerStep| {
        let citation = answer.citations.get(step.citation.checked_sub(1)?)?;
        draft(CandidateKind::SubAnswer, &step.query, "", vec![citation.node.clone()])
    };
    answer.steps.iter().filter_map(step).collect()
}

/// A series as it was made of rows, without what was forecast.
fn series_of(series: &SeriesForecast) -> Option<CandidateDraft> {
    let group = if series.group.is_empty() { String::new() } else { format!(", {}", series.group) };
    let question = format!("{} by {}{group}", series.target, series.granularity);
    let unit = if series.unit.is_empty() { String::new() } else { format!(" {}", series.unit) };
    let finished = series.points.iter().filter(|point| point.finished);
    let points: Vec<String> =
        finished.map(|point| format!("{}: {}{unit}", point.period, round(point.value))).collect();
    let mut sources: Vec<NodeId> =
        series.points.iter().flat_map(|point| point.rows.iter().cloned()).collect();
    sources.dedup();
    draft(CandidateKind::Series, &question, &points.join(", "), sources)
}

/// `None` where there is no question, or nothing that it rests on.
fn draft(
    kind: CandidateKind,
    question: &str,
    answer: &str,
    sources: Vec<NodeId>,
) -> Option<CandidateDraft> {
    let question = question.trim().to_owned();
    let answer = answer.trim().chars().take(MAX_ANSWER_CHARS).collect();
    let stands = !question.is_empty() && !sources.is_empty();
    stands.then_some(CandidateDraft { kind, question, answer, sources })
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use halma_core::{AnswerStep, Layer, Message, Mode, SeriesPoint, Usage, UsageTotal};

    use super::*;
    use crate::storage::traces::{TraceBody, TraceHead};

    fn hit(id: &str, text: &str) -> HitLine {
        HitLine { id: id.into(), title: "Notes".into(), text: text.into(), score: 1.0 }
    }

    fn searched(span: u32, query: &str, hits: Vec<HitLine>) -> Event {
        let (layer, mode, query) = (Layer::Chunk, Mode::Graph, query.to_owned());
        Event::Searched { span, layer, mode, query, hits, elapsed_ms: 1.0 }
    }

    fn replied(span: u32, reply: &str) -> Event {
        Event::ModelCalled {
            span,
            prompt: "dec/answer_one".into(),
            hash: "".into(),
            role: "reader".into(),
            model: "m".into(),
            attempt: 1,
            messages: Vec::<Message>::new(),
            thoughts: String::new(),
            reply: reply.into(),
            status: ReplyStatus::Valid,
            usage: Usage::default(),
            cached: false,
            usd: 0.0,
            elapsed_ms: 1.0,
        }
    }

    fn run(strategy: &str, events: Vec<Event>) -> StoredTrace {
        let citation = Citation {
            node: "c-2".into(),
            document: "notes.md".into(),
            title: "Other".into(),
            section: None,
            page: None,
            start: 0,
            end: 4,
            quote: "Born in Norway.".into(),
        };
        let steps = vec![
            AnswerStep { query: "Where was Ilse Thorn born?".into(), citation: 1 },
            AnswerStep { query: "Where is Varn?".into(), citation: 9 },
            AnswerStep { query: "Which coast is Norway on?".into(), citation: 1 },
        ];
        let answer =
            Answer { text: "Norway".into(), citations: vec![citation], steps, ..Answer::default() };
        let head = TraceHead {
            id: "a1".into(),
            question: "Where was the architect of Varn lighthouse born?".into(),
            strategy: strategy.into(),
            at: DateTime::UNIX_EPOCH,
            answer: Some("Norway".into()),
            abstained: false,
            error: None,
            usage: UsageTotal::default(),
            hops: 2,
            elapsed_ms: 1.0,
            key: None,
            conversation: None,
            documents: vec![],
        };
        StoredTrace { head, body: TraceBody { answer: Some(answer), trace: Trace(events) } }
    }

    fn summaries(drafts: &[CandidateDraft]) -> Vec<(CandidateKind, &str, &str)> {
        drafts.iter().map(|c| (c.kind, c.question.as_str(), c.answer.as_str())).collect()
    }

    #[test]
    fn the_answer_its_steps_and_the_answers_on_the_way_are_candidates() {
        let events = vec![
            searched(1, "Who built it?", vec![hit("c-1", "Built by Ilse Thorn in 1901.")]),
            replied(1, r#"Well: {"rationale": "[1]", "answer": "Ilse Thorn"}"#),
            searched(2, "Where was Ilse Thorn born?", vec![hit("c-3", "She was born in Norway.")]),
            replied(2, r#"{"answer": "Norway"}"#),
            // Two searches, an unknown answer, one that stands nowhere, and a judgement.
            searched(3, "One?", vec![]),
            searched(3, "Two?", vec![hit("c-1", "Norway")]),
            replied(3, r#"{"answer": "Norway"}"#),
            searched(4, "Three?", vec![hit("c-1", "null")]),
            replied(4, r#"{"answer": null}"#),
            searched(5, "Four?", vec![hit("c-1", "Nothing here.")]),
            replied(5, r#"{"answer": "Oslo"}"#),
            searched(6, "Five?", vec![hit("c-1", "Yes, it is.")]),
            replied(6, r#"{"answer": "yes"}"#),
            replied(7, "no JSON"),
        ];
        let run = run("dec", events);
        let drafts = candidates(&run, Verdict::Right, "");
        assert_eq!(
            summaries(&drafts),
            [
                (
                    CandidateKind::Answer,
                    "Where was the architect of Varn lighthouse born?",
                    "Norway"
                ),
                (CandidateKind::SubAnswer, "Who built it?", "Ilse Thorn"),
                (CandidateKind::SubAnswer, "Where was Ilse Thorn born?", "Norway"),
                (CandidateKind::SubAnswer, "Which coast is Norway on?", ""),
            ]
        );
        assert_eq!(drafts[1].sources, ["c-1".into()]);
        let wrong = candidates(&run, Verdict::Wrong, "Sweden");
        assert_eq!(
            summaries(&wrong),
            [(CandidateKind::Answer, "Where was the architect of Varn lighthouse born?", "Sweden")]
        );
        assert!(candidates(&run, Verdict::Wrong, " ").is_empty());
        assert_eq!(candidates(&run, Verdict::Incomplete, "").len(), 3);
    }

    #[test]
    fn computed_rows_series_and_syntheses_are_told_apart() {
        let sql = Event::SqlExecuted { span: 1, sql: "SELECT 1".into(), rows: 1, elapsed_ms: 1.0 };
        let rows = candidates(&run("pike_l2", vec![sql]), Verdict::Right, "");
        assert_eq!(rows[0].kind, CandidateKind::Rows);
        let point = |period: &str, value, finished| SeriesPoint {
            period: period.into(),
            value,
            fitted: None,
            rows: vec!["r-1".into()],
            filled: false,
            finished,
        };
        let series = SeriesForecast {
            target: "approvals".into(),
            granularity: "year".into(),
            points: vec![point("2021", 2.0, true), point("2022", 3.0, false)],
            ..SeriesForecast::default()
        };
        let event = Event::SeriesForecast { span: 1, series: Box::new(series) };
        let drafts = candidates(&run("pike_l3", vec![event]), Verdict::Right, "");
        assert_eq!(drafts[0].kind, CandidateKind::Series);
        let last = drafts.last().unwrap();
        assert_eq!(
            (last.question.as_str(), last.answer.as_str()),
            ("approvals by year", "2021: 2")
        );
        let went = Event::SpanStarted { span: 1, parent: 0, name: "pike_l4".into() };
        let ideas = candidates(&run("auto", vec![went]), Verdict::Right, "");
        assert_eq!(ideas[0].kind, CandidateKind::Synthesis);
    }
}
