//! Questions of a conversation, which may refer to what was asked and answered before.
use halma_core::{Cx, Error, Prompt};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

/// The most recent exchanges of a conversation that the model is shown.
const MAX_EXCHANGES: usize = 8;

/// A question of a conversation with the answer it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    pub question: String,
    pub answer: String,
}

const REPHRASE: Prompt<Rephrased> = Prompt::json("chat/resolve");

#[derive(Deserialize)]
struct Rephrased {
    question: String,
}

/// A question of a conversation, rephrased so that it can be understood without the history.
/// Without a history the question is returned unchanged, and no model is called.
pub(crate) async fn rephrase(
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
