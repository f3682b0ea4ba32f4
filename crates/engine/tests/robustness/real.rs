//! What a real model replies to the prompts of the strategies. The offline model acts every other
//! call, so that each prompt is asked as it would be in a run. `make real-model` writes the table
//! into `docs/real-models.md`, and the replies that `make test` replays.
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, Event, Llm, LlmError, ReplyStatus, Trace};
use halma_models::OpenAi;
use halma_net::{Endpoint, JsonMode};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A reply of a real model to a prompt.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct RealReply {
    pub(crate) prompt: String,
    pub(crate) model: String,
    pub(crate) reply: String,
}

/// Sends the first calls of each prompt to a real model.
pub(crate) struct WithReal {
    actor: Arc<dyn Llm>,
    real: OpenAi,
    calls: usize,
    call_counts: Mutex<BTreeMap<String, usize>>,
    pub(crate) replies: Mutex<Vec<RealReply>>,
}

impl WithReal {
    /// `calls` of each prompt go to the model at `url`.
    pub(crate) fn new(
        actor: Arc<dyn Llm>,
        (url, model): (&str, &str),
        json: JsonMode,
        calls: usize,
    ) -> Self {
        let timeout = Duration::from_mins(10);
        let endpoint = Endpoint { json, timeout, stream: true, ..Endpoint::new(url, model) };
        let real = OpenAi::new(endpoint).unwrap();
        Self { actor, real, calls, call_counts: Mutex::default(), replies: Mutex::default() }
    }
}

#[async_trait]
impl Llm for WithReal {
    fn model(&self) -> &str {
        self.real.model()
    }

    fn logprobs(&self) -> bool {
        true
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let is_repair =
            request.messages.last().is_some_and(|m| m.text.starts_with("Your reply cannot"));
        let calls = {
            let mut calls = self.call_counts.lock();
            let calls = calls.entry(request.prompt.clone()).or_default();
            *calls += usize::from(!is_repair);
            *calls
        };
        // A prompt that rests on log-probabilities is the actor's.
        if calls > self.calls || request.logprobs {
            return self.actor.chat(request).await;
        }
        let reply = self.real.chat(request).await?;
        let model = self.real.model().to_owned();
        let (prompt, text) = (request.prompt.clone(), reply.text.clone());
        self.replies.lock().push(RealReply { prompt, model, reply: text });
        Ok(reply)
    }
}

/// Gives the recorded replies of each prompt in turn; the actor gives the others.
pub(crate) struct Replayed {
    pub(crate) actor: Arc<dyn Llm>,
    replies: BTreeMap<String, Vec<String>>,
    next: AtomicUsize,
}

impl Replayed {
    pub(crate) fn new(actor: Arc<dyn Llm>, recorded: &[RealReply]) -> Self {
        let mut replies: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for one in recorded {
            replies.entry(one.prompt.clone()).or_default().push(one.reply.clone());
        }
        Self { actor, replies, next: AtomicUsize::new(0) }
    }
}

#[async_trait]
impl Llm for Replayed {
    fn model(&self) -> &'static str {
        "replayed"
    }

    fn logprobs(&self) -> bool {
        true
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        match self.replies.get(&request.prompt).filter(|_| !request.logprobs) {
            Some(replies) => {
                let text = replies[next % replies.len()].clone();
                Ok(ChatReply { text, ..ChatReply::default() })
            }
            None => self.actor.chat(request).await,
        }
    }
}

/// What became of the replies to one prompt.
#[derive(Default, Clone, Copy)]
pub(crate) struct Readings {
    first: usize,
    readable: usize,
    copied: usize,
    /// Prompts whose passages or candidates hold the expected answer, and replies that give it.
    offered: usize,
    given: usize,
    tokens: u64,
}

impl Readings {
    fn add(&mut self, other: Self) {
        self.first += other.first;
        self.readable += other.readable;
        self.copied += other.copied;
        self.offered += other.offered;
        self.given += other.given;
        self.tokens += other.tokens;
    }
}

