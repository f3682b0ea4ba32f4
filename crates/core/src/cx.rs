//! What a run may use and where it writes what it did.
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use minijinja::context;

use crate::{
    AskedStatus, ChatReply, ChatRequest, Computed, Edge, Error, Event, Hit, HitLine, Knowledge,
    Limit, Llm, LlmError, Message, Meter, Models, NodeId, Prompt, Prompts, Query, Result, Trace,
    Usage,
};

/// How often a model is asked again when its reply does not fit.
const RE_ASKS: u32 = 2;

/// Sees every event as it happens, for live views.
pub type Watcher = Arc<dyn Fn(&Event) + Send + Sync>;

/// What runs share: models, knowledge, prompts.
pub struct Setup {
    pub models: Models,
    pub knowledge: Arc<dyn Knowledge>,
    pub prompts: Arc<Prompts>,
}

/// The context of one run. Cheap to clone; a clone made by [`Cx::span`] is a child in the trace.
#[derive(Clone)]
pub struct Cx {
    run: Arc<Run>,
    span: u32,
    may_use_reserve: bool,
}

struct Run {
    setup: Arc<Setup>,
    meter: Arc<Meter>,
    watcher: Option<Watcher>,
    record: Mutex<Record>,
}

#[derive(Default)]
struct Record {
    trace: Trace,
    spans: u32,
    /// Documents that anything found so far comes from.
    about: BTreeSet<String>,
}

impl Cx {
    pub fn new(setup: Arc<Setup>, meter: Arc<Meter>, watcher: Option<Watcher>) -> Self {
        let run = Run { setup, meter, watcher, record: Mutex::default() };
        Self { run: Arc::new(run), span: 0, may_use_reserve: false }
    }

    /// A child in the trace: what happens through it belongs to this part of the work.
    #[must_use]
    pub fn span(&self, name: impl Into<String>) -> Self {
        let mut record = self.record();
        record.spans += 1;
        let span = record.spans;
        drop(record);
        self.push(Event::SpanBegan { span, parent: self.span, name: name.into() });
        Self { span, ..self.clone() }
    }

    /// A context that may use what the budget keeps back for the closing answer.
    #[must_use]
    pub fn reserve(&self) -> Self {
        Self { may_use_reserve: true, ..self.clone() }
    }

    /// Asks the model of the prompt's role and parses its reply. A reply that does not fit is
    /// asked for again, at most twice, with the parser's complaint; then it is
    /// [`Error::BadReply`].
    pub async fn ask<R>(&self, prompt: &Prompt<R>, variables: minijinja::Value) -> Result<R> {
        self.ask_checked(prompt, variables, |_| Ok(())).await
    }

    /// [`Cx::ask`] for a reply that only the caller can judge: an index into what was offered,
    /// say. What `check` complains about is malformed like any other and asked for again.
    pub async fn ask_checked<R>(
        &self,
        prompt: &Prompt<R>,
        variables: minijinja::Value,
        check: impl Fn(&R) -> std::result::Result<(), String> + Send + Sync,
    ) -> Result<R> {
        let rendered = self.run.setup.prompts.render(prompt.name, &variables)?;
        let name: Arc<str> = prompt.name.into();
        let llm = Arc::clone(self.run.setup.models.of(&rendered.role));
        let mut request = ChatRequest {
            prompt: prompt.name.to_owned(),
            task: rendered.task,
            variables,
            messages: rendered.messages,
            schema: rendered.schema,
            stop: rendered.stop,
            max_tokens: rendered.max_tokens,
            temperature: rendered.temperature,
            logprobs: false,
            images: rendered.images,
            about: self.record().about.iter().cloned().collect(),
        };
        let mut attempt = 1;
        loop {
            let began = Instant::now();
            let (reply, usd) = self.call(llm.as_ref(), &request, &name).await?;
            let parsed =
                (prompt.parse)(&reply.text).and_then(|value| check(&value).map(|()| value));
            let status = match &parsed {
                Ok(_) => AskedStatus::Fits,
                Err(reason) => AskedStatus::Malformed(reason.clone()),
            };
            self.push(Event::Asked {
                span: self.span,
                prompt: Arc::clone(&name),
                hash: Arc::clone(&rendered.hash),
                role: rendered.role.clone(),
                model: llm.model().to_owned(),
                attempt,
                messages: request.messages.clone(),
                reply: reply.text.clone(),
                status,
                usage: reply.usage,
                cached: reply.cached,
                usd,
                elapsed_ms: ms(began),
            });
            match parsed {
                Ok(value) => return Ok(value),
                Err(reason) if attempt > RE_ASKS => {
                    return Err(Error::BadReply {
                        prompt: name.to_string(),
                        reason,
                        raw: reply.text,
                    });
                }
                Err(reason) => {
                    let complaint =
                        self.run.setup.prompts.render("reply/mend", &context! { reason })?;
                    let said = Message { role: "assistant".into(), text: reply.text };
                    request.messages.push(said);
                    request.messages.extend(complaint.messages);
                    attempt += 1;
                }
            }
        }
    }

