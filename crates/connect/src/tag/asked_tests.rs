//! A model that lists what is there, what is not, and what is no list.
use std::collections::VecDeque;
use std::sync::Mutex;

use halma_core::ChatReply;

use super::*;
use crate::PROMPTS;

/// Gives its replies in turn and keeps what it was asked.
struct Says {
    replies: Mutex<VecDeque<String>>,
    asked: Mutex<Vec<ChatRequest>>,
}

#[async_trait]
impl Llm for Says {
    fn model(&self) -> &'static str {
        "says"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        self.asked.lock().unwrap().push(request.clone());
        let next = self.replies.lock().unwrap().pop_front();
        let text = next.ok_or_else(|| LlmError::refused("nothing more to say"))?;
        Ok(ChatReply { text, ..ChatReply::default() })
    }
}

fn tagger(replies: &[&str]) -> (AskedTagger, Arc<Says>) {
    let replies = Mutex::new(replies.iter().map(|&reply| reply.to_owned()).collect());
    let says = Arc::new(Says { replies, asked: Mutex::default() });
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    (AskedTagger::new(Arc::clone(&says) as Arc<dyn Llm>, prompts), says)
}

#[tokio::test]
async fn what_the_text_does_not_have_is_dropped() {
    let text = "Éva Reed left Varn.\nIn Varna, Éva\n Reed wrote it.";
    let reply = r#"{"entities": [{"text": "Éva Reed", "kind": "Person"},
        {"text": "Varn", "kind": "place"}, {"text": "Reed", "kind": "person"},
        {"text": "Orm", "kind": "place"}, {"text": "it.", "kind": " "},
        {"text": " ", "kind": "name"}]}"#;
    let (tagger, says) = tagger(&[reply]);
    assert_eq!(tagger.name(), "model:says");
    let found = tagger.entities(text).await.unwrap();
    let told: Vec<(&str, &str, usize, usize)> = found
        .iter()
        .map(|m| (m.text.as_str(), m.kind.as_str(), m.span.start, m.span.end))
        .collect();
    assert_eq!(
        told,
        [
            ("Éva Reed", "person", 0, 8),
            ("Varn", "place", 14, 18),
            ("Éva\n Reed", "person", 30, 39),
            ("it.", "name", 46, 49),
        ]
    );
    let asked = says.asked.lock().unwrap();
    assert_eq!((asked[0].task.as_str(), asked[0].messages.len()), ("entities", 2));
    assert!(asked[0].messages[1].text.contains(text));
    let schema = asked[0].schema.as_deref().unwrap();
    assert_eq!(schema["properties"]["entities"]["items"]["required"][0], "text");
}

#[tokio::test]
async fn a_reply_that_does_not_fit_is_asked_for_again_and_never_nothing() {
    let empty = r#"{"entities": []}"#;
    let (asked_twice, says) = tagger(&["There is Varn.", empty]);
    assert!(asked_twice.entities("Varn").await.unwrap().is_empty());
    let asked = says.asked.lock().unwrap().iter().map(|r| r.messages.len()).collect::<Vec<_>>();
    assert_eq!(asked, [2, 4]);
    let (tagger, says) = tagger(&["Varn.", "Varn.", "Varn.", empty]);
    let error = tagger.entities("Varn").await.unwrap_err().to_string();
    assert!(error.contains("tag/entities"), "{error}");
    assert_eq!(says.asked.lock().unwrap().len(), 3);
    assert!(tagger.entities(" \n").await.unwrap().is_empty());
    assert_eq!(says.asked.lock().unwrap().len(), 3);
}
