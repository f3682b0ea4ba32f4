//! One small real question to a model, and what it says of the time that questions will take.
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_core::{
    ChatRequest, Error, Llm as _, LlmError, Price, Prompt, Prompts, ReplyPiece, ReplyStream, Usage,
};
use halma_models::OpenAi;
use minijinja::context;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::discover::list_models;
use crate::assemble;
use crate::config::{Config, ModelConfig};
use crate::engine::{Effort, ExpectedUse};
use crate::error::EngineError;

const TRIAL: Prompt<TrialReply> = Prompt::json("connect/trial");

/// What the passage of the trial says.
const RIGHT_ANSWER: &str = "Jory Varn";

/// How long a server may take to load its model, and how often it is asked.
const LOADING: Duration = Duration::from_mins(5);
const LOADING_INTERVAL: Duration = Duration::from_secs(1);

/// Tokens of context that the longest prompt of a question needs, with its reply.
const LEAST_CONTEXT: u64 = 4_096;

#[derive(Deserialize)]
struct TrialReply {
    answer: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    /// The reply has the form and the answer.
    Right,
    /// The reply has the form and another answer.
    Wrong,
    /// The reply is not the JSON that was asked for.
    Unreadable,
}

/// What a model did with a small real question.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Trial {
    pub outcome: TrialOutcome,
    /// In which form its server takes requests for JSON.
    pub json: String,
    /// Tokens of a prompt read in a second; unknown where the server does not stream.
    pub prompt_tokens_per_second: Option<f64>,
    /// Tokens of a reply written in a second.
    pub tokens_per_second: f64,
    /// Tokens of prompt and reply together, where the server says it.
    pub context: Option<u64>,
    /// What a question will take.
    pub efforts: Vec<EffortEstimate>,
    /// Whether a question takes too long where the model has all roles: it should only read.
    pub is_slow: bool,
    /// What should be changed, if anything.
    pub advice: Option<String>,
}

/// Seconds for a question with all roles from which a model only reads.
const SLOW: f64 = 60.0;

/// What a question will take at an effort.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EffortEstimate {
    pub effort: Effort,
    pub calls: u64,
    pub seconds: f64,
    pub usd: f64,
}

/// Asks a model, configured as `models.NAME`, a small real question. Waits while its server loads.
pub async fn try_connection(
    config: &Config,
    name: &str,
    model: &ModelConfig,
) -> Result<Trial, EngineError> {
    let key = format!("models.{name}");
    let endpoint = assemble::endpoint(model, &key).map_err(|e| config.named(e))?;
    let prompts = assemble::prompts(config).map_err(|e| config.named(e))?;
    let failed = |source| EngineError::Run(Error::Llm { model: model.served_name(), source });
    let url = endpoint.url.clone();
    let llm = OpenAi::new(endpoint).map_err(|e| config.named(assemble::at(e, &key)))?;
    let began = Instant::now();
    let ping = loop {
        match llm.ping().await {
            Err(error) if is_loading(&error) && began.elapsed() < LOADING => {
                tokio::time::sleep(LOADING_INTERVAL).await;
            }
            reply => break reply.map_err(failed)?,
        }
    };
    let timed = time_reply(&llm, &prompts).await.map_err(failed)?;
    let listed = list_models(&url, "").await.ok();
    let served = listed.iter().flat_map(|server| &server.models);
    let context = served.into_iter().find(|served| served.name == llm.model());
    let context = context.and_then(|served| served.context);
    Ok(timed.into_trial(ping.json.to_string(), context, model.price))
}

fn is_loading(error: &LlmError) -> bool {
    matches!(error, LlmError::Transient { reason, .. } if reason.contains("Loading model"))
}

/// A reply with the times at which it began and ended.
struct TimedReply {
    outcome: TrialOutcome,
    usage: Usage,
    /// Seconds until its first piece; `None` where it came whole.
    first: Option<f64>,
    /// Seconds until its end.
    total: f64,
}

async fn time_reply(llm: &OpenAi, prompts: &Prompts) -> Result<TimedReply, LlmError> {
    // Another prompt each time, so that no cache of the server's has read its beginning.
    let number = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_millis());
    let variables = context! { number => number.to_string() };
    let rendered = prompts.render(TRIAL.name, &variables);
    let rendered = rendered.map_err(|e| LlmError::refused(e.to_string()))?;
    let began = Instant::now();
    let first = Arc::new(Mutex::new(None));
    let receiver = Arc::clone(&first);
    let stream = ReplyStream::new(move |piece| match piece {
        ReplyPiece::Start => *receiver.lock() = None,
        ReplyPiece::Text("") => {}
        ReplyPiece::Text(_) => {
            receiver.lock().get_or_insert_with(|| began.elapsed().as_secs_f64());
        }
    });
    let request = ChatRequest {
        prompt: TRIAL.name.to_owned(),
        task: rendered.task,
        variables,
        messages: rendered.messages,
        schema: rendered.schema,
        stop: rendered.stop,
        max_tokens: rendered.max_tokens.saturating_add(llm.thinking_tokens()),
        temperature: rendered.temperature,
        logprobs: false,
        about: vec![],
        images: vec![],
        stream: Some(stream),
    };
    let reply = llm.chat(&request).await?;
    let total = began.elapsed().as_secs_f64();
    let outcome = match (TRIAL.parse)(&reply.text) {
        Ok(TrialReply { answer }) if answer.contains(RIGHT_ANSWER) => TrialOutcome::Right,
        Ok(_) => TrialOutcome::Wrong,
        Err(_) => TrialOutcome::Unreadable,
    };
    let first = *first.lock();
    Ok(TimedReply { outcome, usage: reply.usage, first, total })
}

