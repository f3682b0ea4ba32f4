//! Whole runs over HTTP: prose instead of JSON, the cache across processes' lives, keys in errors.
use std::sync::Arc;

use crate::common::{ask, bare, json_request, kind, request};
use halma_core::{
    Budget, ChatRequest, Cx, Error, Llm, Meter, Models, Prompt, PromptFile, PromptSet, Prompts,
    Setup,
};
use halma_models::{Cache, OpenAi, wrapped};
use halma_net::{Endpoint, Limits};
use halma_testkit::Toy;
use halma_testkit::double::{Behaviour, Double, Failure, fixed, scripted};
use minijinja::context;
use proptest::prelude::*;
use serde::Deserialize;

const FILES: PromptSet = PromptSet::Files(&[PromptFile {
    name: "test/answer",
    text: "---\ntask: read\nrole: reader\nvariables: [\"question\"]\n\
           schema: {\"answer\": \"string\"}\n---\n## user\n{{ question }}\n",
}]);

const ANSWER: Prompt<Answer> = Prompt::json("test/answer");

#[derive(Debug, Deserialize)]
struct Answer {
    answer: String,
}

fn cx(model: Arc<dyn Llm>) -> Cx {
    let prompts = Arc::new(Prompts::shipped(&[FILES]).unwrap());
    let setup = Setup::new(Models::new(model), Toy::empty(), prompts);
    Cx::new(Arc::new(setup), Arc::new(Meter::new(Budget::default())), None)
}

#[tokio::test]
async fn prose_instead_of_json_is_asked_for_again() {
    let good = r#"Here you are: {"answer": "Paris"}"#;
    let double =
        Double::start(Behaviour::with(scripted([("test/answer", &["I would say Paris.", good])])));
    let cx_ = cx(wrapped(bare(&double), Limits::default(), None).unwrap());
    let answer = cx_.ask(&ANSWER, context! { question => "Where?" }).await.unwrap();
    assert_eq!((answer.answer.as_str(), double.chat_calls()), ("Paris", 2));
    assert_eq!(double.requests()[1].body["messages"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn prose_for_good_is_a_bad_reply() {
    let double = Double::start(Behaviour::default());
    double.fail(vec![Failure::Prose; 9]);
    let cx = cx(wrapped(bare(&double), Limits::default(), None).unwrap());
    let error = cx.ask(&ANSWER, context! { question => "Where?" }).await.unwrap_err();
    let Error::BadReply { prompt, raw, .. } = error else { panic!("{error}") };
    assert_eq!((prompt.as_str(), double.chat_calls()), ("test/answer", 3));
    assert!(raw.contains("how I see it"));
}

#[tokio::test]
async fn a_second_run_asks_nothing_again() {
    let folder = tempfile::tempdir().unwrap();
    let double = Double::start(Behaviour::with(fixed("a reply")));
    for run in 0..2 {
        let cache = Cache::open(folder.path()).unwrap();
        let model = wrapped(bare(&double), Limits::default(), Some(cache)).unwrap();
        for n in 0..20 {
            let reply = ask(&model, &request(&n.to_string())).await.unwrap();
            assert_eq!((reply.text.as_str(), reply.cached), ("a reply", run == 1));
        }
        let same = json_request();
        let replies = futures::future::join_all((0..5).map(|_| ask(&model, &same))).await;
        assert!(replies.iter().all(Result::is_ok));
    }
    assert_eq!(double.chat_calls(), 21);
}

#[tokio::test]
async fn log_probs_are_kept_with_a_reply_and_asked_for_again_where_they_are_lacking() {
    let folder = tempfile::tempdir().unwrap();
    let double =
        Double::start(Behaviour { refused_fields: vec!["logprobs"], ..Behaviour::default() });
    let cache = Cache::open(folder.path()).unwrap();
    let model = |logprobs| {
        let endpoint = Endpoint { logprobs, ..bare(&double) };
        wrapped(endpoint, Limits::default(), Some(Arc::clone(&cache))).unwrap()
    };
    // What a model gives is a matter of configuration, and every wrapping tells it on.
    assert!(model(true).logprobs() && !model(false).logprobs());
    let scored = ChatRequest { logprobs: true, ..request("one two") };
    let reply = ask(&model(true), &scored).await.unwrap();
    assert_eq!((reply.logprobs, reply.cached), (None, false));
    // The server has learnt it meanwhile: what was lacking is not in the way.
    double.set(Behaviour::default());
    let model = model(true);
    let fresh = ask(&model, &scored).await.unwrap();
    let kept = ask(&model, &scored).await.unwrap();
    assert_eq!((fresh.cached, kept.cached), (false, true));
    assert_eq!(fresh.logprobs.as_ref().map(Vec::len), Some(2));
    assert_eq!(kept.logprobs, fresh.logprobs);
    let plain = ask(&model, &request("one two")).await.unwrap();
    assert_eq!((plain.logprobs, plain.cached), (None, false));
}

#[tokio::test]
async fn failures_are_not_cached() {
    let folder = tempfile::tempdir().unwrap();
    let double = Double::start(Behaviour::default());
    let cache = Cache::open(folder.path()).unwrap();
    let model = wrapped(bare(&double), Limits::default(), Some(Arc::clone(&cache))).unwrap();
    double.fail([Failure::Refused]);
    assert!(ask(&model, &request("?")).await.is_err());
    assert!(!ask(&model, &request("?")).await.unwrap().cached);
    assert_eq!(cache.entries().unwrap(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever a server does with the key it was sent, no error shows it.
    #[test]
    fn no_error_ever_shows_the_key(key in "[a-zA-Z0-9_.~+/-]{12,40}", which in 0..9_usize) {
        let echo = format!(r#"{{"error":{{"message":"bad key {key}","code":"{key}"}}}}"#);
        let failure = match which {
            0 => Failure::Status(401, echo),
            1 => Failure::Status(400, echo),
            2 => Failure::Status(429, echo),
            3 => Failure::Status(500, format!("<p>{key}</p>")),
            4 => Failure::Status(200, format!("<p>{key}</p>")),
            5 => Failure::Status(200, format!(r#"{{"error":{{"message":"{key}"}}}}"#)),
            6 => Failure::Status(413, key.clone()),
            7 => Failure::Status(200, format!(r#"{{"choices":"{key}"}}"#)),
            _ => Failure::Dropped,
        };
        let double = Double::start(Behaviour::default());
        double.fail([failure]);
        let endpoint = Endpoint { key: Some(key.clone()), ..bare(&double) };
        let debug = format!("{endpoint:?}");
        prop_assert!(!debug.contains(&key), "{debug}");
        let model = OpenAi::new(endpoint).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(model.chat(&request("?"))).unwrap_err();
        prop_assert!(!format!("{error} {error:?}").contains(&key), "{error:?}");
    }
}

#[tokio::test]
async fn a_page_in_place_of_a_reply_is_asked_past_and_then_reported_by_its_heading() {
    let double = Double::start(Behaviour::default());
    let model = wrapped(bare(&double), Limits::default(), None).unwrap();
    double.fail([Failure::Html]);
    ask(&model, &request("?")).await.unwrap();
    assert_eq!(double.chat_calls(), 2);
    let once = Limits { retries: 0, ..Limits::default() };
    let model = wrapped(bare(&double), once, None).unwrap();
    double.fail([Failure::Html]);
    let error = ask(&model, &request("?")).await;
    assert_eq!(kind(&error), "transient");
    let told = error.unwrap_err().to_string();
    for words in ["/v1/chat/completions", "\"Welcome\"", "the API base (…/v1)"] {
        assert!(told.contains(words), "{told}");
    }
}
