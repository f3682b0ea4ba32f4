//! What walking a plan takes by itself: fifteen nodes, a model that answers at once, a base of a
//! few rows.
//!
//! `cargo bench -p halma-strategies` prints one line for each.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may stop")]
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use halma_core::{
    ChatReply, ChatRequest, Cx, Facts, Llm, LlmError, Meter, Models, Outcome, Prompts, Question,
    Setup, Usage,
};
use halma_strategies::PROMPTS;
use halma_strategies::atomr::Atomr;
use halma_testkit::{Toy, ToyFacts};
use serde_json::{Value, json};

const QUESTION: &str = "Which of the four towers is the oldest?";
const TOWERS: [&str; 4] = ["Varn", "Holm", "Skerry", "Lorn"];
const RUNS: u32 = 200;

/// For each of four towers two lookups and the question that they are parts of, and two that compare.
fn plan() -> String {
    let mut steps: Vec<Value> = vec![];
    let mut add = |question: String, operator: &str, arguments: Vec<String>| {
        steps.push(json!({"question": question, "operator": operator, "arguments": arguments}));
    };
    for (i, name) in TOWERS.iter().enumerate() {
        let (find, date) = (format!("#{}", 3 * i + 1), format!("#{}", 3 * i + 2));
        add(format!("What is {name}?"), "search", vec![(*name).to_owned()]);
        add(format!("When was {find} opened?"), "relate", vec![find.clone(), "opened".to_owned()]);
        add(format!("When was {name} opened?"), "parts", vec![find, date]);
    }
    add("Which is earlier, #3 or #6?".to_owned(), "reason", vec![]);
    add("Which is earlier, #9, #12 or #13?".to_owned(), "reason", vec![]);
    assert_eq!(steps.len(), 14);
    json!({ "steps": steps }).to_string()
}

/// Answers at once, or after a while.
struct Instantly {
    plan: String,
    after: Duration,
}

#[async_trait]
impl Llm for Instantly {
    fn model(&self) -> &'static str {
        "instantly"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        if !self.after.is_zero() {
            tokio::time::sleep(self.after).await;
        }
        let text = match request.task.as_str() {
            "plan" => self.plan.clone(),
            _ => json!({ "answer": "It is so.", "answers": ["1911"] }).to_string(),
        };
        let usage = Usage { prompt_tokens: 30, completion_tokens: 2, ..Usage::default() };
        Ok(ChatReply { text, usage, ..ChatReply::default() })
    }
}

fn base() -> Arc<Toy> {
    let texts = TOWERS.map(|name| format!("{name} is a tower. {name} was opened in 1911."));
    let rows: Vec<(&str, &str, &str, &[&str])> = TOWERS
        .iter()
        .zip(&texts)
        .map(|(name, text)| (*name, *name, text.as_str(), &[][..]))
        .collect();
    Toy::new(&rows)
}

fn graph() -> Arc<dyn Facts> {
    let rows = TOWERS.map(|name| (name, name, "a tower", "tower"));
    ToyFacts::new(&rows).with_facts(&TOWERS.map(|name| (name, "opened", "1911"))).shared()
}

/// The mean time of a run, and its calls.
fn timed(atomr: &Atomr, facts: Option<Arc<dyn Facts>>, after: Duration, runs: u32) -> (f64, u64) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let model = Arc::new(Instantly { plan: plan(), after });
        let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
        let setup = Setup { facts, ..Setup::new(Models::new(model), base(), prompts) };
        let (setup, question) = (Arc::new(setup), Question::new(QUESTION));
        let (mut all, mut calls) = (Duration::ZERO, 0);
        for _ in 0..runs {
            let cx = Cx::new(Arc::clone(&setup), Arc::new(Meter::unlimited()), None);
            let began = Instant::now();
            let Outcome { answer, trace } = Outcome::run(atomr, &question, &cx).await;
            all += began.elapsed();
            assert_eq!(answer.unwrap().text, "1911", "{}", halma_testkit::outline(&trace));
            calls = trace.usage().llm_calls;
        }
        (all.as_secs_f64() * 1e3 / f64::from(runs), calls)
    })
}

fn main() {
    let atomr = Atomr::default();
    let (ms, calls) = timed(&atomr, None, Duration::ZERO, RUNS);
    println!("a plan of 15 nodes at 0 ms a call: {ms:.2} ms, {calls} calls");
    let alone = Atomr { sources: vec!["kg".to_owned()], ..Atomr::default() };
    let (ms, calls) = timed(&alone, Some(graph()), Duration::ZERO, RUNS);
    println!("the same over the graph alone: {ms:.2} ms, {calls} calls");
    // Plan, search, relate, year, first comparison, second comparison, root.
    let (ms, calls) = timed(&atomr, None, Duration::from_millis(50), 5);
    println!("the same at 50 ms a call: {ms:.0} ms for {calls} calls, 7 round trips at least");
}
