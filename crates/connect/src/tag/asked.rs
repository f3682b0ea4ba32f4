//! A chat model in a tagger's place: it is asked for the entities of a text, and believed only
//! where the text has them.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    ChatRequest, Error, Llm, LlmError, Mention, Message, Prompt, Prompts, Rendered, Tagger,
};
use minijinja::context;
use serde::Deserialize;

use super::place::{Found, mentions};

/// The kinds that are asked for; another one is taken as the model says it.
const KINDS: [&str; 8] =
    ["person", "place", "organisation", "work", "event", "date", "number", "name"];

/// How often a model is asked again when its reply does not fit.
const RE_ASKS: usize = 2;

const ENTITIES: Prompt<Reply> = Prompt::json("tag/entities");

#[derive(Debug, Deserialize)]
struct Reply {
    entities: Vec<Listed>,
}

#[derive(Debug, Deserialize)]
struct Listed {
    text: String,
    kind: String,
}

/// Asks a model with the prompt `tag/entities`. What it lists and the text does not have is
/// dropped; the scores are 1, since a model that is asked does not say how sure it is.
pub struct AskedTagger {
    name: String,
    llm: Arc<dyn Llm>,
    prompts: Arc<Prompts>,
}

impl AskedTagger {
    /// `llm` had better keep no replies: it is not told whose words it reads, so that a kept reply
    /// would outlive a deleted document.
    pub fn new(llm: Arc<dyn Llm>, prompts: Arc<Prompts>) -> Self {
        Self { name: format!("model:{}", llm.model()), llm, prompts }
    }

    async fn listed(&self, text: &str) -> Result<Vec<Listed>, LlmError> {
        let variables = context! { text, kinds => KINDS };
        let rendered = self.rendered(ENTITIES.name, &variables)?;
        let mut request = ChatRequest {
            prompt: ENTITIES.name.to_owned(),
            task: rendered.task,
            variables,
            messages: rendered.messages,
            schema: rendered.schema,
            stop: rendered.stop,
            max_tokens: rendered.max_tokens,
            temperature: rendered.temperature,
            logprobs: false,
            about: vec![],
            images: vec![],
        };
        for attempt in 0.. {
            let reply = self.llm.chat(&request).await?;
            let reason = match (ENTITIES.parse)(&reply.text) {
                Ok(reply) => return Ok(reply.entities),
                Err(reason) => reason,
            };
            if attempt == RE_ASKS {
                let reason = format!("the reply to `{}` does not fit: {reason}", ENTITIES.name);
                return Err(LlmError::refused(reason));
            }
            let complaint = self.rendered("reply/mend", &context! { reason })?;
            request.messages.push(Message { role: "assistant".into(), text: reply.text });
            request.messages.extend(complaint.messages);
        }
        unreachable!("the loop ends when the model was asked often enough")
    }

    fn rendered(&self, name: &str, variables: &minijinja::Value) -> Result<Rendered, LlmError> {
        let rendered = self.prompts.render(name, variables);
        rendered.map_err(|e| LlmError::refused(Error::from(e).to_string()))
    }
}

#[async_trait]
impl Tagger for AskedTagger {
    fn name(&self) -> &str {
        &self.name
    }

    async fn entities(&self, text: &str) -> Result<Vec<Mention>, LlmError> {
        if text.trim().is_empty() {
            return Ok(vec![]);
        }
        let listed = self.listed(text).await?;
        let found = listed.iter().flat_map(|listed| {
            let kind = match listed.kind.trim().to_lowercase() {
                kind if kind.is_empty() => "name".to_owned(),
                kind => kind,
            };
            let places = occurrences(text, &listed.text).into_iter();
            places.map(move |range| Found { range, kind: kind.clone(), score: 1.0 })
        });
        Ok(mentions(text, found.collect()))
    }
}

/// Where a text has these words, whole, whatever white space stands between them.
fn occurrences(text: &str, named: &str) -> Vec<std::ops::Range<usize>> {
    let mut words = named.split_whitespace();
    let Some(first) = words.next() else { return vec![] };
    let rest: Vec<&str> = words.collect();
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut found = vec![];
    for (start, _) in text.match_indices(first) {
        let mut tail = Some(&text[start + first.len()..]);
        for word in &rest {
            let blank = tail.filter(|tail| tail.starts_with(char::is_whitespace));
            tail = blank.and_then(|tail| tail.trim_start().strip_prefix(word));
        }
        let Some(tail) = tail else { continue };
        let end = text.len() - tail.len();
        // A word of the name's must not be the end or the beginning of a longer one.
        let torn = (letter(first.chars().next()) && letter(text[..start].chars().next_back()))
            || (letter(text[..end].chars().next_back()) && letter(tail.chars().next()));
        if !torn {
            found.push(start..end);
        }
    }
    found
}

#[cfg(test)]
#[path = "asked_tests.rs"]
mod tests;
