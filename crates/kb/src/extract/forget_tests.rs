//! Everything that was distilled from a document is gone with it.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::text::words;
use halma_core::{ChatReply, ChatRequest, Layer, Llm, LlmError, Models, Prompts, Setup};
use halma_testkit::Toy;
use serde_json::{Value, json};

use crate::{Atoms, Base, BaseOptions, BuildContext, Entities, IndexOptions, KbSettings, PROMPTS};

/// Quotes as much of what it is shown as it can.
struct Parrot;

#[async_trait]
impl Llm for Parrot {
    fn model(&self) -> &'static str {
        "parrot"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let variables = serde_json::to_value(&request.variables).unwrap();
        let shown = variables.to_string();
        let reply = match request.task.as_str() {
            "facts" => facts(variables["chunk"]["text"].as_str().unwrap()),
            "same_entity" => json!({"reason": shown, "same": true}),
            "tag_classes" => json!({"classes": [
                {"name": "thing", "description": "Anything."},
                {"name": "zzmark class", "description": "Only of one document."}]}),
            "tag" => {
                let said = words(variables["text"].as_str().unwrap());
                let class =
                    |word: &str| if word.starts_with("zz") { "zzmark class" } else { "thing" };
                let tags: Vec<Value> =
                    said.iter().map(|word| json!({"class": class(word), "tag": word})).collect();
                json!({"tags": tags})
            }
            "community" => json!({"title": shown, "summary": shown}),
            _ => Value::String(shown),
        };
        Ok(ChatReply { text: reply.to_string(), ..ChatReply::default() })
    }
}

/// Every capitalised word is an entity of its own, described by the whole text, and related to the
/// first one.
fn facts(text: &str) -> Value {
    let capital = |word: &&str| word.chars().next().is_some_and(char::is_uppercase);
    let names: Vec<&str> = text
        .split_whitespace()
        .filter(capital)
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .collect();
    let entity = |name: &&str| json!({"name": name, "type": "person", "description": text});
    let fact = |name: &&str| {
        let relation = format!("met in {text}");
        json!({"head": names[0], "relation": relation, "tail": name, "sentence": text})
    };
    let entities: Vec<Value> = names.iter().map(entity).collect();
    let facts: Vec<Value> = names.iter().skip(1).map(fact).collect();
    json!({"entities": entities, "facts": facts})
}

fn settings() -> KbSettings {
    KbSettings {
        atoms: Atoms::None,
        entities: Entities::Model,
        tags: true,
        summaries: true,
        communities: true,
        chunk_chars: 120,
        ..KbSettings::default()
    }
}

async fn index(base: &Arc<Base>, input: &std::path::Path) {
    let setup = Arc::new(Setup::new(
        Models::new(Arc::new(Parrot)),
        Toy::empty(),
        Arc::new(Prompts::shipped(&[PROMPTS]).unwrap()),
    ));
    let context = BuildContext::new(base, &settings(), &setup);
    crate::index(context, &[input.to_owned()], &IndexOptions::default()).await.unwrap();
}

#[tokio::test]
async fn nothing_that_a_document_said_is_left_in_any_record() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("in");
    std::fs::create_dir(&input).unwrap();
    let write = |name: &str, text: &str| std::fs::write(input.join(name), text).unwrap();
    write(
        "zzmark.txt",
        "Shared met Zzmark at zzmarkplace. Shared is a sailor of zzmarkland who likes tea.\n\n\
         Zzmarker met Shared once more, and both went to the zzmark harbour to look at the ships.",
    );
    write("other.txt", "Shared met Other at home. Shared is a cook who sings.");
    write("third.txt", "Third met Other and Shared is the sailor who likes tea.");
    let base = Base::create_or_open(&dir.path().join("base"), BaseOptions::default()).unwrap();
    index(&base, &input).await;
    assert!(base.store.holds_text("zzmark"));
    let count = |layer| base.store.read(|reader| reader.count(layer)).unwrap();
    for layer in [Layer::Entity, Layer::Fact, Layer::Tag, Layer::Summary, Layer::Community] {
        assert!(count(layer) > 0, "{}", layer.name());
    }
    assert!(!base.merges().unwrap().is_empty());
    base.store
        .write(|writer| {
            let row = writer.named("zzmark.txt")?.unwrap();
            writer.remove_document(row)
        })
        .unwrap();
    assert!(!base.store.holds_text("zzmark"), "something is left");
    assert!(base.communities_are_stale().unwrap());
    // What the others said is still there, and the next run puts everything in order.
    std::fs::remove_file(input.join("zzmark.txt")).unwrap();
    index(&base, &input).await;
    assert!(!base.store.holds_text("zzmark") && !base.communities_are_stale().unwrap());
    let fresh = Base::create_or_open(&dir.path().join("fresh"), BaseOptions::default()).unwrap();
    index(&fresh, &input).await;
    for layer in Layer::ALL {
        let ids = |base: &Base| base.store.read(|reader| reader.ids(layer)).unwrap();
        // The classes of tags are those that were found first.
        if layer != Layer::Tag {
            assert_eq!(ids(&base), ids(&fresh), "{}", layer.name());
        }
    }
}
