//! The local embedder: a BERT sentence encoder, all-`MiniLM`-L6-v2 unless told otherwise, run on
//! the processor through rten.
mod checkpoint;
mod config;
mod declared;
mod encoder;
mod export;
mod fetch;
pub mod heads;
mod onnx;
mod quantized;
mod running;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tiny;
mod tokens;
mod weights;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{EmbedRole, Embedder, LlmError, Vector};
use serde::{Deserialize, Serialize};

use checkpoint::Checkpoint;
pub use checkpoint::ExportError;
use declared::declared;
use encoder::{Encoder, pooled};
pub use fetch::fetch;
use quantized::QuantizedEncoder;
use running::Running;
pub use tokens::MAX_TOKENS;
use tokens::Tokens;
use weights::{Files, open_weights};
pub use weights::{NAME, WeightsError, cache_folder, locate};

use crate::embed::{EmbedderUse, Pooling};
use crate::onnx::{InferencePool, threads};

/// Follows the name of a model whose weights are bytes.
const QUANTIZED: &str = "-int8";

/// How much of the sum of other weights is in their name.
const SUM_SHOWN: usize = 8;

/// A local sentence encoder. Cheap to clone; queries and passages are embedded alike, see
/// [`EmbedderUse`] for prefixes.
#[derive(Clone)]
pub struct MiniLm(Arc<Inner>);

struct Inner {
    name: String,
    /// Where the weights lie.
    folder: PathBuf,
    tokens: Tokens,
    encoder: Encoder,
    /// The layers as bytes, in place of those of `encoder`.
    quantized: Option<QuantizedEncoder>,
    pool: InferencePool,
    how: EmbedderUse,
    running: Running,
}

/// What the weights of the layers are, and what is computed with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Floats of 32 bits.
    #[default]
    F32,
    /// Bytes, brought back to floats after each product: more than twice as fast.
    Int8,
}

/// How a model is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalOptions {
    /// How many threads to compute with; all processors when `None`.
    pub threads: Option<usize>,
    /// Another pooling than that which the model's folder states, or else its family has.
    pub pooling: Option<Pooling>,
    pub precision: Precision,
}

impl MiniLm {
    /// Opens the model in a folder (see [`locate`]), or an `.onnx` file next to its
    /// `tokenizer.json`. The first time, the ONNX graph is made from the weights and kept.
    ///
    /// `threads`: how many to compute with; all processors when `None`.
    pub fn open(path: &Path, threads: Option<usize>) -> Result<Self, WeightsError> {
        Self::open_with(path, LocalOptions { threads, ..LocalOptions::default() })
    }

    /// [`MiniLm::open`] in another way. Vectors of another precision are of another space, so such
    /// a model has a name of its own.
    pub fn open_with(path: &Path, options: LocalOptions) -> Result<Self, WeightsError> {
        let files = Files::at(path)?;
        // Each takes some 30 ms.
        let (tokens, quantized, encoder) = std::thread::scope(|scope| {
            let tokens = scope.spawn(|| Tokens::open(&files.tokenizer, files.positions()?));
            let quantized = scope.spawn(|| open_quantized(&files, options.precision));
            let encoder = open_encoder(&files, options.precision);
            (tokens.join(), quantized.join(), encoder)
        });
        let tokens = tokens.map_err(|_| WeightsError::Tokenizer {
            path: files.tokenizer.clone(),
            reason: "reading it panicked".to_owned(),
        })??;
        let quantized = quantized.unwrap_or_else(|_| {
            let reason = "rounding its weights panicked".to_owned();
            Err(WeightsError::Graph { path: files.graph.clone(), reason })
        })?;
        let encoder = encoder?;
        let mut name = match encoder.weights_sum() {
            Some(weights::PUBLISHED) => NAME.to_owned(),
            sum => name_of(&files.graph, sum),
        };
        if quantized.is_some() {
            name.push_str(QUANTIZED);
        }
        let pool = InferencePool::new(self::threads(options.threads));
        let folder = files.graph.parent().unwrap_or(Path::new(".")).to_owned();
        let mut how = declared(&folder, &name);
        how.pooling = options.pooling.unwrap_or(how.pooling);
        if how.pooling != EmbedderUse::for_model(&name).pooling {
            name.push_str(suffix(how.pooling));
        }
        let running = Running::default();
        Ok(Self(Arc::new(Inner { name, folder, tokens, encoder, quantized, pool, how, running })))
    }

