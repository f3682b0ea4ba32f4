//! The bare model: the question and nothing else. What it scores is what a model knows already.
//!
//! ```text
//! â <- LLM(q)      -> direct/answer.md
//! ```
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{Answer, Cx, Entry, Prompt, Question, Result, Strategy};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::settings;
use crate::steps::{Reading, answer_from};

pub(crate) const ENTRY: Entry = Entry {
    name: "direct",
    paper: "baseline: the model alone",
    summary: "asks the model the question as it is, without searching or reasoning aloud",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<Direct>(table)?)),
};

const ANSWER: Prompt<Reading> = Prompt::json("direct/answer");

/// There is nothing to set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Direct {}

#[async_trait]
impl Strategy for Direct {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let reading = cx.reserve().ask(&ANSWER, context! { question => Serde(question) }).await?;
        Ok(answer_from(reading, &[]))
    }
}

#[cfg(test)]
mod tests {
    use halma_core::LlmError;
    use halma_testkit::Script;

    use super::*;
    use crate::golden::{Run, golden};

    #[tokio::test]
    async fn answers_without_a_search() {
        let model = Script::new([("direct/answer", r#"{"answer": "Norway"}"#)]);
        golden("direct_answers", &Direct {}, Run::new(model)).await;
    }

    #[tokio::test]
    async fn an_empty_answer_abstains() {
        let model = Script::new([("direct/answer", r#"{"answer": ""}"#)]);
        golden("direct_abstains", &Direct {}, Run::new(model)).await;
    }

    #[tokio::test]
    async fn a_model_that_refuses_is_an_error_and_no_empty_answer() {
        let refusal = LlmError::refused("no key for this model");
        let model = Script::with_failures(vec![("direct/answer", Err(refusal))]);
        golden("direct_refused", &Direct {}, Run::new(model)).await;
    }
}
