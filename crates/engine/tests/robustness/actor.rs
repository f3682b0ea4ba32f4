//! The offline model, which also acts the tasks that it has no rules for, so that every strategy
//! runs from its beginning to its end.
use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, Llm, LlmError};
use halma_offline::Extractive;
use minijinja::{Value as Variables, context};
use serde_json::{Value, json};

/// The best reply that the rules of other tasks can give.
pub(crate) struct Actor(pub(crate) Extractive);

impl Actor {
    async fn rules(
        &self,
        request: &ChatRequest,
        task: &str,
        variables: Variables,
    ) -> Option<Value> {
        let request = ChatRequest { task: task.into(), variables, ..request.clone() };
        serde_json::from_str(&self.0.chat(&request).await.ok()?.text).ok()
    }

    async fn act(&self, request: &ChatRequest) -> Option<Value> {
        let given = &request.variables;
        let get = |name: &str| given.get_attr(name).unwrap_or_default();
        let question = get("question");
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        Some(match request.task.as_str() {
            "chain" => {
                let next = self.follow_up(request, get("history")).await;
                let nodes: Vec<String> =
                    next.into_iter().map(|next| format!("{next} -> ?")).collect();
                json!({ "rationale": "What is missing comes next.", "nodes": nodes })
            }
            "deduce" => {
                let next = self.follow_up(request, get("history")).await.unwrap_or_default();
                json!({ "thinking": "What is missing comes next.", "question": next, "answer": "" })
            }
            "verify" => {
                let read = context! { question, context => get("context") };
                let read = self.rules(request, "read", read).await?;
                let answer = text(&read, "answer");
                let agrees = get("answer").as_str() == Some(answer.as_str());
                json!({ "rationale": "As read.", "answer": answer, "agrees": agrees, "sure": true })
            }
            "filter" => {
                let all: Vec<usize> = (1..=get("context").len().unwrap_or(0)).collect();
                json!({ "thinking": "All may help.", "passages": all })
            }
            "act" if get("steps").len() == Some(0) => {
                let argument = question.get_attr("text").ok()?.as_str()?.to_owned();
                json!({ "thought": "First a search.", "action": "search", "argument": argument })
            }
            "act" => {
                let seen = |step: Variables| -> Option<Variables> {
                    let text = step.get_attr("seen").ok()?;
                    Some(context! { id => "seen", title => "", text, layer => "chunk" })
                };
                let context: Variables = get("steps").try_iter().ok()?.filter_map(seen).collect();
                let read = self.rules(request, "read", context! { question, context }).await;
                let answer = text(&read.unwrap_or_default(), "answer");
                json!({ "thought": "That is enough.", "action": "finish", "argument": answer })
            }
            "explore" => {
                let seen = |step: Variables| -> Option<Variables> {
                    let text = step.get_attr("seen").ok()?;
                    Some(context! { id => "seen", title => "", text, layer => "chunk" })
                };
                let context: Vec<Variables> =
                    get("steps").try_iter().ok()?.filter_map(seen).collect();
                let (tool, argument) = if context.is_empty() {
                    ("search", question.get_attr("text").ok()?.as_str()?.to_owned())
                } else {
                    let read = self.rules(request, "read", context! { question, context }).await;
                    ("answer", text(&read.unwrap_or_default(), "answer"))
                };
                json!({ "plan": "", "notes": "", "tool": tool, "argument": argument, "from": 0,
                    "passages": [] })
            }
            "tree" => {
                let parts =
                    self.rules(request, "decompose", context! { question => &question }).await?;
                json!({ "questions": parts["sub_questions"] })
            }
            "rationale" => {
                let first = self.follow_up(request, Variables::from(Vec::<Variables>::new())).await;
                json!({ "steps": [first.unwrap_or_default()], "answer": "" })
            }
            "correct" => {
                let step = get("thought");
                json!({ "thinking": "It stands.", "step": step.as_str()?, "next": "" })
            }
            _ => return None,
        })
    }

    async fn follow_up(&self, request: &ChatRequest, history: Variables) -> Option<String> {
        let question = request.variables.get_attr("question").ok()?;
        let reply = self.rules(request, "follow_up", context! { question, history }).await?;
        reply["follow_up"].as_str().filter(|next| !next.is_empty()).map(str::to_owned)
    }
}

#[async_trait]
impl Llm for Actor {
    fn model(&self) -> &'static str {
        "actor"
    }

    fn logprobs(&self) -> bool {
        true
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let text = match self.0.chat(request).await {
            Ok(reply) => reply.text,
            Err(error) => self.act(request).await.map(|reply| reply.to_string()).ok_or(error)?,
        };
        let token = |word: &str| (word.to_owned(), -0.1);
        let logprobs = request.logprobs.then(|| text.split_inclusive(' ').map(token).collect());
        Ok(ChatReply { text, logprobs, ..ChatReply::default() })
    }
}

/// Calls again after a passing failure, as the client does, without waiting.
pub(crate) struct Retried(pub(crate) std::sync::Arc<dyn Llm>);

#[async_trait]
impl Llm for Retried {
    fn model(&self) -> &str {
        self.0.model()
    }

    fn logprobs(&self) -> bool {
        self.0.logprobs()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        match self.0.chat(request).await {
            Err(LlmError::Transient { .. }) => self.0.chat(request).await,
            outcome => outcome,
        }
    }
}
