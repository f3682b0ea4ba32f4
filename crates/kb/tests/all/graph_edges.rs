//! What each kind of edge is worth to graph search, over training questions with a knowledge graph
//! that rules make of the passages:
//! `HALMA_DATA=DIR cargo test -p halma-kb --test graph_edges -- --ignored --nocapture`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a measurement")]
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::text::{NameKind, names, sentences};
use halma_core::{
    ChatReply, ChatRequest, Knowledge, Layer, Llm, LlmError, Mode, Models, Prompts, Query, Setup,
};
use halma_kb::{
    Atoms, Base, BaseOptions, BuildContext, Entities, GraphSettings, IndexOptions, InputFormat,
    KbSettings, PROMPTS, index,
};
use halma_testkit::Toy;
use serde_json::{Value, json};

/// Questions of each file for the edges.
const QUESTIONS: usize = 60;

const FILES: [(&str, InputFormat); 3] = [
    ("hotpotqa_train.json", InputFormat::Hotpotqa),
    ("2wiki_train.json", InputFormat::TwoWiki),
    ("musique_train100.json", InputFormat::Musique),
];

/// Facts between the title of a passage and what it names, and between names next to each other in
/// a sentence. Of two entities that may be one it says that they are, or that they are not.
struct Rules {
    same: bool,
}

#[async_trait]
impl Llm for Rules {
    fn model(&self) -> &'static str {
        "rules"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let variables = serde_json::to_value(&request.variables).unwrap();
        let reply = match request.task.as_str() {
            "facts" => facts(&variables["chunk"]),
            "same_entity" => json!({"reason": "a rule cannot say", "same": self.same}),
            task => return Err(LlmError::refused(format!("no rule for {task}"))),
        };
        Ok(ChatReply { text: reply.to_string(), ..ChatReply::default() })
    }
}

fn facts(chunk: &Value) -> Value {
    let text = chunk["text"].as_str().unwrap();
    let title = chunk["title"].as_str().unwrap().split(" (").next().unwrap();
    let mut entities = BTreeSet::from([title.to_owned()]);
    let mut facts = vec![];
    for range in sentences(text) {
        let sentence = &text[range];
        let named = names(sentence).into_iter().filter(|name| name.kind == NameKind::Name);
        let mut last = title.to_owned();
        for name in named.map(|name| sentence[name.range].to_owned()) {
            entities.insert(name.clone());
            for head in [title, &last] {
                if *head != name && facts.len() < 40 {
                    facts.push(json!({"head": head, "relation": "is tied to", "tail": name,
                        "sentence": sentence}));
                }
            }
            last = name;
        }
    }
    let entity = |name: &String| json!({"name": name, "type": "other", "description": ""});
    let entities: Vec<Value> = entities.iter().take(60).map(entity).collect();
    json!({"entities": entities, "facts": facts})
}

struct TrainQuestion {
    text: String,
    /// Titles of the passages that answer it, each with the beginning of its text.
    gold: Vec<(String, String)>,
}

fn questions(items: &[Value]) -> Vec<TrainQuestion> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = items.iter();
    all.map(|item| {
        let gold = if let Some(paragraphs) = item["paragraphs"].as_array() {
            let gold = paragraphs.iter().filter(|p| p["is_supporting"] == true);
            gold.map(|p| (text(&p["title"]), text(&p["paragraph_text"]))).collect()
        } else {
            let titles: BTreeSet<String> =
                item["supporting_facts"].as_array().unwrap().iter().map(|f| text(&f[0])).collect();
            titles.into_iter().map(|title| (title, String::new())).collect()
        };
        TrainQuestion { text: text(&item["question"]), gold }
    })
    .collect()
}

async fn recall(base: &Base, questions: &[TrainQuestion]) -> (f32, f32) {
    let (mut sum, mut all) = (0.0, 0);
    let number = |count: usize| f32::from(u16::try_from(count).unwrap());
    for question in questions {
        let query = Query::new(vec![question.text.clone()], Layer::Chunk, Mode::Graph, 5);
        let hits = base.search(&query).await.unwrap().remove(0);
        let hit_count = question.gold.iter().filter(|(title, text)| {
            hits.iter().any(|hit| {
                hit.title == *title && (text.is_empty() || text.contains(hit.text.trim()))
            })
        });
        let hit_count = hit_count.count();
        sum += number(hit_count) / number(question.gold.len().max(1));
        all += usize::from(hit_count == question.gold.len());
    }
    let count = number(questions.len());
    (100.0 * sum / count, 100.0 * number(all) / count)
}

fn options(graph: GraphSettings) -> BaseOptions {
    BaseOptions { graph, ..BaseOptions::default() }
}

