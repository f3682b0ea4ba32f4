//! Keys, and what they may spend.
use std::time::{Duration, Instant};

use halma_server::Scope;
use halma_testkit::double::{Behaviour, Double};
use reqwest::Method;
use serde_json::json;

use super::support::{Space, ask, get, until_status};
use crate::answers::asking::{slow, with_model};
use crate::world::{World, events, new_key, question, until};

/// Within this time a key that is revoked on one server is refused by all.
const REVOKED_WITHIN: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_one_server_is_a_key_of_all_until_it_is_revoked_anywhere() {
    let Some(space) = Space::new().await else { return };
    let (one, other) = (space.serve().await, space.serve().await);
    let admin = {
        let keys = space.keys();
        let create = move || keys.create(new_key(&[Scope::Ask, Scope::Admin], "default"));
        tokio::task::spawn_blocking(create).await.unwrap().unwrap().1
    };
    for world in [&one, &other] {
        assert!(until_status(world, &admin, 200).await < REVOKED_WITHIN);
        assert!(until_status(world, "halma_none_none", 401).await < REVOKED_WITHIN);
    }
    let new = json!({"name": "chat", "scopes": ["ask"]});
    let request = one.request(Method::POST, "/api/v1/keys").bearer_auth(&admin).json(&new);
    let made: serde_json::Value = request.send().await.unwrap().json().await.unwrap();
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    until_status(&other, key, 200).await;
    let secret = key.rsplit('_').next().unwrap();
    let dump = space.dump();
    assert!(dump.contains(id) && !dump.contains(secret), "only hashes are stored");
    let revoke = one.request(Method::DELETE, &format!("/api/v1/keys/{id}")).bearer_auth(&admin);
    assert_eq!(revoke.send().await.unwrap().status(), 204);
    assert!(until_status(&other, key, 401).await < REVOKED_WITHIN);
    until_status(&one, key, 401).await;
    assert_eq!(get(&other, &admin, "/api/v1/ready").await["database"], true);
    one.stop().await;
    // What one server knew the other one knows.
    assert_eq!(get(&other, &admin, "/api/v1/keys").await["items"].as_array().unwrap().len(), 1);
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn revoking_a_key_anywhere_ends_its_answers() {
    let double = slow(60);
    let Some(space) = Space::with(with_model(&double).config).await else { return };
    let world = space.serve().await;
    let keys = space.keys();
    let (key, text) = {
        let keys = keys.clone();
        let create = move || keys.create(new_key(&[Scope::Ask], "default"));
        tokio::task::spawn_blocking(create).await.unwrap().unwrap()
    };
    until_status(&world, "halma_none_none", 401).await;
    let mut request_body = question();
    request_body["stream"] = json!(true);
    let request = world.request(Method::POST, "/api/v1/ask").bearer_auth(&text).json(&request_body);
    let asking = tokio::spawn(async move { request.send().await.unwrap().text().await.unwrap() });
    until("a call to the model", || double.in_flight() == 1).await;
    let revoke = move || keys.revoke(&key.id);
    tokio::task::spawn_blocking(revoke).await.unwrap().unwrap();
    let revoked = Instant::now();
    let ended = tokio::time::timeout(Duration::from_secs(10), asking).await.unwrap().unwrap();
    let elapsed = revoked.elapsed();
    assert!(elapsed < REVOKED_WITHIN, "after {elapsed:?}: {ended}");
    let last = events(&ended).pop().unwrap();
    assert_eq!((last.name.as_str(), &last.data["status"]), ("error", &json!(401)));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_cannot_overspend_a_daily_budget_together() {
    const CALLS: u64 = 6;
    let reply = r#"{"answer": "1871", "rationale": "It says so."}"#;
    // All questions begin before the first of them could take a second call, to write its answer out.
    let behaviour = Behaviour::replying(|_| reply.into()).latency(Duration::from_secs(2));
    let double = Double::start(behaviour);
    let Some(space) = Space::with(with_model(&double).config).await else { return };
    let keys = space.keys();
    let create = move || {
        let mut new = new_key(&[Scope::Ask], "default");
        new.calls_per_day = Some(CALLS);
        keys.create(new)
    };
    let (_, key) = tokio::task::spawn_blocking(create).await.unwrap().unwrap();
    let (one, other) = (space.serve().await, space.serve().await);
    let asks = (0..CALLS + 5).map(|n| {
        let world = if n % 2 == 0 { &one } else { &other };
        let key = &key;
        async move {
            let reply = ask(world, key, &format!("When was Orrin Light lit, try {n}?")).await;
            (reply.status().as_u16(), reply.text().await.unwrap())
        }
    });
    let replies = futures::future::join_all(asks).await;
    let good = replies.iter().filter(|(status, _)| *status == 200).count() as u64;
    assert_eq!((good, double.chat_calls() as u64), (CALLS, CALLS), "{replies:#?}");
    assert!(replies.iter().all(|(status, _)| [200, 429].contains(status)), "{replies:#?}");
    // A server that starts again gives nothing away.
    let again = space.serve().await;
    assert_eq!(ask(&again, &key, "Who designed Orrin Light?").await.status(), 429);
    until_usage(&again, &key, CALLS).await;
    for world in [one, other, again] {
        world.stop().await;
    }
}

/// Waits until all servers together have counted so many questions with an answer.
async fn until_usage(world: &World, key: &str, calls: u64) {
    for _ in 0..200 {
        let lines = get(world, key, "/api/v1/usage?by=key").await;
        if lines[0]["calls"].as_u64() == Some(calls) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the usage of both servers is not there");
}
