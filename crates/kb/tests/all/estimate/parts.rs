//! What a run would cost is said before it, and comes true.
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use halma_core::text::sentences;
use halma_core::{
    Budget, ChatReply, ChatRequest, Llm, LlmError, Meter, Models, Price, Prompts, Setup, Usage,
};
use halma_kb::{
    Base, BasePart, BuildContext, Estimate, IndexReport, InputFormat, KbSettings, PROMPTS,
};
use halma_testkit::Toy;

use crate::common::{Bench, Words};

/// Asks one question of every sentence, as models do, and counts 3.5 characters a token.
struct Counting {
    /// Replies this many times as long as the sentences.
    talk: usize,
}

fn tokens(characters: usize) -> u64 {
    (characters * 2 / 7) as u64
}

#[async_trait]
impl Llm for Counting {
    fn model(&self) -> &'static str {
        "counting"
    }

    fn price(&self) -> Price {
        Price { prompt: 0.5, completion: 1.5, cached: None }
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        tokio::task::yield_now().await;
        let chunk = request.variables.get_attr("chunk").unwrap().get_attr("text").unwrap();
        let chunk = chunk.to_string();
        let ask = |range: std::ops::Range<usize>| {
            format!("{}?\n", chunk[range].trim_end_matches('.').repeat(self.talk))
        };
        let text: String = sentences(&chunk).into_iter().map(ask).collect();
        let characters = request.messages.iter().map(|message| message.text.len()).sum();
        let usage = Usage {
            prompt_tokens: tokens(characters),
            completion_tokens: tokens(text.len()),
            ..Usage::default()
        };
        Ok(ChatReply { text, usage, ..ChatReply::default() })
    }
}

fn setup(talk: usize) -> Arc<Setup> {
    Arc::new(Setup::new(
        Models::new(Arc::new(Counting { talk })),
        Toy::empty(),
        Arc::new(Prompts::shipped(&[PROMPTS]).unwrap()),
    ))
}

/// Documents of different lengths; `from` tells one set from another.
fn write(bench: &Bench, from: usize, count: usize) {
    for i in from..from + count {
        let mut text = format!("# Animal {i}\n\n");
        for part in 0..=i % 5 {
            let _ = write!(text, "## Part {part}\n\n");
            for sentence in 0..(3 + (i * 7 + part) % 9) {
                let more = "over the hills and far away ".repeat((i + sentence) % 4);
                let _ = write!(text, "Sentence {sentence} of {i} goes {more}by the sea. ");
            }
            text.push('\n');
        }
        bench.write(&format!("d{i:03}.md"), text);
    }
}

async fn estimate(bench: &Bench, base: &Arc<Base>, talk: usize) -> Estimate {
    let context = BuildContext::new(base, &bench.settings, &setup(talk));
    halma_kb::estimate(context, &[bench.input()], &bench.options).await.unwrap()
}

async fn index(bench: &Bench, base: &Arc<Base>, talk: usize) -> IndexReport {
    let context = BuildContext::new(base, &bench.settings, &setup(talk));
    halma_kb::index(context, &[bench.input()], &bench.options).await.unwrap()
}

/// Asserts that what was said is within a share of what was used.
fn comes_true(said: &Estimate, used: &IndexReport, share: f64) {
    let usage = &used.usage;
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    for (what, said, used) in [
        ("calls", said.calls as f64, usage.llm_calls as f64),
        ("prompt tokens", said.prompt_tokens as f64, usage.prompt_tokens as f64),
        ("completion tokens", said.completion_tokens as f64, usage.completion_tokens as f64),
        ("usd", said.usd, usage.usd),
    ] {
        assert!((said - used).abs() <= share * used, "{what}: {said} was said, {used} used");
    }
}

