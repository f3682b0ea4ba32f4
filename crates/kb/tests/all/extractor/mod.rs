//! A model that distils by rules, and ways to look at what came of it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "every test file uses a part of this"
)]
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::text::{sentences, words};
use halma_core::{
    Budget, ChatReply, ChatRequest, Edge, Embedder, Hit, Layer, Llm, LlmError, Meter, Mode, Models,
    NodeId, Prompts, Setup, Usage,
};
use halma_kb::{Atoms, Base, BuildContext, Entities, IndexReport, KbSettings, PROMPTS};
use halma_testkit::Toy;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::common::{Bench, search};

/// Reads `A founded B.`, `A is …` and the like. What it was asked for is kept in order.
#[derive(Default)]
pub(crate) struct Model {
    pub(crate) requests: Mutex<Vec<(String, String)>>,
    /// Replies that come before those of the rules: task, words of the last message, reply.
    pub(crate) scripted: Mutex<Vec<(&'static str, &'static str, String)>>,
    /// Refuses every task.
    pub(crate) offline: Mutex<bool>,
    /// Refuses messages with this in them.
    pub(crate) fails_on: Mutex<Option<&'static str>>,
}

impl Model {
    pub(crate) fn script(&self, task: &'static str, on: &'static str, reply: &str) {
        self.scripted.lock().push((task, on, reply.to_owned()));
    }

    /// How often a task was asked for.
    pub(crate) fn calls(&self, task: &str) -> usize {
        self.requests.lock().iter().filter(|(other, _)| other == task).count()
    }

    pub(crate) fn all_calls(&self) -> usize {
        self.requests.lock().len()
    }
}

#[async_trait]
impl Llm for Model {
    fn model(&self) -> &'static str {
        "rules"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        tokio::task::yield_now().await;
        let said: String = request.messages.iter().map(|m| m.text.as_str()).collect();
        self.requests.lock().push((request.task.clone(), said.clone()));
        if *self.offline.lock() {
            return Err(LlmError::refused(format!("cannot do `{}`", request.task)));
        }
        if self.fails_on.lock().is_some_and(|word| said.contains(word)) {
            return Err(LlmError::refused("the model is down"));
        }
        let mut scripted = self.scripted.lock();
        let at =
            scripted.iter().position(|(task, on, _)| *task == request.task && said.contains(on));
        let text = match at {
            Some(at) => scripted.remove(at).2,
            None => rules(request),
        };
        let usage = Usage { prompt_tokens: 100, completion_tokens: 10, ..Usage::default() };
        Ok(ChatReply { text, usage, ..ChatReply::default() })
    }
}

fn rules(request: &ChatRequest) -> String {
    let variables = serde_json::to_value(&request.variables).unwrap();
    match request.task.as_str() {
        "facts" => facts(variables["chunk"]["text"].as_str().unwrap()).to_string(),
        "same_entity" => json!({"reason": "they differ", "same": false}).to_string(),
        "tag_classes" => {
            json!({"classes": [{"name": "trade", "description": "What somebody does."}]})
                .to_string()
        }
        "tag" => tags(variables["text"].as_str().unwrap()).to_string(),
        "summarise" => summary(&variables),
        "cut" => cut(&variables).to_string(),
        "questions" => "What is said here?".to_owned(),
        "community" => {
            let names = variables["entities"].as_array().unwrap();
            let first = names[0]["name"].as_str().unwrap();
            json!({"title": format!("Around {first}"), "summary": "They belong together."})
                .to_string()
        }
        task => panic!("no rule for {task}"),
    }
}

/// `A founded B.` makes two entities and a fact; `A is …` describes the first.
fn facts(text: &str) -> Value {
    let (mut entities, mut facts): (Vec<Value>, Vec<Value>) = (vec![], vec![]);
    let mut put = |name: &str, kind: &str, description: &str| {
        let existing = entities.iter_mut().find(|entity| entity["name"] == name);
        match existing {
            Some(existing) if !description.is_empty() => {
                existing["description"] = description.into();
            }
            Some(_) => {}
            None => entities.push(json!({"name": name, "type": kind, "description": description})),
        }
    };
    for range in sentences(text) {
        let sentence = text[range].trim_end_matches('.');
        if let Some((head, tail)) = sentence.split_once(" founded ") {
            put(head, "person", "");
            put(tail, "organisation", "");
            facts.push(json!({
                "head": head, "relation": "founded", "tail": tail,
                "sentence": format!("{sentence}."),
            }));
        } else if let Some((name, _)) = sentence.split_once(" is ") {
            put(name, "person", sentence);
        }
    }
    json!({"entities": entities, "facts": facts})
}

