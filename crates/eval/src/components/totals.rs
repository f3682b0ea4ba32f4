//! The costs of all questions of one run, added up in a form that does not depend on the order.
use std::collections::{BTreeMap, BTreeSet};

use halma_core::{Layer, UsageTotal};
use serde::{Deserialize, Serialize};

use super::Digest;
use crate::figures::ratio;
use crate::record::{Record, RecordOutcome};

/// The one-time cost of a base (KAR³, Table 12): of all runs of `index` that made it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Atomizing {
    pub chunks: usize,
    pub usage: UsageTotal,
}

impl Atomizing {
    pub(crate) fn add(&mut self, chunks: usize, usage: UsageTotal) {
        self.chunks += chunks;
        self.usage.add(usage);
    }

    /// Calls, prompt tokens and completion tokens a chunk; `None` for a base that cost no calls.
    pub fn per_chunk(&self) -> Option<(f64, f64, f64)> {
        let calls = self.usage.llm_calls + self.usage.cached_calls;
        if self.chunks == 0 || calls == 0 {
            return None;
        }
        let each = |count: u64| ratio(count, self.chunks as u64);
        Some((each(calls), each(self.usage.prompt_tokens), each(self.usage.completion_tokens)))
    }
}

/// One prompt's share of a run's cost (KAR³, Table 11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Component {
    pub prompt: String,
    /// The role it is asked in.
    pub role: String,
    pub calls: u64,
    /// Of the calls, those that the cache answered.
    pub cached: u64,
    /// Replies that did not fit.
    pub malformed: u64,
    /// Tokens of all calls, the cached ones included.
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// US dollars paid.
    pub usd: f64,
}

/// The searches of a run in one layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Searches {
    pub layer: Layer,
    pub searches: usize,
    /// Of them, those that found nothing above the threshold.
    pub nothing: usize,
}

/// How often a run asked a source (`AtomR`, Figure 4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceUse {
    /// `text` is the base.
    pub source: String,
    /// Parts of the work (a node of a plan, a hop) that asked it; some ask several.
    pub times: usize,
}

/// The gold passages of a run's questions, and those that the reader was given (DEC, Table 3,
/// where these are the ones in D*).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoldTotals {
    pub passages: usize,
    pub read: usize,
    /// Questions that name gold passages.
    pub questions: usize,
    /// Of the questions, those whose reader was given all of them.
    pub complete: usize,
}

impl GoldTotals {
    /// `None` where no question names gold passages.
    pub(crate) fn measured(&self) -> Option<&Self> {
        (self.questions > 0).then_some(self)
    }
}

/// Answers for which a model refused a call or a source failed, so that the strategy did without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostReplies {
    pub answers: usize,
    /// One of the reasons, with the name of the model or source; the first by its letters.
    pub reason: String,
}

impl LostReplies {
    fn new(reason: &str) -> Self {
        Self { answers: 0, reason: reason.to_owned() }
    }
}

/// Integers only: sums of fractions would depend on which question ended first.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    components: BTreeMap<String, Sum>,
    models: BTreeMap<String, BTreeSet<String>>,
    searched: BTreeMap<Layer, (usize, usize)>,
    sources: BTreeMap<String, usize>,
    prompts: BTreeMap<String, BTreeSet<String>>,
    /// Replies that did not fit at first.
    pub(crate) malformed: usize,
    pub(crate) lost_replies: Option<LostReplies>,
    /// Searches, and how many of them found nothing.
    pub(crate) searches: (usize, usize),
    /// Prompt and completion tokens, the cached calls included.
    pub(crate) tokens: (u64, u64),
    pub(crate) gold: GoldTotals,
}

