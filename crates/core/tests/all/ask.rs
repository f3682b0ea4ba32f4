//! What [`Cx::ask`] does around a call: re-asking, recording, telling watchers.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    AnswerText, Budget, ChatReply, ChatRequest, Error, Event, Limit, Llm, LlmError, Price, Prompt,
    PromptFile, PromptSet, Prompts, Question, ReplyStatus, Stopped, Usage,
};
use halma_testkit::Script;
use parking_lot::Mutex;

use crate::common::{FITS, PROMPT, cx, question, with_prompts};

/// Replies in turn, keeping the requests it got; every other reply comes from a cache.
#[derive(Default)]
struct Recorder(Mutex<Vec<ChatRequest>>);

#[async_trait]
impl Llm for Recorder {
    fn model(&self) -> &'static str {
        "recorder"
    }

    fn price(&self) -> Price {
        Price { prompt: 100.0, completion: 1000.0, cached: None }
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let mut requests = self.0.lock();
        requests.push(request.clone());
        let cached = requests.len().is_multiple_of(2);
        let usage = Usage { prompt_tokens: 100, completion_tokens: 10, ..Usage::default() };
        let text = if request.messages.len() < 6 { "perhaps" } else { FITS };
        Ok(ChatReply { text: text.into(), usage, cached, ..ChatReply::default() })
    }
}