/// Adds what a run's trace says of the replies of the real model, which alone count tokens.
pub(crate) fn read_trace(trace: &Trace, answers: &[String], into: &mut BTreeMap<String, Readings>) {
    for event in &trace.0 {
        let Event::ModelCalled { prompt, attempt: 1, status, usage, messages, reply, .. } = event
        else {
            continue;
        };
        if usage.completion_tokens == 0 {
            continue;
        }
        let is_copied =
            matches!(status, ReplyStatus::Malformed(reason) if reason.contains("copied"));
        let prompt_text = messages.last().map_or("", |message| message.text.as_str());
        let given = gives_answer(prompt_text, reply, answers);
        into.entry(prompt.to_string()).or_default().add(Readings {
            first: 1,
            readable: usize::from(*status == ReplyStatus::Valid),
            copied: usize::from(is_copied),
            offered: usize::from(given.is_some()),
            given: usize::from(given == Some(true)),
            tokens: usage.completion_tokens,
        });
    }
}

/// Whether a reply gives an expected answer that it was offered: reads it, or chooses the candidate
/// that holds it. `None` where it was not offered, or where the reply does neither.
fn gives_answer(prompt_text: &str, reply: &str, answers: &[String]) -> Option<bool> {
    let holds = |text: &str| answers.iter().any(|answer| text.contains(answer.as_str()));
    let (offered, _) = prompt_text.rsplit_once("Question:")?;
    let value: Value = serde_json::from_str(reply.trim()).ok()?;
    if let Some(answer) = value["answer"].as_str() {
        return holds(offered).then(|| holds(answer));
    }
    let chosen = usize::try_from(value["candidate"].as_u64()?).ok()?;
    let (_, candidates) = offered.split_once("Candidates:")?;
    let candidates: Vec<&str> =
        candidates.split("\n\n").filter(|one| !one.trim().is_empty()).collect();
    let is_chosen = chosen.checked_sub(1).and_then(|chosen| candidates.get(chosen));
    holds(&candidates.join("\n")).then(|| is_chosen.is_some_and(|one| holds(one)))
}

/// The page with the section of one model made again.
pub(crate) fn with_section(
    page: &str,
    model: &str,
    formats: &[(&str, BTreeMap<String, Readings>)],
) -> String {
    let mut sections = page.split("\n## ");
    let head = sections.next().unwrap_or_default().trim_end();
    let others = sections.filter(|section| section.lines().next() != Some(model));
    let others = others.map(|section| format!("\n\n## {}", section.trim_end()));
    format!("{head}{}\n\n{}\n", others.collect::<String>(), table(model, formats).trim_end())
}

/// The table of one model: each prompt with a JSON schema and without.
fn table(model: &str, formats: &[(&str, BTreeMap<String, Readings>)]) -> String {
    let mut page = format!("## {model}\n\n| prompt |");
    for (format, _) in formats {
        let _ = write!(
            page,
            " {format}: readable at first | copies | answer given | tokens of a reply |"
        );
    }
    page.push_str("\n|---|");
    page.push_str(&"--:|--:|--:|--:|".repeat(formats.len()));
    let mut prompts: Vec<&String> = formats.iter().flat_map(|(_, rows)| rows.keys()).collect();
    prompts.sort();
    prompts.dedup();
    let mut totals = vec![Readings::default(); formats.len()];
    let mut rows = String::new();
    for prompt in prompts {
        let _ = write!(rows, "\n| `{prompt}` |");
        for ((_, readings), total) in formats.iter().zip(&mut totals) {
            let readings = readings.get(prompt).copied().unwrap_or_default();
            total.add(readings);
            rows.push_str(&cells(readings));
        }
    }
    page.push_str("\n| **all** |");
    for total in totals {
        page.push_str(&cells(total));
    }
    page + &rows + "\n\n"
}

fn cells(readings: Readings) -> String {
    let Readings { first, readable, copied, offered, given, tokens } = readings;
    match first {
        0 => " - | - | - | - |".to_owned(),
        _ => format!(
            " {readable} of {first} | {copied} | {given} of {offered} | {} |",
            tokens / first as u64
        ),
    }
}
