//! One question to one strategy with one kind of bad reply.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_core::{
    Budget, Cx, Entry, Event, Knowledge, Llm, Meter, Models, Outcome, Prompts, Question, Setup,
    Tagging, Trace, estimate_tokens,
};
use halma_engine::{Config, EmbedderKind, Engine, IndexOptions};
use halma_offline::Extractive;
use halma_strategies::PROMPTS;
use halma_testkit::{Capitals, Mischief, Mischievous, Overlap, leak};
use serde::Deserialize;

use crate::actor::{Actor, Retried};

/// The sample library with the questions about it.
pub(crate) struct Bench {
    engine: Engine,
    pub(crate) actor: Arc<dyn Llm>,
    prompts: Arc<Prompts>,
    pub(crate) questions: Vec<Question>,
    /// The expected answers of each question, where they are known.
    pub(crate) answers: Vec<Vec<String>>,
    _dir: tempfile::TempDir,
}

/// How a run ended.
#[derive(Default)]
pub(crate) struct End {
    /// Empty where it abstains.
    pub(crate) answer: String,
    pub(crate) error: Option<String>,
    /// A draft or an "Unknown" in the answer or in a query.
    pub(crate) leak: Option<String>,
    pub(crate) calls: u64,
    pub(crate) searches: u64,
    /// Of all prompts and of all replies, four characters each.
    pub(crate) prompt_tokens: u64,
    pub(crate) reply_tokens: u64,
}

#[derive(Deserialize)]
struct Line {
    question: String,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    answers: Option<Vec<String>>,
}

impl Bench {
    pub(crate) async fn open() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.embedder.kind = EmbedderKind::None;
        let engine = Engine::create_or_open(config, &dir.path().join("base")).unwrap();
        let library: PathBuf = root.join("../../demo/library");
        engine.index(&[library], &IndexOptions::default(), Arc::new(|_| {})).await.unwrap();
        let files = ["../../demo/questions.jsonl", "tests/robustness/questions.jsonl"];
        let lines: String =
            files.iter().map(|file| std::fs::read_to_string(root.join(file)).unwrap()).collect();
        let question = |line: &str| {
            let Line { question, options, answers } = serde_json::from_str(line).unwrap();
            (Question { options, ..Question::new(question) }, answers.unwrap_or_default())
        };
        let actor: Arc<dyn Llm> = Arc::new(Actor(Extractive::new()));
        let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
        let (questions, answers) = lines.lines().map(question).unzip();
        Self { engine, actor, prompts, questions, answers, _dir: dir }
    }

    pub(crate) async fn run(
        &self,
        entry: &Entry,
        kind: Option<Mischief>,
        question: &Question,
    ) -> End {
        let actor = Arc::clone(&self.actor);
        let model: Arc<dyn Llm> = match kind {
            Some(kind) => Arc::new(Retried(Mischievous::new(actor, kind, 7))),
            None => actor,
        };
        self.run_with(entry, model, question).await.0
    }

    /// Runs a strategy with any model.
    pub(crate) async fn run_with(
        &self,
        entry: &Entry,
        model: Arc<dyn Llm>,
        question: &Question,
    ) -> (End, Trace) {
        let knowledge = Arc::clone(self.engine.base()) as Arc<dyn Knowledge>;
        let setup = Setup {
            reranker: Some(Arc::new(Overlap)),
            tagger: Some(Tagging::Tagger(Arc::new(Capitals))),
            ..Setup::new(Models::new(model), knowledge, Arc::clone(&self.prompts))
        };
        let cx = Cx::new(Arc::new(setup), Arc::new(Meter::new(Budget::default())), None);
        let strategy = entry.build_from(toml::Table::new()).unwrap();
        let Outcome { answer, trace } = Outcome::run(strategy.as_ref(), question, &cx).await;
        let calls = trace.usage().llm_calls;
        let (mut searches, mut prompt_tokens, mut reply_tokens) = (0, 0, 0);
        for event in &trace.0 {
            match event {
                Event::Searched { .. } => searches += 1,
                Event::ModelCalled { messages, reply, .. } => {
                    prompt_tokens += estimate_tokens(messages);
                    reply_tokens += reply.len() as u64 / 4;
                }
                _ => {}
            }
        }
        let mut texts: Vec<&str> = trace.0.iter().filter_map(query).collect();
        let (answer, error) = match answer {
            Ok(answer) => (answer.text, None),
            Err(error) => (String::new(), Some(error.to_string())),
        };
        texts.push(&answer);
        let leak = texts.into_iter().find_map(leak);
        (End { answer, error, leak, calls, searches, prompt_tokens, reply_tokens }, trace)
    }
}

fn query(event: &Event) -> Option<&str> {
    match event {
        Event::Searched { query, .. } | Event::SourceQueried { query, .. } => Some(query),
        _ => None,
    }
}
