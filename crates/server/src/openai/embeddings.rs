//! `POST /v1/embeddings`: vectors from the configured embedder.
use axum::Json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::MayAskDocuments;
use crate::json::JsonBody;
use crate::limits::bounds;
use crate::problem::Problem;

#[derive(Deserialize, ToSchema)]
pub(crate) struct EmbeddingRequest {
    /// A text or a list of texts.
    #[schema(value_type = Value)]
    input: Input,
    /// Ignored; the configured embedder is always used.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    model: Value,
    /// `float` (default) or `base64`.
    encoding_format: Option<String>,
    /// The length of the embedder's vectors, if it is given: they are not shortened.
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
enum Input {
    One(String),
    Many(Vec<String>),
}

#[derive(Serialize, ToSchema)]
pub(crate) struct EmbeddingResponse {
    /// `list`.
    object: &'static str,
    /// {object: "embedding", index, embedding}
    data: Vec<Value>,
    model: String,
    usage: Value,
}

/// Embed texts.
#[utoipa::path(post, path = "/v1/embeddings", tag = "openai", request_body = EmbeddingRequest,
    responses((status = 200, body = EmbeddingResponse), (status = 422, body = Problem)))]
pub(crate) async fn embeddings(
    MayAskDocuments(caller): MayAskDocuments,
    JsonBody(request): JsonBody<EmbeddingRequest>,
) -> Result<Json<EmbeddingResponse>, Problem> {
    let texts = match request.input {
        Input::One(text) => vec![text],
        Input::Many(texts) => texts,
    };
    bounds::embedded(&texts)?;
    let base64 = match request.encoding_format.as_deref() {
        None | Some("float") => false,
        Some("base64") => true,
        Some(_) => return Err(Problem::unfit("`encoding_format` must be `float` or `base64`")),
    };
    let _ = request.model;
    let engine = caller.workspace.engine();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = caller.workspace.models.run_async(engine.embed(&texts)).await??;
    let length = vectors.first().map_or(0, Vec::len);
    if let Some(dimensions) = request.dimensions.filter(|dimensions| *dimensions != length) {
        let detail = format!("`dimensions` is {dimensions}, and vectors here have {length}");
        return Err(Problem::unfit(detail).hint("omit `dimensions`"));
    }
    let encode = |vector: &[f32]| {
        let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
        json!(STANDARD.encode(bytes))
    };
    let item = |(index, vector): (usize, &Vec<f32>)| {
        let embedding = if base64 { encode(vector) } else { json!(vector) };
        json!({"object": "embedding", "index": index, "embedding": embedding})
    };
    // Estimated at four characters per token.
    let tokens: u64 = texts.iter().map(|text| text.len() as u64 / 4 + 1).sum();
    Ok(Json(EmbeddingResponse {
        object: "list",
        data: vectors.iter().enumerate().map(item).collect(),
        model: engine.embedder().map_or("", |embedder| embedder.model()).to_owned(),
        usage: json!({"prompt_tokens": tokens, "total_tokens": tokens}),
    }))
}