#[tokio::test]
async fn malformed_twice_then_fitting_is_an_answer() {
    let script =
        Script::new([("demo/ask", "yes"), ("demo/ask", r#"{"reply": "yes"}"#), ("demo/ask", FITS)]);
    let (cx, meter) = cx(script, Budget::default(), None);
    assert_eq!(cx.ask(&PROMPT, question("Is it?")).await.unwrap().answer, "yes");
    assert_eq!((cx.trace().malformed(), meter.calls()), (2, 3));
}

#[tokio::test]
async fn malformed_three_times_is_a_bad_reply() {
    let script = Script::new([("demo/ask", "1"), ("demo/ask", "2"), ("demo/ask", "yes")]);
    let (cx, _) = cx(Arc::clone(&script) as Arc<dyn Llm>, Budget::default(), None);
    let Err(Error::BadReply { prompt, reason, raw }) = cx.ask(&PROMPT, question("Is it?")).await
    else {
        panic!("a malformed reply became something else");
    };
    assert_eq!((prompt.as_str(), raw.as_str()), ("demo/ask", "yes"));
    assert!(!reason.is_empty());
    assert_eq!(script.left(), 0);
}

#[tokio::test]
async fn what_the_caller_refuses_is_asked_for_again_with_its_words() {
    let model = Arc::new(Recorder::default());
    let (cx, _) = cx(Arc::clone(&model) as Arc<dyn Llm>, Budget::default(), None);
    let answer = cx
        .ask_checked(&PROMPT, question("Is it?"), |said| match said.answer.as_str() {
            "yes" => Ok(()),
            other => Err(format!("`{other}` was not on offer")),
        })
        .await
        .unwrap();
    assert_eq!(answer.answer, "yes");
    let requests = model.0.lock();
    let roles = |i: usize| requests[i].messages.iter().map(|m| m.role.clone()).collect::<Vec<_>>();
    assert_eq!(roles(0), ["system", "user"]);
    assert_eq!(roles(2), ["system", "user", "assistant", "user", "assistant", "user"]);
    // The model sees what it said and what is wrong with it.
    assert_eq!(requests[1].messages[2].text, "perhaps");
    assert!(requests[1].messages[3].text.contains("no complete JSON value"));
    // It said the same again, as it would at the same temperature.
    let temperatures: Vec<f32> = requests.iter().map(|request| request.temperature).collect();
    assert!(temperatures[1] < 0.1 && temperatures[2] > 0.5, "{temperatures:?}");
    assert_eq!(requests[0].task, "read");
    assert!(requests[0].schema.is_some());
    let given = requests[0].variables.get_attr("question").unwrap();
    assert_eq!(given.get_attr("text").unwrap().as_str(), Some("Is it?"));
}

#[tokio::test]
async fn a_check_that_is_never_met_is_a_bad_reply() {
    let script = Script::new([("demo/ask", FITS), ("demo/ask", FITS), ("demo/ask", FITS)]);
    let (cx, _) = cx(script, Budget::default(), None);
    let refused = cx.ask_checked(&PROMPT, question("Is it?"), |_| Err("not that one".into())).await;
    let error = refused.unwrap_err();
    assert_eq!(error.to_string(), "the reply to `demo/ask` does not fit: not that one");
    assert_eq!(error.kind(), "bad_reply");
}

#[tokio::test]
async fn a_re_ask_is_paid_like_any_call() {
    let script = Script::new([("demo/ask", "no JSON"), ("demo/ask", FITS)]);
    let budget = Budget { calls: Some(2), ..Budget::default() };
    let (cx, meter) = cx(script, budget, None);
    let error = cx.ask(&PROMPT, question("Is it?")).await.unwrap_err();
    assert!(matches!(error, Error::Spent(Limit::Calls)), "{error}");
    assert_eq!(meter.calls(), 1);
}

#[tokio::test]
async fn the_trace_is_in_order_and_usage_is_a_fold_over_it() {
    let seen = Arc::new(Mutex::new(vec![]));
    let watcher = {
        let seen = Arc::clone(&seen);
        Arc::new(move |event: &Event| seen.lock().push(format!("{event:?}")))
    };
    let (cx, meter) = cx(Arc::new(Recorder::default()), Budget::default(), Some(watcher));
    let hop = cx.span("hop 1");
    hop.ask(&PROMPT, question("Is it?")).await.unwrap();
    hop.span("inner").note("a note");
    cx.note("the end");
    let trace = cx.trace();
    let events: Vec<String> = trace.0.iter().map(|event| format!("{event:?}")).collect();
    // What a model is asked is seen when it begins; no trace stores it.
    let is_asked = |event: &String| event.starts_with("ModelAsked");
    assert!(is_asked(&seen.lock()[1]));
    seen.lock().retain(|event| !is_asked(event));
    assert_eq!(*seen.lock(), events);
    let attempts: Vec<(u32, u32, bool, bool)> = trace
        .0
        .iter()
        .filter_map(|event| match event {
            Event::ModelCalled { span, attempt, status, cached, .. } => {
                Some((*span, *attempt, *status == ReplyStatus::Valid, *cached))
            }
            _ => None,
        })
        .collect();
    assert_eq!(attempts, [(1, 1, false, false), (1, 2, false, true), (1, 3, true, false)]);
    let total = trace.usage();
    assert_eq!((total.llm_calls, total.cached_calls), (2, 1));
    // A cached reply is neither paid nor counted in tokens.
    assert_eq!((total.prompt_tokens, total.completion_tokens), (200, 20));
    assert!((total.usd - 0.04).abs() < 1e-9, "{}", total.usd);
    assert_eq!((meter.calls(), meter.tokens()), (2, 220));
    insta::assert_snapshot!(halma_testkit::outline(&trace), @r#"
    hop 1
      ask demo/ask -> perhaps !! there is no complete JSON value in the reply
      ask demo/ask -> perhaps !! there is no complete JSON value in the reply
      ask demo/ask -> {"answer": "yes"}
      inner
        note: a note
    note: the end
    "#);
}

#[tokio::test]
async fn a_trace_survives_json() {
    let (cx, _) = cx(Arc::new(Recorder::default()), Budget::default(), None);
    cx.span("hop 1").ask(&PROMPT, question("Is it?")).await.unwrap();
    let json = serde_json::to_string(&cx.trace()).unwrap();
    let back: halma_core::Trace = serde_json::from_str(&json).unwrap();
    assert_eq!(halma_testkit::outline(&back), halma_testkit::outline(&cx.trace()));
    assert_eq!(back.usage(), cx.trace().usage());
}

/// Thinks until its tokens are used up, unless there are more than fifty; or refuses.
#[derive(Default)]
struct Thinker {
    refuses: bool,
    discarded: Mutex<usize>,
}

#[async_trait]
impl Llm for Thinker {
    fn model(&self) -> &'static str {
        "thinker"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let usage = Usage {
            prompt_tokens: 5,
            completion_tokens: request.max_tokens.into(),
            ..Usage::default()
        };
        let (text, stopped) = match (self.refuses, request.max_tokens) {
            (true, _) => (String::new(), Some(Stopped::Refusal("no".into()))),
            (false, ..=50) => (String::new(), Some(Stopped::Length)),
            (false, _) => (FITS.to_owned(), None),
        };
        Ok(ChatReply { text, usage, stopped, ..ChatReply::default() })
    }

    fn discard(&self, _: &ChatRequest) {
        *self.discarded.lock() += 1;
    }
}

#[tokio::test]
async fn thoughts_that_use_all_tokens_are_paid_for_and_get_more_within_the_budget() {
    let model = Arc::new(Thinker::default());
    let (open, meter) = cx(Arc::clone(&model) as Arc<dyn Llm>, Budget::default(), None);
    assert_eq!(open.ask(&PROMPT, question("Is it?")).await.unwrap().answer, "yes");
    assert_eq!((meter.calls(), meter.tokens()), (2, 5 + 50 + 5 + 200));
    assert_eq!((open.trace().malformed(), *model.discarded.lock()), (1, 0));
    let budget = Budget { tokens: Some(200), ..Budget::default() };
    let (limited, meter) = cx(model, budget, None);
    let refused = limited.reserve().ask(&PROMPT, question("Is it?")).await.unwrap_err();
    assert!(matches!(refused, Error::Spent(Limit::Tokens)), "{refused}");
    assert_eq!((meter.calls(), meter.tokens()), (1, 55));
}

#[tokio::test]
async fn a_refusal_is_paid_for_asked_once_and_not_kept() {
    let model = Arc::new(Thinker { refuses: true, ..Thinker::default() });
    let (cx, meter) = cx(Arc::clone(&model) as Arc<dyn Llm>, Budget::default(), None);
    let refused = cx.ask(&PROMPT, question("Is it?")).await.unwrap_err();
    assert!(matches!(&refused, Error::Llm { source: LlmError::Refused { reason }, .. }
        if reason.contains("refuses: no")));
    assert_eq!((meter.calls(), meter.tokens(), *model.discarded.lock()), (1, 55, 1));
}

/// Nothing but thoughts at first. A reply is kept until it is discarded, as by a cache.
#[derive(Default)]
struct Forgetful(Mutex<Vec<&'static str>>);

#[async_trait]
impl Llm for Forgetful {
    fn model(&self) -> &'static str {
        "forgetful"
    }

    async fn chat(&self, _: &ChatRequest) -> Result<ChatReply, LlmError> {
        let mut past = self.0.lock();
        let cached = past.last() == Some(&"replied");
        let text = if past.contains(&"discarded") { FITS } else { "<think>Well.</think>" };
        past.push("replied");
        Ok(ChatReply { text: text.to_owned(), cached, ..ChatReply::default() })
    }

    fn discard(&self, _: &ChatRequest) {
        self.0.lock().push("discarded");
    }
}

#[tokio::test]
async fn a_first_reply_without_text_is_discarded_before_the_same_is_asked_for_again() {
    let model = Arc::new(Forgetful::default());
    let (cx, _) = cx(Arc::clone(&model) as Arc<dyn Llm>, Budget::default(), None);
    assert_eq!(cx.ask(&PROMPT, question("Is it?")).await.unwrap().answer, "yes");
    assert_eq!(*model.0.lock(), ["replied", "discarded", "replied"]);
}

/// A prompt that says by a part what an answer is where there is none, with an example of each.
const CLOSING: PromptSet = PromptSet::Files(&[
    PromptFile {
        name: "demo/close",
        text: "---\ntask: read\nrole: reader\nvariables: [\"question\"]\n---\n## system\n\
               {% include \"part/unknown\" %}\n## user\n{{ question.text }}",
    },
    PromptFile {
        name: "demo/close.demonstrations",
        text: "## user\nWho?\n## assistant\n{\"answer\": \"Ann\"}\n\
               ## user\nWhere?\n## assistant\n{\"answer\": \"\"}\n",
    },
]);

#[tokio::test]
async fn an_empty_answer_is_asked_for_once_more_where_one_must_be_given() {
    const CLOSE: Prompt<BTreeMap<String, AnswerText>> = Prompt::json("demo/close");
    let none = r#"{"answer": null}"#;
    for (abstain, replies, answer) in [
        (true, vec![none], ""),
        (false, vec![none, FITS], "yes"),
        (false, vec![none, r#"{"answer": "Unknown"}"#], ""),
        (false, vec![none, "?", "?"], ""),
        (false, vec![FITS], "yes"),
    ] {
        let calls = replies.len() as u64;
        let replies = replies.into_iter().map(|reply| ("demo/close", Ok(reply))).collect();
        let script = Script::with_failures(replies);
        let prompts = Arc::new(Prompts::shipped(&[CLOSING]).unwrap());
        let (cx, meter) = with_prompts(prompts, script, Budget::default(), None);
        let question = Question { abstain, ..Question::new("Is it?") };
        let variables = minijinja::context! { question => minijinja::value::Serde(question) };
        let given = cx.ask(&CLOSE, variables).await.unwrap();
        assert_eq!((given["answer"].0.as_str(), meter.calls()), (answer, calls), "{abstain}");
        let Some(Event::ModelCalled { messages, .. }) = cx.trace().0.into_iter().next() else {
            panic!("no call is in the trace");
        };
        let shows_none = messages.iter().any(|message| message.text == r#"{"answer": ""}"#);
        assert_eq!(shows_none, abstain, "the example without an answer");
    }
}
