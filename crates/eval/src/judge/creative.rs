//! Rating a creative answer (PIKE-RAG's L4) by its five criteria.
use std::collections::BTreeMap;

use halma_core::{Cx, Prompt, Result, parse_json};
use minijinja::context;
use serde::Deserialize;
use serde_json::Value;

use crate::metrics::{CREATIVE, Rubric};

const CREATIVE_ANSWER: Prompt<Rubric> = Prompt {
    name: "judge/creative",
    parse: |reply| parse_json::<Rated>(reply).and_then(|rated| points(&rated)),
};

/// The criteria next to anything else the judge wrote.
#[derive(Deserialize)]
struct Rated(BTreeMap<String, Value>);

/// The judge's points for an answer, each from 1 to 5.
///
/// # Errors
///
/// A reply without five such points is asked for again, then [`halma_core::Error::BadReply`].
pub async fn rate(cx: &Cx, question: &str, answer: &str) -> Result<Rubric> {
    cx.span("rate").ask(&CREATIVE_ANSWER, context! { question, answer }).await
}

fn points(rated: &Rated) -> std::result::Result<Rubric, String> {
    let mut rubric = Rubric::default();
    for name in CREATIVE {
        let value = rated.0.get(name).ok_or_else(|| format!("missing field `{name}`"))?;
        let points = value.as_u64().filter(|points| (1..=5).contains(points));
        let points = points.and_then(|points| u8::try_from(points).ok());
        let points = points.ok_or_else(|| format!("`{name}` is not a whole number from 1 to 5"))?;
        rubric.0.insert(name.to_owned(), points);
    }
    Ok(rubric)
}
