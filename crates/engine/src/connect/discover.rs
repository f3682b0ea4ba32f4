//! Model servers on this machine, at the ports that they usually listen on.
use std::time::Duration;

use futures::future::join_all;
use halma_net::Service;
use serde::Serialize;
use serde_json::Value;

/// A server that works lists its models at once; all are asked concurrently.
const TIMEOUT: Duration = Duration::from_millis(1200);

/// Models of one server that are listed, and characters of a name: another program may use the port.
const MAX_MODELS: usize = 200;
const MAX_NAME_BYTES: usize = 300;

/// A program that serves models, and the port of loopback where it is looked for.
#[derive(Debug, Clone, Copy)]
pub struct LocalServer {
    pub kind: &'static str,
    pub port: u16,
}

/// Where servers are looked for: the default port of each program.
pub const LOCAL_SERVERS: [LocalServer; 4] = [
    LocalServer { kind: "Ollama", port: 11434 },
    LocalServer { kind: "llama.cpp", port: 8080 },
    LocalServer { kind: "LM Studio", port: 1234 },
    LocalServer { kind: "vLLM", port: 8000 },
];

/// How programs name themselves in the field `owned_by` of a model.
const OWNERS: [(&str, &str); 4] = [
    ("library", "Ollama"),
    ("llamacpp", "llama.cpp"),
    ("organization_owner", "LM Studio"),
    ("vllm", "vLLM"),
];

/// A server with an OpenAI-compatible list of models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ModelServer {
    /// The program, as far as it is known: `Ollama`, `llama.cpp`, `LM Studio`, `vLLM`.
    pub kind: String,
    /// The base of its API.
    pub url: String,
    /// It is loading its model and does not list it yet.
    pub loading: bool,
    pub models: Vec<ServedModel>,
}

/// A chat model of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ServedModel {
    pub name: String,
    /// Tokens of prompt and reply together, where the server says it.
    pub context: Option<u64>,
}

/// Asks each port of loopback for its models, within 1.2 s in all. A port where no model server
/// replies is left out.
pub async fn discover(servers: &[LocalServer]) -> Vec<ModelServer> {
    let replies = servers.iter().map(|server| async {
        list_models(&format!("http://127.0.0.1:{}/v1", server.port), server.kind).await.ok()
    });
    join_all(replies).await.into_iter().flatten().collect()
}

/// The models of the server at `url`, the base of its API. The error says why they are not known.
pub(super) async fn list_models(url: &str, usual_kind: &str) -> Result<ModelServer, String> {
    let service = Service::new(url, TIMEOUT).map_err(|e| e.reason)?;
    let response = service.get("/models").await?;
    let body: Value = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
    let server = |kind: &str, loading, models| {
        let url = url.trim_end_matches('/').to_owned();
        ModelServer { kind: kind.to_owned(), url, loading, models }
    };
    if response.status() == 503 && body["error"]["message"] == "Loading model" {
        return Ok(server("llama.cpp", true, vec![]));
    }
    let list = body["data"].as_array().filter(|_| response.status().is_success());
    let list = list.ok_or_else(|| format!("it lists no models (status {})", response.status()))?;
    let owner = list.first().and_then(|model| model["owned_by"].as_str());
    let owner_kind = OWNERS.iter().find(|(name, _)| owner == Some(name)).map(|(_, kind)| *kind);
    let models = list.iter().filter_map(chat_model).take(MAX_MODELS).collect();
    Ok(server(owner_kind.unwrap_or(usual_kind), false, models))
}

/// An entry of a list, unless it is an embedder or not a model.
fn chat_model(entry: &Value) -> Option<ServedModel> {
    let name = entry["id"].as_str().filter(|name| {
        name.len() <= MAX_NAME_BYTES && !name.contains(char::is_control) && !name.contains("embed")
    })?;
    let context = [&entry["meta"]["n_ctx"], &entry["max_model_len"], &entry["context_length"]];
    let context = context.into_iter().find_map(Value::as_u64);
    Some(ServedModel { name: name.to_owned(), context })
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use halma_testkit::double::{Behaviour, Double};

    use super::*;

    /// Replies to one request, and its port.
    fn reply_once(status: &str, body: &str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let length = body.len();
        let reply = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            stream.write_all(reply.as_bytes()).unwrap();
        });
        port
    }

    async fn server_at(port: u16) -> Option<ModelServer> {
        discover(&[LocalServer { kind: "LM Studio", port }]).await.pop()
    }

    #[tokio::test]
    async fn servers_are_listed_with_their_chat_models() {
        let llama = r#"{"data":[{"id":"q.gguf","owned_by":"llamacpp","meta":{"n_ctx":2048}},
            {"id":"nomic-embed-text"},{"id":7},{"id":"a\u001bb"}]}"#;
        let server = server_at(reply_once("200 OK", llama)).await.unwrap();
        assert_eq!((server.kind.as_str(), server.loading), ("llama.cpp", false));
        let model = ServedModel { name: "q.gguf".into(), context: Some(2048) };
        assert_eq!(server.models, [model]);
        let double = Double::start(Behaviour::default());
        let port = double.url().rsplit(':').next().unwrap().trim_end_matches("/v1").parse();
        let server = server_at(port.unwrap()).await.unwrap();
        assert_eq!((server.kind.as_str(), server.url), ("LM Studio", double.url()));
        assert_eq!(server.models[0].name, "double");
    }

    #[tokio::test]
    async fn a_server_that_loads_is_listed_and_other_programs_are_not() {
        let loading = r#"{"error":{"message":"Loading model","code":503}}"#;
        assert!(server_at(reply_once("503 Service Unavailable", loading)).await.unwrap().loading);
        for body in ["<html>a page</html>", r#"{"data":3}"#, "[]", ""] {
            assert_eq!(server_at(reply_once("200 OK", body)).await, None, "{body}");
        }
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        assert_eq!(server_at(closed).await, None);
        // Accepts and never replies.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(server_at(silent.local_addr().unwrap().port()).await, None);
    }
}
