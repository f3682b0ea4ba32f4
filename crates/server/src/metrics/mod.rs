//! Metrics in the format of Prometheus: counters and histograms of what has happened, and gauges
//! that are read when someone asks for them.
mod labels;
mod process;
mod snapshot;

use std::sync::Arc;

use axum::http::Method;
use halma_core::{Event, ReplyStatus, UsageTotal, Watcher};
use halma_engine::TraceHead;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use self::labels::{
    CallLabels, ModelLabel, OutcomeLabel, PathLabel, QuestionLabels, RequestLabels, SourceLabel,
    StrategyLabel, TokenLabels,
};
pub(crate) use self::snapshot::Snapshot;

/// Seconds: of requests, calls and searches from a millisecond on, of questions up to ten minutes.
const SECONDS: [f64; 14] =
    [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 600.0];
const HOPS: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 50.0];

/// Makes histograms with fixed buckets.
#[derive(Clone)]
struct Buckets(&'static [f64]);

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

type Histograms<L> = Family<L, Histogram, Buckets>;
type Dollars = Counter<f64, std::sync::atomic::AtomicU64>;

/// Usage counters of one kind of work other than questions (builds, evaluations, the verification of
/// feedback); copies count together.
#[derive(Clone, Default)]
pub(crate) struct WorkUsage {
    calls: Counter,
    tokens: Counter,
    usd: Dollars,
}

impl WorkUsage {
    /// Registers the counters under names that begin with `name`; `plural` is what it is called in
    /// their help texts.
    fn register(&self, registry: &mut Registry, name: &str, plural: &str) {
        let calls = format!("Model calls of {plural}");
        registry.register(format!("{name}_model_calls"), calls, self.calls.clone());
        let tokens = format!("Tokens of {plural}");
        registry.register(format!("{name}_tokens"), tokens, self.tokens.clone());
        let (cost, dollars) = (format!("Cost of {plural}"), Unit::Other("usd".to_owned()));
        registry.register_with_unit(format!("{name}_cost"), cost, dollars, self.usd.clone());
    }

    /// Counts what was used, or a part of it.
    pub(crate) fn add(&self, usage: UsageTotal) {
        self.calls.inc_by(usage.llm_calls);
        self.tokens.inc_by(usage.prompt_tokens + usage.completion_tokens);
        self.usd.inc_by(usage.usd.max(0.0));
    }
}

/// What has happened since the server started.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Histograms<PathLabel>,
    questions: Family<QuestionLabels, Counter>,
    question_seconds: Histograms<StrategyLabel>,
    first_word_seconds: Histogram,
    hops: Histograms<StrategyLabel>,
    calls: Family<CallLabels, Counter>,
    call_seconds: Histograms<ModelLabel>,
    tokens: Family<TokenLabels, Counter>,
    usd: Family<ModelLabel, Dollars>,
    search_seconds: Histograms<SourceLabel>,
    builds: Family<OutcomeLabel, Counter>,
    pub(crate) build_usage: WorkUsage,
    pub(crate) evaluation_usage: WorkUsage,
    pub(crate) verification_usage: WorkUsage,
}

