//! The estimate of a build with everything switched on comes true: every stage is in it.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use halma_core::text::sentences;
use halma_core::{ChatReply, ChatRequest, Llm, LlmError, Models, Price, Prompts, Setup, Usage};
use halma_kb::{
    Atoms, Base, BuildContext, Chunks, Entities, Estimate, IndexReport, KbSettings, PROMPTS,
    estimate, index,
};
use halma_testkit::Toy;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::common::{Bench, Words};

/// What an image counts as in a prompt.
const IMAGE_TOKENS: u64 = 765;

/// Replies to every task of a build as long as models usually do.
#[derive(Default)]
struct Typical {
    /// Calls, prompt tokens and completion tokens of each task.
    used: Mutex<BTreeMap<String, [u64; 3]>>,
}

#[async_trait]
impl Llm for Typical {
    fn model(&self) -> &'static str {
        "typical"
    }

    fn price(&self) -> Price {
        Price { prompt: 0.5, completion: 1.5, cached: None }
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        tokio::task::yield_now().await;
        let text = reply(request);
        let characters: usize = request.messages.iter().map(|message| message.text.len()).sum();
        let images = request.images.len() as u64 * IMAGE_TOKENS;
        let usage = Usage {
            prompt_tokens: characters as u64 / 4 + images,
            completion_tokens: text.len() as u64 / 4,
            ..Usage::default()
        };
        let mut used = self.used.lock();
        let sums = used.entry(request.task.clone()).or_default();
        let added = [1, usage.prompt_tokens, usage.completion_tokens];
        sums.iter_mut().zip(added).for_each(|(sum, added)| *sum += added);
        Ok(ChatReply { text, usage, ..ChatReply::default() })
    }
}

fn reply(request: &ChatRequest) -> String {
    let variables = serde_json::to_value(&request.variables).unwrap();
    match request.task.as_str() {
        "describe" => "The chart shows a line that rises from the left to the right side. ".repeat(7),
        "cut" => json!({
            "end": variables["last"],
            "summary": "It says who founded which works and where. ".repeat(5),
            "forward": "A register of works and of the people who founded them. ".repeat(4),
        })
        .to_string(),
        "questions" => {
            let text = variables["chunk"]["text"].as_str().unwrap();
            let ask = |range: std::ops::Range<usize>| format!("What of {}?\n", text[range].trim());
            sentences(text).into_iter().map(ask).collect()
        }
        "facts" => facts(variables["chunk"]["text"].as_str().unwrap()).to_string(),
        "same_entity" => {
            json!({"reason": "One plays football and the other one sits in a parliament, so they \
                              differ in all that is said of them here.", "same": false})
            .to_string()
        }
        "tag_classes" => {
            let class = |i| json!({"name": format!("class{i}"), "description": "Anything of that kind, with all that belongs to it."});
            json!({"classes": (0..8).map(class).collect::<Vec<_>>()}).to_string()
        }
        "tag" => {
            let tag = |i| json!({"class": format!("class{i}"), "tag": format!("a tag of some length {i}")});
            json!({"tags": (0..8).map(tag).collect::<Vec<_>>()}).to_string()
        }
        "summarise" => "The register lists works with their founders and places. ".repeat(15),
        "community" => json!({
            "title": "Some works and the people around them",
            "summary": "These people founded these works in these places over the years. ".repeat(8),
        })
        .to_string(),
        task => panic!("no reply to {task}"),
    }
}

/// `A founded B in C.` makes three entities and two facts; `A is …` describes the first.
fn facts(text: &str) -> Value {
    let (mut entities, mut facts): (Vec<Value>, Vec<Value>) = (vec![], vec![]);
    let mut seen = BTreeSet::new();
    for range in sentences(text) {
        let sentence = text[range].trim().trim_end_matches('.');
        let mut put = |name: &str, kind: &str, description: String| {
            if seen.insert(name.to_owned()) {
                // Models describe at length.
                let description = vec![description; 4].join(" ");
                entities.push(json!({"name": name, "type": kind, "description": description}));
            }
        };
        if let Some((head, rest)) = sentence.split_once(" founded ") {
            let (tail, place) = rest.split_once(" in ").unwrap();
            let fact = |head: &str, relation: &str, tail: &str| {
                json!({"head": head, "relation": relation, "tail": tail,
                       "sentence": format!("{head} {relation} {tail}, as the register of that year says and \
                                            as others have said again since then.")})
            };
            put(head, "person", format!("{head} is the founder of {tail} in the register."));
            put(tail, "organisation", format!("{tail} is a firm that {head} founded once."));
            put(place, "place", format!("{place} is the place where {tail} stands today."));
            facts.extend([fact(head, "founded", tail), fact(tail, "located in", place)]);
        } else if let Some((name, _)) = sentence.split_once(" is ") {
            put(name, "person", sentence.to_owned());
        }
    }
    json!({"entities": entities, "facts": facts})
}

fn setup(model: Typical) -> (Arc<Setup>, Arc<Typical>) {
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let model = Arc::new(model);
    let models = Models::new(Arc::clone(&model) as Arc<dyn Llm>);
    (Arc::new(Setup::new(models, Toy::empty(), prompts)), model)
}

/// Every stage that asks a model or the embedder.
fn everything() -> KbSettings {
    KbSettings {
        atoms: Atoms::Questions,
        chunks: Chunks::Model,
        chunk_chars: 600,
        describe_figures: true,
        entities: Entities::Model,
        tags: true,
        summaries: true,
        communities: true,
        ..KbSettings::default()
    }
}

