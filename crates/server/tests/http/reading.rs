//! Everything that can be read: strategies, search, nodes, tables, prompts, models, the web UI.
use halma_core::{Budget, UsageTotal};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Setup, World, config, good};

#[tokio::test(flavor = "multi_thread")]
async fn the_base_can_be_searched_browsed_and_queried() {
    let world = World::start().await;
    let response =
        world.post_json("/api/v1/search", &json!({"text": "lighthouse", "limit": 3})).await;
    let hit = &response["hits"][0];
    assert_eq!((&hit["document"], &hit["layer"]), (&json!("orrin.md"), &json!("chunk")));
    let id = hit["id"].as_str().unwrap();
    assert_eq!(world.get_json(&format!("/api/v1/nodes/{id}")).await["text"], hit["text"]);
    let around = world.get_json(&format!("/api/v1/nodes/{id}/neighbours?limit=20")).await;
    assert_eq!(around["center"]["id"], id);
    let nodes: Vec<&Value> = around["nodes"].as_array().unwrap().iter().map(|n| &n["id"]).collect();
    let edges = around["edges"].as_array().unwrap();
    assert!(!edges.is_empty());
    for edge in edges {
        let other = if edge["from"] == id { &edge["to"] } else { &edge["from"] };
        assert!(nodes.contains(&other), "{edge}");
    }
    let tables = world.get_json("/api/v1/tables").await;
    let name = tables["items"][0]["name"].as_str().unwrap();
    let table = world.get_json(&format!("/api/v1/tables/{name}?limit=1&offset=1")).await;
    assert_eq!((&table["rows"], &table["data"]), (&json!(2), &json!([["Skell", 33]])));
    let sql = format!("SELECT sum(height) AS all_of_it FROM {name}");
    let result = world.post_json("/api/v1/sql", &json!({"sql": sql})).await;
    assert_eq!(result["rows"][0]["values"], json!([74]));
    assert_eq!(result["documents"], json!(["towers.csv"]));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_describes_itself() {
    let world = World::start().await;
    let health = world.get_json("/api/v1/health").await;
    assert_eq!(health["status"], "ok");
    let strategies = world.get_json("/api/v1/strategies").await;
    let strategies = strategies.as_array().unwrap().clone();
    assert_eq!(strategies.len(), halma_engine::strategies().len());
    let default: Vec<&Value> = strategies.iter().filter(|s| s["default"] == true).collect();
    assert_eq!((default.len(), &default[0]["name"]), (1, &json!("naive")));
    assert!(default[0]["settings"].as_object().is_some_and(|settings| !settings.is_empty()));
    assert!(strategies.iter().any(|s| s["unmet"].is_string()));
    let models = world.get_json("/api/v1/models").await;
    assert_eq!(
        (&models["models"][0]["name"], &models["roles"]["reader"]),
        (&json!("extractive"), &json!("extractive"))
    );
    let config = world.get_json("/api/v1/config").await;
    let keys: Vec<&str> =
        config["values"].as_array().unwrap().iter().map(|v| v["key"].as_str().unwrap()).collect();
    assert!(keys.contains(&"serve.requests_per_minute") && keys.contains(&"ask.strategy"));
    let description = world.get_json("/api/v1/openapi.json").await;
    assert!(description["openapi"].as_str().unwrap().starts_with("3."));
    let operations: Vec<&Value> = description["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|methods| methods.as_object().unwrap().values())
        .collect();
    let ids: std::collections::BTreeSet<&str> =
        operations.iter().map(|operation| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), operations.len(), "an operation has the id of another: {ids:?}");
    for operation in &operations {
        for (status, response) in operation["responses"].as_object().unwrap() {
            assert!(
                response["description"].as_str().is_some_and(|text| !text.is_empty()),
                "{status}"
            );
        }
        let responses = operation["responses"].as_object().unwrap();
        assert!(responses.contains_key("400") && responses.contains_key("default"));
        let is_open = operation["operationId"] == "health";
        assert_eq!(responses.contains_key("401"), !is_open, "{operation}");
    }
    let page = world.get("/api/docs").await.text().await.unwrap();
    assert!(!page.contains("https://") && page.contains("/api/docs/reference.js"));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_can_be_replaced_and_restored() {
    let world = World::start().await;
    let path = "/api/v1/prompts/naive/answer";
    let shipped = world.get_json(path).await;
    assert_eq!((&shipped["changed"], &shipped["text"]), (&json!(false), &shipped["shipped_text"]));
    let text = format!("{}\nAnswer in a whisper.\n", shipped["text"].as_str().unwrap());
    let put = world.request(Method::PUT, path).json(&json!({"text": text})).send().await.unwrap();
    let put = good(put).await;
    assert_eq!((&put["changed"], &put["text"]), (&json!(true), &json!(text)));
    assert_ne!(put["hash"], shipped["hash"]);
    let ask = json!({"question": "When was Orrin Light first lit?"});
    let answered = world.post_json("/api/v1/ask", &ask).await;
    let trace = format!("/api/v1/traces/{}", answered["id"].as_str().unwrap());
    for _ in 0..100 {
        let stored = world.get(&trace).await;
        if stored.status() == 200 {
            let stored = good(stored).await.to_string();
            let hash = put["hash"].as_str().unwrap();
            assert!(stored.contains("in a whisper") && stored.contains(hash));
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    // It is stored in the base's folder and survives a restart.
    let dir = world.stop().await;
    let mut config = config();
    config.prompts_dir = Some(halma_server::prompts_dir(None, dir.path()));
    let world = World::over(dir, Setup { config, library: false }).await;
    assert_eq!(world.get_json(path).await["changed"], true);
    let back = good(world.request(Method::DELETE, path).send().await.unwrap()).await;
    assert_eq!((&back["changed"], &back["hash"]), (&json!(false), &shipped["hash"]));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluation_is_listed_compared_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("small");
    std::fs::create_dir(&out).unwrap();
    let run = |label: &str, outcomes: [&str; 2]| {
        let results = outcomes.map(|outcome| json!({"outcome": outcome, "values": {"em": 0.5}}));
        json!({"strategy": label, "label": label, "settings": {}, "fingerprint": "f",
            "profile": "squad", "metric": {"span": "squad"}, "values": {"em": 0.5},
            "retrieval": {}, "abstained": 0, "failed": 0, "failed_by_kind": {}, "failures": [],
            "unasked": 0, "partial": 0, "taken_over": 0, "retrieval_failed": 0, "malformed": 0,
            "searches": [], "usage": UsageTotal::default(),
            "tokens": {"prompt": 1, "completion": 1}, "by_kind": {}, "by_hops": {},
            "error_analysis": {}, "components": [], "models": {}, "prompts": {},
            "results": results})
    };
    let report = json!({"format_version": 3, "halma": "0.1.0", "dataset": "small", "n": 2,
        "base": "b", "budget": Budget::default(), "columns": [], "refused": [],
        "questions": [{"id": "q1", "text": "Who?"}, {"id": "q2", "text": "Where?"}],
        "runs": [run("naive", ["right", "wrong"]), run("kar3", ["right", "right"])]});
    std::fs::write(out.join("report.json"), report.to_string()).unwrap();
    std::fs::write(out.join("report.html"), "<title>small</title>").unwrap();
    let mut config = config();
    config.serve.evaluations = vec![folder.path().to_owned()];
    let world = World::with(Setup { config, library: false }).await;
    let listed = world.get_json("/api/v1/evaluations").await;
    let id = listed["items"][0]["id"].as_str().unwrap();
    assert_eq!(listed["items"][0]["runs"][1]["label"], "kar3");
    assert_eq!(listed["items"][0]["runs"][1]["values"]["em"], 0.5);
    let read = world.get_json(&format!("/api/v1/evaluations/{id}")).await;
    assert_eq!((&read["dataset"], &read["runs"][1]["label"]), (&json!("small"), &json!("kar3")));
    let view = world.get_json(&format!("/api/v1/evaluations/{id}/view")).await;
    assert_eq!(view["comparisons"][0]["gained"], json!(["q2"]));
    let path = format!("/api/v1/evaluations/{id}/compare?a=naive&b=kar3");
    let compared = world.get_json(&path).await;
    assert_eq!(
        (&compared["flips"][0]["question"], &compared["flips"][0]["a"]),
        (&json!("q2"), &json!("wrong"))
    );
    assert_eq!(compared["comparison"]["paired"], 2);
    let question = world.get_json(&format!("/api/v1/evaluations/{id}/question?question=q2")).await;
    assert_eq!((&question["id"], &question["runs"][1]["trace"]), (&json!("q2"), &json!(null)));
    let missing = world.get(&format!("/api/v1/evaluations/{id}/question?question=q3")).await;
    assert_eq!(missing.status(), 404);
    let page = world.get(&format!("/api/v1/evaluations/{id}/page")).await;
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("sandbox") && policy.contains("default-src 'none'"));
    assert_eq!(page.text().await.unwrap(), "<title>small</title>");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_web_ui_is_served_for_every_path_of_its_own() {
    let world = World::start().await;
    for path in ["/", "/library", "/runs/abc"] {
        let page = world.get(path).await;
        assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8", "{path}");
        let tag = page.headers()["etag"].to_str().unwrap().to_owned();
        assert!(page.text().await.unwrap().to_lowercase().contains("<!doctype html>"));
        let again = world.request(Method::GET, path).header("if-none-match", tag);
        assert_eq!(again.send().await.unwrap().status(), 304);
    }
    assert_eq!(world.get("/assets/nothing.js").await.status(), 404);
    assert_eq!(world.request(Method::POST, "/library").send().await.unwrap().status(), 405);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluation_is_started_followed_listed_and_refused_when_it_cannot_run() {
    let world = World::start().await;
    let path = "/api/v1/evaluation-runs";
    let questions =
        "{\"question\": \"When was Orrin Light first lit?\", \"answers\": [\"1871\"]}\n";
    let new = json!({"name": "towers", "questions": questions, "strategies": ["naive"]});
    let started = world.post_json(path, &new).await;
    assert_eq!((&started["state"], &started["total"]), (&json!("running"), &json!(1)));
    let mut run = started.clone();
    for _ in 0..500 {
        run = world.get_json(path).await["items"][0].clone();
        if run["state"] != "running" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(run["state"], "done", "{run}");
    let listed = world.get_json("/api/v1/evaluations").await;
    let line = &listed["items"][0];
    assert_eq!((&line["dataset"], &line["n"]), (&json!("towers"), &json!(1)));
    assert_eq!(line["runs"][0]["values"]["em"], 1.0, "{line}");
    let id = run["id"].as_str().unwrap();
    let ended = world.post_json(&format!("{path}/{id}/cancel"), &json!({})).await;
    assert_eq!(ended["state"], "done");
    assert_eq!(world.post(&format!("{path}/none/cancel"), &json!({})).await.status(), 404);
    for (key, value) in [
        ("name", json!("../x")),
        ("questions", json!("no JSON")),
        ("questions", json!("")),
        ("strategies", json!([])),
        ("strategies", json!(["nothing"])),
    ] {
        let mut bad = new.clone();
        bad[key] = value;
        let refused = world.post(path, &bad).await;
        assert_eq!(refused.status(), 422, "{bad}");
        let problem = refused.text().await.unwrap();
        assert!(!problem.contains(world.dir.path().to_str().unwrap()), "{problem}");
    }
    // What was refused has not touched the evaluation of that name.
    let file = world.dir.path().join("evaluations/towers/towers.jsonl");
    assert_eq!(std::fs::read_to_string(file).unwrap(), questions);
    let evaluation = format!("/api/v1/evaluations/{}", line["id"].as_str().unwrap());
    let delete = || world.request(Method::DELETE, &evaluation).send();
    assert_eq!(delete().await.unwrap().status(), 204);
    assert_eq!(delete().await.unwrap().status(), 404);
    assert!(!world.dir.path().join("evaluations/towers").exists());
    // One that was interrupted has no report and so no id.
    let interrupted = world.dir.path().join("evaluations/piers");
    std::fs::create_dir_all(interrupted.join("traces")).unwrap();
    std::fs::write(interrupted.join("piers.jsonl"), questions).unwrap();
    for (name, status) in [("..%2fevaluations%2fpiers", 404), ("piers", 204), ("piers", 404)] {
        let delete = world.request(Method::DELETE, &format!("/api/v1/evaluations/{name}"));
        assert_eq!(delete.send().await.unwrap().status(), status, "{name}");
    }
    assert!(!interrupted.exists());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_are_assigned_kept_and_refused_where_there_is_no_such_model() {
    let mut config = config();
    let model = json!({"url": "http://127.0.0.1:9/v1", "model": "small"});
    config.models.insert("small".into(), serde_json::from_value(model).unwrap());
    config.roles.insert("default".into(), "extractive".into());
    // The base is built without the model.
    config.kb.atoms = serde_json::from_value(json!("sentences")).unwrap();
    let world = World::with(Setup { config: config.clone(), library: true }).await;
    let put = |body: Value| world.request(Method::PUT, "/api/v1/models/roles").json(&body).send();
    let assigned: Value = good(put(json!({"roles": {"judge": "small"}})).await.unwrap()).await;
    assert_eq!(
        (&assigned["roles"]["judge"], &assigned["roles"]["reader"]),
        (&json!("small"), &json!("extractive"))
    );
    for bad in [json!({"roles": {"judge": "huge"}}), json!({"roles": {"king": "small"}})] {
        assert_eq!(put(bad).await.unwrap().status(), 422);
    }
    assert_eq!(world.get_json("/api/v1/models").await["roles"]["judge"], "small");
    // What cannot be stored is not in force.
    let stored = world.dir.path().join("roles.json");
    let text = std::fs::read(&stored).unwrap();
    std::fs::remove_file(&stored).unwrap();
    std::fs::create_dir(&stored).unwrap();
    let other = put(json!({"roles": {"judge": "extractive"}})).await.unwrap();
    assert_eq!(other.status(), 500);
    assert_eq!(world.get_json("/api/v1/models").await["roles"]["judge"], "small");
    std::fs::remove_dir(&stored).unwrap();
    std::fs::write(&stored, text).unwrap();
    let dir = world.stop().await;
    let again = World::over(dir, Setup { config, library: false }).await;
    assert_eq!(again.get_json("/api/v1/models").await["roles"]["judge"], "small");
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_question_is_offered_that_was_not_verified() {
    // The atoms of the offline model are sentences, and no question is made of a file's name.
    let world = World::start().await;
    assert_eq!(world.get_json("/api/v1/examples").await["items"], json!([]));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn configured_questions_are_offered_for_the_default_workspace() {
    let mut config = config();
    config.serve.examples = vec!["Who built the tower?".into()];
    let world = World::with(Setup { config, library: true }).await;
    let offered = world.get_json("/api/v1/examples").await;
    assert_eq!(offered["items"], json!([{"question": "Who built the tower?"}]));
    world.stop().await;
}
