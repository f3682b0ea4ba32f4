//! Passages near a text, from the base and from other sources of texts, for the baselines that the
//! papers give sources to.
use futures::future::try_join_all;
use halma_core::{Cx, Error, Hit, Result};

use crate::shared::near::Near;
use crate::shared::steps::unseen;

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
                found => found,
            }
        }
    };
    Ok(unseen(try_join_all(sources.iter().map(of_source)).await?, &[]))
}
