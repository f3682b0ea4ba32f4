//! Small heads on the embedder's encoder, trained to read: where a passage answers a question, in
//! what form, and which words of a question matter. `train/heads` makes their file.
mod file;
mod matrix;
mod pairs;
#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use halma_core::{KindScores, LlmError, PassageReader, Reading, ReadingWindow, TokenScore};
use lru::LruCache;
use parking_lot::Mutex;
use rten::ThreadPool;

pub use file::HeadsFile;
use matrix::HeadsMatrix;
use pairs::{Pair, Pairs};

use super::checkpoint::{Checkpoint, ExportError};
use super::quantized::QuantizedEncoder;
use super::weights::open_weights;
use super::{MiniLm, WeightsError};
use crate::onnx::{InferencePool, threads};

/// Readings that are cached: some 6 kB each.
const CACHED: NonZero<usize> = NonZero::new(512).expect("it is not zero");

/// Why heads cannot be used. Without them the offline model works by its rules.
#[derive(Debug, thiserror::Error)]
pub enum HeadsError {
    #[error("cannot read the heads `{name}`: {source}")]
    Io { name: String, source: std::io::Error },
    #[error("`{name}` is not a file of heads that this program reads: {reason}; train it again")]
    File { name: String, reason: String },
    #[error("`{name}` does not fit the embedder's model: {source}; train it again")]
    Tensors { name: String, source: ExportError },
    #[error(
        "the heads `{name}` were trained on other weights ({trained}) than those of the local \
         embedder ({actual}); train them on these, or fetch the published ones with `halma doctor \
         --fetch`"
    )]
    Base { name: String, trained: String, actual: String },
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error("the heads `{name}` cannot be run: {reason}")]
    Run { name: String, reason: String },
}

/// Trained heads, ready to be loaded when they are first used. Cheap to clone.
#[derive(Clone)]
pub struct Heads(Arc<Inner>);

struct Inner {
    name: String,
    file: HeadsFile,
    base: MiniLm,
    folder: PathBuf,
    loaded: OnceLock<Result<Loaded, String>>,
    /// The last readings: the steps of a method read the same passages for the same question.
    cache: Mutex<LruCache<ReadingKey, Reading>>,
}

/// Which text was read for which question, by a hash of both.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ReadingKey([u8; 32]);

impl ReadingKey {
    fn new(question: &str, text: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(question.len() as u64).to_le_bytes());
        hasher.update(question.as_bytes()).update(text.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }
}

struct Loaded {
    pairs: Pairs,
    encoder: QuantizedEncoder,
    matrix: HeadsMatrix,
    pool: InferencePool,
}

impl Heads {
    /// Heads for the embedder whose embeddings they were trained on; another one is refused. The
    /// weights themselves are read when they are first used.
    pub fn new(file: HeadsFile, base: &MiniLm) -> Result<Self, HeadsError> {
        let actual = base.0.encoder.weights_sum().unwrap_or("unknown");
        if actual != file.info.base_hash {
            return Err(HeadsError::Base {
                trained: file.info.base_hash.clone(),
                name: file.name,
                actual: actual.to_owned(),
            });
        }
        let folder = base.0.folder.clone();
        let name = format!("{} ({})", file.name, file.sum);
        let (base, loaded) = (base.clone(), OnceLock::new());
        let cache = Mutex::new(LruCache::new(CACHED));
        Ok(Self(Arc::new(Inner { name, file, base, folder, loaded, cache })))
    }

    /// Reads the weights now; some 0.1 s the first time.
    pub fn load(&self) -> Result<(), HeadsError> {
        let failed = |reason: &String| HeadsError::Run {
            name: self.0.file.name.clone(),
            reason: reason.clone(),
        };
        self.0.loaded().map(|_| ()).map_err(failed)
    }
}

impl Inner {
    fn loaded(&self) -> Result<&Loaded, &String> {
        let load = || Loaded::open(self).map_err(|error| error.to_string());
        self.loaded.get_or_init(load).as_ref()
    }

    fn read(&self, question: &str, texts: &[&str]) -> Result<Vec<Reading>, LlmError> {
        let refused = |reason: String| self.refused(&reason);
        let loaded = self.loaded().map_err(|reason| self.refused(reason))?;
        let windows = loaded.pairs.windows(question, texts).map_err(refused)?;
        let flat = windows.concat();
        let logits = loaded.run(&self.base, &flat).map_err(refused)?;
        let mut read = flat.iter().zip(&logits);
        let kinds = &self.file.info.kinds;
        let reading = |pairs: &Vec<Pair>| Reading {
            windows: read
                .by_ref()
                .take(pairs.len())
                .map(|(pair, logits)| loaded.window(pair, logits, kinds))
                .collect(),
        };
        Ok(windows.iter().map(reading).collect())
    }

    fn refused(&self, reason: &str) -> LlmError {
        LlmError::refused(format!("the heads `{}` cannot read: {reason}", self.file.name))
    }
}