#[derive(Debug, Default)]
struct Sum {
    role: String,
    calls: u64,
    cached: u64,
    malformed: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    nano_usd: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, record: &Record) {
        if let Some(evidence) = record.evidence.filter(|evidence| evidence.gold > 0) {
            self.gold.passages += evidence.gold;
            self.gold.read += evidence.read;
            self.gold.questions += 1;
            self.gold.complete += usize::from(evidence.read == evidence.gold);
        }
        let (prompt, completion) = record.tokens();
        self.tokens.0 += prompt;
        self.tokens.1 += completion;
        self.malformed += record.malformed;
        if let (RecordOutcome::Answered(_), Some(reason)) = (&record.outcome, &record.lost_call) {
            let lost = self.lost_replies.get_or_insert_with(|| LostReplies::new(reason));
            lost.answers += 1;
            if *reason < lost.reason {
                lost.reason.clone_from(reason);
            }
        }
        self.searches.0 += record.searches.0;
        self.searches.1 += record.searches.1;
        for (prompt, hash) in &record.prompts {
            self.prompts.entry(prompt.clone()).or_default().insert(hash.clone());
        }
        if let Some(digest) = &record.digest {
            self.add_digest(digest);
        }
    }

    fn add_digest(&mut self, digest: &Digest) {
        for (prompt, part) in &digest.components {
            let sum = self.components.entry(prompt.clone()).or_default();
            if sum.role.is_empty() {
                sum.role = digest.roles.get(prompt).cloned().unwrap_or_default();
            }
            sum.calls += part.calls;
            sum.cached += part.cached;
            sum.malformed += part.malformed;
            sum.prompt_tokens += part.prompt_tokens;
            sum.completion_tokens += part.completion_tokens;
            sum.nano_usd += nano_usd(part.usd);
        }
        for (role, models) in &digest.models {
            self.models.entry(role.clone()).or_default().extend(models.iter().cloned());
        }
        for (layer, (all, empty)) in &digest.searched {
            let (searches, nothing) = self.searched.entry(*layer).or_default();
            *searches += all;
            *nothing += empty;
        }
        for (source, times) in &digest.sources {
            *self.sources.entry(source.clone()).or_default() += times;
        }
    }

    /// The most expensive first.
    pub(crate) fn components(&self) -> Vec<Component> {
        let component = |(prompt, sum): (&String, &Sum)| Component {
            prompt: prompt.clone(),
            role: sum.role.clone(),
            calls: sum.calls,
            cached: sum.cached,
            malformed: sum.malformed,
            prompt_tokens: sum.prompt_tokens,
            completion_tokens: sum.completion_tokens,
            usd: ratio(sum.nano_usd, 1_000_000_000),
        };
        let mut components: Vec<Component> = self.components.iter().map(component).collect();
        components
            .sort_by_key(|part| std::cmp::Reverse(part.prompt_tokens + part.completion_tokens));
        components
    }

    pub(crate) fn searches(&self) -> Vec<Searches> {
        let of = |(layer, (searches, nothing)): (&Layer, &(usize, usize))| Searches {
            layer: *layer,
            searches: *searches,
            nothing: *nothing,
        };
        self.searched.iter().map(of).collect()
    }

    /// The most asked first; empty where nothing was asked but the base.
    pub(crate) fn sources(&self) -> Vec<SourceUse> {
        let source_use = |(source, times): (&String, &usize)| SourceUse {
            source: source.clone(),
            times: *times,
        };
        let mut sources: Vec<SourceUse> = self.sources.iter().map(source_use).collect();
        sources.sort_by_key(|source_use| std::cmp::Reverse(source_use.times));
        if sources.iter().all(|source_use| source_use.source == "text") { vec![] } else { sources }
    }

    pub(crate) fn models(&self) -> BTreeMap<String, BTreeSet<String>> {
        self.models.clone()
    }

    pub(crate) fn prompts(&self) -> BTreeMap<String, BTreeSet<String>> {
        self.prompts.clone()
    }
}

/// Billionths of a dollar, rounded.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what a question costs is positive and far below 2^53 billionths"
)]
fn nano_usd(usd: f64) -> u64 {
    (usd.max(0.0) * 1e9).round() as u64
}
