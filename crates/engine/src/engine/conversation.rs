//! Questions of a conversation, which may refer to what was asked and answered before.
use halma_core::{Cx, Error, Prompt};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::Turn;

/// The most recent exchanges of a conversation that the model is shown.
const MAX_EXCHANGES: usize = 8;

/// A question of a conversation with the answer it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Exchange {
    question: String,
    answer: String,
}

/// Questions with the answers that followed them. System messages are ignored.
pub(super) fn exchanges(history: &[Turn]) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = vec![];
    for turn in history {
        match (turn.role.as_str(), exchanges.last_mut()) {
            ("user", _) => {
                exchanges.push(Exchange { question: turn.text.clone(), answer: String::new() });
            }
            ("assistant", Some(last)) if last.answer.is_empty() => {
                last.answer.clone_from(&turn.text);
            }
            _ => {}
        }
    }
    exchanges
}

const REPHRASE: Prompt<Rephrased> = Prompt::json("chat/resolve");

#[derive(Deserialize)]
struct Rephrased {
    question: String,
}

/// A question of a conversation, rephrased so that it can be understood without the history.
/// Without a history the question is returned unchanged, and no model is called.
pub(super) async fn rephrase(
    question: &str,
    history: &[Exchange],
    cx: &Cx,
) -> Result<String, Error> {
    if history.is_empty() {
        return Ok(question.to_owned());
    }
    let recent = &history[history.len().saturating_sub(MAX_EXCHANGES)..];
    let vars = context! { sub_question => question, history => Serde(recent) };
    let rephrased = cx.span("conversation").ask(&REPHRASE, vars).await?.question;
    let rephrased = rephrased.trim();
    Ok(if rephrased.is_empty() { question } else { rephrased }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, ContextOptions, EmbedderKind, Engine};

    #[test]
    fn a_conversation_is_questions_with_their_answers() {
        let turn = |role: &str, text: &str| Turn { role: role.into(), text: text.into() };
        let exchanges = exchanges(&[
            turn("system", "Be kind."),
            turn("assistant", "Hello!"),
            turn("user", "Who?"),
            turn("user", "Who wrote it?"),
            turn("assistant", "Ann"),
            turn("assistant", "More?"),
        ]);
        let pairs: Vec<_> =
            exchanges.iter().map(|e| (e.question.as_str(), e.answer.as_str())).collect();
        assert_eq!(pairs, [("Who?", ""), ("Who wrote it?", "Ann")]);
    }

    #[tokio::test]
    async fn a_reference_is_resolved_and_a_first_question_is_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.embedder.kind = EmbedderKind::None;
        let engine = Engine::create_or_open(config, dir.path()).unwrap();
        let cx = engine.context(ContextOptions::default());
        let first = rephrase("Who wrote Low Tide?", &[], &cx).await.unwrap();
        assert_eq!((first.as_str(), cx.trace().0.len()), ("Who wrote Low Tide?", 0));
        let history = [Exchange { question: first, answer: "Ann Roe".into() }];
        let next = rephrase("Where was she born?", &history, &cx).await.unwrap();
        assert_eq!(next, "Where was Ann Roe born?");
    }
}
