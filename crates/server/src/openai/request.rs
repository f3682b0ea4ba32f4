//! A chat request of a front end. Unknown fields are ignored: `temperature` and the like are settings
//! of a strategy's prompts.
use axum::http::StatusCode;
use halma_core::text::marks::split_mark;
use halma_core::{AnswerStyle, Filter};
use halma_engine::{AskRequest, Turn};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::PREFIX;
use crate::limits::bounds;
use crate::problem::Problem;

#[derive(Deserialize, ToSchema)]
pub(crate) struct ChatRequest {
    /// `halma-<strategy>`, or `halma` for the configured strategy.
    pub(super) model: String,
    messages: Vec<ChatMessage>,
    #[serde(default)]
    pub(super) stream: bool,
    stream_options: Option<StreamOptions>,
    /// Not a field of OpenAI's: `full` (sentences with numbered sources) or `short`.
    answer_style: Option<AnswerStyle>,
    /// Not a field of OpenAI's: the documents that the answer may come from.
    filter: Option<Filter>,
    /// Must be 1.
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
    /// A text, or a list of parts, of which only texts are read.
    #[serde(default)]
    #[schema(value_type = Value)]
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

impl ChatRequest {
    pub(super) fn include_usage(&self) -> bool {
        self.stream_options.as_ref().is_some_and(|options| options.include_usage)
    }

    /// The last user message is the question; earlier messages resolve what it refers to.
    pub(super) fn to_ask(&self) -> Result<AskRequest, Problem> {
        if self.n.is_some_and(|n| n != 1) {
            return Err(Problem::unfit("`n` must be 1: there is only one answer"));
        }
        let last = self.messages.iter().rposition(|message| message.role == "user");
        let last = last.ok_or_else(|| Problem::unfit("`messages` has no user message"))?;
        let message =
            |message: &ChatMessage| Turn { role: message.role.clone(), text: message.text() };
        let mut history: Vec<Turn> = self.messages[..last].iter().map(message).collect();
        bounds::check_history(&history)?;
        // OpenAI has further roles, for tools and for developers, which say nothing of the question.
        history.retain(|message| bounds::is_role(&message.role));
        for message in &mut history {
            message.text = without_citations(&message.text);
        }
        Ok(AskRequest {
            question: self.messages[last].text(),
            strategy: strategy(&self.model)?,
            history,
            answer_style: self.answer_style,
            filter: self.filter.clone(),
            ..AskRequest::default()
        })
    }
}

/// `None` for the configured one.
fn strategy(model: &str) -> Result<Option<String>, Problem> {
    if model == PREFIX.trim_end_matches('-') {
        return Ok(None);
    }
    let name = model.strip_prefix(PREFIX);
    let exists = |name: &&str| halma_engine::strategies().iter().any(|entry| entry.name == *name);
    match name.filter(exists) {
        Some(name) => Ok(Some(name.to_owned())),
        None => Err(Problem::new(StatusCode::NOT_FOUND, format!("there is no model `{model}`"))
            .hint("GET /v1/models lists all models")),
    }
}

/// An earlier answer without its citation marks and sources.
fn without_citations(text: &str) -> String {
    let answer = text.split(super::reply::SOURCES).next().unwrap_or(text);
    let mut plain = String::with_capacity(answer.len());
    let mut rest = answer;
    while let Some((before, inside)) = rest.split_once('[') {
        if let Some((_, after)) = split_mark(inside) {
            plain.push_str(before.trim_end());
            rest = after;
        } else {
            plain.push_str(before);
            plain.push('[');
            rest = inside;
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
    fn the_last_user_message_is_the_question_and_the_rest_is_history() {
        let chat: ChatRequest = serde_json::from_value(json!({
            "model": "halma-naive",
            "temperature": 0.3,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "Who made it?"}]},
                {"role": "assistant", "content": "Ann Roe [1][2]\n\nSources:\n[1] a.md"},
                {"role": "tool", "content": "{}"},
                {"role": "developer", "content": "Use tools."},
                {"role": "user", "content": "Where was she born?"},
            ],
        }))
        .unwrap();
        let ask = chat.to_ask().unwrap();
        assert_eq!(ask.question, "Where was she born?");
        assert_eq!(ask.strategy.as_deref(), Some("naive"));
        let history: Vec<_> = ask.history.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(history, ["Be brief.", "Who made it?", "Ann Roe"]);
        bounds::check_ask(&ask).unwrap();
    }

    #[test]
    fn only_strategies_are_models() {
        assert_eq!(strategy("halma").unwrap(), None);
        for invalid in ["gpt-4o", "halma-", "halma-nothing", "naive", ""] {
            assert_eq!(strategy(invalid).unwrap_err().status, 404, "{invalid}");
        }
    }

    #[test]
    fn citation_marks_are_removed_and_other_brackets_remain() {
        assert_eq!(without_citations("a [12] b [x] c[] [1"), "a b [x] c[] [1");
        assert_eq!(without_citations("[1] ü"), "ü");
        let brackets = "[".repeat(200_000);
        assert_eq!(without_citations(&brackets), brackets);
    }

    #[test]
    fn a_conversation_that_is_too_long_is_refused_before_it_is_read() {
        let ask = |text: String| {
            let messages = json!([
                {"role": "user", "content": "Who?"},
                {"role": "assistant", "content": text},
                {"role": "user", "content": "Where?"},
            ]);
            let chat: ChatRequest =
                serde_json::from_value(json!({"model": "halma", "messages": messages})).unwrap();
            chat.to_ask()
        };
        let brackets = ask("[".repeat(200_000 - 4)).unwrap();
        assert_eq!(brackets.history[1].text.len(), 200_000 - 4);
        let problem = ask("[".repeat(200_000 - 3)).err().unwrap();
        assert!(problem.detail.contains("history"), "{}", problem.detail);
    }
}
