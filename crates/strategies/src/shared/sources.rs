//! Passages near a text, from the base and from other sources of texts, for the baselines that the
//! papers give sources to.
use futures::future::try_join_all;
use halma_core::{Cx, Error, Hit, Layer, MinScore, Mode, Query, Result};

use crate::shared::steps::{chunks_of, unseen};

/// The base among the sources.
pub(crate) const TEXT: &str = "text";

/// The base alone.
pub(crate) fn text_alone() -> Vec<String> {
    vec![TEXT.to_owned()]
}

/// What each source has for a text, source by source; one that fails is in the trace and gone
/// without.
pub(crate) async fn passages(
    sources: &[String],
    near: &Near,
    text: &str,
    cx: &Cx,
) -> Result<Vec<Hit>> {
    let of_source = |name: &'_ String| {
        let name = name.clone();
        async move {
            if name == TEXT {
                return near.to(text, &[], cx).await;
            }
            match cx.source(&name, text, near.chunks).await {
                Err(Error::Source { .. }) => Ok(vec![]),
                hits => hits,
            }
        }
    };
    Ok(unseen(try_join_all(sources.iter().map(of_source)).await?, &[]))
}

/// How chunks are searched for.
pub(crate) struct Near {
    /// At most this many new chunks for one text.
    pub(crate) chunks: usize,
    /// Atoms searched for in addition, whose chunks are added (PIKE-RAG's H-R); 0 for none.
    pub(crate) atoms: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Near {
    /// Chunks near a text that are not held already, nearest first; then those of atoms.
    pub(crate) async fn to(&self, text: &str, context: &[Hit], cx: &Cx) -> Result<Vec<Hit>> {
        let mut hits = self.layer(Layer::Chunk, self.chunks, text, (context, &[]), cx).await?;
        if self.atoms > 0 {
            let atoms = self.layer(Layer::Atom, self.atoms, text, (context, &hits), cx).await?;
            hits.extend(chunks_of(&atoms, cx).await?);
        }
        Ok(hits)
    }

    /// Nodes of a layer near a text, but for those of `context` and `hits`.
    pub(crate) async fn layer(
        &self,
        layer: Layer,
        limit: usize,
        text: &str,
        (context, hits): (&[Hit], &[Hit]),
        cx: &Cx,
    ) -> Result<Vec<Hit>> {
        let query = Query {
            min_score: MinScore::from_setting(self.min_score),
            exclude: context.iter().chain(hits).map(|chunk| chunk.id.clone()).collect(),
            ..Query::new(vec![text.to_owned()], layer, self.mode, limit)
        };
        Ok(unseen(cx.search(&query).await?, context))
    }
}
