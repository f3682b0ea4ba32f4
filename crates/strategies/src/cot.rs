//! Zero-shot chain of thought: no search, reasoning from what the model knows.
//!
//! Paper: Kojima et al., "Large language models are zero-shot reasoners", 2022; a baseline of
//! KAR³ (Appendix A.2).
//!
//! ```text
//! â <- LLM(q), reasoning first      -> cot/answer.md
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
    name: "cot",
    paper: "Kojima et al., Large language models are zero-shot reasoners, NeurIPS 2022",
    summary: "reasons step by step from what the model knows, without searching",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<Cot>(table)?)),
};

const ANSWER: Prompt<Reading> = Prompt::json("cot/answer");

/// There is nothing to set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cot {}

#[async_trait]
impl Strategy for Cot {
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
    use halma_testkit::Script;

    use super::*;
    use crate::golden::{Run, golden};

    #[tokio::test]
    async fn reasons_and_answers_without_a_search() {
        let reply =
            r#"{"rationale": "The architect is Ilse Thorn, of Norway.", "answer": "Norway"}"#;
        golden("cot_answers", &Cot {}, Run::new(Script::new([("cot/answer", reply)]))).await;
    }

    #[tokio::test]
    async fn an_empty_answer_abstains() {
        let reply = r#"{"rationale": "I do not know this lighthouse.", "answer": ""}"#;
        golden("cot_abstains", &Cot {}, Run::new(Script::new([("cot/answer", reply)]))).await;
    }

    #[tokio::test]
    async fn a_malformed_reply_for_good_is_an_error() {
        let model = Script::new([("cot/answer", "Hm."), ("cot/answer", "Hm."), ("cot/answer", "")]);
        golden("cot_malformed_for_good", &Cot {}, Run::new(model)).await;
    }
}
