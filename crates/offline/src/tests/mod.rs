mod odd;
mod trained;

use serde_json::{Value, json};

use super::*;

fn request(task: &str, variables: &Value) -> ChatRequest {
    ChatRequest {
        prompt: format!("test/{task}"),
        task: task.to_owned(),
        variables: minijinja::value::Serde(variables).into(),
        messages: vec![],
        schema: None,
        stop: vec![],
        max_tokens: 64,
        temperature: 0.0,
        logprobs: false,
        about: vec![],
        images: vec![],
        stream: None,
    }
}

async fn ask(task: &str, variables: Value) -> Result<ChatReply, LlmError> {
    Extractive::new().chat(&request(task, &variables)).await
}

fn question(text: &str) -> Value {
    json!({ "id": "q", "text": text, "options": [], "answer_kind": "short" })
}

#[tokio::test]
async fn each_task_is_answered_from_the_variables() {
    let hit = json!({
        "title": "Low Tide", "text": "Low Tide was painted by Mara Quill.",
        "score": 0.8, "cosine": 0.7
    });
    let question = question("Who painted Low Tide?");
    let chunk = json!({ "chunk": { "title": "Low Tide", "text": "It is a large picture." } });
    assert_eq!(ask("questions", chunk).await.unwrap().text, "Low Tide is a large picture.");

    let reply = ask("propose", json!({ "question": question, "context": [] })).await.unwrap();
    let reply: Value = serde_json::from_str(&reply.text).unwrap();
    assert_eq!(reply["sub_questions"], json!(["Who painted Low Tide?"]));

    let offered = json!({ "question": question, "context": [], "candidates": [hit] });
    let reply: Value = serde_json::from_str(&ask("select", offered).await.unwrap().text).unwrap();
    assert_eq!(reply["candidate"], 1);

    let read = json!({ "question": question, "context": [hit] });
    let reply = ask("read", read).await.unwrap();
    assert_eq!(reply.usage, halma_core::Usage::default());
    let reply: Value = serde_json::from_str(&reply.text).unwrap();
    assert_eq!(reply["answer"], "Mara Quill");
    assert!(reply["rationale"].as_str().unwrap().contains("was painted by"));
}

#[tokio::test]
async fn without_context_it_abstains() {
    let reply = ask("read", json!({ "question": question("Who is he?") })).await.unwrap();
    let reply: Value = serde_json::from_str(&reply.text).unwrap();
    assert_eq!(reply["answer"], "");
}

#[tokio::test]
async fn other_tasks_and_other_variables_are_refused() {
    let refused = ask("forecast", json!({})).await.unwrap_err().to_string();
    assert!(refused.contains("`forecast`") && refused.contains("[roles]"), "{refused}");
    let refused = ask("select", json!({ "question": 3 })).await.unwrap_err().to_string();
    assert!(refused.contains("`test/select`"), "{refused}");
}

#[tokio::test]
async fn judges_of_other_things_are_refused() {
    let verdict = json!({ "question": "Where?", "golds": ["Varn"], "answer": "in Varn" });
    assert_eq!(ask("judge", verdict).await.unwrap().text, "yes");
    let rated = json!({ "question": "Where?", "answer": "in Varn" });
    let refused = ask("judge", rated).await.unwrap_err().to_string();
    assert!(refused.contains("[roles]"), "{refused}");
}

#[tokio::test]
async fn the_result_of_a_query_is_the_answer_where_it_is_one_column() {
    let row = |text: &str| json!({ "title": "Mills", "text": text, "score": 1.0 });
    let read = |rows: Value| {
        json!({ "question": question("How many mills are there?"), "context": rows,
                "sql": "SELECT COUNT(*) FROM mills" })
    };
    let reply = ask("read", read(json!([row("COUNT(*): 12")]))).await.unwrap();
    let reply: Value = serde_json::from_str(&reply.text).unwrap();
    assert_eq!(reply["answer"], "12");
    let two = ask("read", read(json!([row("town: Varn"), row("town: Holm")]))).await.unwrap();
    let two: Value = serde_json::from_str(&two.text).unwrap();
    assert_eq!(two["answer"], "Varn, Holm");
}