impl Default for Metrics {
    fn default() -> Self {
        let seconds = || Buckets(&SECONDS);
        let mut metrics = Self {
            registry: Registry::with_prefix("halma"),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(seconds()),
            questions: Family::default(),
            question_seconds: Family::new_with_constructor(seconds()),
            first_word_seconds: seconds().new_metric(),
            hops: Family::new_with_constructor(Buckets(&HOPS)),
            calls: Family::default(),
            call_seconds: Family::new_with_constructor(seconds()),
            tokens: Family::default(),
            usd: Family::default(),
            search_seconds: Family::new_with_constructor(seconds()),
            builds: Family::default(),
            build_usage: WorkUsage::default(),
            evaluation_usage: WorkUsage::default(),
            verification_usage: WorkUsage::default(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let all = &mut self.registry;
        let dollars = Unit::Other("usd".to_owned());
        all.register("http_requests", "Requests by path and status", self.requests.clone());
        all.register_with_unit(
            "http_request_duration",
            "Time to the head of the response",
            Unit::Seconds,
            self.request_seconds.clone(),
        );
        all.register("questions", "Questions by strategy and outcome", self.questions.clone());
        all.register_with_unit(
            "question_duration",
            "Time of a question",
            Unit::Seconds,
            self.question_seconds.clone(),
        );
        all.register_with_unit(
            "question_first_word",
            "Time from a question to the first word of its answer",
            Unit::Seconds,
            self.first_word_seconds.clone(),
        );
        all.register("question_hops", "Hops of a question", self.hops.clone());
        all.register("model_calls", "Model calls of questions by outcome", self.calls.clone());
        all.register_with_unit(
            "model_call_duration",
            "Time of a model call that was not answered from the cache",
            Unit::Seconds,
            self.call_seconds.clone(),
        );
        all.register("tokens", "Tokens of model calls of questions", self.tokens.clone());
        all.register_with_unit("cost", "Cost of questions", dollars, self.usd.clone());
        all.register_with_unit(
            "search_duration",
            "Time of a search of the base (`text`) or of another source",
            Unit::Seconds,
            self.search_seconds.clone(),
        );
        all.register("builds", "Builds that have ended", self.builds.clone());
        self.build_usage.register(all, "build", "builds");
        self.evaluation_usage.register(all, "evaluation", "evaluations");
        self.verification_usage.register(all, "verification", "the verification of feedback");
    }

    /// Counts a request that took this time; `path` is the pattern of its path.
    pub(crate) fn request(&self, method: &Method, path: &str, status: u16, seconds: f64) {
        // A client may send any word as a method.
        let method = match *method {
            Method::GET => "GET",
            Method::HEAD => "HEAD",
            Method::POST => "POST",
            Method::PUT => "PUT",
            Method::DELETE => "DELETE",
            _ => "other",
        };
        let labels = RequestLabels { method, path: path.to_owned(), status };
        self.requests.get_or_create(&labels).inc();
        self.request_seconds.get_or_create(&PathLabel { path: path.to_owned() }).observe(seconds);
    }

    /// A watcher that counts every event, and passes it on.
    pub(crate) fn watcher(self: &Arc<Self>, next: Option<Watcher>) -> Watcher {
        let metrics = Arc::clone(self);
        Arc::new(move |event| {
            metrics.event(event);
            if let Some(next) = &next {
                next(event);
            }
        })
    }

    fn event(&self, event: &Event) {
        match event {
            Event::ModelCalled { model, status, cached, usage, usd, elapsed_ms, .. } => {
                let outcome = match status {
                    ReplyStatus::Malformed(_) => "malformed",
                    ReplyStatus::Valid if *cached => "cached",
                    ReplyStatus::Valid => "answered",
                };
                self.call(model, outcome);
                if *cached {
                    return;
                }
                let label = ModelLabel { model: model.clone() };
                self.call_seconds.get_or_create(&label).observe(elapsed_ms / 1e3);
                self.usd.get_or_create(&label).inc_by(usd.max(0.0));
                for (kind, count) in
                    [("prompt", usage.prompt_tokens), ("completion", usage.completion_tokens)]
                {
                    let labels = TokenLabels { model: model.clone(), kind };
                    self.tokens.get_or_create(&labels).inc_by(count);
                }
            }
            Event::ModelCallFailed { model, .. } => self.call(model, "failed"),
            Event::Searched { elapsed_ms, .. } => self.search("text", *elapsed_ms),
            Event::SourceQueried { source, elapsed_ms, .. }
            | Event::SourceFailed { source, elapsed_ms, .. } => self.search(source, *elapsed_ms),
            Event::AnswerStarted { elapsed_ms, .. } => {
                self.first_word_seconds.observe(elapsed_ms / 1e3);
            }
            _ => {}
        }
    }

    fn call(&self, model: &str, outcome: &'static str) {
        let labels = CallLabels { model: model.to_owned(), outcome };
        self.calls.get_or_create(&labels).inc();
    }

    fn search(&self, source: &str, elapsed_ms: f64) {
        let label = SourceLabel { source: source.to_owned() };
        self.search_seconds.get_or_create(&label).observe(elapsed_ms / 1e3);
    }

    /// Counts a question that has ended; `error` is the kind of error of one without an answer.
    pub(crate) fn question(&self, head: &TraceHead, error: Option<&'static str>) {
        let outcome = error.unwrap_or(if head.abstained { "abstained" } else { "answered" });
        let strategy = head.strategy.clone();
        self.questions.get_or_create(&QuestionLabels { strategy, outcome }).inc();
        let label = StrategyLabel { strategy: head.strategy.clone() };
        self.question_seconds.get_or_create(&label).observe(head.elapsed_ms / 1e3);
        #[expect(clippy::cast_precision_loss, reason = "hops are few")]
        self.hops.get_or_create(&label).observe(head.hops as f64);
    }

    /// Counts a build that has ended.
    pub(crate) fn build(&self, outcome: &'static str) {
        self.builds.get_or_create(&OutcomeLabel { outcome }).inc();
    }

    /// All metrics as text.
    pub(crate) fn render(&self, snapshot: &Snapshot) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode_registry(&mut text, &self.registry)?;
        encode_registry(&mut text, &snapshot.registry())?;
        encode_eof(&mut text)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_sends_does_not_make_new_series() {
        let metrics = Metrics::default();
        for word in ["GET", "BREW", "PROPFIND", "X1", "X2"] {
            let method = Method::from_bytes(word.as_bytes()).unwrap();
            metrics.request(&method, "/mcp", 405, 0.1);
        }
        let text = metrics.render(&Snapshot::default()).unwrap();
        let series = text.lines().filter(|line| line.starts_with("halma_http_requests_total{"));
        let series: Vec<&str> = series.collect();
        assert_eq!(series.len(), 2, "{series:?}");
        assert!(
            series.iter().any(|line| line.contains("method=\"other\"") && line.ends_with(" 4"))
        );
        assert!(text.ends_with("# EOF\n"));
    }
}
