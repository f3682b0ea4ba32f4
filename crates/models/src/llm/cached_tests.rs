//! What makes two requests the same, and who pays when several ask the same.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use halma_core::Message;
use tempfile::{TempDir, tempdir};

use super::*;

/// Takes a while, counts its calls and fails as long as it is told to.
#[derive(Default)]
struct Slow {
    calls: AtomicUsize,
    failures: AtomicUsize,
    discarded: AtomicUsize,
}

#[async_trait]
impl Llm for Slow {
    fn model(&self) -> &'static str {
        "slow"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(1)).await;
        let failing = |left: usize| left.checked_sub(1);
        if self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, failing).is_ok() {
            return Err(LlmError::refused("not now"));
        }
        Ok(ChatReply { text: request.messages[0].text.clone(), ..ChatReply::default() })
    }

    fn discard(&self, _: &ChatRequest) {
        self.discarded.fetch_add(1, Ordering::SeqCst);
    }
}

fn request(text: &str) -> ChatRequest {
    ChatRequest {
        prompt: "test/ask".into(),
        task: "read".into(),
        variables: minijinja::Value::UNDEFINED,
        messages: vec![Message { role: "user".into(), text: text.into() }],
        schema: None,
        stop: vec![],
        max_tokens: 100,
        temperature: 0.7,
        logprobs: false,
        about: vec![],
        images: vec![],
        stream: None,
    }
}

fn cached(failures: usize) -> (Cached, Arc<Slow>, TempDir) {
    let folder = tempdir().unwrap();
    let slow = Arc::new(Slow { failures: failures.into(), ..Slow::default() });
    let cache = Cache::open(folder.path()).unwrap();
    let endpoint = Endpoint::new("http://host/v1", "m");
    (Cached::new(Arc::clone(&slow) as Arc<dyn Llm>, cache, identity(&endpoint)), slow, folder)
}

#[tokio::test(start_paused = true)]
async fn identical_requests_are_asked_once() {
    let (cached, slow, _folder) = cached(0);
    let same = request("same");
    let replies = join_all((0..10).map(|_| cached.chat(&same))).await;
    let paid = replies.iter().filter(|reply| !reply.as_ref().unwrap().cached).count();
    assert_eq!((slow.calls.load(Ordering::SeqCst), paid), (1, 1));
    assert!(cached.chat(&same).await.unwrap().cached);
    assert!(!cached.chat(&request("other")).await.unwrap().cached);
    assert_eq!(slow.calls.load(Ordering::SeqCst), 2);
    assert!(cached.flights.lock().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_shared_by_those_who_waited_and_then_forgotten() {
    let (cached, slow, _folder) = cached(1);
    let same = request("same");
    let replies = join_all((0..5).map(|_| cached.chat(&same))).await;
    assert!(replies.iter().all(Result::is_err));
    assert_eq!(slow.calls.load(Ordering::SeqCst), 1);
    assert!(cached.flights.lock().is_empty());
    assert_eq!(cached.chat(&same).await.unwrap().text, "same");
}

#[tokio::test(start_paused = true)]
async fn whoever_gives_up_leaves_the_call_to_the_next() {
    let (cached, slow, _folder) = cached(0);
    let same = request("same");
    let hasty = tokio::time::timeout(Duration::from_millis(10), cached.chat(&same));
    let (hasty, patient) = tokio::join!(hasty, cached.chat(&same));
    assert!(hasty.is_err());
    assert_eq!(patient.unwrap().text, "same");
    assert_eq!(slow.calls.load(Ordering::SeqCst), 2);
    assert!(cached.flights.lock().is_empty());
}

#[tokio::test]
async fn whatever_changes_the_reply_changes_the_key() {
    let (cached, _slow, _folder) = cached(0);
    let base = request("a");
    let mut keys = vec![cached.key(&base)];
    let mut other = |change: &dyn Fn(&mut ChatRequest)| {
        let mut request = base.clone();
        change(&mut request);
        keys.push(cached.key(&request));
    };
    other(&|r| r.messages[0].text = "b".into());
    other(&|r| r.messages[0].role = "system".into());
    other(&|r| r.images.push("data:image/png;base64,AA==".into()));
    other(&|r| r.messages.push(Message { role: "user".into(), text: String::new() }));
    other(&|r| r.schema = Some(Arc::new(serde_json::json!({"type": "object"}))));
    other(&|r| r.stop = vec!["x".into()]);
    other(&|r| r.stop = vec!["x".into(), String::new()]);
    other(&|r| r.max_tokens = 101);
    other(&|r| r.temperature = 0.0);
    other(&|r| r.logprobs = true);
    for endpoint in [Endpoint::new("http://host/v2", "m"), Endpoint::new("http://host/v1", "n")] {
        let inner = Arc::clone(&cached.inner);
        keys.push(Cached::new(inner, Arc::clone(&cached.cache), identity(&endpoint)).key(&base));
    }
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all);
    let renamed = ChatRequest { prompt: "other/name".into(), ..base.clone() };
    assert_eq!(cached.key(&renamed), cached.key(&base));
}

#[tokio::test(start_paused = true)]
async fn a_reply_goes_with_the_documents_its_request_quotes() {
    let (cached, slow, _folder) = cached(0);
    let quoting = ChatRequest { about: vec!["a.txt".into()], ..request("quotes") };
    cached.chat(&quoting).await.unwrap();
    cached.chat(&request("quotes nothing")).await.unwrap();
    assert_eq!(cached.cache.forget(&["a.txt".into()]).unwrap(), 1);
    assert!(!cached.chat(&quoting).await.unwrap().cached);
    assert!(cached.chat(&request("quotes nothing")).await.unwrap().cached);
    assert_eq!(slow.calls.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn a_discarded_reply_is_discarded_where_it_came_from_as_well() {
    let (cached, slow, _folder) = cached(0);
    cached.chat(&request("?")).await.unwrap();
    let limited: Arc<dyn Llm> =
        crate::llm::limited(Arc::new(cached), halma_net::Limits::default()).unwrap();
    limited.discard(&request("?"));
    assert_eq!(slow.discarded.load(Ordering::SeqCst), 1);
    limited.chat(&request("?")).await.unwrap();
    assert_eq!(slow.calls.load(Ordering::SeqCst), 2);
}
