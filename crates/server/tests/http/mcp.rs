//! What agents send and expect, over HTTP.
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::world::{World, events};

async fn call(world: &World, method: &str, params: Value) -> Response {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    world
        .request(Method::POST, "/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-06-18")
        .json(&message)
        .send()
        .await
        .unwrap()
}

/// All messages of a reply, in order.
async fn messages(response: Response) -> Vec<Value> {
    let status = response.status();
    let text = response.text().await.unwrap();
    assert!(status.is_success(), "{status}: {text}");
    match serde_json::from_str(&text) {
        Ok(one) => vec![one],
        Err(_) => {
            events(&text).into_iter().map(|event| event.data).filter(Value::is_object).collect()
        }
    }
}

async fn tool(world: &World, name: &str, arguments: Value) -> Value {
    let params = json!({"name": name, "arguments": arguments});
    let mut messages = messages(call(world, "tools/call", params).await).await;
    messages.pop().unwrap()["result"].take()
}

#[tokio::test(flavor = "multi_thread")]
async fn passages_are_listed_where_there_is_no_answer() {
    let world = World::start().await;
    let question = json!({"question": "Why did Ada Tarrant leave Velby?"});
    let answered = tool(&world, "ask", question).await;
    let answer = &answered["structuredContent"]["answer"];
    assert_eq!(answer["kind"], "passages", "{answered}");
    assert_eq!(answer["text"], "");
    let text = answered["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("No answer was found. No language model is configured"), "{text}");
    let listed = "1. people/tarrant.md: “Ada Tarrant was born in Velby in 1840.”";
    assert!(text.contains(listed), "{text}");
    assert_eq!(answer["passages"][0]["source"]["document"], "people/tarrant.md");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_tools_are_listed_and_work() {
    let world = World::start().await;
    let begun = call(
        &world,
        "initialize",
        json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }),
    );
    let begun = messages(begun.await).await.pop().unwrap();
    assert_eq!(begun["result"]["serverInfo"]["name"], "halma", "{begun}");
    let listed = messages(call(&world, "tools/list", json!({})).await).await.pop().unwrap();
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 8);

    let question = json!({"question": "In which year was Orrin Light first lit?"});
    let answered = tool(&world, "ask", question).await;
    let text = answered["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Orrin Light was first lit in 1871 [1]."), "{answered}");
    let short =
        json!({"question": "In which year was Orrin Light first lit?", "answer_style": "short"});
    let short = tool(&world, "ask", short).await;
    assert!(short["content"][0]["text"].as_str().unwrap().starts_with("1871 [1]"), "{short}");
    let id = answered["structuredContent"]["id"].clone();
    let searched = tool(&world, "search", json!({"query": "lighthouse", "limit": 2})).await;
    assert_eq!(searched["structuredContent"]["hits"][0]["document"], "orrin.md");
    let matched = tool(&world, "grep", json!({"expression": "first lit in 18\\d\\d"})).await;
    assert_eq!(matched["structuredContent"]["hits"][0]["document"], "orrin.md", "{matched}");
    let read = json!({"document": "people/tarrant.md", "start": 2, "end": 13});
    let read = tool(&world, "read_document", read).await;
    assert_eq!(read["content"][0]["text"], "Ada Tarrant");
    let documents = tool(&world, "list_documents", json!({"query": "orrin"})).await;
    assert_eq!(documents["structuredContent"]["items"][0]["name"], "orrin.md");
    let dated = tool(&world, "entity_timeline", json!({"entity": "Orrin Light"})).await;
    let first = "1871: Orrin Light was first lit in 1871. (orrin.md)";
    assert!(dated["content"][0]["text"].as_str().unwrap().contains(first), "{dated}");
    let filter = json!({"documents": ["people/*"]});
    let none = json!({"entity": "Orrin Light", "filter": filter});
    let none = tool(&world, "entity_timeline", none).await;
    assert_eq!(none["structuredContent"]["events"], json!([]), "{none}");
    let mut explained = Value::Null;
    for _ in 0..100 {
        explained = tool(&world, "explain_answer", json!({"id": id})).await;
        if explained["isError"] != true {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(explained["content"][0]["text"].as_str().unwrap().contains("searched"), "{explained}");
    let said = json!({"id": id, "verdict": "right"});
    let given = tool(&world, "give_feedback", said).await;
    assert_eq!(given["structuredContent"]["verdict"], "right", "{given}");
    let wrong = tool(&world, "give_feedback", json!({"id": "none", "verdict": "wrong"})).await;
    assert_eq!(wrong["isError"], true, "{wrong}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_step_is_reported_before_the_answer() {
    let world = World::start().await;
    let params = json!({
        "name": "ask",
        "arguments": {"question": "Where was the designer of Orrin Light born?", "strategy": "kar3"},
        "_meta": {"progressToken": "t1"},
    });
    let messages = messages(call(&world, "tools/call", params).await).await;
    let (last, steps) = messages.split_last().unwrap();
    assert!(last["result"]["structuredContent"]["answer"].is_object(), "{last}");
    assert!(!steps.is_empty());
    let mut before = 0.0;
    for step in steps {
        assert_eq!(
            (&step["method"], &step["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("t1"))
        );
        let progress = step["params"]["progress"].as_f64().unwrap();
        assert!(progress > before && !step["params"]["message"].as_str().unwrap().is_empty());
        before = progress;
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_tool_explains_why() {
    let world = World::start().await;
    for (name, arguments) in [
        ("ask", json!({"question": " "})),
        ("ask", json!({"question": "Who?", "strategy": "none"})),
        ("read_document", json!({"document": "../state.db"})),
        ("explain_answer", json!({"id": "../x"})),
        ("entity_timeline", json!({"entity": "Unheard Of"})),
        ("ask", json!({})),
        ("search", json!({"query": "x", "limit": -1})),
        ("grep", json!({"expression": "(x"})),
        ("grep", json!({"expression": "(x{1000}){1000}"})),
        ("read_document", json!({"name": "a.md"})),
    ] {
        let result = tool(&world, name, arguments).await;
        assert_eq!(result["isError"], true, "{name}: {result}");
        assert!(!result["content"][0]["text"].as_str().unwrap().is_empty());
    }
    // What the model has to correct is in what it is shown.
    let result = tool(&world, "read_document", json!({"name": "a.md"})).await;
    assert!(result["content"][0]["text"].as_str().unwrap().contains("`document`"), "{result}");
    let params = json!({"name": "nothing", "arguments": {}});
    let unknown = messages(call(&world, "tools/call", params).await).await.pop().unwrap();
    assert!(unknown["error"]["message"].as_str().unwrap().contains("nothing"), "{unknown}");
    world.stop().await;
}
