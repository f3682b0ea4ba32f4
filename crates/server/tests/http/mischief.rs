//! Questions over every interface while the model answers as weak, careless and reasoning models
//! do: they end with an answer or an abstention, and no draft or "Unknown" is part of it.
use halma_engine::ModelConfig;
use halma_testkit::double::{Behaviour, ChatCall, Double};
use halma_testkit::{Mischief, Remedy, leak};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Setup, World, config, events};

/// A model that answers in two hops.
fn reply(call: &ChatCall) -> String {
    match call.prompt.as_str() {
        "kar3/propose" if call.last().contains("born in Velby") => {
            json!({"thinking": "", "sub_questions": []})
        }
        "kar3/propose" if call.last().contains("designed by Ada Tarrant") => {
            json!({"thinking": "", "sub_questions": ["Where was Ada Tarrant born?"]})
        }
        "kar3/propose" => json!({"thinking": "", "sub_questions": ["Who designed Orrin Light?"]}),
        "kar3/select" => json!({"thinking": "", "candidate": 1}),
        "kar3/answer" => json!({"rationale": "Ada Tarrant was born in Velby.", "answer": "Velby"}),
        "closing/plain" => json!({"answer": "Velby"}),
        "answer/full" => json!({"answer": "Ada Tarrant was born in Velby [1]."}),
        other => panic!("`{other}` is not expected"),
    }
    .to_string()
}

async fn world(double: &Double) -> World {
    let mut config = config();
    config.ask.strategy = "kar3".into();
    let model: ModelConfig =
        serde_json::from_value(json!({"url": double.url(), "model": "double"})).unwrap();
    config.models.insert("main".into(), model);
    config.kb.atoms = serde_json::from_value(json!("sentences")).unwrap();
    World::with(Setup { config, library: true }).await
}

/// What a person or a program is shown of an answer, over one interface.
async fn shown(world: &World, interface: &str, question: &str) -> String {
    let ask = json!({"question": question});
    let chat = json!({
        "model": "halma",
        "stream": interface == "chat, streamed",
        "messages": [{"role": "user", "content": question}],
    });
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "ask", "arguments": ask},
    });
    let (path, body) = match interface {
        "http" => ("/api/v1/ask", &ask),
        "http, streamed" => ("/api/v1/ask", &json!({"question": question, "stream": true})),
        "mcp" => ("/mcp", &call),
        _ => ("/v1/chat/completions", &chat),
    };
    let accept = if interface == "mcp" { "application/json, text/event-stream" } else { "*/*" };
    let request = world.request(Method::POST, path).header("accept", accept).json(body);
    let response = request.send().await.unwrap();
    let (status, text) = (response.status(), response.text().await.unwrap());
    assert!(status.is_success(), "{interface}: {status}: {text}");
    let last = || events(&text).into_iter().rfind(|event| event.data.is_object()).unwrap();
    let text = match interface {
        "http" => of_answer(&serde_json::from_str(&text).unwrap()),
        "http, streamed" => {
            let last = last();
            assert_eq!(last.name, "answer", "{text}");
            of_answer(&last.data)
        }
        "mcp" => {
            let reply = serde_json::from_str(&text).unwrap_or_else(|_| last().data);
            assert_ne!(reply["result"]["isError"], true, "{reply}");
            reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
        }
        "chat" => {
            let reply: Value = serde_json::from_str(&text).unwrap();
            reply["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
        }
        _ => {
            let delta = |event: crate::world::StreamEvent| {
                event.data["choices"][0]["delta"]["content"].as_str().map(str::to_owned)
            };
            events(&text).into_iter().filter_map(delta).collect()
        }
    };
    assert!(!text.trim().is_empty(), "{interface}: nothing is shown");
    text
}

/// The short and the full answer, or the reason for none.
fn of_answer(result: &Value) -> String {
    let answer = &result["answer"];
    let abstains = answer["abstained"] == true;
    assert_eq!(answer["text"] == "", abstains, "{answer}");
    assert!(!abstains || answer["reason"] != "", "{answer}");
    let full = answer["full"]["text"].as_str().or(answer["full"].as_str()).unwrap_or_default();
    let summary = if abstains { &answer["reason"] } else { &answer["text"] };
    format!("{} {full}", summary.as_str().unwrap())
}

const INTERFACES: [&str; 5] = ["http", "http, streamed", "chat", "chat, streamed", "mcp"];

#[tokio::test(flavor = "multi_thread")]
async fn bad_replies_of_every_kind_end_well_over_every_interface() {
    let double = Double::start(Behaviour::replying(reply));
    let world = world(&double).await;
    let mut faults = vec![];
    for (i, kind) in Mischief::ALL.iter().enumerate() {
        for interface in INTERFACES {
            double.set(Behaviour::replying(reply).mischievous(*kind, 7));
            // Its own question for each, since replies are cached.
            let question = format!("Where was the designer of Orrin Light born? ({interface} {i})");
            let text = shown(&world, interface, &question).await;
            // No chunk can be taken back: a first object has been sent when the second one corrects
            // it, and the whole answer follows.
            let sent = *kind == Mischief::TwoObjects && interface == "chat, streamed";
            if let Some(leak) = leak(&text).filter(|_| !sent) {
                faults.push(format!("{kind:?} × {interface}: {leak}"));
            }
            if kind.remedy() != Remedy::FallBack && !text.contains("Velby") {
                faults.push(format!("{kind:?} × {interface}: no answer in `{text}`"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_refuse_a_part_of_the_request_are_understood() {
    let double = Double::start(Behaviour::replying(reply));
    for (field, role) in [("response_format", "user-less"), ("temperature", "system")] {
        let world = world(&double).await;
        let (refused_fields, refused_roles) = (vec![field], vec![role]);
        let behaviour = Behaviour { refused_fields, refused_roles, ..Behaviour::replying(reply) };
        double.set(behaviour);
        for interface in INTERFACES {
            let question = format!("Where was the designer of Orrin Light born? ({interface})");
            let text = shown(&world, interface, &question).await;
            assert!(text.contains("Velby"), "{field} × {interface}: {text}");
        }
        world.stop().await;
    }
}
