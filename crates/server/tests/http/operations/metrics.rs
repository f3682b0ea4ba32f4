//! The metrics of a server: what they count, and what they never hold.
#![expect(clippy::float_cmp, reason = "the values are counts")]
use std::sync::Arc;
use std::time::Duration;

use halma_server::Scope;
use halma_testkit::double::{Behaviour, Double, fixed};
use reqwest::Method;
use serde_json::json;

use crate::holding::config_with;
use crate::world::{Setup, World, config, good, question};

async fn metrics(world: &World) -> String {
    let response = world.get("/metrics").await;
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    response.text().await.unwrap()
}

/// The value of a series; 0 where there is none.
fn value(metrics: &str, series: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_whose_work_failed_is_not_counted_as_done() {
    let double = Double::start(Behaviour::with(fixed("nothing")));
    let world = World::with(Setup { config: config_with(&double), library: false }).await;
    world.upload(&[("a.md", b"Light A is in Velby.")]).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    let ended = world.wait_for_build(build["id"].as_str().unwrap()).await;
    assert_eq!(ended["state"], "failed", "{ended}");
    let text = metrics(&world).await;
    let count =
        |outcome: &str| value(&text, &format!("halma_builds_total{{outcome=\"{outcome}\"}}"));
    assert_eq!((count("failed"), count("done")), (1.0, 0.0), "{text}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_is_counted() {
    let world = World::start().await;
    world.post_json("/api/v1/ask", &question()).await;
    let unknown = world.post("/api/v1/ask", &json!({"question": "Who is Zorblax?"})).await;
    good(unknown).await;
    let refused = world.post("/api/v1/ask", &json!({"question": ""})).await;
    assert_eq!(refused.status(), 422);
    world.upload(&[("light.md", b"# Skell Light\n\nSkell Light was first lit in 1902.\n")]).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    world.wait_for_build(build["id"].as_str().unwrap()).await;
    // Questions are counted when their traces are stored, after the reply.
    let mut text = metrics(&world).await;
    for _ in 0..200 {
        let questions = text.lines().filter(|line| line.starts_with("halma_questions_total{"));
        let counted: f64 =
            questions.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum();
        if counted >= 2.0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        text = metrics(&world).await;
    }
    let series = "halma_http_requests_total{method=\"POST\",path=\"/api/v1/ask\",status=";
    assert_eq!(value(&text, &format!("{series}\"200\"}}")), 2.0, "{text}");
    assert_eq!(value(&text, &format!("{series}\"422\"}}")), 1.0, "{text}");
    assert_eq!(value(&text, "halma_question_duration_seconds_count{strategy=\"naive\"}"), 2.0);
    assert!(value(&text, "halma_search_duration_seconds_count{source=\"text\"}") >= 2.0, "{text}");
    let calls = "halma_model_calls_total{model=\"extractive\",outcome=\"answered\"}";
    assert!(value(&text, calls) >= 1.0, "{text}");
    assert_eq!(value(&text, "halma_builds_total{outcome=\"done\"}"), 1.0, "{text}");
    let documents = "halma_base_nodes{workspace=\"default\",layer=\"document\"}";
    assert_eq!(value(&text, documents), 4.0, "{text}");
    assert!(value(&text, "halma_base_size_bytes{workspace=\"default\"}") > 0.0, "{text}");
    assert_eq!(value(&text, "halma_questions_running"), 0.0);
    for word in ["Orrin", "Zorblax", "light.md", world.dir.path().to_str().unwrap()] {
        assert!(!text.contains(word), "{word} is in the metrics");
    }
    world.stop().await;
}

/// The metrics, as soon as a series has a value.
async fn metrics_with(world: &World, series: &str) -> String {
    for _ in 0..200 {
        let text = metrics(world).await;
        if value(&text, series) > 0.0 {
            return text;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{series} is not counted: {}", metrics(world).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluations_and_the_verification_of_feedback_are_counted() {
    let world = World::start().await;
    let questions = "{\"question\": \"When was Orrin Light lit?\", \"answers\": [\"1871\"]}\n";
    let new = json!({"name": "towers", "questions": questions, "strategies": ["naive"]});
    world.post_json("/api/v1/evaluation-runs", &new).await;
    let text = metrics_with(&world, "halma_evaluation_model_calls_total").await;
    assert!(text.contains("halma_evaluation_cost_usd_total "), "{text}");
    let answered = world.post_json("/api/v1/ask", &question()).await;
    let run = answered["id"].as_str().unwrap();
    let text = metrics_with(&world, "halma_question_duration_seconds_count{strategy=\"naive\"}");
    assert_eq!(value(&text.await, "halma_verification_model_calls_total"), 0.0);
    let trace = format!("/api/v1/traces/{run}");
    while world.get(&trace).await.status() != 200 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let right = json!({"run": run, "verdict": "right"});
    let given = world.post_json("/api/v1/feedback", &right).await;
    let verify = format!("/api/v1/feedback/{}/verify", given["id"].as_str().unwrap());
    let verified = world.post_json(&verify, &json!({})).await;
    let calls = verified["usage"]["llm_calls"].as_f64().unwrap();
    assert!(calls > 0.0, "{verified}");
    let text = metrics(&world).await;
    assert_eq!(value(&text, "halma_verification_model_calls_total"), calls, "{text}");
    assert!(text.contains("halma_verification_cost_usd_total "), "{text}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_paths_and_methods_share_a_series() {
    let world = World::start().await;
    for path in ["/api/v1/a", "/api/v1/b", "/api/v1/c/../d", "/v1/models/whatever"] {
        world.get(path).await;
    }
    for word in ["BREW", "PROPFIND"] {
        let method = Method::from_bytes(word.as_bytes()).unwrap();
        world.request(method, "/api/v1/ask").send().await.unwrap();
    }
    let text = metrics(&world).await;
    let series = text.lines().filter(|line| line.starts_with("halma_http_requests_total{"));
    let series: Vec<&str> = series.collect();
    assert_eq!(series.len(), 3, "{series:#?}");
    for word in ["BREW", "whatever", "/api/v1/b"] {
        assert!(!text.contains(word), "{series:#?}");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_for_metrics_reads_nothing_else() {
    let world = World::start().await;
    let key = world.key(&[Scope::Metrics], "default");
    let status = |path: &'static str| {
        let request = world.request(Method::GET, path).bearer_auth(&key);
        async move { request.send().await.unwrap().status().as_u16() }
    };
    assert_eq!(status("/metrics").await, 200);
    assert_eq!(status("/api/v1/documents").await, 403);
    assert_eq!(world.get("/metrics").await.status(), 401);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedder_that_does_not_reply_holds_up_nothing_else() {
    let double = Double::start(Behaviour::default());
    let mut config = config();
    let embedder = json!({"kind": "endpoint", "url": double.url(), "model": "vectors"});
    config.embedder = serde_json::from_value(embedder).unwrap();
    let world = Arc::new(World::with(Setup { config, library: true }).await);
    double.set(Behaviour::default().latency(Duration::from_mins(10)));
    let embed = |n: usize| {
        let world = Arc::clone(&world);
        let body = json!({"input": format!("text {n}")});
        tokio::spawn(async move { world.post("/v1/embeddings", &body).await.status() })
    };
    let stuck: Vec<_> = (0..40).map(embed).collect();
    // More of them than may run at a time.
    let waiting = "halma_requests_waiting{workspace=\"default\"}";
    let mut count = 0.0;
    for _ in 0..400 {
        count = value(&metrics(&world).await, waiting);
        if count > 0.0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert!(count > 0.0, "all of them run");
    for path in ["/api/v1/documents", "/api/v1/tables", "/api/v1/traces", "/api/v1/builds"] {
        let listed = tokio::time::timeout(Duration::from_mins(1), world.get(path)).await;
        assert_eq!(listed.expect("it waits for the embedder").status(), 200, "{path}");
    }
    for request in stuck {
        request.abort();
    }
}