/// Every word that ends in `-er` is a trade.
fn tags(text: &str) -> Value {
    let trades: BTreeSet<String> =
        words(text).into_iter().filter(|word| word.len() > 4 && word.ends_with("er")).collect();
    let tags: Vec<Value> =
        trades.into_iter().map(|tag| json!({"class": "trade", "tag": tag})).collect();
    json!({"tags": tags})
}

/// Chunks as long as they may be. Leave is vacation.
fn cut(variables: &Value) -> Value {
    let last = variables["last"].as_u64().unwrap();
    let pieces = variables["pieces"].as_array().unwrap();
    let taken = pieces.iter().take(usize::try_from(last).unwrap());
    let text: String = taken.map(|piece| piece.as_str().unwrap()).collect();
    let short = text.contains("Sundays");
    let summary = if short { "Vacation on weekends is short." } else { "Vacation of all staff." };
    json!({"end": last, "summary": summary, "forward": "Rules about vacation of staff."})
}

fn summary(variables: &Value) -> String {
    let part = variables["part"].as_str().unwrap();
    let texts = variables["texts"].as_array().unwrap();
    let letters: usize = texts.iter().map(|text| text.as_str().unwrap().len()).sum();
    format!("A {part} of {} texts with {letters} letters.", texts.len())
}

/// A folder, a base, and this model.
pub(crate) struct Works {
    pub(crate) bench: Bench,
    pub(crate) rules: Arc<Model>,
    /// A prompt in words of the user, with its text.
    pub(crate) reworded: Option<(&'static str, String)>,
}

impl Works {
    /// With entities by the model and nothing else.
    pub(crate) fn new() -> Self {
        let mut bench = Bench::new();
        bench.settings =
            KbSettings { atoms: Atoms::None, entities: Entities::Model, ..bench.settings };
        Self { bench, rules: Arc::default(), reworded: None }
    }

    pub(crate) fn setup(&self) -> Arc<Setup> {
        let mut prompts = Prompts::shipped(&[PROMPTS]).unwrap();
        if let Some((name, text)) = &self.reworded {
            prompts.replace(name, "mine.md", text).unwrap();
        }
        let model = Arc::clone(&self.rules) as Arc<dyn Llm>;
        Arc::new(Setup::new(Models::new(model), Toy::empty(), Arc::new(prompts)))
    }

    pub(crate) async fn index(&self, base: &Arc<Base>) -> IndexReport {
        self.index_with(base, Budget::default()).await
    }

    pub(crate) async fn index_with(&self, base: &Arc<Base>, budget: Budget) -> IndexReport {
        let meter = Arc::new(Meter::new(budget));
        let context =
            BuildContext { meter, ..BuildContext::new(base, &self.bench.settings, &self.setup()) };
        halma_kb::index(context, &[self.bench.input()], &self.bench.options).await.unwrap()
    }

    pub(crate) fn open(&self) -> Arc<Base> {
        self.bench.open(None)
    }

    pub(crate) fn open_with(&self, embedder: Arc<dyn Embedder>) -> Arc<Base> {
        self.bench.open(Some(embedder))
    }
}

/// The chunk that a word finds.
pub(crate) async fn chunk(base: &Base, word: &str) -> Hit {
    search(base, word, Layer::Chunk, Mode::Bm25).await.remove(0)
}

/// Nodes at the other end of a node's edges, by title and text.
pub(crate) fn others(base: &Base, id: &NodeId, edge: Edge, layer: Layer) -> Vec<(String, String)> {
    let seen = base.inspector().edges_of(id, Some(edge)).unwrap().into_iter();
    let of_layer = seen.filter(|seen| seen.node.layer == layer);
    let mut nodes: Vec<(String, String)> =
        of_layer.map(|seen| (seen.node.title, seen.node.text)).collect();
    nodes.sort();
    nodes
}

/// The names of the entities that the chunk of a word mentions.
pub(crate) async fn entities(base: &Base, word: &str) -> Vec<String> {
    let chunk = chunk(base, word).await;
    let mentioned = others(base, &chunk.id, Edge::Mentions, Layer::Entity);
    mentioned.into_iter().map(|(name, _)| name).collect()
}

/// The node of an entity that the chunk of a word mentions.
pub(crate) async fn entity(base: &Base, word: &str, name: &str) -> Hit {
    let chunk = chunk(base, word).await;
    let seen = base.inspector().edges_of(&chunk.id, Some(Edge::Mentions)).unwrap();
    seen.into_iter().map(|seen| seen.node).find(|node| node.title == name).unwrap()
}