    /// How it is used: by the files of its folder, or else as its family.
    pub fn how(&self) -> EmbedderUse {
        self.0.how.clone()
    }
}

/// The layers as bytes, where they are asked for.
fn open_quantized(
    files: &Files,
    precision: Precision,
) -> Result<Option<QuantizedEncoder>, WeightsError> {
    if precision == Precision::F32 {
        return Ok(None);
    }
    let folder = files.graph.parent().unwrap_or(Path::new("."));
    if !files.exportable {
        return Err(WeightsError::NotQuantizable { path: folder.to_owned() });
    }
    let (config, weights) = open_weights(folder)?;
    Ok(Some(QuantizedEncoder::new(&config, &Checkpoint::open(&weights)?)?))
}

/// Loads the graph, making it first where it is missing or outdated.
fn open_encoder(files: &Files, precision: Precision) -> Result<Encoder, WeightsError> {
    if !files.wants_export() {
        let encoder = Encoder::open(&files.graph, precision)?;
        if !(encoder.is_outdated() && files.exportable) {
            return Ok(encoder);
        }
    }
    let folder = files.graph.parent().unwrap_or(Path::new("."));
    match weights::write_graph(folder) {
        Ok(graph) => Encoder::open(&graph, precision),
        Err(error @ WeightsError::Io { doing: "write", .. }) => {
            tracing::warn!(%error, "the graph cannot be stored and is made again at each start");
            let graph = weights::graph_in_memory(folder)?;
            Encoder::from_memory(graph, &files.graph, precision)
        }
        Err(error) => Err(error),
    }
}

/// Other encoders are named after their folder, and after their weights where they are known, so
/// that bases keep their vectors apart.
fn name_of(graph: &Path, weights_sum: Option<&str>) -> String {
    let folder = graph.parent().and_then(|folder| folder.canonicalize().ok());
    let name = folder.as_deref().and_then(Path::file_name);
    let name = name.map_or_else(|| NAME.into(), |name| name.to_string_lossy());
    match weights_sum.and_then(|sum| sum.get(..SUM_SHOWN)) {
        Some(sum) => format!("{name}#{sum}"),
        None => name.into_owned(),
    }
}

/// Follows the name of a model whose vectors are not made of the tokens that its family is known
/// for.
fn suffix(pooling: Pooling) -> &'static str {
    match pooling {
        Pooling::Mean => "-mean",
        Pooling::First => "-first",
        Pooling::Last => "-last",
    }
}

impl Inner {
    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, LlmError> {
        let refused = |reason| LlmError::refused(format!("{} cannot embed: {reason}", self.name));
        let ids: Result<Vec<_>, _> = texts.iter().map(|text| self.tokens.ids(text)).collect();
        let ids = ids.map_err(|error| refused(error.to_string()))?;
        if let Some(quantized) = &self.quantized {
            return self.embed_quantized(quantized, &ids).map_err(refused);
        }
        let lengths: Vec<usize> = ids.iter().map(|ids| self.tokens.padded(ids.len())).collect();
        let embed = |run: &[usize], pool: &_| {
            let texts: Vec<&[u32]> = run.iter().map(|&index| ids[index].as_slice()).collect();
            let length = run.first().map_or(0, |&index| lengths[index]);
            self.encoder.run(&texts, length, self.how.pooling, pool)
        };
        self.pool.run_alike(&lengths, embed).map_err(refused)
    }

    fn embed_quantized(
        &self,
        quantized: &QuantizedEncoder,
        ids: &[Vec<u32>],
    ) -> Result<Vec<Vector>, String> {
        let lengths: Vec<usize> = ids.iter().map(Vec::len).collect();
        self.pool.run_singly(&lengths, |text, pool| {
            let words = self.encoder.words(&ids[text], pool)?;
            let states = pool.run(|| quantized.states(words, ids[text].len()));
            Ok(pooled(&states, quantized.hidden(), self.how.pooling))
        })
    }
}

#[async_trait]
impl Embedder for MiniLm {
    fn model(&self) -> &str {
        &self.0.name
    }

    async fn embed(&self, texts: &[&str], _: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let inner = Arc::clone(&self.0);
        self.0.running.run(move || inner.embed(&texts)).await
    }
}
