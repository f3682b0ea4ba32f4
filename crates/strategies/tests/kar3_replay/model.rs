//! A model that gives the recorded replies. A choice is recorded as an atom; its number is looked
//! up in the list that is on offer now, which is shorter than the recorded one.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, Hit, Llm, LlmError, Prompts, Usage, estimate_tokens};
use minijinja::value::Serde;
use minijinja::{Value, context};
use parking_lot::Mutex;
use serde_json::json;

use crate::base::Base;
use crate::recording::{Hop, Run};

/// What one run cost, here and then.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) calls: usize,
    /// Candidates that the selector was shown, over all calls.
    pub(crate) shown: usize,
    /// Prompt tokens of the whole run.
    pub(crate) tokens: u64,
    /// Prompt tokens of the selector's calls.
    pub(crate) selecting: u64,
}

impl Cost {
    fn add(&mut self, shown: Option<usize>, tokens: u64) {
        self.calls += 1;
        self.shown += shown.unwrap_or(0);
        self.tokens += tokens;
        self.selecting += shown.map_or(0, |_| tokens);
    }
}

pub(crate) struct Recorded {
    run: Arc<Run>,
    base: Arc<Base>,
    prompts: Arc<Prompts>,
    /// Whether Halma looks twice here; the recorded run always does.
    second_look: bool,
    hop: AtomicUsize,
    costs: Mutex<(Cost, Cost)>,
}

impl Recorded {
    pub(crate) fn new(
        run: Arc<Run>,
        base: Arc<Base>,
        prompts: Arc<Prompts>,
        second_look: bool,
    ) -> Self {
        let (hop, costs) = (AtomicUsize::new(0), Mutex::default());
        Self { run, base, prompts, second_look, hop, costs }
    }

    /// What this run cost, and what the same prompts cost with the recorded lists.
    pub(crate) fn costs(&self) -> (Cost, Cost) {
        *self.costs.lock()
    }

    fn hop(&self) -> &Hop {
        let hops = self.run.hops().unwrap();
        hops[self.hop.load(Ordering::Acquire) - 1]
    }

    fn reply(&self, request: &ChatRequest) -> Result<String, String> {
        match request.prompt.as_str() {
            "kar3/propose" => {
                let hops = self.run.hops()?;
                let at = self.hop.fetch_add(1, Ordering::AcqRel);
                let proposal = &hops.get(at).ok_or("the recording has no more hops")?.proposal;
                let none = vec![];
                let asked = if proposal.to_decompose { &proposal.listed } else { &none };
                Ok(json!({ "thinking": proposal.thinking, "sub_questions": asked }).to_string())
            }
            "kar3/select" if self.hop().second_look() => Ok(json!({"candidate": 0}).to_string()),
            "kar3/select" | "kar3/select_chunk" => {
                let index = match self.hop().chosen() {
                    Some(chosen) => {
                        1 + offered(request, &chosen.atom, &self.passage(&chosen.passage))?
                    }
                    None => 0,
                };
                Ok(json!({ "candidate": index }).to_string())
            }
            "kar3/answer" => Ok(self.run.answer_metadata.response.clone()),
            other => Err(format!("the recording has no reply to `{other}`")),
        }
    }

    fn passage(&self, text: &str) -> Hit {
        let rows = self.hop().retrieval.iter();
        self.base.chunk(rows.into_iter().find(|row| row.passage == text).unwrap())
    }

    /// Adds the call as it is, and as it would be with the recorded list.
    fn count(&self, request: &ChatRequest) {
        let tokens = estimate_tokens(&request.messages);
        let shown = candidates(request).map(|shown| shown.len());
        let mut costs = self.costs.lock();
        costs.0.add(shown, tokens);
        if shown.is_none() {
            costs.1.add(None, tokens);
            return;
        }
        let rows = Some(self.hop().retrieval.len());
        costs.1.add(rows, self.recorded(&request.prompt, &request.variables));
        if self.hop().second_look() && !self.second_look {
            costs.1.add(rows, self.recorded("kar3/select_chunk", &request.variables));
        }
    }

    /// Prompt tokens of a selector's call with the recorded list.
    fn recorded(&self, prompt: &str, variables: &Value) -> u64 {
        let chunks = prompt == "kar3/select_chunk";
        let rows = self.hop().retrieval.iter().enumerate();
        let of =
            |(rank, row)| if chunks { self.base.chunk(row) } else { self.base.atom(row, rank) };
        let alone = |row| context! { also => Vec::<String>::new(), ..Value::from(Serde(of(row))) };
        let rows: Vec<Value> = rows.map(alone).collect();
        let variables = context! { candidates => rows, ..variables.clone() };
        estimate_tokens(&self.prompts.render(prompt, &variables).unwrap().messages)
    }
}

#[async_trait]
impl Llm for Recorded {
    fn model(&self) -> &'static str {
        "recorded"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let text = self.reply(request).map_err(LlmError::refused)?;
        self.count(request);
        let usage = Usage { prompt_tokens: estimate_tokens(&request.messages), ..Usage::default() };
        Ok(ChatReply { text, usage, ..ChatReply::default() })
    }
}

fn candidates(request: &ChatRequest) -> Option<Vec<Value>> {
    let candidates = request.variables.get_attr("candidates").ok().filter(|c| !c.is_undefined())?;
    Some(candidates.try_iter().ok()?.collect())
}

/// The place of the atom on offer, or of what leads to the same passage.
fn offered(request: &ChatRequest, atom: &str, passage: &Hit) -> Result<usize, String> {
    let candidates = candidates(request).ok_or("there are no candidates")?;
    let says = |candidate: &Value, key: &str, text: &str| {
        candidate.get_attr(key).is_ok_and(|value| value.as_str() == Some(text))
    };
    let same = |candidate: &Value| says(candidate, "text", atom);
    let leads = |candidate: &Value| {
        says(candidate, "parent", &passage.id.0) || says(candidate, "id", &passage.id.0)
    };
    let found = candidates.iter().position(|candidate| same(candidate) && leads(candidate));
    found
        .or_else(|| candidates.iter().position(leads))
        .ok_or_else(|| format!("nothing on offer leads to the passage of `{atom}`"))
}
