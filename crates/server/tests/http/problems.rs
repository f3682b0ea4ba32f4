//! All errors have the same form.
use halma_server::Scope;
use halma_testkit::double::{Behaviour, Double, Failure};
use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::asking::with_model;
use crate::world::{Setup, World, config, question};

#[tokio::test(flavor = "multi_thread")]
async fn every_error_is_a_problem_with_the_request_s_id() {
    let mut config = config();
    // Less than a socket holds: the server answers before it has read all, and then closes.
    config.serve.max_body_bytes = 10_000;
    let world = World::with(Setup { config, library: true }).await;
    let json = "application/json";
    let ask = "/api/v1/ask";
    let long = "x".repeat(20_000);
    let invalid: &[(Method, &str, &str, &str, u16)] = &[
        (Method::GET, "/api/v1/nothing", "", "", 404),
        (Method::GET, "/api/v1/documents/nothing", "", "", 404),
        (Method::GET, "/api/v1/nodes/c-0000000000000000", "", "", 404),
        (Method::GET, "/api/v1/nodes/..%2f..%2fetc", "", "", 404),
        (Method::GET, "/api/v1/traces/..%2f..%2fstate.db", "", "", 404),
        (Method::GET, "/api/v1/documents?limit=many", "", "", 400),
        (Method::GET, "/api/v1/documents?colour=red", "", "", 400),
        (Method::GET, "/api/v1/documents?after=d-0000000000000000", "", "", 422),
        (Method::GET, "/api/v1/prompts/..%2f..%2fsecret", "", "", 404),
        (Method::GET, "/api/v1/evaluations/..%2f..", "", "", 404),
        (Method::GET, "/api/v1/tables/nothing", "", "", 404),
        (Method::PUT, ask, json, "{}", 405),
        (Method::POST, ask, json, "{", 400),
        (Method::POST, ask, json, "{}", 422),
        (Method::POST, ask, json, "[1]", 422),
        (Method::POST, ask, json, r#"{"question": "Who?", "nonsense": 1}"#, 422),
        (Method::POST, ask, json, r#"{"question": " "}"#, 422),
        (Method::POST, ask, json, r#"{"question": "Who?", "strategy": "none"}"#, 422),
        (Method::POST, ask, json, r#"{"question": "Who?", "settings": {"none": 1}}"#, 422),
        (Method::POST, ask, json, r#"{"question": "Who?", "asked_at": "2024-02-31"}"#, 422),
        (Method::POST, ask, json, r#"{"question": "Who?", "asked_at": "yesterday"}"#, 422),
        (Method::POST, ask, "text/plain", r#"{"question": "Who?"}"#, 415),
        (Method::POST, ask, json, &long, 413),
        (Method::POST, "/api/v1/sql", json, r#"{"sql": "DROP TABLE towers"}"#, 422),
        (Method::POST, "/api/v1/sql", json, r#"{"sql": "SELECT nothing FROM towers"}"#, 422),
        (Method::POST, "/api/v1/search", json, r#"{"text": "a", "layer": "none"}"#, 422),
        (Method::POST, "/api/v1/search", json, r#"{"text": "a", "limit": 0}"#, 422),
        // There is no embedder.
        (Method::POST, "/api/v1/search", json, r#"{"text": "a", "mode": "dense"}"#, 422),
        (Method::GET, "/api/v1/traces?limit=0", "", "", 422),
        (
            Method::POST,
            ask,
            json,
            r#"{"question": "Who?", "history": [{"role": "foo", "text": "a"}]}"#,
            422,
        ),
        (
            Method::POST,
            "/api/v1/search",
            json,
            r#"{"text": "a", "filter": {"since": "2023-13"}}"#,
            422,
        ),
        (Method::POST, ask, json, r#"{"question": "Who?", "budget": {"usd": -1}}"#, 422),
        (Method::POST, "/api/v1/builds", json, r#"{"uploads": ["none.md"]}"#, 422),
        (Method::POST, "/api/v1/builds/x/pause", "", "", 404),
        (Method::POST, "/api/v1/workspaces", json, r#"{"name": "../x"}"#, 422),
        (Method::DELETE, "/api/v1/workspaces/default", "", "", 422),
        (Method::POST, "/api/v1/documents", json, "{}", 400),
        (Method::PUT, "/api/v1/prompts/naive/answer", json, r#"{"text": "{{ nothing }}"}"#, 422),
        (Method::POST, "/api/v1/models/none/test", "", "", 404),
    ];
    for (method, path, kind, body, status) in invalid {
        let mut request = world.request(method.clone(), path).header("x-request-id", "test-1");
        if !kind.is_empty() {
            request = request.header("content-type", *kind).body((*body).to_owned());
        }
        let response = request.send().await.unwrap();
        let case = format!("{method} {path} {}", &body[..body.len().min(60)]);
        assert_eq!(response.status().as_u16(), *status, "{case}");
        assert_eq!(response.headers()["content-type"], "application/problem+json", "{case}");
        assert_eq!(response.headers()["x-request-id"], "test-1", "{case}");
        let problem: Value = response.json().await.unwrap();
        assert_eq!(problem["status"], json!(status), "{case}");
        assert_eq!(problem["request_id"], "test-1", "{case}");
        for key in ["type", "title", "detail"] {
            assert!(!problem[key].as_str().unwrap().is_empty(), "{case}: {problem}");
        }
        let text = problem.to_string();
        assert!(!text.contains(world.dir.path().to_str().unwrap()), "{case}: {text}");
    }
    // A text is called as the client calls it.
    for (path, name) in
        [("/api/v1/ask", "question"), ("/api/v1/search", "text"), ("/api/v1/sql", "sql")]
    {
        let problem: Value =
            world.post(path, &serde_json::json!({name: " "})).await.json().await.unwrap();
        assert_eq!(problem["detail"], format!("`{name}`: it has no word or number"));
    }
    // It still answers, with the unchanged prompt.
    assert!(world.post("/api/v1/ask", &question()).await.status().is_success());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_server_is_and_says_is_for_administrators() {
    let double = Double::start(Behaviour::default());
    let mut setup = with_model(&double);
    setup.config.serve.shared_runs = true;
    let world = World::with(setup).await;
    double.fail(std::iter::repeat_with(|| Failure::Unauthorized).take(20));
    let ask = async |key: &str| {
        let request = world.request(Method::POST, "/api/v1/ask").bearer_auth(key);
        let response = request.json(&question()).send().await.unwrap();
        assert_eq!(response.status(), 502);
        response.text().await.unwrap()
    };
    let user = ask(&world.key(&[Scope::Ask], "default")).await;
    assert!(user.contains("model `double` failed") && !user.contains("key_env"), "{user}");
    let admin = world.key(&[Scope::Admin, Scope::Ask], "default");
    let administrator = ask(&admin).await;
    assert!(administrator.contains("key_env"), "{administrator}");
    // Nor is it in what is kept of the question, or streamed while it is answered.
    let key = world.key(&[Scope::Ask], "default");
    let read = async |path: &str, key: &str| {
        let request = world.request(Method::GET, path).bearer_auth(key);
        request.send().await.unwrap().text().await.unwrap()
    };
    let listed: Value = serde_json::from_str(&read("/api/v1/traces", &admin).await).unwrap();
    let trace = format!("/api/v1/traces/{}", listed["items"][0]["id"].as_str().unwrap());
    for path in ["/api/v1/traces", &trace] {
        assert!(read(path, &admin).await.contains("key_env"), "{path}");
        let shown = read(path, &key).await;
        assert!(shown.contains("model `double` failed") && !shown.contains("key_env"), "{shown}");
    }
    let mut streamed = question();
    streamed["stream"] = json!(true);
    let request = world.request(Method::POST, "/api/v1/ask").bearer_auth(&key).json(&streamed);
    let events = request.send().await.unwrap().text().await.unwrap();
    assert!(events.contains("model_call_failed") && !events.contains("key_env"), "{events}");
    world.stop().await;
}
