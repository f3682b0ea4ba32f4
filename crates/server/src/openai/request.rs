//! A chat request as front ends send it. Fields that mean nothing here are let through: what a
//! model would do with `temperature` is a strategy's own business.
use axum::http::StatusCode;
use halma_core::Budget;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::PREFIX;
use crate::asking::{Ask, Turn};
use crate::problem::Problem;

#[derive(Deserialize, ToSchema)]
pub(crate) struct Chat {
    /// `halma-<strategy>`; the configured strategy answers for `halma`.
    pub(super) model: String,
    messages: Vec<ChatMessage>,
    #[serde(default)]
    pub(super) stream: bool,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    /// More than one answer is refused.
    #[serde(default)]
    n: Option<u32>,
}

#[derive(Deserialize, ToSchema)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Deserialize, ToSchema)]
struct ChatMessage {
    role: String,
    /// A text, or a list of parts of which the texts are read.
    #[serde(default)]
    #[schema(value_type = Object)]
    content: Value,
}

impl ChatMessage {
    fn text(&self) -> String {
        match &self.content {
            Value::Array(parts) => {
                let texts: Vec<&str> =
                    parts.iter().filter_map(|part| part["text"].as_str()).collect();
                texts.join("\n")
            }
            content => content.as_str().unwrap_or_default().to_owned(),
        }
    }
}

impl Chat {
    pub(super) fn include_usage(&self) -> bool {
        self.stream_options.as_ref().is_some_and(|options| options.include_usage)
    }

    /// The last message of the user is the question; what was said before it resolves what it
    /// refers to.
    pub(super) fn ask(&self) -> Result<Ask, Problem> {
        if self.n.is_some_and(|n| n != 1) {
            return Err(Problem::unfit("`n` is 1: there is one answer"));
        }
        let last = self.messages.iter().rposition(|message| message.role == "user");
        let last = last.ok_or_else(|| Problem::unfit("`messages` holds none of the user"))?;
        let turn = |message: &ChatMessage| Turn {
            role: message.role.clone(),
            text: unmarked(&message.text()),
        };
        Ok(Ask {
            question: self.messages[last].text(),
            strategy: strategy(&self.model)?,
            history: self.messages[..last].iter().map(turn).collect(),
            budget: Some(Budget::default()),
            ..Ask::default()
        })
    }
}

/// `None` for the one that is configured.
fn strategy(model: &str) -> Result<Option<String>, Problem> {
    if model == PREFIX.trim_end_matches('-') {
        return Ok(None);
    }
    let name = model.strip_prefix(PREFIX);
    let known = |name: &&str| halma_engine::strategies().iter().any(|entry| entry.name == *name);
    match name.filter(known) {
        Some(name) => Ok(Some(name.to_owned())),
        None => Err(Problem::new(StatusCode::NOT_FOUND, format!("there is no model `{model}`"))
            .hint("GET /v1/models lists all")),
    }
}

/// An earlier answer without the marks of its citations.
fn unmarked(text: &str) -> String {
    let answer = text.split(super::reply::SOURCES).next().unwrap_or(text);
    let mut plain = String::new();
    let mut rest = answer;
    while let Some(at) = rest.find('[') {
        let (before, mark) = rest.split_at(at);
        let end = mark[1..]
            .find(']')
            .filter(|end| *end > 0 && mark[1..=*end].bytes().all(|byte| byte.is_ascii_digit()));
        if let Some(end) = end {
            plain.push_str(before.trim_end());
            rest = &mark[end + 2..];
        } else {
            plain.push_str(before);
            plain.push('[');
            rest = &mark[1..];
        }
    }
    plain.push_str(rest);
    plain.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_message_of_the_user_is_asked_with_what_was_said_before() {
        let chat: Chat = serde_json::from_value(json!({
            "model": "halma-naive",
            "temperature": 0.3,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "Who made it?"}]},
                {"role": "assistant", "content": "Ann Roe [1][2]\n\nSources:\n[1] a.md"},
                {"role": "user", "content": "Where was she born?"},
            ],
        }))
        .unwrap();
        let ask = chat.ask().unwrap();
        assert_eq!(ask.question, "Where was she born?");
        assert_eq!(ask.strategy.as_deref(), Some("naive"));
        let said: Vec<_> = ask.history.iter().map(|turn| turn.text.as_str()).collect();
        assert_eq!(said, ["Be brief.", "Who made it?", "Ann Roe"]);
    }

    #[test]
    fn what_is_no_strategy_is_no_model() {
        assert_eq!(strategy("halma").unwrap(), None);
        for wrong in ["gpt-4o", "halma-", "halma-nothing", "naive", ""] {
            assert_eq!(strategy(wrong).unwrap_err().status, 404, "{wrong}");
        }
    }

    #[test]
    fn marks_are_taken_off_and_other_brackets_stay() {
        assert_eq!(unmarked("a [12] b [x] c[] [1"), "a b [x] c[] [1");
        assert_eq!(unmarked("[1] ü"), "ü");
    }
}
