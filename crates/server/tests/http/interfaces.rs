//! What programs of all kinds send: paths that they look for, headers of browsers, fields that are
//! `null`, numbers written as texts.
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Setup, World, config, good, question};

#[tokio::test(flavor = "multi_thread")]
async fn programs_that_look_for_a_path_that_is_not_there_are_told_so() {
    let world = World::start().await;
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    for (path, accept, status) in [
        ("/.well-known/oauth-protected-resource", "*/*", 404),
        ("/.well-known/oauth-protected-resource/mcp", "application/json", 404),
        ("/.well-known/oauth-authorization-server", html, 404),
        ("/api", html, 404),
        ("/metrics/x", "*/*", 404),
        ("/v2/models", "*/*", 404),
        ("/library.json", html, 404),
        ("/nothing", html, 404),
        ("/library", "application/json", 404),
        ("/library", html, 200),
        ("/runs/abc", "text/*", 200),
        ("/knowledge/document/a.md", "*/*", 200),
        ("/", "*/*", 200),
    ] {
        let request = world.request(Method::GET, path).header("accept", accept);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), status, "{path} {accept}");
        let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
        let expected = if status == 404 { "application/problem+json" } else { "text/html" };
        assert!(kind.starts_with(expected), "{path} {accept}: {kind}");
    }
    let register = world.post("/register", &json!({"client_name": "agent"})).await;
    assert_eq!(register.status(), 404);
    for path in ["/health", "/healthz"] {
        assert_eq!(world.get_json(path).await["status"], "ok", "{path}");
    }
    for path in ["/v1", "/v1/"] {
        assert_eq!(world.get_json(path).await["interface"], "OpenAI API", "{path}");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_an_allowed_origin_may_send_and_read_what_their_clients_need() {
    let mut config = config();
    config.serve.cors_origins = vec!["https://chat.example".into()];
    let world = World::with(Setup { config, library: true }).await;
    let preflight = async |path: &str, origin: &str, headers: &str| {
        let request = world.request(Method::OPTIONS, path).header("origin", origin);
        let request = request.header("access-control-request-method", "POST");
        let request = request.header("access-control-request-headers", headers);
        let response = request.send().await.unwrap();
        let allowed = response.headers().get("access-control-allow-headers");
        let origin = response.headers().get("access-control-allow-origin");
        let allowed = allowed.filter(|_| origin.is_some());
        allowed.map_or(String::new(), |allowed| allowed.to_str().unwrap().to_owned())
    };
    for (path, headers) in [
        ("/v1/chat/completions", "authorization,content-type,x-stainless-os,x-stainless-timeout"),
        ("/v1/embeddings", "authorization,openai-organization,openai-project,openai-beta"),
        ("/mcp", "content-type,mcp-protocol-version,mcp-session-id,last-event-id"),
        ("/api/v1/ask", "authorization,x-halma-workspace,x-request-id,traceparent"),
    ] {
        assert_eq!(preflight(path, "https://chat.example", headers).await, headers);
        assert_eq!(preflight(path, "https://evil.example", headers).await, "");
    }
    let ask = world.request(Method::POST, "/api/v1/ask").header("origin", "https://chat.example");
    let response = ask.json(&question()).send().await.unwrap();
    let exposed = response.headers()["access-control-expose-headers"].to_str().unwrap();
    for header in ["x-request-id", "retry-after", "mcp-session-id"] {
        assert!(exposed.contains(header), "{exposed}");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_are_null_are_taken_as_not_sent_in_every_interface() {
    let world = World::start().await;
    let messages = json!([{"role": "user", "content": "Who designed Orrin Light?", "name": null}]);
    let chat = json!({"model": "halma-naive", "messages": messages, "stream": null, "n": null,
        "tools": null, "stop": null, "stream_options": {"include_usage": null}, "filter": null});
    let reply = world.post_json("/v1/chat/completions", &chat).await;
    assert_eq!(reply["object"], "chat.completion");
    let mut ask = question();
    for field in ["history", "stream", "settings", "options", "budget", "filter"] {
        ask[field] = Value::Null;
    }
    assert_eq!(world.post_json("/api/v1/ask", &ask).await["answer"]["text"], "1871");
    let build = json!({"uploads": null, "rebuild": null});
    let build = world.post_json("/api/v1/builds", &build).await;
    world.wait_for_build(build["id"].as_str().unwrap()).await;
    for (path, body, message) in [
        ("/api/v1/ask", json!({"question": null}), "`question` is required"),
        (
            "/v1/chat/completions",
            json!({"model": "halma", "messages": null}),
            "`messages` is required",
        ),
        ("/v1/embeddings", json!({"input": null}), "`input` is required"),
    ] {
        let response = world.post(path, &body).await;
        assert_eq!(response.status(), 422, "{path}");
        let error: Value = response.json().await.unwrap();
        let said = error["detail"].as_str().or(error["error"]["message"].as_str()).unwrap();
        assert!(said.starts_with(message), "{path}: {said}");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_in_bodies_and_queries_have_no_words_of_the_parser() {
    let world = World::start().await;
    let post = async |path: &str, body: &str| {
        let request = world.request(Method::POST, path).header("content-type", "application/json");
        request.body(body.to_owned()).send().await.unwrap().text().await.unwrap()
    };
    for (path, body, message) in [
        (
            "/api/v1/ask",
            r#"{"quesion": "Who?"}"#,
            "unknown field `quesion`; did you mean `question`?",
        ),
        ("/api/v1/ask", r#"{"question": "Who?","#, "the body is not valid JSON: line 1, column 20"),
        ("/api/v1/ask", "", "the body is not valid JSON: line 1, column 0"),
        (
            "/api/v1/search",
            r#"{"text": "a", "limit": 3.5}"#,
            "`limit` must be a whole number, not `3.5`",
        ),
        ("/api/v1/search", r#"{"text": "a", "mode": "best"}"#, "`mode` must be one of `"),
        (
            "/v1/chat/completions",
            r#"{"model": 3, "messages": []}"#,
            "`model` must be a text, not `3`",
        ),
        (
            "/v1/chat/completions",
            r#"{"model": "halma", "messages": [{}]}"#,
            "`messages[0].role` is required",
        ),
        ("/v1/embeddings", r#"{"input": 3}"#, "`input`: expected a text or a list of texts"),
        ("/api/v1/sql", "[]", "a JSON object is expected"),
    ] {
        let said = post(path, body).await;
        assert!(said.contains(message), "{path} {body}: {said}");
        for word in ["usize", "deserialize", "invalid type", "missing field", "struct", "EOF"] {
            assert!(!said.contains(word), "{path} {body}: {said}");
        }
    }
    for (path, message) in [
        ("/api/v1/documents?limit=many", "`limit`: it must be a whole number"),
        ("/api/v1/documents?limit=", "`limit`: it must be a whole number"),
        ("/api/v1/documents?limt=3", "unknown field `limt`; did you mean `limit`?"),
        ("/api/v1/documents?state=new", "`state` must be one of `indexed`"),
    ] {
        let said = world.get(path).await.json::<Value>().await.unwrap();
        assert!(said["detail"].as_str().unwrap().starts_with(message), "{path}: {said}");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_answered_whatever_they_accept() {
    let world = World::start().await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    for (accept, kind) in [
        (None, "text/event-stream"),
        (Some("*/*"), "text/event-stream"),
        (Some("application/*"), "application/json"),
        (Some("application/json"), "application/json"),
        (Some("text/event-stream;q=0.5, application/json"), "text/event-stream"),
        (Some("text/event-stream;q=0, application/json"), "application/json"),
        (Some("Application/JSON;q=0.9"), "application/json"),
        (Some("text/event-stream"), "text/event-stream"),
    ] {
        let body = list.to_string();
        let accept_line = accept.map_or(String::new(), |accept| format!("accept: {accept}\r\n"));
        let host = world.url.trim_start_matches("http://").to_owned();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{accept_line}content-type: \
             application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        // Not with a client that adds the header itself.
        let reply = tokio::task::spawn_blocking(move || {
            use std::io::{Read as _, Write as _};
            let mut stream = std::net::TcpStream::connect(host).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            let mut reply = String::new();
            stream.read_to_string(&mut reply).unwrap();
            reply
        });
        let reply = reply.await.unwrap().to_lowercase();
        assert!(reply.starts_with("http/1.1 200"), "{accept:?}: {reply}");
        assert!(reply.contains(&format!("content-type: {kind}")), "{accept:?}: {reply}");
        assert!(reply.contains("read_document"), "{accept:?}: {reply}");
    }
    let request = world.request(Method::POST, "/mcp").header("accept", "image/png").json(&list);
    assert_eq!(request.send().await.unwrap().status(), 406);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_may_write_numbers_as_texts_and_leave_fields_null() {
    let world = World::start().await;
    let call = async |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let request = world.request(Method::POST, "/mcp").header("accept", "application/json");
        good(request.json(&call).send().await.unwrap()).await["result"].take()
    };
    for limit in [json!("2"), json!(2.0), json!(2), json!("2.0")] {
        let found = call("search", json!({"query": "Orrin", "limit": limit})).await;
        assert_eq!(found["structuredContent"]["hits"].as_array().unwrap().len(), 2, "{limit}");
    }
    let read = json!({"document": "people/tarrant.md", "start": "2", "end": "13"});
    assert_eq!(call("read_document", read).await["content"][0]["text"], "Ada Tarrant");
    let ask = json!({"question": question()["question"], "history": null, "budget": null});
    assert_eq!(call("ask", ask).await["structuredContent"]["answer"]["text"], "1871");
    for (arguments, message) in [
        (json!({"query": "a", "limit": 3.5}), "`limit` must be a whole number, not `3.5`"),
        (json!({"query": "a", "limit": "3.5"}), "`limit` must be a whole number, not `3.5`"),
        (json!({"query": "a", "limit": "many"}), "`limit` must be a whole number, not \"many\""),
        (json!({"query": null}), "`query` is required"),
        (json!({"qery": "a"}), "unknown field `qery`; did you mean `query`?"),
    ] {
        let refused = call("search", arguments).await;
        assert_eq!(refused["isError"], true, "{refused}");
        let said = refused["content"][0]["text"].as_str().unwrap();
        assert!(said.starts_with(message), "{said}");
    }
    world.stop().await;
}
