//! The local embedder: a BERT sentence encoder, all-`MiniLM`-L6-v2 unless told otherwise, run on
//! the processor through rten.
mod checkpoint;
mod config;
mod encoder;
mod export;
mod fetch;
pub mod heads;
mod onnx;
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

pub use checkpoint::ExportError;
use encoder::Encoder;
pub use fetch::fetch;
use tokens::Tokens;
use weights::Files;
pub use weights::{NAME, WeightsError, cache_folder, locate};

use crate::embed::{EmbedderUse, Pooling};
use crate::onnx::{InferencePool, threads};

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
    pool: InferencePool,
    pooling: Pooling,
}

impl MiniLm {
    /// Opens the model in a folder (see [`locate`]), or an `.onnx` file next to its
    /// `tokenizer.json`. The first time, the ONNX graph is made from the weights and kept.
    ///
    /// `threads`: how many to compute with; all processors when `None`.
    pub fn open(path: &Path, threads: Option<usize>) -> Result<Self, WeightsError> {
        Self::open_pooled(path, threads, None)
    }

    /// [`MiniLm::open`] with another pooling than that of the model's family, which its folder
    /// names.
    pub fn open_pooled(
        path: &Path,
        threads: Option<usize>,
        pooling: Option<Pooling>,
    ) -> Result<Self, WeightsError> {
        let files = Files::at(path)?;
        // Either takes some 30 ms.
        let (tokens, encoder) = std::thread::scope(|scope| {
            let tokens = scope.spawn(|| Tokens::open(&files.tokenizer, files.positions()?));
            let encoder = open_encoder(&files);
            (tokens.join(), encoder)
        });
        let tokens = tokens.map_err(|_| WeightsError::Tokenizer {
            path: files.tokenizer.clone(),
            reason: "reading it panicked".to_owned(),
        })??;
        let encoder = encoder?;
        let name = match encoder.weights_sum() {
            Some(weights::PUBLISHED) => NAME.to_owned(),
            _ => name_of(&files.graph),
        };
        let pool = InferencePool::new(self::threads(threads));
        let pooling = pooling.unwrap_or_else(|| EmbedderUse::for_model(&name).pooling);
        let folder = files.graph.parent().unwrap_or(Path::new(".")).to_owned();
        Ok(Self(Arc::new(Inner { name, folder, tokens, encoder, pool, pooling })))
    }
}

/// Loads the graph, making it first where it is missing or outdated.
fn open_encoder(files: &Files) -> Result<Encoder, WeightsError> {
    if !files.wants_export() {
        let encoder = Encoder::open(&files.graph)?;
        if !(encoder.is_outdated() && files.exportable) {
            return Ok(encoder);
        }
    }
    let folder = files.graph.parent().unwrap_or(Path::new("."));
    match weights::write_graph(folder) {
        Ok(graph) => Encoder::open(&graph),
        Err(error @ WeightsError::Io { doing: "write", .. }) => {
            tracing::warn!(%error, "the graph is not kept and will be made again each time");
            Encoder::from_memory(weights::graph_in_memory(folder)?, &files.graph)
        }
        Err(error) => Err(error),
    }
}

/// Other encoders are named after their folder, so that bases keep their vectors apart.
fn name_of(graph: &Path) -> String {
    let folder = graph.parent().and_then(|folder| folder.canonicalize().ok());
    folder
        .as_deref()
        .and_then(Path::file_name)
        .map_or_else(|| NAME.to_owned(), |name| name.to_string_lossy().into_owned())
}

impl Inner {
    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, LlmError> {
        let refused = |reason| LlmError::refused(format!("{} cannot embed: {reason}", self.name));
        let ids: Result<Vec<_>, _> = texts.iter().map(|text| self.tokens.ids(text)).collect();
        let ids = ids.map_err(|error| refused(error.to_string()))?;
        let lengths: Vec<usize> = ids.iter().map(|ids| self.tokens.padded(ids.len())).collect();
        let embed = |run: &[usize], pool: &_| {
            let texts: Vec<&[u32]> = run.iter().map(|&index| ids[index].as_slice()).collect();
            let length = run.first().map_or(0, |&index| lengths[index]);
            self.encoder.run(&texts, (length, self.pooling), pool)
        };
        self.pool.run_alike(&lengths, embed).map_err(refused)
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
        let embedded = tokio::task::spawn_blocking(move || inner.embed(&texts)).await;
        embedded.map_err(|error| LlmError::refused(format!("embedding stopped: {error}")))?
    }
}
