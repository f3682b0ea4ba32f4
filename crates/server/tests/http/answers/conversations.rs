//! Conversations, and who sees which questions.
use halma_core::MetadataFilter;
use halma_server::{ApiKeys, NewKey, Scope};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::world::{Setup, World, config, good, new_key};

/// A client with an API key.
struct Client<'a> {
    world: &'a World,
    key: String,
}

impl Client<'_> {
    async fn send(&self, method: Method, path: &str) -> Response {
        self.world.request(method, path).bearer_auth(&self.key).send().await.unwrap()
    }

    async fn ask(&self, question: &str, conversation: &str) -> Response {
        let body = json!({"question": question, "conversation": conversation});
        let request = self.world.request(Method::POST, "/api/v1/ask");
        request.bearer_auth(&self.key).json(&body).send().await.unwrap()
    }

    async fn items(&self, path: &str) -> Vec<Value> {
        let listed = good(self.send(Method::GET, path).await).await;
        listed["items"].as_array().unwrap().clone()
    }
}

fn client(world: &World) -> Client<'_> {
    Client { world, key: world.key(&[Scope::Ask], "default") }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_listed_read_and_deleted_by_the_key_that_asked() {
    let world = World::start().await;
    let (ada, ben) = (client(&world), client(&world));
    for (question, conversation) in [
        ("When was Orrin Light first lit?", "first-one"),
        ("Who designed Orrin Light?", "second_1"),
        ("Where was Ada Tarrant born?", "first-one"),
    ] {
        good(ada.ask(question, conversation).await).await;
    }
    good(ben.ask("Who designed Orrin Light?", "first-one").await).await;
    let listed = ada.items("/api/v1/conversations").await;
    let shown = |at: usize| [&listed[at]["id"], &listed[at]["title"], &listed[at]["questions"]];
    assert_eq!(
        shown(0),
        [&json!("first-one"), &json!("When was Orrin Light first lit?"), &json!(2)]
    );
    assert_eq!(shown(1)[0], "second_1");
    let page = good(ada.send(Method::GET, "/api/v1/conversations?limit=1").await).await;
    let rest = format!("/api/v1/conversations?after={}", page["next"].as_str().unwrap());
    assert_eq!(ada.items(&rest).await, listed[1..]);
    // The same id of another key is another conversation.
    assert_eq!(ben.items("/api/v1/conversations").await[0]["questions"], 1);
    let questions = ada.items("/api/v1/traces?conversation=first-one").await;
    assert_eq!(questions[0]["question"], "Where was Ada Tarrant born?");
    assert_eq!(questions.len(), 2);
    // Shared, it is read by who has its id, and not listed.
    let share = async |client: &Client<'_>, id: &str, shared: bool| {
        let path = format!("/api/v1/conversations/{id}/shared");
        let request = world.request(Method::PUT, &path).bearer_auth(&client.key);
        request.json(&json!({"shared": shared})).send().await.unwrap().status().as_u16()
    };
    assert_eq!(share(&ben, "second_1", true).await, 404, "only who asked shares");
    assert_eq!(share(&ben, "first-one", true).await, 409, "its id is that of another's, too");
    assert_eq!(share(&ada, "second_1", true).await, 204);
    assert_eq!(ada.items("/api/v1/conversations").await[1]["shared"], true);
    let read = ben.items("/api/v1/traces?conversation=second_1").await;
    assert_eq!(read[0]["question"], "Who designed Orrin Light?");
    let trace = format!("/api/v1/traces/{}", read[0]["id"].as_str().unwrap());
    assert_eq!(ben.send(Method::GET, &trace).await.status(), 200);
    assert_eq!(ben.items("/api/v1/traces").await.len(), 1);
    let mut team = MetadataFilter::default();
    team.add("team=none").unwrap();
    let key = NewKey { documents: Some(team), ..new_key(&[Scope::Ask], "default") };
    let key = ApiKeys::for_base(world.dir.path()).create(key).unwrap().1;
    let other = Client { world: &world, key };
    assert_eq!(
        other.send(Method::GET, &trace).await.status(),
        404,
        "it quotes what they may not see"
    );
    assert_eq!(share(&ada, "second_1", false).await, 204);
    assert_eq!(ben.send(Method::GET, &trace).await.status(), 404);
    let path = "/api/v1/conversations/first-one";
    assert_eq!(ada.send(Method::DELETE, path).await.status(), 204);
    assert_eq!(ada.send(Method::DELETE, path).await.status(), 404);
    assert_eq!(ada.items("/api/v1/traces").await.len(), 1);
    assert_eq!(ben.items("/api/v1/traces").await.len(), 1);
    for id in ["short", "with space", "a/b/c/d/e"] {
        let refused = ada.ask("Who designed Orrin Light?", id).await;
        assert_eq!(refused.status(), 422, "{id}");
        assert!(refused.text().await.unwrap().contains("8 to 64 letters"));
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_question_is_stored_there_is_no_list() {
    let mut config = config();
    config.serve.keep_traces = 0;
    let world = World::with(Setup { config, library: true }).await;
    let ada = client(&world);
    good(ada.ask("Who designed Orrin Light?", "first-one").await).await;
    let listed = ada.send(Method::GET, "/api/v1/conversations").await;
    assert_eq!(listed.status(), 404);
    assert!(listed.text().await.unwrap().contains("serve.keep_traces"));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_sees_the_questions_of_others_only_where_runs_are_shared() {
    for shared_runs in [false, true] {
        let mut config = config();
        config.serve.shared_runs = shared_runs;
        let world = World::with(Setup { config, library: true }).await;
        let (ada, ben) = (client(&world), client(&world));
        let answered = good(ada.ask("Who designed Orrin Light?", "first-one").await).await;
        let path = format!("/api/v1/traces/{}", answered["id"].as_str().unwrap());
        assert_eq!(ada.send(Method::GET, &path).await.status(), 200);
        let status = if shared_runs { 200 } else { 404 };
        assert_eq!(ben.send(Method::GET, &path).await.status(), status);
        assert_eq!(ben.items("/api/v1/traces").await.len(), usize::from(shared_runs));
        let deleted = ben.send(Method::DELETE, "/api/v1/conversations/first-one").await;
        assert_eq!(deleted.status(), 404, "only who asked deletes");
        world.stop().await;
    }
}
