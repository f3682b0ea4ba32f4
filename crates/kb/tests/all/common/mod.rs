//! What the tests of the base share: a folder, an embedder of hashed words, a model that answers
//! by a rule.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "every test file uses a part of this"
)]
pub(crate) mod again;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use halma_core::text::{content_words, sentences};
use halma_core::{
    Budget, ChatReply, ChatRequest, EmbedRole, Embedder, Hit, Knowledge, Layer, Llm, LlmError,
    Meter, Mode, Models, NodeId, Prompts, Query, Setup, Usage, Vector,
};
use halma_kb::{
    Atoms, Base, BaseOptions, BasePart, BuildContext, IndexOptions, IndexReport, InputFormat,
    KbError, KbSettings, PROMPTS,
};
use halma_testkit::Toy;
use parking_lot::Mutex;

/// Hashes words into 64 dimensions: texts that share words are near.
pub(crate) struct Words {
    pub(crate) name: &'static str,
    /// Fails for every call while set.
    pub(crate) down: AtomicBool,
    /// Refuses batches of more texts.
    pub(crate) max_texts: usize,
    /// Refuses calls with a text that holds one of these.
    pub(crate) refused: Mutex<Vec<&'static str>>,
    /// Has no numbers for a text that holds this.
    pub(crate) unsound: Mutex<Option<&'static str>>,
    /// Fails after so many calls that it answered.
    pub(crate) answers: AtomicUsize,
    /// Turns its vectors by so many dimensions: another space.
    pub(crate) rotation: usize,
    pub(crate) calls: AtomicUsize,
}

impl Words {
    pub(crate) fn new() -> Arc<Self> {
        Self::named("toy-words")
    }

    pub(crate) fn named(name: &'static str) -> Arc<Self> {
        Arc::new(Self {
            name,
            down: AtomicBool::new(false),
            max_texts: usize::MAX,
            refused: Mutex::default(),
            unsound: Mutex::default(),
            answers: AtomicUsize::new(usize::MAX),
            rotation: name.len(),
            calls: AtomicUsize::new(0),
        })
    }
}

/// As [`Words`], under the same name, with half as many dimensions.
pub(crate) struct Short(Arc<Words>);

impl Short {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Words::new()))
    }
}

#[async_trait]
impl Embedder for Short {
    fn model(&self) -> &str {
        self.0.model()
    }

    async fn embed(&self, texts: &[&str], role: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        let mut vectors = self.0.embed(texts, role).await?;
        for vector in &mut vectors {
            vector.truncate(32);
        }
        Ok(vectors)
    }
}

pub(crate) fn hashed(text: &str) -> Vector {
    let mut vector = vec![0.001; 64];
    for word in content_words(text) {
        let sum = word.bytes().fold(7_usize, |sum, b| sum.wrapping_mul(31) + usize::from(b));
        vector[sum % 64] += 1.0;
    }
    let length = vector.iter().map(|x: &f32| x * x).sum::<f32>().sqrt();
    vector.into_iter().map(|x| x / length).collect()
}

#[async_trait]
impl Embedder for Words {
    fn model(&self) -> &str {
        self.name
    }

    async fn embed(&self, texts: &[&str], _: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        if self.down.load(Ordering::Relaxed) {
            return Err(LlmError::refused("the embedder is down"));
        }
        if texts.len() > self.max_texts {
            return Err(LlmError::TooLong { reason: format!("{} texts", texts.len()) });
        }
        let holds = |word: &&&str| texts.iter().any(|text| text.contains(**word));
        if let Some(word) = self.refused.lock().iter().find(holds) {
            return Err(LlmError::refused(format!("`{word}` cannot be embedded")));
        }
        let left = self.answers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            if left == usize::MAX { Some(left) } else { left.checked_sub(1) }
        });
        if left.is_err() {
            return Err(LlmError::refused("the embedder is down"));
        }
        let turned = |text: &&str| {
            let mut vector = hashed(text);
            vector.rotate_left(self.rotation % 64);
            if self.unsound.lock().is_some_and(|word| text.contains(word)) {
                vector[0] = f32::NAN;
            }
            vector
        };
        Ok(texts.iter().map(turned).collect())
    }
}

/// Asks "What about …?" of every sentence; fails for chunks that hold a word.
#[derive(Default)]
pub(crate) struct Asker {
    pub(crate) fails_on: Mutex<Option<&'static str>>,
    pub(crate) calls: AtomicUsize,
}