/// Documents with sections of several chunks, some with a figure; `from` distinguishes sets.
fn write(bench: &Bench, from: usize, count: usize) {
    for i in from..from + count {
        let mut html = format!("<html><body><h1>Register {i}</h1>");
        for part in 0..2 {
            let _ = write!(html, "<h2>Part {part} of {i}</h2>");
            for group in 0..3 {
                let name = format!("{i}{part}{group}");
                html.push_str("<p>");
                // Some passages speak of two circles of people.
                if group == 0 {
                    let _ = write!(
                        html,
                        "Jo{name} Bell founded Dock{name} House in Oster{name}. Eve{name} Marsh \
                         founded Dock{name} House in Oster{name}. "
                    );
                }
                let _ = write!(
                    html,
                    "Ann{name} Reed founded Mill{name} Works in Varn{name}. Tom{name} Ash founded \
                     Mill{name} Works in Varn{name}. "
                );
                for line in 0..if group == 0 { 3 } else { 4 } {
                    let _ = write!(
                        html,
                        "The entry number {line} was written down by the clerk and then read again \
                         by others before the year was over. "
                    );
                }
                html.push_str("</p>");
            }
        }
        if i % 3 == 0 {
            let image = BASE64_STANDARD.encode(vec![7; 3000 + i]);
            let _ =
                write!(html, "<p><img src=\"data:image/png;base64,{image}\" alt=\"A chart\"></p>");
        }
        html.push_str("</body></html>");
        bench.write(&format!("d{i:03}.html"), html);
    }
    let sides =
        ["an English footballer who played for Leeds", "a Scottish politician of the Labour Party"];
    for pair in 0..count.div_ceil(5) {
        for (side, of) in sides.iter().enumerate() {
            let name = format!("John Smith{from}x{pair}");
            bench.write(&format!("p{from}-{pair}-{side}.txt"), format!("{name} is {of}."));
        }
    }
}

async fn estimated(bench: &Bench, base: &Arc<Base>) -> Estimate {
    let context = BuildContext::new(base, &bench.settings, &setup(Typical::default()).0);
    estimate(context, &[bench.input()], &bench.options).await.unwrap()
}

async fn indexed(bench: &Bench, base: &Arc<Base>) -> (IndexReport, String) {
    let (setup, model) = setup(Typical::default());
    let context = BuildContext::new(base, &bench.settings, &setup);
    let report = index(context, &[bench.input()], &bench.options).await.unwrap();
    assert_eq!((report.failed_units, report.pending_units), (0, 0), "{report:?}");
    let used = format!("{:?}", model.used.lock());
    (report, used)
}

/// Asserts that the estimate is within a fifth of what was used.
fn comes_true(said: &Estimate, (report, by_task): &(IndexReport, String)) {
    let used = &report.usage;
    let stage = |s: &halma_kb::StageEstimate| {
        format!("{}: {} {} {}", s.task, s.calls, s.prompt_tokens, s.completion_tokens)
    };
    let stages: Vec<String> = said.stages.iter().map(stage).collect();
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    for (what, said, used) in [
        ("calls", said.calls as f64, used.llm_calls as f64),
        ("prompt tokens", said.prompt_tokens as f64, used.prompt_tokens as f64),
        ("completion tokens", said.completion_tokens as f64, used.completion_tokens as f64),
        ("usd", said.usd, used.usd),
    ] {
        let near = (said - used).abs() <= 0.2 * used;
        assert!(near, "{what}: {said} was said, {used} used\n{stages:#?}\n{by_task}");
    }
}

#[tokio::test]
async fn with_everything_switched_on_the_estimate_comes_true() {
    let bench = Bench { settings: everything(), ..Bench::asking() };
    write(&bench, 0, 12);
    let base = bench.open(Some(Words::new()));
    let said = estimated(&bench, &base).await;
    assert_eq!(base.inspector().stats().unwrap().documents, 0, "an estimate writes nothing");
    let stages: Vec<&str> = said.stages.iter().map(|stage| stage.task.as_str()).collect();
    for task in [
        "describe",
        "cut",
        "questions",
        "facts",
        "same_entity",
        "tag_classes",
        "tag",
        "summarise",
        "community",
        "embed",
    ] {
        assert!(stages.contains(&task), "{task} is missing in {stages:?}");
    }
    let used = indexed(&bench, &base).await;
    assert_eq!(used.0.figures_described, 4);
    let extracted = &used.0.extracted;
    assert!(extracted.communities > 0 && extracted.summaries > 0, "{extracted:?}");
    comes_true(&said, &used);

    // Nothing is left, and what comes next is estimated from what was seen.
    let again = estimated(&bench, &base).await;
    assert_eq!(again.calls, 0, "{again:?}");
    write(&bench, 100, 8);
    let said = estimated(&bench, &base).await;
    comes_true(&said, &indexed(&bench, &base).await);
}

#[tokio::test]
async fn chunking_by_the_embedder_is_in_the_estimate() {
    let settings = KbSettings { chunks: Chunks::Semantic, ..KbSettings::default() };
    let bench = Bench { settings, ..Bench::new() };
    write(&bench, 0, 6);
    let words = Words::new();
    let base = bench.open(Some(Arc::clone(&words) as _));
    let said = estimated(&bench, &base).await;
    assert_eq!(words.calls.load(Ordering::Relaxed), 0, "an estimate asks nothing");
    let cut = said.stages.iter().find(|stage| stage.task == "cut").unwrap();
    assert_eq!((cut.model.as_str(), cut.prompt_tokens), ("toy-words", 0));
    assert!(cut.calls >= 6 && said.calls > cut.calls, "{said:?}");
}