impl TimedReply {
    #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^52")]
    fn into_trial(self, json: String, context: Option<u64>, price: Price) -> Trial {
        let Self { outcome, usage, first, total } = self;
        // A reply that comes in one piece has no time of its own: all of it counts as writing.
        let first = first.filter(|first| total - first > 0.01);
        let read = first.map(|first| usage.prompt_tokens as f64 / first.max(0.001));
        let written = usage.completion_tokens as f64 / (total - first.unwrap_or(0.0)).max(0.001);
        let estimate = |effort: Effort| {
            let ExpectedUse { calls, prompt_tokens, completion_tokens } = effort.expected();
            EffortEstimate {
                effort,
                calls,
                seconds: read.map_or(0.0, |read| prompt_tokens as f64 / read)
                    + completion_tokens as f64 / written.max(0.001),
                usd: price.cost(Usage { prompt_tokens, completion_tokens, ..Usage::default() }),
            }
        };
        let efforts: Vec<EffortEstimate> = Effort::ALL.into_iter().map(estimate).collect();
        Trial {
            outcome,
            json,
            prompt_tokens_per_second: read,
            tokens_per_second: written,
            context,
            is_slow: efforts.iter().any(|one| one.effort == Effort::Deep && one.seconds > SLOW),
            efforts,
            advice: advice(outcome, context),
        }
    }
}

fn advice(outcome: TrialOutcome, context: Option<u64>) -> Option<String> {
    if let Some(context) = context.filter(|context| *context < LEAST_CONTEXT) {
        return Some(format!(
            "its server has a context of {context} tokens; start it with at least {LEAST_CONTEXT} \
             (llama.cpp: `-c 8192`, Ollama: `OLLAMA_CONTEXT_LENGTH=8192`)"
        ));
    }
    let advice = match outcome {
        TrialOutcome::Right => return None,
        TrialOutcome::Wrong => "it misread a short passage; a larger model will answer better",
        TrialOutcome::Unreadable => "its reply was not the JSON asked for; choose a model for chat",
    };
    Some(advice.to_owned())
}

#[cfg(test)]
mod tests {
    use halma_testkit::double::{Behaviour, Double};

    use super::*;

    async fn outcome(reply: &'static str) -> Trial {
        let double = Double::start(Behaviour::replying(move |_| reply.to_owned()));
        let model = ModelConfig::new(double.url(), "double");
        try_connection(&Config::default(), "main", &model).await.unwrap()
    }

    #[tokio::test]
    async fn a_model_is_judged_by_its_reply() {
        let right = outcome(r#"{"answer":"Jory Varn","sentence":"He replaced the wheel."}"#).await;
        assert_eq!((right.outcome, right.advice), (TrialOutcome::Right, None));
        assert!(right.tokens_per_second > 0.0);
        let names: Vec<&str> = right.efforts.iter().map(|one| one.effort.name()).collect();
        assert_eq!(names, ["quick", "normal", "deep", "exhaustive"]);
        let wrong = outcome(r#"{"answer":"Edda Varn","sentence":""}"#).await;
        assert_eq!(wrong.outcome, TrialOutcome::Wrong);
        assert_eq!(outcome("I am sorry").await.outcome, TrialOutcome::Unreadable);
    }

    #[test]
    fn what_a_question_takes_follows_from_both_speeds() {
        let usage = Usage { prompt_tokens: 300, completion_tokens: 40, ..Usage::default() };
        let outcome = TrialOutcome::Right;
        let timed = TimedReply { outcome, usage, first: Some(3.0), total: 7.0 };
        let price = Price { prompt: 1.0, completion: 10.0, cached: None };
        let trial = timed.into_trial(String::new(), Some(2048), price);
        assert_eq!(trial.prompt_tokens_per_second, Some(100.0));
        assert!((trial.tokens_per_second - 10.0).abs() < 1e-9);
        let quick = &trial.efforts[0];
        assert!((quick.seconds - 26.4).abs() < 1e-9 && (quick.usd - 0.002_64).abs() < 1e-9);
        assert!(trial.advice.unwrap().contains("context of 2048"));
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_an_error() {
        let model = ModelConfig::new("http://127.0.0.1:9/v1", "m");
        let error = try_connection(&Config::default(), "main", &model).await.unwrap_err();
        assert!(error.to_string().contains("cannot be reached"), "{error}");
    }
}