    /// One call under the budget: taken before, settled after, cut off at the time limit.
    async fn call(
        &self,
        llm: &dyn Llm,
        request: &ChatRequest,
        name: &Arc<str>,
    ) -> Result<(ChatReply, f64)> {
        let began = Instant::now();
        let meter = &self.run.meter;
        let most = Usage {
            prompt_tokens: estimate_tokens(&request.messages),
            completion_tokens: request.max_tokens.into(),
        };
        let price = llm.price();
        let taken =
            meter.take(most, price, self.may_use_reserve).map_err(|limit| self.spent(limit))?;
        let reply = match meter.time_left(self.may_use_reserve) {
            Some(left) => match tokio::time::timeout(left, llm.chat(request)).await {
                Ok(reply) => reply,
                Err(_) => {
                    // The model may have worked and been paid: what was taken stays taken.
                    return Err(self.spent(Limit::Seconds));
                }
            },
            None => llm.chat(request).await,
        };
        match reply {
            Ok(reply) => {
                let usd = if reply.cached { 0.0 } else { price.of(reply.usage) };
                meter.settle(taken, (!reply.cached).then_some((reply.usage, usd)));
                Ok((reply, usd))
            }
            Err(source) => {
                meter.settle(taken, None);
                Err(self.failed(llm, source, name, began))
            }
        }
    }

    fn failed(&self, llm: &dyn Llm, source: LlmError, name: &Arc<str>, began: Instant) -> Error {
        let model = llm.model().to_owned();
        self.push(Event::AskFailed {
            span: self.span,
            prompt: Arc::clone(name),
            model: model.clone(),
            reason: source.to_string(),
            elapsed_ms: ms(began),
        });
        Error::Llm { model, source }
    }

    fn spent(&self, limit: Limit) -> Error {
        self.push(Event::SpentBudget { span: self.span, limit });
        Error::Spent(limit)
    }

    /// Searches the base; one list of hits for each text of the query.
    pub async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>> {
        let began = Instant::now();
        let lists = self.run.setup.knowledge.search(query).await.map_err(Error::Knowledge)?;
        let elapsed_ms = ms(began);
        self.saw(lists.iter().flatten());
        for (text, hits) in query.texts.iter().zip(&lists) {
            self.push(Event::Searched {
                span: self.span,
                layer: query.layer,
                mode: query.mode,
                query: text.clone(),
                hits: hits.iter().map(hit_line).collect(),
                elapsed_ms,
            });
        }
        Ok(lists)
    }

    pub async fn get(&self, id: &NodeId) -> Result<Hit> {
        let hit = self.run.setup.knowledge.get(id).await.map_err(Error::Knowledge)?;
        self.saw([&hit]);
        Ok(hit)
    }

    /// The nodes that an edge leads to, or with `None` any edge.
    pub async fn neighbours(&self, id: &NodeId, edge: Option<Edge>) -> Result<Vec<(Edge, Hit)>> {
        let found = self.run.setup.knowledge.neighbours(id, edge).await;
        let found = found.map_err(Error::Knowledge)?;
        self.saw(found.iter().map(|(_, hit)| hit));
        Ok(found)
    }

    /// Runs a read-only SQL query over the base's tables.
    pub async fn compute(&self, sql: &str) -> Result<Computed> {
        let began = Instant::now();
        let computed = self.run.setup.knowledge.compute(sql).await.map_err(Error::Knowledge)?;
        let (span, rows, elapsed_ms) = (self.span, computed.rows.len(), ms(began));
        self.push(Event::Computed { span, sql: sql.to_owned(), rows, elapsed_ms });
        self.record().about.extend(computed.documents.iter().cloned());
        Ok(computed)
    }

    /// Says whose words the following calls may quote, where they were not found by a search.
    pub fn quote(&self, document: &str) {
        self.record().about.insert(document.to_owned());
    }

    fn saw<'a>(&self, hits: impl IntoIterator<Item = &'a Hit>) {
        let mut record = self.record();
        for hit in hits {
            if !record.about.contains(&hit.document) {
                record.about.insert(hit.document.clone());
            }
        }
    }

    /// Tells something that no other event says: a fall-back, a choice of nothing.
    pub fn note(&self, note: impl Into<String>) {
        self.push(Event::Noted { span: self.span, note: note.into() });
    }

    /// What has happened so far.
    pub fn trace(&self) -> Trace {
        self.record().trace.clone()
    }

    fn push(&self, event: Event) {
        // Under the lock, so that a watcher sees the events in the trace's order.
        let mut record = self.record();
        if let Some(watcher) = &self.run.watcher {
            watcher(&event);
        }
        record.trace.0.push(event);
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.run.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hit_line(hit: &Hit) -> HitLine {
    HitLine {
        id: hit.id.clone(),
        title: hit.title.clone(),
        text: hit.text.clone(),
        score: hit.score,
    }
}

/// Four characters a token, the usual rule of thumb; settled by the server's count.
pub fn estimate_tokens(messages: &[Message]) -> u64 {
    messages.iter().map(|message| message.text.len() as u64 / 4 + 4).sum()
}

fn ms(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

/// Turns "the budget is spent" into "no more", so that a loop can close with what it has.
pub trait UnlessSpent<T> {
    fn unless_spent(self) -> Result<Option<T>>;
}

impl<T> UnlessSpent<T> for Result<Option<T>> {
    fn unless_spent(self) -> Result<Option<T>> {
        match self {
            Err(Error::Spent(_)) => Ok(None),
            other => other,
        }
    }
}
