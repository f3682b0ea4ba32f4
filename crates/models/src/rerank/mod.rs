//! Rerankers: a server, a cross-encoder from a file, or the embedder's cosine where there is
//! neither.
mod cosine;
mod endpoint;
mod onnx;
mod settings;

use std::sync::Arc;

use halma_core::{ConfigError, Embedder, Reranker};
use halma_net::address::wrong;
use halma_net::{Endpoint, Limits};

pub use cosine::Cosine;
use endpoint::{Batched, EndpointReranker};
pub use onnx::CrossEncoder;
pub use settings::{RerankShape, RerankerKind, RerankerSettings};

use crate::called::Called;

/// The reranker as configured; none for `none`, and for `cosine` without an embedder. `key` is what
/// the variable `key_env` holds. The error's `file` is left empty for the caller that read the
/// configuration.
pub fn reranker(
    settings: &RerankerSettings,
    key: Option<String>,
    embedder: Option<&Arc<dyn Embedder>>,
) -> Result<Option<Arc<dyn Reranker>>, ConfigError> {
    match settings.kind {
        RerankerKind::None => Ok(None),
        RerankerKind::Cosine => {
            let cosine = embedder.map(|embedder| Cosine::new(Arc::clone(embedder)));
            Ok(cosine.map(|cosine| Arc::new(cosine) as Arc<dyn Reranker>))
        }
        RerankerKind::Endpoint => {
            if settings.batch == 0 {
                let hint = "give a number above zero, 32 for instance, or delete the line";
                return Err(wrong("batch", "no text could ever be scored with `0`", hint));
            }
            let (url, model) = (settings.url.clone(), settings.model.clone());
            let endpoint = Endpoint { url, model, key, ..Endpoint::default() };
            let policy = Limits::default().policy()?;
            let inner: Arc<dyn Reranker> =
                Arc::new(EndpointReranker::new(endpoint, settings.shape)?);
            let inner = Arc::new(Called { policy, inner });
            let (batch, logits) = (settings.batch, settings.logits);
            Ok(Some(Arc::new(Batched { inner, batch, logits })))
        }
        RerankerKind::Onnx => {
            let hint = "point it at a folder with model.onnx, tokenizer.json and config.json";
            let path = settings.path.as_deref();
            let path = path.ok_or_else(|| wrong("path", "it is not set", hint))?;
            let model = CrossEncoder::open(path, settings.label.as_deref(), None);
            let model = model.map_err(|e| wrong("path", &e.to_string(), hint))?;
            Ok(Some(Arc::new(model)))
        }
    }
}

/// A logit as a probability.
fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}
