//! `POST /v1/embeddings`: vectors by the embedder of the base.
use axum::Json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::MayAsk;
use crate::json::Body;
use crate::problem::Problem;

/// Texts of one request at most.
const MOST: usize = 2_048;

#[derive(Deserialize, ToSchema)]
pub(crate) struct Embed {
    /// A text or a list of texts.
    #[schema(value_type = Object)]
    input: Input,
    /// The embedder that is configured is used, whatever stands here.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    model: Value,
    /// `float` (default) or `base64`.
    #[serde(default)]
    encoding_format: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Input {
    One(String),
    Many(Vec<String>),
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Embedded {
    /// `list`.
    object: &'static str,
    /// {object: "embedding", index, embedding}
    data: Vec<Value>,
    model: String,
    usage: Value,
}

/// Vectors of texts.
#[utoipa::path(post, path = "/v1/embeddings", tag = "openai", request_body = Embed,
    responses((status = 200, body = Embedded), (status = 422, body = Problem)))]
pub(crate) async fn embeddings(
    MayAsk(caller): MayAsk,
    Body(asked): Body<Embed>,
) -> Result<Json<Embedded>, Problem> {
    let texts = match asked.input {
        Input::One(text) => vec![text],
        Input::Many(texts) => texts,
    };
    if texts.is_empty() || texts.len() > MOST || texts.iter().any(|text| text.trim().is_empty()) {
        return Err(Problem::unfit(format!("`input` is 1 to {MOST} texts, none of them empty")));
    }
    let base64 = match asked.encoding_format.as_deref() {
        None | Some("float") => false,
        Some("base64") => true,
        Some(_) => return Err(Problem::unfit("`encoding_format` is `float` or `base64`")),
    };
    let _ = asked.model;
    let engine = caller.workspace.engine();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = engine.embed(&texts).await?;
    let encoded = |vector: &[f32]| {
        let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
        json!(STANDARD.encode(bytes))
    };
    let one = |(index, vector): (usize, &Vec<f32>)| {
        let embedding = if base64 { encoded(vector) } else { json!(vector) };
        json!({"object": "embedding", "index": index, "embedding": embedding})
    };
    // Four characters a token, the usual rule of thumb.
    let tokens: u64 = texts.iter().map(|text| text.len() as u64 / 4 + 1).sum();
    Ok(Json(Embedded {
        object: "list",
        data: vectors.iter().enumerate().map(one).collect(),
        model: engine.embedder().map_or("", |embedder| embedder.model()).to_owned(),
        usage: json!({"prompt_tokens": tokens, "total_tokens": tokens}),
    }))
}
