//! The bare model, asked at once (`direct`) or with room to reason first (`cot`): no search.
//!
//! Paper of `cot`: Kojima et al., "Large language models are zero-shot reasoners", 2022; a
//! baseline of KAR³ (Appendix A.2).
//!
//! ```text
//! â <- LLM(q)                       -> direct/answer.md
//! â <- LLM(q), reasoning first      -> cot/answer.md
//! ```
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{Answer, Cx, Entry, Error, Prompt, Question, Result, Strategy};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::shared::closing::unread;
use crate::shared::settings;
use crate::shared::steps::{Reading, answer_from};

pub(crate) const ENTRY: Entry = Entry {
    name: "direct",
    paper: "baseline: the model alone",
    summary: "asks the model the question as it is, without searching or reasoning aloud",
    calls: "1",
    needs: &[],
    build: |table| {
        settings::parse::<NoSettings>(table)?;
        Ok(Arc::new(DIRECT))
    },
};

pub(crate) const COT_ENTRY: Entry = Entry {
    name: "cot",
    paper: "Kojima et al., Large language models are zero-shot reasoners, NeurIPS 2022",
    summary: "reasons step by step from what the model knows, without searching",
    calls: "1",
    needs: &[],
    build: |table| {
        settings::parse::<NoSettings>(table)?;
        Ok(Arc::new(COT))
    },
};

const DIRECT: BareModel = BareModel { name: ENTRY.name, prompt: Prompt::json("direct/answer") };
const COT: BareModel = BareModel { name: COT_ENTRY.name, prompt: Prompt::json("cot/answer") };

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct NoSettings {}

struct BareModel {
    name: &'static str,
    prompt: Prompt<Reading>,
}

#[async_trait]
impl Strategy for BareModel {
    fn name(&self) -> &'static str {
        self.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(&NoSettings {})
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let variables = context! { question => Serde(question) };
        let reading = match cx.reserve().ask(&self.prompt, variables).await {
            Err(error @ Error::BadReply { .. }) => unread(&error, cx),
            reading => reading?,
        };
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
        golden("direct/answers", &DIRECT, Run::new(model)).await;
    }

    #[tokio::test]
    async fn an_empty_answer_abstains() {
        let model = Script::new([("direct/answer", r#"{"answer": ""}"#)]);
        golden("direct/abstains", &DIRECT, Run::new(model)).await;
    }

    #[tokio::test]
    async fn a_model_that_refuses_is_an_error_and_not_an_empty_answer() {
        let refusal = LlmError::refused("no key for this model");
        let model = Script::with_failures(vec![("direct/answer", Err(refusal))]);
        golden("direct/refused", &DIRECT, Run::new(model)).await;
    }

    #[tokio::test]
    async fn reasons_and_answers_without_a_search() {
        let reply =
            r#"{"rationale": "The architect is Ilse Thorn, of Norway.", "answer": "Norway"}"#;
        golden("direct/cot_answers", &COT, Run::new(Script::new([("cot/answer", reply)]))).await;
    }

    #[tokio::test]
    async fn an_empty_answer_abstains_with_its_reason() {
        let reply = r#"{"rationale": "I do not know this lighthouse.", "answer": ""}"#;
        golden("direct/cot_abstains", &COT, Run::new(Script::new([("cot/answer", reply)]))).await;
    }

    #[tokio::test]
    async fn a_reply_that_never_parses_abstains_and_says_so() {
        let model = Script::new([("cot/answer", "Hm."), ("cot/answer", "Hm."), ("cot/answer", "")]);
        golden("direct/cot_always_malformed", &COT, Run::new(model)).await;
    }

    #[test]
    fn a_setting_is_refused() {
        let table = "chunks = 3".parse().unwrap();
        assert!((COT_ENTRY.build)(table).is_err_and(|error| error.contains("chunks")));
    }
}