impl Loaded {
    fn open(inner: &Inner) -> Result<Self, HeadsError> {
        let (name, folder) = (&inner.file.name, &inner.folder);
        let wrong = |reason: String| HeadsError::Run { name: name.clone(), reason };
        let (config, base) = open_weights(folder)?;
        let (max_length, positions) = (inner.file.info.max_length, config.max_position_embeddings);
        if max_length > positions {
            return Err(wrong(format!(
                "they read {max_length} tokens, and the weights {positions}"
            )));
        }
        let tensors = |source| HeadsError::Tensors { name: name.clone(), source };
        let weights = Checkpoint::open(&base).map_err(tensors)?;
        let weights = weights.with_trained(inner.file.tensors()?);
        let encoder = QuantizedEncoder::new(&config, &weights).map_err(tensors)?;
        let matrix = HeadsMatrix::new(&inner.file, config.hidden_size).map_err(tensors)?;
        let tokenizer = inner.base.0.tokens.tokenizer();
        let pairs = Pairs::new(tokenizer, &inner.file.info).map_err(wrong)?;
        let pool = InferencePool::new(threads(None));
        Ok(Self { pairs, encoder, matrix, pool })
    }

    /// The logits of every token of every pair.
    fn run(&self, base: &MiniLm, pairs: &[Pair]) -> Result<Vec<Logits>, String> {
        let lengths: Vec<usize> = pairs.iter().map(|pair| pair.ids.len()).collect();
        let run = |at: usize, pool: &Arc<ThreadPool>| {
            let words = base.0.encoder.words(&pairs[at].ids, pool)?;
            let states = pool.run(|| self.encoder.states(words, pairs[at].first));
            let width = self.matrix.places.width;
            Ok(Logits { width, values: self.matrix.logits(&states) })
        };
        self.pool.run_singly(&lengths, run)
    }

    /// What the logits of a window say.
    fn window(&self, pair: &Pair, logits: &Logits, kinds: &[usize; 4]) -> ReadingWindow {
        let whole = logits.token(0);
        let token = |(at, place): (usize, &Option<Range<usize>>)| {
            let [start, end] = [logits.token(at)[0], logits.token(at)[1]];
            Some(TokenScore { range: place.clone()?, start, end })
        };
        let tokens = pair.places.iter().enumerate().skip(pair.first);
        let [span, yes, no, none] = kinds.map(|kind| whole[self.matrix.places.kinds + kind]);
        ReadingWindow {
            none: whole[0] + whole[1],
            tokens: tokens.filter_map(token).collect(),
            kinds: KindScores { span, yes, no, none },
            relevance: self.matrix.places.relevance.map(|at| whole[at]),
        }
    }
}

/// The logits of one pair: `width` for each token.
struct Logits {
    width: usize,
    values: Vec<f32>,
}

impl Logits {
    fn token(&self, at: usize) -> &[f32] {
        &self.values[at * self.width..(at + 1) * self.width]
    }
}

impl PassageReader for Heads {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn read(&self, question: &str, texts: &[&str]) -> Result<Vec<Reading>, LlmError> {
        let inner = &self.0;
        let key = |text: &&str| ReadingKey::new(question, text);
        let keys: Vec<ReadingKey> = texts.iter().map(key).collect();
        let mut readings: Vec<Option<Reading>> = {
            let mut cache = inner.cache.lock();
            keys.iter().map(|key| cache.get(key).cloned()).collect()
        };
        let missing = |at: &usize| readings[*at].is_none();
        let missing: Vec<usize> = (0..texts.len()).filter(missing).collect();
        let unread: Vec<&str> = missing.iter().map(|at| texts[*at]).collect();
        let read = if unread.is_empty() { vec![] } else { inner.read(question, &unread)? };
        let mut cache = inner.cache.lock();
        for (at, reading) in missing.into_iter().zip(read) {
            cache.put(keys[at], reading.clone());
            readings[at] = Some(reading);
        }
        Ok(readings.into_iter().flatten().collect())
    }

    fn keywords(&self, question: &str) -> Result<Option<Vec<Range<usize>>>, LlmError> {
        let inner = &self.0;
        if !inner.file.info.keyword {
            return Ok(None);
        }
        let refused = |reason: String| inner.refused(&reason);
        let loaded = inner.loaded().map_err(|reason| inner.refused(reason))?;
        let pair = loaded.pairs.question(question).map_err(refused)?;
        let logits = loaded.run(&inner.base, std::slice::from_ref(&pair)).map_err(refused)?;
        let (Some(at), [logits]) = (loaded.matrix.places.keyword, logits.as_slice()) else {
            return Ok(None);
        };
        let least = inner.file.info.keyword_threshold;
        let is_keyword = |token: usize| sigmoid(logits.token(token)[at]) > least;
        let places = pair.places.iter().enumerate();
        let chosen =
            places.filter_map(|(token, place)| place.clone().filter(|_| is_keyword(token)));
        Ok(Some(words(question, &chosen.collect::<Vec<_>>())))
    }
}

fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

/// The words between spaces that hold one of the tokens, neighbours as one, without what is not
/// letters or digits around them.
fn words(question: &str, tokens: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = vec![];
    let mut open = false;
    for word in question.split_whitespace() {
        let start = word.as_ptr().addr() - question.as_ptr().addr();
        let range = start..start + word.len();
        let is_marked =
            tokens.iter().any(|token| token.start < range.end && token.end > range.start);
        match runs.last_mut() {
            Some(last) if is_marked && open => last.end = range.end,
            _ if is_marked => runs.push(range),
            _ => {}
        }
        open = is_marked;
    }
    let trimmed = runs.into_iter().filter_map(|range| {
        let text = &question[range.clone()];
        let start = text.find(char::is_alphanumeric)?;
        let end = text.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
        Some(range.start + start..range.start + end)
    });
    trimmed.collect()
}
