//! Questions: in one response, streamed, in a conversation, cancelled.
use std::time::Duration;

use halma_engine::{BaseState, ModelConfig};
use halma_server::{ApiKeys, Scope};
use halma_testkit::double::{Behaviour, ChatCall, Double};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Setup, StreamEvent, World, config, events, good, question, until};

/// A model server with a latency.
pub(crate) fn slow(seconds: u64) -> Double {
    Double::start(Behaviour::default().latency(Duration::from_secs(seconds)))
}

pub(crate) fn with_model(double: &Double) -> Setup {
    let mut config = config();
    let model: ModelConfig = serde_json::from_value(json!({
        "url": double.url(), "model": "double", "retries": 0,
    }))
    .unwrap();
    config.models.insert("main".into(), model);
    // The base is built without the model.
    config.kb.atoms = serde_json::from_value(json!("sentences")).unwrap();
    Setup { config, library: true }
}

#[tokio::test(flavor = "multi_thread")]
async fn citations_are_ranges_of_the_document_s_text() {
    let world = World::start().await;
    let answered = world.post_json("/api/v1/ask", &question()).await;
    assert_eq!(answered["answer"]["text"], "1871", "{answered}");
    assert_eq!(answered["strategy"], "naive");
    assert!(answered["usage"]["llm_calls"].as_u64().unwrap() > 0 && answered["hops"] == 1);
    let citation = &answered["answer"]["citations"][0];
    let name = citation["document"].as_str().unwrap();
    let range = format!("start={}&end={}", citation["start"], citation["end"]);
    let text = world.get_json(&format!("/api/v1/documents/{name}/text?{range}")).await;
    assert_eq!(text["text"], citation["quote"]);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_has_all_events_in_order_and_the_trace_is_stored() {
    let world = World::start().await;
    let mut ask = question();
    ask["strategy"] = json!("kar3");
    ask["stream"] = json!(true);
    let response = world.post("/api/v1/ask", &ask).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    let events = events(&response.text().await.unwrap());
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    let count = |wanted: &str| names.iter().filter(|name| **name == wanted).count();
    let (traced, calls) = (count("trace"), count("model_asked"));
    assert_eq!(names[0], "started");
    assert_eq!(names[names.len() - 2..], ["answer_delta", "answer"]);
    assert!(calls > 0, "{names:?}");
    assert_eq!(traced, names.len() - calls - 3);
    let id = events[0].data["id"].as_str().unwrap();
    assert_eq!(events.last().unwrap().data["id"], id);
    let path = format!("/api/v1/traces/{id}");
    let mut stored = Value::Null;
    for _ in 0..100 {
        let response = world.get(&path).await;
        if response.status() == 200 {
            stored = good(response).await;
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(stored["trace"].as_array().unwrap().len(), traced);
    assert_eq!(stored["trace"][0], events[1].data);
    assert_eq!(stored["answer"]["text"], events.last().unwrap().data["answer"]["text"]);
    let listed = world.get_json("/api/v1/traces?query=ORRIN&strategy=kar3").await;
    assert_eq!(listed["items"][0]["id"], id);
    let state = BaseState::of_folder(world.dir.path());
    until("the usage", || !state.used().unwrap().is_empty()).await;
    let usage = world.get_json("/api/v1/usage?by=strategy").await;
    assert_eq!((&usage[0]["group"], &usage[0]["questions"]), (&json!("kar3"), &json!(1)));
    let gone = world.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    assert_eq!(world.get(&path).await.status(), 404);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_may_refer_to_the_conversation() {
    let world = World::start().await;
    let ask = json!({"question": "Where was she born?", "history": [
        {"role": "user", "text": "Who designed Orrin Light?"},
        {"role": "assistant", "text": "Ada Tarrant"},
    ]});
    let answered = world.post_json("/api/v1/ask", &ask).await;
    assert_eq!(answered["question"], "Where was Ada Tarrant born?");
    assert_eq!(answered["answer"]["text"], "Velby", "{answered}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_call_ends_when_the_client_disconnects() {
    let double = slow(60);
    let world = World::with(with_model(&double)).await;
    for stream in [true, false] {
        let mut ask = question();
        ask["stream"] = json!(stream);
        let request = world.request(Method::POST, "/api/v1/ask").json(&ask);
        let asking = tokio::spawn(async move { request.send().await.unwrap().text().await });
        until("a call to the model", || double.in_flight() == 1).await;
        asking.abort();
        until("the end of the call", || double.in_flight() == 0).await;
    }
    // The questions are stored anyway.
    for _ in 0..100 {
        let listed = world.get_json("/api/v1/traces").await;
        let items = listed["items"].as_array().unwrap().clone();
        if items.len() == 2 {
            assert!(items[0]["error"].as_str().unwrap().contains("disconnected"), "{listed}");
            world.stop().await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the questions are not stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn revoking_a_key_ends_its_streams() {
    let double = slow(60);
    let world = World::with(with_model(&double)).await;
    let key = world.key(&[Scope::Ask], "default");
    let mut ask = question();
    ask["stream"] = json!(true);
    let request = world.request(Method::POST, "/api/v1/ask").bearer_auth(&key).json(&ask);
    let asking = tokio::spawn(async move { request.send().await.unwrap().text().await.unwrap() });
    until("a call to the model", || double.in_flight() == 1).await;
    ApiKeys::for_base(world.dir.path()).revoke(key.split('_').nth(1).unwrap()).unwrap();
    let events = events(&asking.await.unwrap());
    let StreamEvent { name, data: problem } = events.last().unwrap();
    assert_eq!((name.as_str(), &problem["status"]), ("error", &json!(401)));
    assert!(!problem["request_id"].as_str().unwrap().is_empty());
    until("the end of the call", || double.in_flight() == 0).await;
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_cannot_exceed_its_daily_budget() {
    let double = Double::start(Behaviour::replying(|_| {
        r#"{"answer": "1871", "rationale": "It says so."}"#.into()
    }));
    let world = World::with(with_model(&double)).await;
    let mut new = crate::world::new_key(&[Scope::Ask], "default");
    new.calls_per_day = Some(2);
    let (_, key) = ApiKeys::for_base(world.dir.path()).create(new).unwrap();
    let mut statuses = vec![];
    for n in 0..4 {
        let ask = json!({"question": format!("When was Orrin Light first lit, try {n}?")});
        let request = world.request(Method::POST, "/api/v1/ask").bearer_auth(&key).json(&ask);
        statuses.push(request.send().await.unwrap().status().as_u16());
    }
    assert_eq!(statuses[0], 200);
    assert_eq!(statuses[3], 429, "{statuses:?}");
    assert!(double.chat_calls() <= 2);
    // Nor by a restart.
    let dir = world.stop().await;
    let world = World::over(dir, with_model(&double)).await;
    let ask = json!({"question": "When was Orrin Light first lit, after all?"});
    let request = world.request(Method::POST, "/api/v1/ask").bearer_auth(&key).json(&ask);
    let refused = request.send().await.unwrap();
    assert_eq!(refused.status(), 429);
    let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!(wait > 5, "until midnight: {wait} s");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_a_daily_budget_stops_says_so() {
    let double = Double::start(Behaviour::replying(|call| {
        match call.prompt.as_str() {
            "kar3/propose" => r#"{"enough": false, "proposals": ["Who designed Orrin Light?"]}"#,
            _ => r#"{"index": 1, "answer": "Velby", "rationale": "It says so."}"#,
        }
        .into()
    }));
    let world = World::with(with_model(&double)).await;
    let mut new = crate::world::new_key(&[Scope::Ask], "default");
    new.calls_per_day = Some(1);
    let (_, key) = ApiKeys::for_base(world.dir.path()).create(new).unwrap();
    let question = "Where was the designer of Orrin Light born?";
    let ask = json!({"question": question, "strategy": "kar3", "budget": {"calls": 20}});
    let request = world.request(Method::POST, "/api/v1/ask").bearer_auth(&key).json(&ask);
    let response = request.send().await.unwrap();
    let (status, reply) = (response.status(), response.text().await.unwrap());
    let said =
        if status == 429 { "this key has spent its daily budget" } else { "The daily budget" };
    assert!(reply.contains(said), "{status}: {reply}");
    // What the question's own budget stops is not the key's.
    let key = world.key(&[Scope::Ask], "default");
    let ask = json!({"question": question, "strategy": "kar3", "budget": {"calls": 1}});
    let request = world.request(Method::POST, "/api/v1/ask").bearer_auth(&key).json(&ask);
    let reply = request.send().await.unwrap().text().await.unwrap();
    assert!(!reply.contains("aily budget"), "{reply}");
    world.stop().await;
}

/// A model that has ideas.
fn creative(call: &ChatCall) -> String {
    let pilots = call.last().contains("Perspective: Pilots");
    match call.prompt.as_str() {
        "pike_l4/ask" => json!({"sub_questions": ["Who designed Orrin Light?"]}),
        "auto/classify" => json!({"kind": "summarising", "reason": ""}),
        "pike_l2/summarise" => json!({"points": [{"point": "Ada Tarrant.", "passages": [1]}]}),
        "pike_l2/combine" => json!({"rationale": "", "answer": "Ada Tarrant."}),
        "pike_l4/perspectives" => json!({"perspectives": [
            {"name": "Pilots", "concern": "seeing the light"},
            {"name": "Keepers", "concern": "less work"},
        ]}),
        "pike_l4/look_up" => json!({"query": ""}),
        "pike_l4/propose" if pilots => json!({"proposals": [
            {"idea": "Raise the lamp.", "mechanism": "It is seen further.", "rests_on": [1, 1]},
        ]}),
        "pike_l4/propose" => json!({"proposals": [{"idea": "Sound a horn.", "rests_on": []}]}),
        "pike_l4/criticise" => json!({"reviews": [
            {"proposal": 1, "feasibility": 4, "evidence": 2, "novelty": 9, "objection": "Costly."},
        ]}),
        "pike_l4/synthesise" => json!({
            "summary": "Light or sound.",
            "factors": ["Ada Tarrant designed Orrin Light [1].", "Ships prefer 3 horns."],
            "groups": [{"title": "All", "proposals": [1, 2]}],
        }),
        other => panic!("`{other}` is not expected"),
    }
    .to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_steps_of_a_creative_answer_are_streamed_and_its_ideas_name_their_passages() {
    let double = Double::start(Behaviour::replying(creative));
    let world = World::with(with_model(&double)).await;
    let question = "How could more ships find Orrin Light?";
    let ask = json!({"question": question, "strategy": "pike_l4", "stream": true});
    let response = world.post("/api/v1/ask", &ask).await;
    let events = events(&response.text().await.unwrap());
    let steps: Vec<&Value> = events
        .iter()
        .filter(|event| event.data["event"] == "ideas_developed")
        .map(|event| &event.data["ideas"])
        .collect();
    let mut names: Vec<&str> = steps.iter().map(|step| step["step"].as_str().unwrap()).collect();
    names.dedup();
    assert_eq!(names, ["board", "perspectives", "proposed", "reviewed", "synthesised"]);
    assert_eq!(steps[0]["evidence"][0]["text"], "Ada Tarrant.");
    assert!(steps[0]["evidence"][0]["nodes"][0].is_string(), "{}", steps[0]);
    let of_pilots = steps.iter().find(|step| step["step"] == "proposed" && step["agent"] == 1);
    let idea = &of_pilots.unwrap()["ideas"][0];
    assert_eq!((&idea["id"], &idea["rests_on"]), (&json!("1.1"), &json!([1])));
    // Scores are from 1 to 5.
    let review = steps.iter().find(|step| step["step"] == "reviewed").unwrap();
    assert_eq!(review["reviews"][0]["novelty"], 5.0);
    let answer = &events.last().unwrap().data["answer"];
    let text = answer["full"]["text"].as_str().unwrap();
    assert!(text.contains("- Raise the lamp [1] (Pilots"), "{text}");
    assert!(text.contains("- Sound a horn (Keepers") && text.contains("Evidence: none"), "{text}");
    assert!(answer["citations"][0]["document"].is_string(), "{answer}");
    // Ideas are no claims; what is said of the evidence is checked.
    let supported: Vec<&Value> =
        answer["full"]["claims"].as_array().unwrap().iter().map(|one| &one["supported"]).collect();
    assert_eq!(supported, [&json!(true), &json!(false)], "{answer}");
    world.stop().await;
}
