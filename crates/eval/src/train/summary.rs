//! What a collection came to.
use std::collections::{BTreeMap, HashMap, HashSet};

use halma_core::text::thousands;
use halma_core::{Limit, UsageTotal};
use serde::Serialize;

use super::round::Round;
use crate::figures::{number, ratio};

/// The shares of PIKE-RAG, Section 6.4, over 800 questions of `MuSiQue`.
const PAPER_WITH: f64 = 0.84;
const PAPER_WITHOUT: f64 = 0.58;

/// Why a collection ended before its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Stopped {
    /// The budget of the whole collection is spent.
    Spent { limit: Limit },
    /// Several rounds in a row failed.
    Failing { rounds: usize, reason: String },
}

/// The state of a collection: what earlier runs left included.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CollectionSummary {
    pub questions: usize,
    /// Left out, by reason.
    pub left_out: BTreeMap<&'static str, usize>,
    /// Questions with at least one round.
    pub begun: usize,
    /// Right in the first round, which is without sampling.
    pub solved_without: usize,
    /// Right in any round.
    pub solved: usize,
    pub rounds: usize,
    /// Rounds of questions that are not in the file of questions now. They are kept, and used for
    /// pairs, and counted nowhere else.
    pub earlier_rounds: usize,
    /// Hops of the right trajectories.
    pub hops: usize,
    /// Rounds of this run that failed and will be repeated by the next.
    pub failed: usize,
    pub failure: Option<String>,
    /// Questions whose gold passages no search of any round found, of those that have some: the
    /// base may have changed since the questions were made.
    pub gold_missing: usize,
    /// Of the rounds, and of those of this run that are not kept: failed, or cut off by the budget.
    pub calls: u64,
    pub tokens: u64,
    pub usd: f64,
    /// The part of these that rounds took which are not kept.
    #[serde(skip)]
    pub discarded: UsageTotal,
    pub stopped: Option<Stopped>,
}

impl CollectionSummary {
    /// Of the rounds of these questions, each by its id and its words.
    pub(super) fn new(rounds: &[Round], questions: &HashSet<(String, String)>) -> Self {
        let mut summary = Self { questions: questions.len(), ..Self::default() };
        let mut solved: HashMap<(String, String), (bool, bool)> = HashMap::new();
        for round in rounds {
            if !questions.contains(&round.key()) {
                summary.earlier_rounds += 1;
                continue;
            }
            summary.rounds += 1;
            let entry = solved.entry(round.key()).or_default();
            entry.0 |= round.right && !round.sampled;
            entry.1 |= round.right;
            if round.right {
                summary.hops += round.hops.iter().filter(|hop| hop.chosen.is_some()).count();
            }
            summary.calls += round.usage.llm_calls + round.usage.cached_calls;
            summary.tokens += round.tokens;
            summary.usd += round.usage.usd;
        }
        summary.begun = solved.len();
        summary.solved_without = solved.values().filter(|(without, _)| *without).count();
        summary.solved = solved.values().filter(|(_, any)| *any).count();
        summary
    }

    /// With what rounds took that are not kept: it is paid for, too.
    pub(super) fn with_discarded(mut self, discarded: UsageTotal) -> Self {
        self.calls += discarded.llm_calls + discarded.cached_calls;
        self.tokens += discarded.prompt_tokens + discarded.completion_tokens;
        self.usd += discarded.usd;
        self.discarded = discarded;
        self
    }

    /// The shares that the paper reports, and what was used, in lines for a terminal.
    pub fn lines(&self) -> Vec<String> {
        let share = |part: usize| 100.0 * ratio(part as u64, self.begun as u64);
        let mut lines = vec![
            format!(
                "{} of {} questions begun, {} rounds",
                thousands(self.begun as u64),
                thousands(self.questions as u64),
                thousands(self.rounds as u64)
            ),
            format!(
                "solved without sampling: {} ({:.0} %; paper: {:.0} %)",
                thousands(self.solved_without as u64),
                share(self.solved_without),
                100.0 * PAPER_WITHOUT
            ),
            format!(
                "solved with sampling:    {} ({:.0} %; paper: {:.0} %)",
                thousands(self.solved as u64),
                share(self.solved),
                100.0 * PAPER_WITH
            ),
        ];
        if self.solved > 0 {
            let hops = number(self.hops) / number(self.solved);
            lines.push(format!("{hops:.1} hops in a right trajectory"));
        }
        let (calls, tokens) = (thousands(self.calls), thousands(self.tokens));
        lines.push(format!("{calls} calls, {tokens} tokens, ${:.4}", self.usd));
        let UsageTotal { llm_calls, cached_calls, prompt_tokens, completion_tokens, usd, .. } =
            self.discarded;
        if llm_calls + cached_calls > 0 {
            lines.push(format!(
                "of which {} calls, {} tokens, ${usd:.4} for rounds that are not kept",
                thousands(llm_calls + cached_calls),
                thousands(prompt_tokens + completion_tokens)
            ));
        }
        for (reason, count) in &self.left_out {
            lines.push(format!("left out: {reason}: {}", thousands(*count as u64)));
        }
        if self.earlier_rounds > 0 {
            lines.push(format!(
                "and {} rounds of questions that are not in the file now, which are kept",
                thousands(self.earlier_rounds as u64)
            ));
        }
        lines
    }

    /// What a user must know, each a sentence.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = vec![];
        if self.gold_missing > 0 {
            warnings.push(format!(
                "of {} questions no gold passage was found by any search: the base may have \
                 changed since the questions were made, or not hold their passages",
                self.gold_missing
            ));
        }
        if let Some(failure) = self.failure.as_ref().filter(|_| self.failed > 0) {
            warnings.push(format!(
                "{} rounds failed and are not kept; the same command tries them again. The last: \
                 {failure}",
                self.failed
            ));
        }
        match &self.stopped {
            Some(Stopped::Spent { limit }) => warnings.push(format!(
                "stopped: the limit of {limit} is reached; raise it and run the same command to \
                 continue"
            )),
            Some(Stopped::Failing { rounds, .. }) => warnings.push(format!(
                "stopped: the last {rounds} rounds failed; see that the model server answers, and \
                 run the same command to continue"
            )),
            None => {}
        }
        warnings
    }
}
