//! Calls of the embedder: in batches, and with vectors that fit each other.
use halma_core::{EmbedRole, Embedder, Vector};

use crate::KbError;

/// Vectors that have other dimensions than those that the base has of the embedder.
pub(crate) fn other_dimensions(model: &str, dimensions: usize, stored: usize) -> KbError {
    KbError::OtherDimensions { model: model.to_owned(), dimensions, stored }
}

/// Texts sent in one call.
pub(crate) const BATCH: usize = 128;

/// The vectors of texts that go into one call; each has the same length and finite numbers.
pub(crate) async fn embed_once(
    embedder: &dyn Embedder,
    texts: &[&str],
    role: EmbedRole,
) -> Result<Vec<Vector>, KbError> {
    embed_once_about(embedder, texts, role, &[]).await
}

/// [`embed_once`] of texts of these documents, if they are known.
pub(crate) async fn embed_once_about(
    embedder: &dyn Embedder,
    texts: &[&str],
    role: EmbedRole,
    about: &[String],
) -> Result<Vec<Vector>, KbError> {
    let model = || embedder.model().to_owned();
    let vectors = embedder.embed_about(texts, role, about).await;
    let vectors = vectors.map_err(|source| KbError::Embed { model: model(), source })?;
    let length = vectors.first().map_or(0, Vec::len);
    let sound = |v: &Vector| v.len() == length && v.iter().all(|x| x.is_finite());
    if vectors.len() == texts.len() && length > 0 && vectors.iter().all(sound) {
        return Ok(vectors);
    }
    Err(KbError::BadVectors { model: model(), requested: texts.len(), got: vectors.len() })
}

/// The vectors of any number of texts, in order.
pub(crate) async fn embed_texts(
    embedder: &dyn Embedder,
    texts: &[&str],
    role: EmbedRole,
) -> Result<Vec<Vector>, KbError> {
    let mut vectors = Vec::with_capacity(texts.len());
    for batch in texts.chunks(BATCH) {
        vectors.extend(embed_once(embedder, batch, role).await?);
    }
    Ok(vectors)
}
