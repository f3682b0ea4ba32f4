//! No interleaving of branches that run side by side overspends a budget, and what is kept back
//! pays the closing answer.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use halma_core::{
    Budget, ChatReply, ChatRequest, Cx, Error, Event, Limit, Llm, LlmError, Meter, Models, Price,
    Prompts, Setup, Usage,
};
use halma_testkit::Toy;
use proptest::prelude::*;

use crate::common::{Counting, FILES, FITS, PROMPT, cx, question};

/// A dollar for a thousand tokens, so that money is counted in something like tokens.
const PRICE: Price = Price { prompt: 1000.0, completion: 1000.0, cached: None };

/// Asks so often at once, on several threads, and counts what was let through.
fn ask_at_once(cx: &Cx, asks: usize) -> usize {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let ask = |i| {
            let cx = cx.span(format!("branch {i}"));
            tokio::spawn(async move { cx.ask(&PROMPT, question("Is it?")).await })
        };
        let asked = join_all((0..asks).map(ask)).await;
        let replies = asked.into_iter().map(Result::unwrap);
        let refused = |reply: &Result<_, Error>| {
            assert!(matches!(reply, Ok(_) | Err(Error::Spent(_) | Error::Llm { .. })), "{}", {
                reply.as_ref().err().map(ToString::to_string).unwrap_or_default()
            });
            reply.is_ok()
        };
        replies.filter(refused).count()
    })
}

