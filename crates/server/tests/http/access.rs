//! Every route with every kind of key that must not give access to it.
use std::collections::BTreeSet;

use chrono::{Duration, Utc};
use halma_server::{ApiKeys, Scope};
use reqwest::Method;
use serde_json::Value;

use crate::world::{World, new_key};

/// The scope that each route requires; `None` accepts any key.
const ROUTES: &[(&str, &str, Option<Scope>)] = &[
    ("get", "/api/v1/me", None),
    ("get", "/api/v1/config", Some(Scope::Admin)),
    ("get", "/metrics", Some(Scope::Metrics)),
    ("post", "/api/v1/ask", Some(Scope::Ask)),
    ("post", "/api/v1/search", Some(Scope::Ask)),
    ("get", "/api/v1/strategies", Some(Scope::Ask)),
    ("get", "/api/v1/examples", Some(Scope::Ask)),
    ("get", "/api/v1/documents", Some(Scope::Ask)),
    ("post", "/api/v1/documents", Some(Scope::Write)),
    ("get", "/api/v1/documents/{id}", Some(Scope::Ask)),
    ("delete", "/api/v1/documents/{id}", Some(Scope::Write)),
    ("put", "/api/v1/documents/{id}/metadata", Some(Scope::Write)),
    ("get", "/api/v1/documents/{id}/text", Some(Scope::Ask)),
    ("get", "/api/v1/documents/{id}/nodes", Some(Scope::Ask)),
    ("get", "/api/v1/documents/{id}/file", Some(Scope::Ask)),
    ("get", "/api/v1/builds", Some(Scope::Ask)),
    ("post", "/api/v1/builds", Some(Scope::Write)),
    ("post", "/api/v1/builds/estimate", Some(Scope::Write)),
    ("get", "/api/v1/builds/{id}", Some(Scope::Ask)),
    ("get", "/api/v1/builds/{id}/events", Some(Scope::Ask)),
    ("post", "/api/v1/builds/{id}/pause", Some(Scope::Write)),
    ("post", "/api/v1/builds/{id}/resume", Some(Scope::Write)),
    ("post", "/api/v1/builds/{id}/cancel", Some(Scope::Write)),
    ("get", "/api/v1/nodes/{id}", Some(Scope::Ask)),
    ("get", "/api/v1/nodes/{id}/neighbours", Some(Scope::Ask)),
    ("get", "/api/v1/entities/timeline", Some(Scope::Ask)),
    ("get", "/api/v1/tables", Some(Scope::Ask)),
    ("get", "/api/v1/tables/{name}", Some(Scope::Ask)),
    ("post", "/api/v1/sql", Some(Scope::Ask)),
    ("get", "/api/v1/traces", Some(Scope::Ask)),
    ("get", "/api/v1/traces/{id}", Some(Scope::Ask)),
    ("delete", "/api/v1/traces/{id}", Some(Scope::Write)),
    ("get", "/api/v1/entities", Some(Scope::Ask)),
    ("get", "/api/v1/conversations", Some(Scope::Ask)),
    ("put", "/api/v1/conversations/{id}/shared", Some(Scope::Ask)),
    ("delete", "/api/v1/conversations/{id}", Some(Scope::Ask)),
    ("get", "/api/v1/feedback", Some(Scope::Ask)),
    ("post", "/api/v1/feedback", Some(Scope::Ask)),
    ("get", "/api/v1/feedback/{id}", Some(Scope::Ask)),
    ("delete", "/api/v1/feedback/{id}", Some(Scope::Write)),
    ("post", "/api/v1/feedback/{id}/accept", Some(Scope::Write)),
    ("post", "/api/v1/feedback/{id}/reject", Some(Scope::Write)),
    ("post", "/api/v1/feedback/{id}/undo", Some(Scope::Write)),
    ("post", "/api/v1/feedback/{id}/verify", Some(Scope::Write)),
    ("get", "/api/v1/prompts", Some(Scope::Ask)),
    ("get", "/api/v1/prompts/{name}", Some(Scope::Ask)),
    ("put", "/api/v1/prompts/{name}", Some(Scope::Admin)),
    ("delete", "/api/v1/prompts/{name}", Some(Scope::Admin)),
    ("get", "/api/v1/models", Some(Scope::Ask)),
    ("post", "/api/v1/models", Some(Scope::Admin)),
    ("get", "/api/v1/models/servers", Some(Scope::Admin)),
    ("post", "/api/v1/models/trial", Some(Scope::Admin)),
    ("put", "/api/v1/models/roles", Some(Scope::Admin)),
    ("post", "/api/v1/models/{name}/test", Some(Scope::Admin)),
    ("get", "/api/v1/usage", Some(Scope::Ask)),
    ("get", "/api/v1/evaluation-runs", Some(Scope::Admin)),
    ("post", "/api/v1/evaluation-runs", Some(Scope::Admin)),
    ("post", "/api/v1/evaluation-runs/{id}/cancel", Some(Scope::Admin)),
    ("get", "/api/v1/evaluations", Some(Scope::Admin)),
    ("get", "/api/v1/evaluations/{id}", Some(Scope::Admin)),
    ("delete", "/api/v1/evaluations/{id}", Some(Scope::Admin)),
    ("get", "/api/v1/evaluations/{id}/compare", Some(Scope::Admin)),
    ("get", "/api/v1/evaluations/{id}/page", Some(Scope::Admin)),
    ("get", "/api/v1/evaluations/{id}/question", Some(Scope::Admin)),
    ("get", "/api/v1/evaluations/{id}/view", Some(Scope::Admin)),
    ("get", "/api/v1/keys", Some(Scope::Admin)),
    ("post", "/api/v1/keys", Some(Scope::Admin)),
    ("delete", "/api/v1/keys/{id}", Some(Scope::Admin)),
    ("get", "/api/v1/workspaces", Some(Scope::Admin)),
    ("post", "/api/v1/workspaces", Some(Scope::Admin)),
    ("delete", "/api/v1/workspaces/{name}", Some(Scope::Admin)),
    ("post", "/api/v1/tags/learn", Some(Scope::Write)),
    ("post", "/api/v1/tags/learn/estimate", Some(Scope::Write)),
    ("post", "/v1/chat/completions", Some(Scope::Ask)),
    ("get", "/v1/models", Some(Scope::Ask)),
    ("get", "/v1/models/{model}", Some(Scope::Ask)),
    ("post", "/v1/embeddings", Some(Scope::Ask)),
];

