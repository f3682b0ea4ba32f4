//! Questions in everyday words over terms of a trade: how many of their documents a search finds
//! among five, without tags, with tags, and with what samples teach. The texts are those of
//! `demo/library`; tags and pairs are a recorded model's.
//! `cargo test -p halma-kb --test lay_questions -- --nocapture` prints the figures.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a measurement")]
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    ChatReply, ChatRequest, Knowledge, Layer, Llm, LlmError, Mode, Models, Prompts, Query, Setup,
};
use halma_kb::{
    Atoms, Base, BaseOptions, BuildContext, GraphSettings, IndexOptions, KbSettings, PROMPTS,
    SearchSettings, TagSample, index, learn_tags,
};
use halma_testkit::Toy;
use serde::Deserialize;
use serde_json::{Value, json};

const TAGS: &str = include_str!("lay/tags.jsonl");
const SAMPLES: &str = include_str!("lay/samples.jsonl");
const QUESTIONS: &str = include_str!("lay/questions.jsonl");

fn lines<T: for<'a> Deserialize<'a>>(text: &str) -> Vec<T> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[derive(Deserialize)]
struct Tagged {
    document: String,
    tags: Vec<Value>,
}

#[derive(Deserialize)]
struct Mapped {
    question: String,
    pairs: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct LayQuestion {
    question: String,
    documents: Vec<String>,
}

/// Replies what was recorded for a passage or a sample.
struct Recorded {
    tags: Vec<Tagged>,
    samples: Vec<Mapped>,
}

#[async_trait]
impl Llm for Recorded {
    fn model(&self) -> &'static str {
        "recorded"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let variables = serde_json::to_value(&request.variables).unwrap();
        let text = |name: &str| variables[name].as_str().unwrap().to_owned();
        let reply = match request.task.as_str() {
            "tag_classes" => {
                let class = |name: &str| json!({"name": name, "description": name});
                let names = ["disease", "mechanism", "administration", "regulation"];
                json!({"classes": names.map(class)})
            }
            "tag" => {
                let stem = |tagged: &&Tagged| {
                    let name = tagged.document.rsplit('/').next().unwrap().replace(".md", "");
                    let title = text("title").to_lowercase().replace(' ', "-");
                    title == name
                        || title.starts_with(&name)
                        || name == "names" && title.starts_with("names")
                };
                let tags = self.tags.iter().find(stem).map_or(vec![], |tagged| tagged.tags.clone());
                json!({"tags": tags})
            }
            "map_tags" => {
                let shown: Vec<String> = variables["tags"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|tag| tag["name"].as_str().unwrap().to_owned())
                    .collect();
                let sample = self.samples.iter().find(|s| s.question == text("question")).unwrap();
                let number =
                    |tag: &String| shown.iter().position(|name| name == tag).map(|at| at + 1);
                let pairs = sample.pairs.iter().map(|(term, tags)| {
                    let tags: Vec<usize> = tags.iter().filter_map(number).collect();
                    json!({"term": term, "tags": tags})
                });
                json!({"pairs": pairs.collect::<Vec<_>>()})
            }
            task => return Err(LlmError::refused(format!("no reply is recorded for {task}"))),
        };
        Ok(ChatReply { text: reply.to_string(), ..ChatReply::default() })
    }
}

struct Measured {
    dir: tempfile::TempDir,
    setup: Arc<Setup>,
}

impl Measured {
    fn open(&self, tags: f32) -> Arc<Base> {
        let search = SearchSettings { tags, ..SearchSettings::default() };
        let graph = GraphSettings { tags, ..GraphSettings::default() };
        let options = BaseOptions { search, graph, ..BaseOptions::default() };
        Base::create_or_open(self.dir.path(), options).unwrap()
    }

    fn context(&self, base: &Arc<Base>) -> BuildContext {
        let settings = KbSettings { atoms: Atoms::Sentences, tags: true, ..KbSettings::default() };
        BuildContext::new(base, &settings, &self.setup)
    }
}

/// Questions at the end of the file whose everyday words no sample has.
const OTHER_WORDS: usize = 15;

/// The share of each question's documents among the first five hits, over all questions and over
/// those of other words than the samples'.
async fn recall(base: &Base, mode: Mode) -> [f32; 2] {
    let mut questions: Vec<LayQuestion> = lines(QUESTIONS);
    let all = share(base, mode, &questions).await;
    let others = questions.split_off(questions.len() - OTHER_WORDS);
    [all, share(base, mode, &others).await]
}

async fn share(base: &Base, mode: Mode, questions: &[LayQuestion]) -> f32 {
    let count = f32::from(u16::try_from(questions.len()).unwrap());
    let mut sum = 0.0;
    for LayQuestion { question, documents } in questions {
        let query = Query::new(vec![question.clone()], Layer::Chunk, mode, 5);
        let hits = base.search(&query).await.unwrap().remove(0);
        let matches = documents.iter().filter(|name| hits.iter().any(|hit| hit.document == **name));
        let number = |count: usize| f32::from(u16::try_from(count).unwrap());
        sum += number(matches.count()) / number(documents.len().min(5));
    }
    sum / count
}

#[tokio::test]
async fn tags_find_what_everyday_words_do_not() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/library");
    let model = Recorded { tags: lines(TAGS), samples: lines(SAMPLES) };
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let setup = Arc::new(Setup::new(Models::new(Arc::new(model)), Toy::empty(), prompts));
    let measured = Measured { dir: tempfile::tempdir().unwrap(), setup };
    let base = measured.open(0.0);
    let options = IndexOptions { include: vec!["**/*.md".into()], ..IndexOptions::default() };
    let inputs: Vec<PathBuf> = vec![library];
    let report = index(measured.context(&base), &inputs, &options).await.unwrap();
    assert!(report.extracted.tags > 40, "{report:?}");
    let mut rows: Vec<(String, [[f32; 2]; 2])> = vec![];
    let measure =
        async |base: &Base| [recall(base, Mode::Bm25).await, recall(base, Mode::Graph).await];
    rows.push(("no tags".into(), measure(&base).await));
    drop(base);
    let weights = [0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0];
    for weight in weights {
        rows.push((format!("tags {weight}"), measure(&measured.open(weight)).await));
    }
    let base = measured.open(0.5);
    let samples: Vec<TagSample> = lines(SAMPLES);
    let learned = learn_tags(measured.context(&base), &samples, false).await.unwrap();
    assert_eq!((learned.samples_read, learned.skipped.len()), (samples.len(), 0), "{learned:?}");
    drop(base);
    for weight in weights {
        rows.push((format!("learned {weight}"), measure(&measured.open(weight)).await));
    }
    for (name, [bm25, graph]) in &rows {
        let [bm25, graph] = [bm25, graph].map(|both| both.map(|share| share * 100.0));
        println!(
            "{name:12} bm25 {:5.1} (other words {:5.1})  graph {:5.1} ({:5.1})",
            bm25[0], bm25[1], graph[0], graph[1]
        );
    }
    let of = |name: &str| rows.iter().find(|(other, _)| other == name).unwrap().1;
    let (none, tags, learned) = (of("no tags"), of("tags 1"), of("learned 1"));
    for mode in 0..2 {
        assert!(tags[mode][0] > none[mode][0] && tags[mode][1] >= none[mode][1]);
        assert!(learned[mode][0] > tags[mode][0] + 0.3, "what was learned is worth a third");
    }
}
