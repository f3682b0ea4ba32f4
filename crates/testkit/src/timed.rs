//! A model that takes its time, under a clock that stands still, so that a test can count the
//! round trips of a strategy: calls side by side cost one.
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, Llm, LlmError, Strategy, Usage};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

use crate::{Check, check};

/// What every call of a [`Timed`] model takes.
pub const ROUND_TRIP: Duration = Duration::from_secs(1);

/// Answers by the name of the prompt, each from a queue of its own, so that calls that run side by
/// side may come in any order. Every call takes one [`ROUND_TRIP`] of tokio's clock, and is billed
/// 10 prompt and 2 completion tokens.
///
/// ```text
/// #[tokio::test(start_paused = true)]
/// async fn the_branches_cost_one_round_trip() {
///     let model = Timed::new(&[("a/branch", &[LEFT, RIGHT]), ("a/answer", &[ANSWER])]);
///     let (transcript, round_trips) = round_trips(&strategy, question, against(model)).await;
///     assert_eq!(round_trips, 2, "{transcript}");
/// }
/// ```
pub struct Timed {
    queues: Mutex<BTreeMap<String, VecDeque<String>>>,
    now: AtomicUsize,
    max_at_once: AtomicUsize,
}

impl Timed {
    /// Prompt names, each with its replies in the order in which they are given.
    pub fn new(queues: &[(&str, &[&str])]) -> Arc<Self> {
        let queue = |(prompt, replies): &(&str, &[&str])| {
            ((*prompt).to_owned(), replies.iter().map(|reply| (*reply).to_owned()).collect())
        };
        let queues = Mutex::new(queues.iter().map(queue).collect());
        Arc::new(Self { queues, now: AtomicUsize::new(0), max_at_once: AtomicUsize::new(0) })
    }

    /// How many replies have not been asked for.
    pub fn left(&self) -> usize {
        self.queues.lock().values().map(VecDeque::len).sum()
    }

    /// The most calls that were under way at one moment.
    pub fn max_at_once(&self) -> usize {
        self.max_at_once.load(Ordering::Acquire)
    }
}

#[async_trait]
impl Llm for Timed {
    fn model(&self) -> &'static str {
        "timed"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        // Taken before the wait: the order of the calls decides, not that of the wakings.
        let reply = self.queues.lock().get_mut(&request.prompt).and_then(VecDeque::pop_front);
        let text = reply.ok_or_else(|| {
            LlmError::refused(format!("the timed model has no reply left for `{}`", request.prompt))
        })?;
        self.max_at_once.fetch_max(self.now.fetch_add(1, Ordering::AcqRel) + 1, Ordering::AcqRel);
        sleep(ROUND_TRIP).await;
        self.now.fetch_sub(1, Ordering::AcqRel);
        let usage = Usage { prompt_tokens: 10, completion_tokens: 2, ..Usage::default() };
        let logprobs = request.logprobs.then(|| vec![(text.clone(), -0.1)]);
        Ok(ChatReply { text, usage, logprobs, ..ChatReply::default() })
    }
}

/// [`check`], and how many round trips of a [`Timed`] model the strategy took. The clock must
/// stand still (`#[tokio::test(start_paused = true)]`), so that no real time passes and none is
/// counted.
pub async fn round_trips(
    strategy: &dyn Strategy,
    question: &str,
    against: Check,
) -> (String, u128) {
    let began = Instant::now();
    let transcript = check(strategy, question, against).await;
    (transcript, began.elapsed().as_millis() / ROUND_TRIP.as_millis())
}