fn usd(model: &Counting) -> f64 {
    PRICE.cost(Usage {
        prompt_tokens: model.tokens.load(Ordering::SeqCst),
        completion_tokens: 0,
        ..Usage::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_interleaving_overspends(
        plan in prop::collection::vec((0_u8..6, 0_u64..=50, prop::bool::weighted(0.1)), 1..12),
        asks in 1_usize..16,
        calls in prop::option::of(0_u64..8),
        tokens in prop::option::of(0_u64..600),
        cents in prop::option::of(0_u32..60),
    ) {
        let model = Counting::new(plan, PRICE);
        let budget = Budget { calls, tokens, usd: cents.map(|c| f64::from(c) / 100.0), ..Budget::default() };
        let (cx, meter) = cx(Arc::clone(&model) as Arc<dyn Llm>, budget, None);
        ask_at_once(&cx, asks);
        // What the model itself counted, not what the meter believes.
        let answered = model.answered.load(Ordering::SeqCst);
        let used = model.tokens.load(Ordering::SeqCst);
        prop_assert!(calls.is_none_or(|most| answered <= most.saturating_sub(1)));
        prop_assert!(tokens.is_none_or(|most| used <= most));
        prop_assert!(budget.usd.is_none_or(|most| usd(&model) <= most + 1e-9));
        // And the meter believes the same when all is settled.
        prop_assert_eq!(meter.calls(), answered);
        prop_assert_eq!(meter.tokens(), used);
        prop_assert!((meter.usd() - usd(&model)).abs() < 1e-5 * f64::from(u32::try_from(answered + 1).unwrap()));
        let total = cx.trace().usage();
        prop_assert_eq!(total.llm_calls, answered);
        prop_assert_eq!(total.prompt_tokens + total.completion_tokens, used);
    }
}

#[test]
fn six_at_once_on_four_calls_are_three_and_one_for_the_closing_answer() {
    let model = Counting::new(vec![(3, 5, false)], Price::default());
    let budget = Budget { calls: Some(4), ..Budget::default() };
    let (cx, meter) = cx(Arc::clone(&model) as Arc<dyn Llm>, budget, None);
    assert_eq!(ask_at_once(&cx, 6), 3);
    let spent =
        |event: &&Event| matches!(event, Event::BudgetExhausted { limit: Limit::Calls, .. });
    assert_eq!(cx.trace().0.iter().filter(spent).count(), 3);
    assert_eq!(ask_at_once(&cx, 1), 0);
    assert_eq!(ask_at_once(&cx.reserve(), 2), 1);
    assert_eq!(meter.calls(), 4);
}

#[tokio::test]
async fn a_fifth_of_tokens_and_money_is_kept_back() {
    // One call takes 80 to 88 tokens before it is made: 50 to reply with, 26 for the schema, the rest
    // to read.
    for budget in [
        Budget { tokens: Some(98), ..Budget::default() },
        Budget { usd: Some(0.098), ..Budget::default() },
    ] {
        let (cx, _) = cx(Counting::new(vec![(0, 1, false)], PRICE), budget, None);
        let refused = cx.ask(&PROMPT, question("Is it?")).await.unwrap_err();
        assert!(matches!(refused, Error::Spent(Limit::Tokens | Limit::Usd)), "{refused}");
        assert_eq!(cx.reserve().ask(&PROMPT, question("Is it?")).await.unwrap().answer, "yes");
    }
}

#[tokio::test]
async fn a_failed_call_gives_back_what_it_took() {
    let budget = Budget { calls: Some(2), tokens: Some(120), ..Budget::default() };
    let (cx, meter) = cx(Counting::new(vec![(0, 1, true)], PRICE), budget, None);
    for _ in 0..5 {
        let failed = cx.ask(&PROMPT, question("Is it?")).await.unwrap_err();
        assert!(matches!(&failed, Error::Llm { .. }), "{failed}");
    }
    assert_eq!((meter.calls(), meter.tokens()), (0, 0));
    assert!(meter.usd().abs() < f64::EPSILON);
}

/// A model whose calls take these seconds in turn, and all further ones as long as the last.
struct Slow(Vec<u64>, AtomicUsize);

impl Slow {
    fn taking(seconds: &[u64]) -> Arc<dyn Llm> {
        Arc::new(Self(seconds.to_vec(), AtomicUsize::new(0)))
    }
}

#[async_trait]
impl Llm for Slow {
    fn model(&self) -> &'static str {
        "slow"
    }

    async fn chat(&self, _: &ChatRequest) -> Result<ChatReply, LlmError> {
        let turn = self.1.fetch_add(1, Ordering::SeqCst).min(self.0.len() - 1);
        tokio::time::sleep(Duration::from_secs(self.0[turn])).await;
        Ok(ChatReply { text: FITS.into(), ..ChatReply::default() })
    }
}

const HUNDRED_SECONDS: Budget =
    Budget { calls: None, tokens: None, usd: None, seconds: Some(100.0), repairs: None };

/// Seconds of the clock, which is paused: it stands still while there is work and jumps to the next
/// timer.
fn seconds_since(began: tokio::time::Instant) -> u64 {
    (began.elapsed() + Duration::from_millis(100)).as_secs()
}

/// Asks until the budget refuses, and then for the closing answer; how many calls were answered
/// before it.
async fn ask_and_close(cx: &Cx) -> (usize, Result<String, Error>) {
    let mut answered = 0;
    while cx.ask(&PROMPT, question("Is it?")).await.is_ok() {
        answered += 1;
    }
    let closing = cx.reserve().ask(&PROMPT, question("Is it?")).await;
    (answered, closing.map(|reply| reply.answer))
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_cuts_off_a_slow_call() {
    let began = tokio::time::Instant::now();
    let (cx, meter) = cx(Slow::taking(&[3_600]), HUNDRED_SECONDS, None);
    let cut = cx.ask(&PROMPT, question("Is it?")).await.unwrap_err();
    assert!(matches!(cut, Error::Spent(Limit::Seconds)), "{cut}");
    assert_eq!(seconds_since(began), 80, "a fifth is kept back");
    assert!(cx.trace().spent());
    // The model may have been paid for it.
    assert_eq!(meter.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_closing_answer_may_use_the_time_that_is_kept_back() {
    let (cx, _) = cx(Slow::taking(&[90, 15]), HUNDRED_SECONDS, None);
    let (answered, closing) = ask_and_close(&cx).await;
    assert_eq!((answered, closing.unwrap().as_str()), (0, "yes"));
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_longest_call_is_kept_back_for_the_closing_answer() {
    for (seconds, answered) in [(vec![30], 2), (vec![45], 1), (vec![2, 30, 2, 30], 3)] {
        let (cx, _) = cx(Slow::taking(&seconds), HUNDRED_SECONDS, None);
        let closed = ask_and_close(&cx).await;
        assert_eq!((closed.0, closed.1.unwrap().as_str()), (answered, "yes"), "{seconds:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_than_half_of_the_time_is_kept_back() {
    let began = tokio::time::Instant::now();
    let (cx, _) = cx(Slow::taking(&[45, 1, 1, 3_600]), HUNDRED_SECONDS, None);
    for _ in 0..3 {
        cx.ask(&PROMPT, question("Is it?")).await.unwrap();
    }
    assert!(cx.ask(&PROMPT, question("Is it?")).await.is_err());
    assert_eq!(seconds_since(began), 50);
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_leaves_the_time_that_another_one_turns_out_to_take() {
    let began = tokio::time::Instant::now();
    let (cx, _) = cx(Slow::taking(&[40, 3_600, 40]), HUNDRED_SECONDS, None);
    let (first, second) =
        tokio::join!(cx.ask(&PROMPT, question("Is it?")), cx.ask(&PROMPT, question("Is it?")));
    assert!(first.is_ok() && second.is_err());
    assert_eq!(seconds_since(began), 50);
    assert_eq!(cx.reserve().ask(&PROMPT, question("Is it?")).await.unwrap().answer, "yes");
}

#[tokio::test(start_paused = true)]
async fn a_question_keeps_the_time_of_its_closing_answer_back_from_that_of_an_evaluation() {
    let whole = Arc::new(Meter::new(HUNDRED_SECONDS));
    let within = Meter::within(Budget::default(), Arc::clone(&whole));
    let prompts = Arc::new(Prompts::shipped(&[FILES]).unwrap());
    let setup = Setup::new(Models::new(Slow::taking(&[30])), Toy::empty(), prompts);
    let cx = Cx::new(Arc::new(setup), Arc::new(within), None);
    let (answered, closing) = ask_and_close(&cx).await;
    assert_eq!((answered, closing.unwrap().as_str()), (2, "yes"));
    // Nothing is begun that the evaluation would discard.
    assert_eq!(whole.spent(), Some(Limit::Seconds));
}

#[tokio::test]
async fn without_limits_nothing_is_refused() {
    let meter = Arc::new(Meter::unlimited());
    assert_eq!((meter.calls(), meter.tokens()), (0, 0));
    let (cx, meter) = cx(Counting::new(vec![(0, 7, false)], PRICE), Budget::default(), None);
    for _ in 0..20 {
        cx.ask(&PROMPT, question("Is it?")).await.unwrap();
    }
    assert_eq!(meter.calls(), 20);
}

/// A model whose server is away, called with retries that take this long.
struct Away(Duration, AtomicU32);

#[async_trait]
impl Llm for Away {
    fn model(&self) -> &'static str {
        "away"
    }

    async fn chat(&self, _: &ChatRequest) -> Result<ChatReply, LlmError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(self.0).await;
        Err(LlmError::transient("connection refused"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_waits_once_for_a_model_that_is_away() {
    for (seconds, tried) in [(8, 2), (1, 5)] {
        let away = Arc::new(Away(Duration::from_secs(seconds), 0.into()));
        let (cx, meter) = cx(Arc::clone(&away) as Arc<dyn Llm>, Budget::default(), None);
        for _ in 0..4 {
            let failed = cx.ask(&PROMPT, question("Is it?")).await.unwrap_err();
            assert!(matches!(&failed, Error::Llm { .. }), "{failed}");
        }
        // It may be back a while later.
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(cx.ask(&PROMPT, question("Is it?")).await.is_err());
        assert_eq!(away.1.load(Ordering::Relaxed), tried);
        assert_eq!(meter.calls(), 0);
    }
}