#[tokio::test]
async fn the_first_estimate_and_the_second_come_true() {
    let bench = Bench::asking();
    write(&bench, 0, 40);
    let base = bench.open(Some(Words::new()));
    let said = estimate(&bench, &base, 1).await;
    assert_eq!(base.inspector().stats().unwrap().documents, 0, "an estimate writes nothing");
    assert_eq!((said.documents_new, said.documents_replaced), (40, 0));
    assert!(said.stages.iter().all(|stage| !stage.measured), "{said:?}");
    let used = index(&bench, &base, 1).await;
    assert_eq!((said.chunks, said.calls), (used.chunks, used.usage.llm_calls));
    comes_true(&said, &used, 0.2);

    let again = estimate(&bench, &base, 1).await;
    assert_eq!((again.documents_unchanged, again.calls), (40, 0));
    assert!(again.stages.is_empty() && again.usd == 0.0, "{again:?}");
    write(&bench, 100, 25);
    let said = estimate(&bench, &base, 1).await;
    assert!(said.stages.iter().all(|stage| stage.measured), "{said:?}");
    comes_true(&said, &index(&bench, &base, 1).await, 0.1);
}

#[tokio::test]
async fn a_talkative_model_is_known_by_its_past() {
    let bench = Bench::asking();
    write(&bench, 0, 20);
    let base = bench.open(None);
    index(&bench, &base, 3).await;
    write(&bench, 100, 20);
    let said = estimate(&bench, &base, 3).await;
    comes_true(&said, &index(&bench, &base, 3).await, 0.2);
}

#[tokio::test]
async fn only_what_changed_and_what_is_left_over_is_counted() {
    let bench = Bench::asking();
    write(&bench, 0, 20);
    let base = bench.open(Some(Words::new()));
    let meter = Arc::new(Meter::new(Budget { calls: Some(21), ..Budget::default() }));
    let context = BuildContext { meter, ..BuildContext::new(&base, &bench.settings, &setup(1)) };
    halma_kb::index(context, &[bench.input()], &bench.options).await.unwrap();
    let path = bench.input().join("d004.md");
    let text = std::fs::read_to_string(&path).unwrap().replacen("by the sea", "by a lake", 1);
    std::fs::write(path, text).unwrap();
    let said = estimate(&bench, &base, 1).await;
    assert_eq!((said.documents_replaced, said.documents_unchanged), (1, 19));
    assert_eq!((said.chunks, said.chunks_kept), (5, 4));
    let used = index(&bench, &base, 1).await;
    assert_eq!(said.calls, used.usage.llm_calls);
    comes_true(&said, &used, 0.1);
    let embed = said.stages.iter().find(|stage| stage.task == "embed").unwrap();
    assert!(embed.units.abs_diff(used.embedded as u64) * 5 <= used.embedded as u64, "{embed:?}");
}

#[tokio::test]
async fn sentences_and_vectors_alone_ask_no_model() {
    let bench = Bench::new();
    write(&bench, 0, 20);
    let words = Words::new();
    let base = bench.open(Some(Arc::clone(&words) as _));
    let said = estimate(&bench, &base, 1).await;
    assert_eq!((said.calls, words.calls.load(Ordering::Relaxed)), (0, 0));
    let used = index(&bench, &base, 1).await;
    assert_eq!(said.stages[0].units, used.embedded as u64);
    let other = KbSettings { chunk_chars: 200, ..bench.settings.clone() };
    let cut = Bench { settings: other, ..bench }.rebuilding(&[BasePart::Chunks]);
    let said = estimate(&cut, &base, 1).await;
    assert_eq!((said.documents_new, said.documents_replaced), (0, 20));
}

#[tokio::test]
async fn bad_files_and_patterns_are_told_of_beforehand() {
    let mut bench = Bench::asking();
    bench.write("a.txt", "Good.").write("b.txt", b"Bad\0");
    let base = bench.open(None);
    let said = estimate(&bench, &base, 1).await;
    assert_eq!((said.documents_new, said.refused.len()), (1, 1));
    let inputs = [bench.input().join("no")];
    bench.options.format = InputFormat::Auto;
    let context = BuildContext::new(&base, &bench.settings, &setup(1));
    let failed = halma_kb::estimate(context, &inputs, &bench.options).await;
    assert!(failed.is_err());
}