/// Routes that require no key, and the one that `OpenAPI` does not describe.
const OPEN: &[&str] = &["get /api/v1/health", "get /api/v1/ready"];
const MCP: (&str, &str, Option<Scope>) = ("post", "/mcp", Some(Scope::Ask));

async fn described(world: &World) -> BTreeSet<String> {
    let description = world.get_json("/api/v1/openapi.json").await;
    let paths = description["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, methods)| {
        methods.as_object().unwrap().keys().map(move |method| format!("{method} {path}"))
    });
    operations.collect()
}

async fn status(
    world: &World,
    route: (&str, &str),
    key: Option<&str>,
    workspace: Option<&str>,
) -> u16 {
    let path = route.1.replace("prompts/{name}", "prompts/naive/answer");
    let path = path.replace("{id}", "x").replace("{name}", "x");
    let method = Method::from_bytes(route.0.to_uppercase().as_bytes()).unwrap();
    let mut request = world.request(method, &path);
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    if let Some(workspace) = workspace {
        request = request.header("x-halma-workspace", workspace);
    }
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_has_every_route_that_is_described() {
    let world = World::start().await;
    let ours = ROUTES.iter().map(|(method, path, _)| format!("{method} {path}"));
    let ours: BTreeSet<String> = ours.chain(OPEN.iter().map(ToString::to_string)).collect();
    let described = described(&world).await;
    assert_eq!(described, ours);
    insta::assert_snapshot!(described.into_iter().collect::<Vec<_>>().join("\n"));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_accepts_an_invalid_key_or_one_without_the_scope() {
    let world = World::start().await;
    let all = world.key(&Scope::ALL, "default");
    good_workspace(&world, &all, "other").await;
    let file = ApiKeys::for_base(world.dir.path());
    let (revoked, revoked_text) = file.create(new_key(&Scope::ALL, "default")).unwrap();
    file.revoke(&revoked.id).unwrap();
    let mut expired = new_key(&Scope::ALL, "default");
    expired.expires = Some(Utc::now() - Duration::seconds(1));
    let (_, expired) = file.create(expired).unwrap();
    let narrow: Vec<(Scope, String)> =
        Scope::ALL.iter().map(|scope| (*scope, world.key(&[*scope], "default"))).collect();
    let last = if all.ends_with('0') { '1' } else { '0' };
    let wrong_secret = format!("{}{last}", &all[..all.len() - 1]);
    for (method, path, scope) in ROUTES.iter().chain([&MCP]) {
        let route = (*method, *path);
        for invalid in
            [None, Some("halma_x_y"), Some(&*revoked_text), Some(&*expired), Some(&*wrong_secret)]
        {
            assert_eq!(status(&world, route, invalid, None).await, 401, "{route:?} {invalid:?}");
        }
        for (granted, key) in &narrow {
            let got = status(&world, route, Some(key), None).await;
            let may = scope.is_none_or(|scope| scope == *granted);
            assert_eq!(matches!(got, 401 | 403), !may, "{route:?} with {granted:?}: {got}");
            if *granted != Scope::Admin && may {
                let got = status(&world, route, Some(key), Some("other")).await;
                assert_eq!(got, 403, "{route:?} in another workspace");
            }
        }
    }
    let ask = &narrow[0].1;
    let refused = world.request(Method::GET, "/api/v1/keys").bearer_auth(ask).send().await.unwrap();
    let refused: serde_json::Value = refused.json().await.unwrap();
    assert_eq!(refused["type"], "urn:halma:missing-scope", "{refused}");
    assert_eq!(refused["missing_scope"], "admin", "{refused}");
    // Without the scope `admin`, a key cannot find out whether a workspace exists.
    let route = ("get", "/api/v1/me");
    assert_eq!(status(&world, route, Some(ask), Some("nothing")).await, 403);
    assert_eq!(status(&world, route, Some(&all), Some("nothing")).await, 404);
    assert_eq!(status(&world, route, Some(&all), Some("other")).await, 200);
    world.stop().await;
}

async fn good_workspace(world: &World, key: &str, name: &str) {
    let body = serde_json::json!({"name": name});
    let request = world.request(Method::POST, "/api/v1/workspaces").bearer_auth(key).json(&body);
    assert_eq!(request.send().await.unwrap().status(), 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_created_and_revoked_over_http_and_required_from_the_first_on() {
    let world = World::start().await;
    let me = world.get_json("/api/v1/me").await;
    assert_eq!((&me["keys_required"], me["scopes"].as_array().unwrap().len()), (&false.into(), 4));
    let new = serde_json::json!({"name": "ops", "scopes": ["admin"], "workspace": "default"});
    let created = world.post_json("/api/v1/keys", &new).await;
    let (id, key) = (created["id"].as_str().unwrap(), created["key"].as_str().unwrap());
    assert!(key.starts_with("halma_") && key.contains(id));
    assert_eq!(world.get("/api/v1/me").await.status(), 401);
    let listed = world.request(Method::GET, "/api/v1/keys").bearer_auth(key).send().await.unwrap();
    let listed = listed.text().await.unwrap();
    assert!(listed.contains(id) && !listed.contains(key.rsplit('_').next().unwrap()));
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert!(listed["items"][0].get("hash").is_none());
    let path = format!("/api/v1/keys/{id}");
    let revoked = world.request(Method::DELETE, &path).bearer_auth(key).send().await.unwrap();
    assert_eq!(revoked.status(), 204);
    // Keys are still required after the last one is revoked.
    assert_eq!(status(&world, ("get", "/api/v1/me"), Some(key), None).await, 401);
    assert_eq!(status(&world, ("get", "/api/v1/me"), None, None).await, 401);
    world.stop().await;
}
