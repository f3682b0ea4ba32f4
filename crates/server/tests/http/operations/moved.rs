//! A base whose folder is moved away while it is served.
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, question};

#[tokio::test(flavor = "multi_thread")]
async fn a_base_that_is_moved_away_is_reported_as_gone_until_it_is_back() {
    let world = World::start().await;
    let dir = world.dir.path().to_owned();
    let away = dir.with_extension("away");
    std::fs::rename(&dir, &away).unwrap();
    let gone = "the folder of the base, or a file in it, is gone";
    let asked = world.post("/api/v1/ask", &question()).await;
    let (status, problem) = (asked.status(), asked.json::<Value>().await.unwrap());
    let params = json!({"name": "search", "arguments": {"query": "lighthouse"}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let request = world.request(Method::POST, "/mcp").header("accept", "application/json");
    let called = request.json(&call).send().await.unwrap().text().await.unwrap();
    let (kind, form) = crate::world::form(&[("new.md", b"A new text.")]);
    let request = world.request(Method::POST, "/api/v1/documents").header("content-type", kind);
    let uploaded = request.body(form).send().await.unwrap().text().await.unwrap();
    let mut ready = Value::Null;
    for _ in 0..200 {
        ready = world.get("/api/v1/ready").await.json().await.unwrap();
        if ready["store"] == false {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    std::fs::rename(&away, &dir).unwrap();
    assert_eq!(status, 503, "{problem}");
    for said in [problem.to_string(), called, uploaded] {
        assert!(said.contains(gone) && !said.contains(dir.to_str().unwrap()), "{said}");
    }
    assert_eq!((&ready["ready"], &ready["store"]), (&json!(false), &json!(false)));
    assert_eq!(world.post_json("/api/v1/ask", &question()).await["answer"]["text"], "1871");
    world.stop().await;
}