#[tokio::test]
#[ignore = "needs HALMA_DATA: the folder with hotpotqa_train.json and the like; prints a measurement"]
async fn edges_of_a_knowledge_graph() {
    let data = std::env::var("HALMA_DATA").unwrap();
    let default = GraphSettings { facts: 0.0, ..GraphSettings::default() };
    let variants: Vec<(&str, GraphSettings)> = vec![
        ("no facts", default),
        ("aliases = 0", GraphSettings { aliases: 0.0, ..default }),
        ("aliases = 0.5", GraphSettings { aliases: 0.5, ..default }),
        ("facts = 0.1", GraphSettings { facts: 0.1, ..default }),
        ("facts = 0.2", GraphSettings { facts: 0.2, ..default }),
        ("facts = 0.4", GraphSettings { facts: 0.4, ..default }),
        ("next = 0.1", GraphSettings { next: 0.1, ..default }),
        ("links = 0.1", GraphSettings { links: 0.1, ..default }),
        ("links = 0.3", GraphSettings { links: 0.3, ..default }),
    ];
    for (file, format) in FILES {
        let set = TrainSet::read(&data, file, QUESTIONS);
        for (entities, same) in
            [(Entities::Names, false), (Entities::Model, false), (Entities::Model, true)]
        {
            let (dir, built) = set.build(format, entities, same).await;
            println!("{file} {entities:?}, same = {same}: {built}");
            for (name, graph) in &variants {
                let base = Base::create_or_open(dir.path(), options(*graph)).unwrap();
                let (recall, all) = recall(&base, &set.questions).await;
                println!("  {name:16} {recall:5.1} / {all:5.1}");
            }
        }
    }
}

/// Questions that name an entity of several names are asked with the other name.
#[tokio::test]
#[ignore = "needs HALMA_DATA: the folder with hotpotqa_train.json and the like; prints a measurement"]
async fn aliases_of_what_questions_name() {
    let data = std::env::var("HALMA_DATA").unwrap();
    for (file, format) in FILES {
        let mut set = TrainSet::read(&data, file, usize::MAX);
        let (dir, built) = set.build(format, Entities::Model, true).await;
        let open = |aliases| {
            let graph = GraphSettings { aliases, ..GraphSettings::default() };
            Base::create_or_open(dir.path(), options(graph)).unwrap()
        };
        let merges = open(1.0).merges().unwrap();
        let as_named = set.questions.len();
        set.questions.retain_mut(|question| {
            let pairs = merges.iter().flat_map(|merge| {
                let (one, two) = (merge.one.name.as_str(), merge.two.name.as_str());
                [(one, two), (two, one)]
            });
            let other = |(name, other): (&str, &str)| renamed(&question.text, name, other);
            let text = pairs.filter(|(name, other)| name != other).find_map(other);
            text.map(|text| question.text = text).is_some()
        });
        println!("{file}: {built}, {} of {as_named} questions", set.questions.len());
        for aliases in [0.0, 0.5, 1.0] {
            let (recall, all) = recall(&open(aliases), &set.questions).await;
            println!("  aliases = {aliases} {recall:5.1} / {all:5.1}");
        }
    }
}

/// A question with another name in the place of one that it has as whole words.
fn renamed(question: &str, name: &str, other: &str) -> Option<String> {
    let at = question.find(name)?;
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (before, after) = (&question[..at], &question[at + name.len()..]);
    let is_whole = !is_word(before.chars().next_back()) && !is_word(after.chars().next());
    is_whole.then(|| format!("{before}{other}{after}"))
}

/// Questions of a training file, and their passages.
struct TrainSet {
    file: &'static str,
    items: Vec<Value>,
    questions: Vec<TrainQuestion>,
}

impl TrainSet {
    fn read(data: &str, file: &'static str, limit: usize) -> Self {
        let text = std::fs::read(Path::new(data).join(file)).unwrap();
        let mut items: Vec<Value> = serde_json::from_slice(&text).unwrap();
        items.truncate(limit);
        let questions = questions(&items);
        Self { file, items, questions }
    }

    /// A base of its passages in a folder, and what it holds.
    async fn build(
        &self,
        format: InputFormat,
        entities: Entities,
        same: bool,
    ) -> (tempfile::TempDir, String) {
        let (dir, inputs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let input = inputs.path().join(self.file);
        std::fs::write(&input, serde_json::to_vec(&self.items).unwrap()).unwrap();
        let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
        let models = Models::new(Arc::new(Rules { same }));
        let setup = Arc::new(Setup::new(models, Toy::empty(), prompts));
        let settings = KbSettings { atoms: Atoms::Sentences, entities, ..KbSettings::default() };
        let base = Base::create_or_open(dir.path(), options(GraphSettings::default())).unwrap();
        let context = BuildContext::new(&base, &settings, &setup);
        let how = IndexOptions { format, ..IndexOptions::default() };
        let report = index(context, std::slice::from_ref(&input), &how).await.unwrap();
        let made = &report.extracted;
        let (chunks, entities, merges) = (report.chunks, made.entities, made.merges);
        let facts = made.facts;
        (dir, format!("{chunks} chunks, {entities} entities, {merges} merges, {facts} facts"))
    }
}
