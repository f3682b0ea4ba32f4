//! What the double says in a chat.
use std::collections::HashMap;
use std::sync::Arc;

use halma_core::Message;
use parking_lot::Mutex;
use serde_json::Value;

/// Makes the text of a reply.
pub type Reply = Arc<dyn Fn(&ChatCall) -> String + Send + Sync>;

/// A chat request as a reply sees it.
#[derive(Debug)]
pub struct ChatCall {
    /// The header `x-halma-prompt`, empty without one.
    pub prompt: String,
    pub messages: Vec<Message>,
    pub body: Value,
}

impl ChatCall {
    pub(crate) fn new(prompt: String, body: Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let words = |content: &Value| match content.as_array() {
            Some(parts) => parts.iter().map(|part| text(&part["text"])).collect(),
            None => text(content),
        };
        let message = |m: &Value| Message { role: text(&m["role"]), text: words(&m["content"]) };
        let messages = body["messages"].as_array().into_iter().flatten().map(message).collect();
        Self { prompt, messages, body }
    }

    /// The text of the last message.
    pub fn last(&self) -> &str {
        self.messages.last().map_or("", |message| &message.text)
    }
}

/// Says the last message back.
pub fn echo() -> Reply {
    Arc::new(|call| call.last().to_owned())
}

/// Says the same to everything.
pub fn fixed(text: &str) -> Reply {
    let text = text.to_owned();
    Arc::new(move |_| text.clone())
}

/// Gives each prompt its replies in turn; the last one is given again and again. A prompt that is
/// not in the script is told so, in prose, which no parser takes for an answer.
pub fn scripted<const N: usize>(script: [(&str, &[&str]); N]) -> Reply {
    let cycle = |(prompt, replies): (&str, &[&str])| {
        (prompt.to_owned(), (0, replies.iter().map(|&reply| reply.to_owned()).collect()))
    };
    let script: HashMap<String, (usize, Vec<String>)> = script.into_iter().map(cycle).collect();
    let script = Mutex::new(script);
    Arc::new(move |call| {
        let mut script = script.lock();
        let Some((next, replies)) = script.get_mut(&call.prompt) else {
            return format!("the double has no reply for `{}`", call.prompt);
        };
        let reply = replies.get(*next).or(replies.last()).cloned().unwrap_or_default();
        *next += 1;
        reply
    })
}

/// Five questions, one a line, made of the longest line of the last message, which in a prompt
/// that shows a passage is the passage.
pub fn atomizer() -> Reply {
    Arc::new(|call| {
        let passage = call.last().lines().max_by_key(|line| line.len()).unwrap_or("nothing");
        let words: Vec<&str> = passage.split_whitespace().collect();
        let part = words.len().div_ceil(5).max(1);
        let mut lines = String::with_capacity(passage.len() + 200);
        for i in 0..5 {
            // A short text gives the same words to several questions, distinguished by their number.
            let start = (i * part).min(words.len().saturating_sub(1));
            let about = &words[start..(start + part.min(8)).min(words.len())];
            lines.push_str("What does part ");
            lines.push(char::from(b'1' + u8::try_from(i).unwrap()));
            lines.push_str(" say about ");
            for word in about {
                lines.push_str(word.trim_end_matches(['.', ',', '?']));
                lines.push(' ');
            }
            lines.pop();
            lines.push_str("?\n");
        }
        lines
    })
}
