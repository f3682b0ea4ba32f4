//! What the harness itself takes: questions a second with a model that answers at once, memory
//! over twenty and a hundred thousand questions, and the time of a comparison.
//!
//! `cargo bench -p halma-eval` prints one line for each.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may stop")]
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use halma_core::{
    Answer, Budget, ChatReply, ChatRequest, Cx, Llm, LlmError, Meter, Models, Prompt, PromptFile,
    PromptSet, Prompts, Question, Setup, Strategy, Usage,
};
use halma_eval::{
    Bench, DataSet, Format, Progress, Report, Resampling, Runner, Side, SystemUnderTest, compare,
    load,
};
use halma_testkit::Toy;

const ASK: Prompt<String> = Prompt::text("test/ask");
const PROMPTS: PromptSet = PromptSet::Files(&[PromptFile {
    name: "test/ask",
    text: include_str!("../tests/fixtures/ask.md"),
}]);

/// One call, as the strategy `direct` makes it.
struct Direct;

#[async_trait]
impl Strategy for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn settings(&self) -> serde_json::Value {
        serde_json::json!({})
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> halma_core::Result<Answer> {
        let text = cx.ask(&ASK, minijinja::context! { question => &question.text }).await?;
        Ok(Answer { text, ..Answer::default() })
    }
}

/// Answers at once: right two times out of three.
struct Instantly;

#[async_trait]
impl Llm for Instantly {
    fn model(&self) -> &'static str {
        "instantly"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let text = if request.messages[0].text.len().is_multiple_of(3) { "no" } else { "yes" };
        let usage = Usage { prompt_tokens: 30, completion_tokens: 2, ..Usage::default() };
        Ok(ChatReply { text: text.into(), usage, ..ChatReply::default() })
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut reports = vec![];
    for count in [2_000, 20_000, 100_000] {
        let data = questions(folder.path(), count);
        let before = resident();
        let began = Instant::now();
        let report = runtime.block_on(run(&folder.path().join(count.to_string()), &data));
        let took = began.elapsed().as_secs_f64();
        let grown = resident().saturating_sub(before);
        println!(
            "{count} questions: {:.0} a second, memory + {} MiB in addition to the questions",
            f64::from(count) / took,
            grown / 1024
        );
        reports.push(report);
    }
    again(&runtime, folder.path());
    comparison(&reports[0]);
}

/// A second run over the same folder reads and asks nothing.
fn again(runtime: &tokio::runtime::Runtime, folder: &Path) {
    let data = questions(folder, 100_000);
    let began = Instant::now();
    let report = runtime.block_on(run(&folder.join("100000"), &data));
    let took = began.elapsed().as_secs_f64();
    assert_eq!(report.runs[0].taken_over, 100_000);
    println!("100000 questions taken over: {took:.2} s");
}

fn comparison(report: &Report) {
    let mut short = report.clone();
    short.questions.truncate(500);
    short.runs[0].results.truncate(500);
    let mut other = short.clone();
    other.runs[0].results.rotate_left(1);
    let sides = (Side::select(&short, None).unwrap(), Side::select(&other, None).unwrap());
    let began = Instant::now();
    let comparison = compare(sides.0, sides.1, Resampling::default()).unwrap();
    let took = began.elapsed().as_secs_f64();
    println!("comparison of {} questions, 1000 resamples: {:.0} ms", comparison.paired, took * 1e3);
}

async fn run(out: &Path, data: &DataSet) -> Report {
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let models = Models::new(Arc::new(Instantly));
    let setup = Arc::new(Setup::new(models, Toy::empty(), prompts));
    let bench = Bench {
        open: Arc::new(move |_, whole| {
            let meter = Meter::within(Budget::default(), Arc::clone(whole));
            Cx::new(Arc::clone(&setup), Arc::new(meter), None)
        }),
        retrieve: Arc::new(|_| Box::pin(async { Ok(vec![]) })),
        fingerprint: "none".into(),
        has_embedder: false,
        judge: None,
        assessors: vec![],
    };
    let system = SystemUnderTest {
        strategy: Arc::new(Direct),
        label: "direct".into(),
        fingerprint: String::new(),
        point: BTreeMap::new(),
    };
    let runner = Runner { concurrency: 8, out: Some(out.into()), ..Runner::default() };
    let quiet: Progress = Arc::new(|_| {});
    runner.run(data, &[system], &bench, &quiet).await.unwrap()
}

fn questions(folder: &Path, count: u32) -> DataSet {
    let mut lines = String::from("[");
    for i in 0..count {
        let comma = if i > 0 { "," } else { "" };
        let _ = write!(
            lines,
            "{comma}{{\"_id\":\"q{i}\",\"question\":\"Is the number {i} even, and why?\",\
             \"answer\":\"yes\",\"type\":\"bridge\",\"supporting_facts\":[[\"T\",0]],\
             \"context\":[[\"T\",[\"Text.\"]]]}}"
        );
    }
    lines.push(']');
    let file = folder.join(format!("{count}.json"));
    std::fs::write(&file, lines).unwrap();
    load(&file, Format::HOTPOTQA, None).unwrap()
}

/// Memory in use, in KiB; 0 where the system does not say.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
