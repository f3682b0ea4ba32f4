//! What [`Cx::entities`] makes of a model that lists what is there, what is not, and what is no
//! list.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Budget, ChatReply, ChatRequest, Cx, Error, Event, Limit, Llm, LlmError, Meter, Models, Prompts,
    Setup, Tagging,
};
use halma_testkit::{Capitals, Toy};
use parking_lot::Mutex;

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
        self.asked.lock().push(request.clone());
        let next = self.replies.lock().pop_front();
        let text = next.ok_or_else(|| LlmError::refused("nothing more to say"))?;
        Ok(ChatReply { text, ..ChatReply::default() })
    }
}

/// A context whose tagger is a model that says this.
fn asking(replies: &[&str], budget: Budget) -> (Cx, Arc<Says>, Arc<Meter>) {
    let replies = Mutex::new(replies.iter().map(|&reply| reply.to_owned()).collect());
    let says = Arc::new(Says { replies, asked: Mutex::default() });
    let prompts = Arc::new(Prompts::shipped(&[]).unwrap());
    let models = Models::new(Arc::clone(&says) as Arc<dyn Llm>);
    let setup = Setup::new(models, Toy::empty(), prompts);
    let setup = Arc::new(Setup { tagger: Some(Tagging::Model), ..setup });
    let meter = Arc::new(Meter::new(budget));
    (Cx::new(setup, Arc::clone(&meter), None), says, meter)
}

#[tokio::test]
async fn what_the_text_does_not_have_is_dropped() {
    let text = "Éva Reed left Varn.\nIn Varna, Éva\n Reed wrote it.";
    let reply = r#"{"entities": [{"text": "Éva Reed", "kind": "Person"},
        {"text": "Varn", "kind": "place"}, {"text": "Reed", "kind": "person"},
        {"text": "Orm", "kind": "place"}, {"text": "it.", "kind": " "},
        {"text": " ", "kind": "name"}]}"#;
    let (cx, says, meter) = asking(&[reply], Budget::default());
    let found = cx.entities(text).await.unwrap();
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
    let asked = says.asked.lock();
    assert_eq!((asked[0].task.as_str(), asked[0].messages.len()), ("entities", 2));
    assert!(asked[0].messages[1].text.contains(text));
    let schema = asked[0].schema.as_deref().unwrap();
    assert_eq!(schema["properties"]["entities"]["items"]["required"][0], "text");
    // It is a call like any other.
    assert_eq!(meter.calls(), 1);
    let events = cx.trace().0;
    let [Event::ModelCalled { role, model, .. }, Event::Tagged { tagger, entities, .. }] =
        &events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!((role.as_ref(), model.as_str(), tagger.as_str()), ("tagger", "says", "model:says"));
    assert_eq!(entities.len(), 4);
}

#[tokio::test]
async fn a_reply_that_does_not_fit_is_asked_for_again_and_never_nothing() {
    let empty = r#"{"entities": []}"#;
    let (asked_twice, says, _) = asking(&["There is Varn.", empty], Budget::default());
    assert!(asked_twice.entities("Varn").await.unwrap().is_empty());
    let asked = says.asked.lock().iter().map(|r| r.messages.len()).collect::<Vec<_>>();
    assert_eq!(asked, [2, 4]);
    let (cx, says, _) = asking(&["Varn.", "Varn.", "Varn.", empty], Budget::default());
    let error = cx.entities("Varn").await.unwrap_err().to_string();
    assert!(error.contains("tag/entities"), "{error}");
    assert_eq!(says.asked.lock().len(), 3);
    assert!(cx.entities(" \n").await.unwrap().is_empty());
    assert_eq!(says.asked.lock().len(), 3);
}

#[tokio::test]
async fn whose_words_may_be_quoted_is_told_and_a_spent_budget_asks_nobody() {
    let (cx, says, _) = asking(&[r#"{"entities": []}"#], Budget::default());
    cx.quote("a.md");
    cx.entities("Varn").await.unwrap();
    assert_eq!(says.asked.lock()[0].about, ["a.md"]);
    let (cx, says, _) = asking(&[], Budget { calls: Some(0), ..Budget::default() });
    let error = cx.entities("Varn").await.unwrap_err();
    assert!(matches!(error, Error::Spent(Limit::Calls)), "{error}");
    assert!(says.asked.lock().is_empty());
}

#[tokio::test]
async fn a_tagger_that_is_no_model_is_not_a_call() {
    let prompts = Arc::new(Prompts::shipped(&[]).unwrap());
    let (_, says, _) = asking(&[], Budget::default());
    let setup = Setup::new(Models::new(says), Toy::empty(), prompts);
    let bare = Cx::new(Arc::new(setup.clone()), Arc::new(Meter::new(Budget::default())), None);
    let error = bare.entities("Varn").await.unwrap_err();
    assert!(
        matches!(error, Error::MissingRequirement(_)) && setup.tagger_name().is_none(),
        "{error}"
    );
    let setup = Arc::new(Setup { tagger: Some(Tagging::Tagger(Arc::new(Capitals))), ..setup });
    let meter = Arc::new(Meter::new(Budget::default()));
    let cx = Cx::new(Arc::clone(&setup), Arc::clone(&meter), None);
    assert_eq!(cx.entities("It is in Varn.").await.unwrap().len(), 1);
    assert!(matches!(&cx.trace().0[..], [Event::Tagged { .. }]) && meter.calls() == 0);
    assert!(setup.tagger_name().is_some());
}
