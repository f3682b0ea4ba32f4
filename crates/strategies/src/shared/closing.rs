//! The last reading of a strategy, which the rest of the work was for.
use halma_core::{Cx, Error, LlmError, Prompt, Result};
use minijinja::{Value, context};

use crate::shared::steps::Reading;

/// The plainest prompt there is, with a reply of one short field.
const PLAIN: Prompt<Reading> = Prompt::json("closing/plain");

/// Asks for the closing answer, which the budget keeps a call back for. Where no reply to the
/// strategy's own prompt can be read, see [`read_plainly`].
pub(crate) async fn close(prompt: &Prompt<Reading>, variables: Value, cx: &Cx) -> Result<Reading> {
    match cx.reserve().ask(prompt, variables.clone()).await {
        Err(error @ Error::BadReply { .. }) => read_plainly(&error, &variables, cx).await,
        // A model's refusal may be about the words of the prompt; a server's is the same again.
        Err(error @ Error::Llm { source: LlmError::Refused { .. }, .. }) => {
            match read_plainly(&error, &variables, cx).await {
                Err(Error::Llm { .. }) => Err(error),
                reading => reading,
            }
        }
        reading => reading,
    }
}

/// Reads the same passages, or the same answers to sub-questions, with a plain prompt. Where this
/// is in vain as well, or there is nothing to read, the reading is empty and says why: what was
/// found is not lost to an error.
pub(crate) async fn read_plainly(error: &Error, variables: &Value, cx: &Cx) -> Result<Reading> {
    let list = |name: &str| match variables.get_attr(name) {
        Ok(value) if value.len().is_some_and(|len| len > 0) => value,
        _ => Value::from(Vec::<Value>::new()),
    };
    let (context, history) = (list("context"), list("history"));
    if context.len() == Some(0) && history.len() == Some(0) {
        return Ok(unread(error, cx));
    }
    cx.note(format!("{error}: asking for the answer alone"));
    let question = variables.get_attr("question").unwrap_or_default();
    let reading = cx.reserve().ask(&PLAIN, context! { question, context, history }).await;
    match reading {
        Err(again @ (Error::BadReply { .. } | Error::Spent(_))) => Ok(unread(&again, cx)),
        reading => reading,
    }
}

/// The reading of a model that gives no answer: empty, with the reason.
pub(crate) fn unread(error: &Error, cx: &Cx) -> Reading {
    cx.note(format!("there is no answer: {error}"));
    let rationale = "The model gave no reply that could be read as an answer.".to_owned();
    Reading { answer: String::new(), rationale }
}