#[async_trait]
impl Llm for Asker {
    fn model(&self) -> &'static str {
        "asker"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        assert_eq!(request.task, "questions");
        let chunk = request.variables.get_attr("chunk").unwrap();
        let text = chunk.get_attr("text").unwrap().to_string();
        if self.fails_on.lock().is_some_and(|word| text.contains(word)) {
            return Err(LlmError::refused("the model is down"));
        }
        let ask = |range| format!("What about {}?\n", &text[range]);
        let text = sentences(&text).into_iter().map(ask).collect();
        let usage = Usage { prompt_tokens: 100, completion_tokens: 10, ..Usage::default() };
        Ok(ChatReply { text, usage, ..ChatReply::default() })
    }
}

/// A folder of input, a base next to it, a model.
pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) model: Arc<Asker>,
    pub(crate) settings: KbSettings,
    pub(crate) options: IndexOptions,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("in")).unwrap();
        let settings = KbSettings { atoms: Atoms::Sentences, ..KbSettings::default() };
        Self { dir, model: Arc::default(), settings, options: IndexOptions::default() }
    }

    pub(crate) fn asking() -> Self {
        let mut bench = Self::new();
        bench.settings.atoms = Atoms::Questions;
        bench
    }

    /// Its runs rebuild these parts.
    pub(crate) fn rebuilding(mut self, parts: &[BasePart]) -> Self {
        self.options.rebuild = parts.to_vec();
        self
    }

    pub(crate) fn input(&self) -> PathBuf {
        self.dir.path().join("in")
    }

    pub(crate) fn base_dir(&self) -> PathBuf {
        self.dir.path().join("base")
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.input().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn remove(&self, name: &str) -> &Self {
        std::fs::remove_file(self.input().join(name)).unwrap();
        self
    }

    pub(crate) fn open(&self, embedder: Option<Arc<dyn Embedder>>) -> Arc<Base> {
        let options = BaseOptions { embedder, ..BaseOptions::default() };
        Base::create_or_open(&self.base_dir(), options).unwrap()
    }

    pub(crate) async fn index(&self, base: &Arc<Base>) -> IndexReport {
        self.try_index(base, Budget::default()).await.unwrap()
    }

    pub(crate) async fn try_index(
        &self,
        base: &Arc<Base>,
        budget: Budget,
    ) -> Result<IndexReport, KbError> {
        self.index_path(base, &self.input(), InputFormat::Auto, budget).await
    }

    pub(crate) async fn index_path(
        &self,
        base: &Arc<Base>,
        input: &Path,
        format: InputFormat,
        budget: Budget,
    ) -> Result<IndexReport, KbError> {
        let options = IndexOptions { format, ..self.options.clone() };
        halma_kb::index(self.context(base, budget), &[input.to_owned()], &options).await
    }

    /// Indexes several folders or files.
    pub(crate) async fn index_paths(&self, base: &Arc<Base>, inputs: &[PathBuf]) -> IndexReport {
        let context = self.context(base, Budget::default());
        halma_kb::index(context, inputs, &self.options).await.unwrap()
    }

    fn context(&self, base: &Arc<Base>, budget: Budget) -> BuildContext {
        let meter = Arc::new(Meter::new(budget));
        BuildContext { meter, ..BuildContext::new(base, &self.settings, &self.setup()) }
    }

    pub(crate) fn setup(&self) -> Arc<Setup> {
        let model: Arc<dyn Llm> = Arc::clone(&self.model) as Arc<dyn Llm>;
        Arc::new(Setup::new(
            Models::new(model),
            Toy::empty(),
            Arc::new(Prompts::shipped(&[PROMPTS]).unwrap()),
        ))
    }
}

pub(crate) fn query(text: &str, layer: Layer, mode: Mode) -> Query {
    Query::new(vec![text.to_owned()], layer, mode, 10)
}

pub(crate) async fn search(base: &Base, text: &str, layer: Layer, mode: Mode) -> Vec<Hit> {
    base.search(&query(text, layer, mode)).await.unwrap().remove(0)
}

/// Every node that a word finds, for comparing bases.
pub(crate) async fn ids(base: &Base, text: &str, layer: Layer) -> Vec<NodeId> {
    let mut query = query(text, layer, Mode::Bm25);
    query.limit = 10_000;
    let mut ids: Vec<NodeId> =
        base.search(&query).await.unwrap().remove(0).into_iter().map(|hit| hit.id).collect();
    ids.sort();
    ids
}
