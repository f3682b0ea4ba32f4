//! Why the nodes of a layer cannot be compared by vectors, so that BM25 alone is searched.
use std::sync::atomic::Ordering;

use halma_core::Layer;

use crate::{Base, KbError};

/// Why a layer has no vectors that a search can compare.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoVectors {
    #[error("there is no embedder")]
    NoEmbedder,
    #[error(
        "the embedder does not understand the text of this base (of {queries} parts of passages it \
         finds {dense}, BM25 {bm25})"
    )]
    NotUnderstood { queries: u32, dense: u32, bm25: u32 },
    #[error("the base's vectors are of `{model}`, which is not open")]
    OtherEmbedder { model: String },
    #[error("the {} vectors are being made by a build that is running", .layer.name())]
    BeingBuilt { layer: Layer },
    #[error("the base has no {} vectors of `{model}`", .layer.name())]
    NotEmbedded { layer: Layer, model: String },
}

impl NoVectors {
    /// What makes vectors that can be compared.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoEmbedder => "configure an embedder under [embedder] and run `halma index`",
            Self::NotUnderstood { .. } => {
                "name an embedder for the language of the text and run `halma index --rebuild \
                 embedder`"
            }
            Self::OtherEmbedder { .. } => {
                "name that embedder under [embedder], or embed the base again with `halma index \
                 --rebuild embedder`"
            }
            Self::BeingBuilt { .. } => "wait for the build",
            Self::NotEmbedded { layer: Layer::Chunk | Layer::Atom, .. } => {
                "run `halma index` again to embed it"
            }
            Self::NotEmbedded { .. } => {
                "name the layer in `kb.vectors` and run `halma index --rebuild vectors`"
            }
        }
    }
}

impl Base {
    /// Why a layer that has nodes is not compared by vectors; `None` where it is, or where there is
    /// nothing to search.
    pub fn why_no_vectors(&self, layer: Layer) -> Result<Option<NoVectors>, KbError> {
        if self.space(layer)?.is_some() || self.store.read(|reader| reader.count(layer))? == 0 {
            return Ok(None);
        }
        let active = self.store.read(|reader| reader.active_embedder())?;
        let active = active.map(|(_, record)| record.model);
        if let Some(model) = active.filter(|model| self.opened(model).is_none()) {
            return Ok(Some(NoVectors::OtherEmbedder { model }));
        }
        if let Some(trust) = self.dense_trust()?.filter(|trust| !trust.are_compared()) {
            let (queries, dense, bm25) = (trust.queries, trust.dense, trust.bm25);
            return Ok(Some(NoVectors::NotUnderstood { queries, dense, bm25 }));
        }
        let Some(embedder) = &self.options.embedder else { return Ok(Some(NoVectors::NoEmbedder)) };
        let model = embedder.model().to_owned();
        let is_built = matches!(layer, Layer::Chunk | Layer::Atom) && self.is_being_built();
        let not_embedded = NoVectors::NotEmbedded { layer, model };
        Ok(Some(if is_built { NoVectors::BeingBuilt { layer } } else { not_embedded }))
    }

    /// Warns once that only BM25 is searched although an embedder is open or was used, unless there is
    /// nothing to search. That none is configured is the user's choice, and one that is missing is
    /// reported by the program that opens the base. The layers other than chunks and atoms are
    /// searched by BM25 in every base.
    pub(super) fn warn_lexical_only(&self, layer: Layer) -> Result<(), KbError> {
        if !matches!(layer, Layer::Chunk | Layer::Atom) || self.warned.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(reason) = self.why_no_vectors(layer)? else { return Ok(()) };
        if !self.warned.swap(true, Ordering::Relaxed) && reason != NoVectors::NoEmbedder {
            tracing::warn!("{reason}: only BM25 is searched; {}", reason.hint());
        }
        Ok(())
    }
}
