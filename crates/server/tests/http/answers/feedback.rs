//! Feedback over HTTP: given, listed, decided on, and by whom.
use halma_core::MetadataFilter;
use halma_server::{ApiKeys, NewKey, Scope};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::world::{Setup, World, config, good, new_key};

const QUESTION: &str = "In which year was Orrin Light first lit?";

async fn post(world: &World, path: &str, key: Option<&str>, body: &Value) -> Response {
    let request = world.request(Method::POST, path).json(body);
    let request = match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    };
    request.send().await.unwrap()
}

/// Asks, and waits for the trace.
async fn ask(world: &World, key: Option<&str>) -> Value {
    let answered =
        good(post(world, "/api/v1/ask", key, &json!({"question": QUESTION})).await).await;
    let path = format!("/api/v1/traces/{}", answered["id"].as_str().unwrap());
    for _ in 0..200 {
        let mut request = world.request(Method::GET, &path);
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        if request.send().await.unwrap().status().is_success() {
            return answered;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the trace is not written");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_marked_accepted_found_and_undone() {
    let world = World::start().await;
    let answered = ask(&world, None).await;
    let run = answered["id"].as_str().unwrap();
    let said = json!({"run": run, "verdict": "right", "note": "checked"});
    let reply = post(&world, "/api/v1/feedback", None, &said).await;
    assert_eq!(reply.status(), 201);
    let given: Value = reply.json().await.unwrap();
    assert_eq!(given["candidates"][0]["answer"], "1871", "{given}");
    let path = format!("/api/v1/feedback/{}", given["id"].as_str().unwrap());
    let accepted = good(post(&world, &format!("{path}/accept"), None, &json!({})).await).await;
    let atom = accepted["candidates"][0]["atom"].as_str().unwrap();
    let sources = world.get_json(&format!("/api/v1/nodes/{atom}/neighbours")).await;
    assert_eq!(sources["edges"][0]["edge"], "derived_from", "{sources}");
    let search =
        json!({"text": "year Orrin Light lit", "layer": "atom", "filter": {"feedback": true}});
    let search_result = good(post(&world, "/api/v1/search", None, &search).await).await;
    assert_eq!(search_result["hits"][0]["id"].as_str(), Some(atom), "{search_result}");
    let again = ask(&world, None).await;
    assert!(again["usage"]["llm_calls"].as_u64() < answered["usage"]["llm_calls"].as_u64());
    let listed = world.get_json("/api/v1/feedback?state=accepted&about=ORRIN&limit=1").await;
    assert_eq!(listed["items"][0]["id"], given["id"], "{listed}");
    assert!(listed["next"].is_null());
    let undone = good(post(&world, &format!("{path}/undo"), None, &json!({})).await).await;
    assert_eq!(undone["candidates"][0]["state"], "undone");
    let search_result = good(post(&world, "/api/v1/search", None, &search).await).await;
    assert_eq!(search_result["hits"], json!([]));
    let verified = good(post(&world, &format!("{path}/verify"), None, &json!({})).await).await;
    assert_eq!(verified["accepted"], json!([]), "it is decided");
    let deleted = world.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    assert_eq!(world.request(Method::GET, &path).send().await.unwrap().status(), 404);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_feedback_is_refused_with_what_to_do() {
    let mut config = config();
    config.serve.shared_runs = true;
    let world = World::with(Setup { config, library: true }).await;
    let ann = world.key(&Scope::ALL, "default");
    let bo = world.key(&[Scope::Ask], "default");
    let run = ask(&world, Some(&ann)).await["id"].clone();
    let say =
        async |key: &str, body: Value| post(&world, "/api/v1/feedback", Some(key), &body).await;
    for (body, status) in [
        (json!({"run": "none", "verdict": "right"}), 404),
        (json!({"run": run, "verdict": "so-so"}), 422),
        (json!({"run": run, "verdict": "wrong", "correction": "x".repeat(4_001)}), 422),
        (json!({"run": run, "verdict": "wrong", "extra": 1}), 422),
        (json!({"run": run}), 422),
    ] {
        assert_eq!(say(&ann, body.clone()).await.status(), status, "{body}");
    }
    let right = good(say(&ann, json!({"run": run, "verdict": "right"})).await).await;
    good(say(&bo, json!({"run": run, "verdict": "wrong"})).await).await;
    let path = format!("/api/v1/feedback/{}", right["id"].as_str().unwrap());
    let decide = async |what: &str, key: &str, body: Value| {
        post(&world, &format!("{path}/{what}"), Some(key), &body).await.status().as_u16()
    };
    assert_eq!(decide("accept", &bo, json!({})).await, 403, "it takes the scope `write`");
    assert_eq!(decide("accept", &ann, json!({})).await, 409);
    assert_eq!(decide("verify", &ann, json!({})).await, 409);
    let listed = world.request(Method::GET, "/api/v1/feedback?contradicted=true").bearer_auth(&bo);
    let listed = good(listed.send().await.unwrap()).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    assert_eq!(decide("accept", &ann, json!({"candidates": [], "despite": true})).await, 422);
    assert_eq!(decide("accept", &ann, json!({"candidates": [99], "despite": true})).await, 422);
    assert_eq!(decide("accept", &ann, json!({"despite": true})).await, 200);
    // A trace that is deleted takes nothing more.
    let trace = format!("/api/v1/traces/{}", run.as_str().unwrap());
    let deleted = world.request(Method::DELETE, &trace).bearer_auth(&ann).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    assert_eq!(say(&ann, json!({"run": run, "verdict": "right"})).await.status(), 404);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_for_some_documents_marks_its_own_runs_and_sees_its_own_feedback() {
    let world = World::start().await;
    let all = world.key(&Scope::ALL, "default");
    let documents = world.request(Method::GET, "/api/v1/documents").bearer_auth(&all);
    let documents = good(documents.send().await.unwrap()).await;
    for item in documents["items"].as_array().unwrap() {
        let path = format!("/api/v1/documents/{}/metadata", item["id"].as_str().unwrap());
        let team = if item["name"] == "orrin.md" { "red" } else { "blue" };
        let set = world.request(Method::PUT, &path).bearer_auth(&all);
        good(set.json(&json!({"team": team})).send().await.unwrap()).await;
    }
    let key = |team: &str, scopes: &[Scope]| {
        let mut documents = MetadataFilter::default();
        documents.add(&format!("team={team}")).unwrap();
        let new = NewKey { documents: Some(documents), ..new_key(scopes, "default") };
        ApiKeys::for_base(world.dir.path()).create(new).unwrap().1
    };
    let (red, other) = (key("red", &[Scope::Ask, Scope::Write]), key("red", &[Scope::Ask]));
    let blue = key("blue", &[Scope::Ask, Scope::Write]);
    let run = ask(&world, Some(&red)).await["id"].clone();
    let said = json!({"run": run, "verdict": "right"});
    for stranger in [&other, &blue] {
        let reply = post(&world, "/api/v1/feedback", Some(stranger), &said).await;
        assert_eq!(reply.status(), 404);
    }
    let given = good(post(&world, "/api/v1/feedback", Some(&red), &said).await).await;
    let path = format!("/api/v1/feedback/{}", given["id"].as_str().unwrap());
    let status = |key: String, path: String| {
        let request = world.request(Method::GET, &path).bearer_auth(key);
        async move { request.send().await.unwrap().status().as_u16() }
    };
    assert_eq!(status(red.clone(), path.clone()).await, 200);
    assert_eq!(status(other.clone(), path.clone()).await, 404);
    assert_eq!(status(blue.clone(), path.clone()).await, 404);
    let none = world.request(Method::GET, "/api/v1/feedback").bearer_auth(&other);
    assert_eq!(good(none.send().await.unwrap()).await["items"], json!([]));
    let accept = format!("{path}/accept");
    assert_eq!(post(&world, &accept, Some(&blue), &json!({})).await.status(), 404);
    good(post(&world, &accept, Some(&red), &json!({})).await).await;
    // What was accepted is there for those who see what it was made of.
    let search = json!({"text": QUESTION, "layer": "atom", "filter": {"feedback": true}});
    for (key, hits) in [(&red, 1), (&other, 1), (&blue, 0)] {
        let search_result = good(post(&world, "/api/v1/search", Some(key), &search).await).await;
        assert_eq!(search_result["hits"].as_array().unwrap().len(), hits, "{search_result}");
    }
    world.stop().await;
}
