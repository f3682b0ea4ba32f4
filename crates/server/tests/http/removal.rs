//! Workspaces that are removed while something is done in them, and what becomes of their keys and
//! names.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use halma_server::{ApiKeys, Scope};
use reqwest::Method;
use serde_json::{Value, json};

use crate::holding::{asking, stuck};
use crate::world::{Setup, World, form, good, new_key, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_workspace_stays_removed_and_its_name_is_free() {
    let double = stuck();
    let world = asking(&double, true).await;
    let admin = world.key(&Scope::ALL, "default");
    let send = |method: Method, path: &str, body: Value| {
        world.request(method, path).bearer_auth(&admin).json(&body).send()
    };
    let named = json!({"name": "acme"});
    assert_eq!(
        send(Method::POST, "/api/v1/workspaces", named.clone()).await.unwrap().status(),
        201
    );
    let key = world.key(&[Scope::Ask, Scope::Write], "acme");
    let ask = json!({"question": "What does the first acme plan?", "strategy": "cot"});
    let question = world.request(Method::POST, "/api/v1/ask").bearer_auth(&key).json(&ask);
    let question =
        tokio::spawn(async move { question.send().await.map(|response| response.status()) });
    until("a call to the model", || double.in_flight() == 1).await;
    let removed = send(Method::DELETE, "/api/v1/workspaces/acme", json!({})).await.unwrap();
    assert_eq!(removed.status(), 204);
    // The key is revoked, which ends its question; neither brings the folder back.
    assert_eq!(question.await.unwrap().unwrap(), 401);
    let folder = world.dir.path().join("workspaces/acme");
    assert!(!folder.exists());
    let left = std::fs::read_dir(world.dir.path().join("workspaces")).unwrap().count();
    assert_eq!(left, 0, "nothing of it is left on the disk");
    assert_eq!(send(Method::POST, "/api/v1/workspaces", named).await.unwrap().status(), 201);
    let old = world.request(Method::GET, "/api/v1/documents").bearer_auth(&key).send();
    assert_eq!(old.await.unwrap().status(), 401, "a key of the first one does not open the second");
    let new = world.key(&[Scope::Ask], "acme");
    let traces = world.request(Method::GET, "/api/v1/traces").bearer_auth(&new).send();
    let traces = good(traces.await.unwrap()).await;
    assert_eq!(traces["items"].as_array().unwrap().len(), 0, "{traces}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_is_removed_while_it_is_read_and_built() {
    let double = stuck();
    let world = Arc::new(asking(&double, false).await);
    let in_acme = async |world: &World, method: Method, path: &str, body: Value| {
        let request = world.request(method, path).header("x-halma-workspace", "acme");
        request.json(&body).send().await.unwrap().status().as_u16()
    };
    let named = json!({"name": "acme"});
    world.post_json("/api/v1/workspaces", &named).await;
    let (kind, body) = form(&[("old.md", b"# Old\n\nOf the first acme.\n")]);
    let upload = world.request(Method::POST, "/api/v1/documents");
    let upload = upload.header("content-type", kind).header("x-halma-workspace", "acme");
    assert_eq!(upload.body(body).send().await.unwrap().status(), 200);
    assert_eq!(in_acme(&world, Method::POST, "/api/v1/builds", json!({})).await, 202);
    until("a call to the model", || double.in_flight() > 0).await;
    let stop = Arc::new(AtomicBool::new(false));
    let readers = (0..8).map(|_| {
        let (world, stop) = (Arc::clone(&world), Arc::clone(&stop));
        tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let read = in_acme(&world, Method::GET, "/api/v1/documents", json!({})).await;
                assert!(read == 200 || read == 404, "{read}");
            }
        })
    });
    let readers: Vec<_> = readers.collect();
    let removed = world.request(Method::DELETE, "/api/v1/workspaces/acme").send().await.unwrap();
    assert_eq!(removed.status(), 204);
    // No reader brings the folder back, and the call that was begun does not keep the name.
    assert!(!world.dir.path().join("workspaces/acme").exists());
    assert_eq!(world.post("/api/v1/workspaces", &named).await.status(), 201);
    stop.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
    assert_eq!(in_acme(&world, Method::GET, "/api/v1/documents/old.md", json!({})).await, 404);
    let listed = world.get_json("/api/v1/workspaces").await;
    assert_eq!(listed["items"][1]["documents"], 0, "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_cannot_be_opened_hides_no_other() {
    let world = World::start().await;
    for name in ["broken", "whole"] {
        world.post_json("/api/v1/workspaces", &json!({"name": name})).await;
    }
    let dir = world.stop().await;
    std::fs::write(dir.path().join("workspaces/broken/store/data.mdb"), vec![7; 8192]).unwrap();
    let world = World::over(dir, Setup::default()).await;
    let listed = world.get_json("/api/v1/workspaces").await;
    let names: Vec<&Value> =
        listed["items"].as_array().unwrap().iter().map(|line| &line["name"]).collect();
    assert_eq!(names, ["default", "whole"]);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_a_workspace_that_was_deleted_by_hand_opens_no_later_one() {
    let world = World::start().await;
    let admin = world.key(&Scope::ALL, "default");
    let create = async |world: &World| {
        let request = world.request(Method::POST, "/api/v1/workspaces").bearer_auth(&admin);
        let created = request.json(&json!({"name": "acme"})).send().await.unwrap();
        assert_eq!(created.status(), 201);
    };
    let list = async |world: &World, key: &str| {
        let request = world.request(Method::GET, "/api/v1/documents").bearer_auth(key);
        request.send().await.unwrap().status()
    };
    create(&world).await;
    // Keys may be created before a server has opened their workspace; it binds them then.
    let (key, early) = (world.key(&[Scope::Ask], "acme"), world.key(&[Scope::Ask], "later"));
    let dir = world.stop().await;
    let world = World::over(dir, Setup::default()).await;
    assert_eq!(list(&world, &key).await, 200, "a restart changes nothing");
    let dir = world.stop().await;
    std::fs::remove_dir_all(dir.path().join("workspaces/acme")).unwrap();
    let world = World::over(dir, Setup::default()).await;
    create(&world).await;
    assert_eq!(list(&world, &key).await, 401);
    let later = world.request(Method::POST, "/api/v1/workspaces").bearer_auth(&admin);
    assert_eq!(later.json(&json!({"name": "later"})).send().await.unwrap().status(), 201);
    assert_eq!(list(&world, &early).await, 200);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluation_ends_with_its_key_and_with_its_workspace() {
    let double = stuck();
    let world = asking(&double, true).await;
    let admin = world.key(&Scope::ALL, "default");
    let named = json!({"name": "acme"});
    let request = |method: Method, path: &str, key: &str| {
        world.request(method, path).bearer_auth(key).header("x-halma-workspace", "acme")
    };
    let create = world.request(Method::POST, "/api/v1/workspaces").bearer_auth(&admin);
    assert_eq!(create.json(&named).send().await.unwrap().status(), 201);
    let path = "/api/v1/evaluation-runs";
    let questions = "{\"question\": \"When was Orrin Light lit?\", \"answers\": [\"1871\"]}\n";
    let new = json!({"name": "towers", "questions": questions, "strategies": ["cot"]});
    let (kept, key) =
        ApiKeys::for_base(world.dir.path()).create(new_key(&Scope::ALL, "default")).unwrap();
    good(request(Method::POST, path, &key).json(&new).send().await.unwrap()).await;
    until("a call to the model", || double.in_flight() == 1).await;
    ApiKeys::for_base(world.dir.path()).revoke(&kept.id).unwrap();
    until("the end of the call", || double.in_flight() == 0).await;
    let mut run = Value::Null;
    for _ in 0..400 {
        let runs = good(request(Method::GET, path, &admin).send().await.unwrap()).await;
        run = runs["items"][0].clone();
        if run["state"] != "running" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(
        (&run["state"], &run["error"]),
        (&json!("failed"), &json!("this key is no longer valid"))
    );
    good(request(Method::POST, path, &admin).json(&new).send().await.unwrap()).await;
    until("another call", || double.in_flight() == 1).await;
    let remove = world.request(Method::DELETE, "/api/v1/workspaces/acme").bearer_auth(&admin);
    assert_eq!(remove.send().await.unwrap().status(), 204);
    until("the end of the call", || double.in_flight() == 0).await;
    assert!(!world.dir.path().join("workspaces/acme").exists());
    let create = world.request(Method::POST, "/api/v1/workspaces").bearer_auth(&admin);
    assert_eq!(create.json(&named).send().await.unwrap().status(), 201);
    world.stop().await;
}
