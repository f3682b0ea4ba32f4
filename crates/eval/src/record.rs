//! What is kept of one question, one line of `OUT/<label>.jsonl`: enough to score it again without
//! asking it again.
use std::collections::BTreeMap;

use halma_core::{Answer, Event, Limit, Trace, UsageTotal};
use serde::{Deserialize, Serialize};

use crate::components::{Digest, Evidence};
use crate::data::Item;
use crate::fingerprint;
use crate::journal::LINE_VERSION;

/// A question that was asked, with what came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) version: u32,
    /// The question's id.
    pub(crate) question: String,
    pub(crate) text: String,
    /// Its gold answers, for readers of the file.
    pub(crate) golds: Vec<String>,
    /// The system's; a line of another one is left alone.
    pub(crate) fingerprint: String,
    pub(crate) outcome: RecordOutcome,
    pub(crate) usage: UsageTotal,
    pub(crate) latency_ms: f64,
    pub(crate) hops: usize,
    /// Replies that did not fit at first.
    pub(crate) malformed: usize,
    /// Searches, and how many of them found nothing near enough.
    pub(crate) searches: (usize, usize),
    /// The prompts that were asked, with the hash of their words.
    pub(crate) prompts: BTreeMap<String, String>,
    /// Its costs by prompt; missing in lines of version 1.
    #[serde(default)]
    pub(crate) digest: Option<Digest>,
    /// How far its gold passages came; missing in lines of version 1.
    #[serde(default)]
    pub(crate) evidence: Option<Evidence>,
    /// Titles of its gold passages, for readers of a trace.
    #[serde(default)]
    pub(crate) gold_titles: Vec<String>,
    /// Why a model or a source did not reply to a call that the answer then did without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lost_call: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RecordOutcome {
    Answered(Answer),
    Failed {
        kind: String,
        reason: String,
    },
    /// The budget of the whole evaluation ended while it was being answered. What it cost counts;
    /// the next run asks it again.
    Stopped {
        limit: Limit,
    },
}

impl Record {
    pub(crate) fn new(
        item: &Item,
        fingerprint: &str,
        outcome: RecordOutcome,
        (trace, latency_ms): (&Trace, f64),
    ) -> Self {
        let citations = match &outcome {
            RecordOutcome::Answered(answer) => answer.citations.as_slice(),
            _ => &[],
        };
        let evidence = Evidence::trace(item, citations, trace);
        Self {
            version: LINE_VERSION,
            question: item.question.id.clone(),
            text: item.question.text.clone(),
            golds: item.answers.clone(),
            fingerprint: fingerprint.to_owned(),
            outcome,
            usage: trace.usage(),
            latency_ms,
            hops: trace.hops(),
            malformed: trace.malformed(),
            searches: trace.searches(),
            prompts: prompts(trace),
            digest: Some(Digest::new(item, trace)),
            evidence: Some(evidence),
            gold_titles: item.gold.iter().map(|passage| passage.title.clone()).collect(),
            lost_call: lost_calls(trace).into_iter().next().map(|call| call.reason),
        }
    }

    /// Prompt and completion tokens, also of replies that the cache gave.
    pub(crate) fn tokens(&self) -> (u64, u64) {
        let paid = (self.usage.prompt_tokens, self.usage.completion_tokens);
        self.digest.as_ref().map_or(paid, Digest::tokens)
    }

    /// Different texts that were searched for.
    pub(crate) fn sub_questions(&self) -> usize {
        self.digest.as_ref().map_or(0, |digest| digest.sub_questions)
    }

    pub(crate) fn calls(&self) -> u64 {
        self.usage.llm_calls + self.usage.cached_calls
    }

    /// Whether this line answers the item for the system of this fingerprint. A failure does
    /// not: it is tried again.
    pub(crate) fn answers(&self, item: &Item, fingerprint: &str) -> bool {
        matches!(self.outcome, RecordOutcome::Answered(_))
            && self.fingerprint == fingerprint
            && self.question == item.question.id
            && self.text == item.question.text
    }
}

fn prompts(trace: &Trace) -> BTreeMap<String, String> {
    let prompts = trace.0.iter().filter_map(|event| match event {
        Event::ModelCalled { prompt, hash, .. } => Some((prompt.to_string(), hash.to_string())),
        _ => None,
    });
    prompts.collect()
}

/// Names of files in the folder that are not a system's.
const RESERVED: [&str; 2] = ["retrieval", "report"];

/// A file name for any text: itself where it is harmless, else with a hash of it.
pub(crate) fn file_name(text: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_.@=,+".contains(c);
    let fits = text.len() <= 80 && !text.starts_with('.') && !text.is_empty();
    if fits && text.chars().all(harmless) && !RESERVED.contains(&text) {
        return text.to_owned();
    }
    let clean = |c: char| if harmless(c) { c } else { '_' };
    let start: String = text.trim_start_matches('.').chars().take(40).map(clean).collect();
    format!("{start}~{}", &fingerprint([text])[..8])
}

/// A call of a model or a source that failed and was not made again.
pub(crate) struct LostCall {
    /// With the name of the model or the source.
    pub(crate) reason: String,
    /// The same call to a model may succeed later. Of sources it is not known.
    pub(crate) transient: bool,
}

/// The calls of a trace that failed permanently, in their order.
pub(crate) fn lost_calls(trace: &Trace) -> Vec<LostCall> {
    let lost = trace.0.iter().enumerate().filter_map(|(at, event)| match event {
        Event::ModelCallFailed { model, reason, transient, .. } => {
            let reason = format!("model `{model}`: {reason}");
            (!is_repeated(event, &trace.0[at..]))
                .then_some(LostCall { reason, transient: *transient })
        }
        Event::SourceFailed { source, reason, .. } => {
            Some(LostCall { reason: format!("source `{source}`: {reason}"), transient: false })
        }
        _ => None,
    });
    lost.collect()
}

/// Whether a prompt that failed was asked again: one that was too long, with fewer passages.
fn is_repeated(failed: &Event, later: &[Event]) -> bool {
    let Event::ModelCallFailed { span, prompt, .. } = failed else { return false };
    later.iter().any(|later| {
        matches!(later, Event::ModelCalled { span: s, prompt: p, .. } if s == span && p == prompt)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_keep_the_parts_apart() {
        assert_eq!(fingerprint(["ab", "c"]), fingerprint(["ab", "c"]));
        assert_ne!(fingerprint(["ab", "c"]), fingerprint(["a", "bc"]));
        assert_eq!(fingerprint(["x"]).len(), 16);
    }

    #[test]
    fn file_names_are_harmless_and_do_not_meet() {
        assert_eq!(file_name("2hop__1_2.a-b"), "2hop__1_2.a-b");
        for odd in ["../etc", "a/b", "a b", "", ".", "..", "é", "retrieval", &"x".repeat(300)] {
            let name = file_name(odd);
            assert!(!name.contains(['/', '\\', ' ']) && !name.starts_with('.'), "{name}");
            assert!(name.len() < 60 && name.is_ascii(), "{name}");
        }
        assert_ne!(file_name("a/b"), file_name("a b"));
        assert_ne!(file_name("a/b"), file_name("a_b"));
    }
}
