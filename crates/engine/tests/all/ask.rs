//! Asking: every question is checked, answered under the lower limits, and stored as a trace.
#![expect(clippy::unwrap_used, reason = "tests may stop")]
use std::path::Path;
use std::sync::{Arc, mpsc};

use halma_core::Budget;
use halma_engine::{
    AskRequest, Config, Effort, EmbedderKind, Engine, IndexOptions, Phase, PhaseProgress,
    StoredTrace, TraceHead, Turn,
};

async fn engine(dir: &Path) -> Engine {
    let mut config = Config::default();
    config.embedder.kind = EmbedderKind::None;
    let file = dir.join("reef.md");
    std::fs::write(&file, "# Far Light\n\nFar Light was built by Anna Roe in 1901.\n").unwrap();
    let engine = Engine::create_or_open(config, &dir.join("base")).unwrap();
    engine.index(&[file], &IndexOptions::default(), Arc::new(|_| {})).await.unwrap();
    engine
}

fn request() -> AskRequest {
    let strategy = Some("naive".to_owned());
    AskRequest { strategy, ..AskRequest::new(" Who built Far Light? ") }
}

/// The trace of an id, which is there as soon as the answer is.
fn stored(engine: &Engine, id: &str) -> StoredTrace {
    engine.traces().get(id).unwrap()
}

#[tokio::test]
async fn an_answered_question_is_stored_and_listed_by_the_next_engine() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path()).await;
    let result = engine.ask(request()).await.unwrap();
    assert_eq!((result.question.as_str(), result.strategy), ("Who built Far Light?", "naive"));
    let answer = result.outcome.answer.unwrap();
    let StoredTrace { head, body } = stored(&engine, &result.id);
    assert_eq!(head.answer.as_deref(), Some(answer.text.as_str()));
    assert_eq!((head.documents, head.error, head.key), (vec!["reef.md".to_owned()], None, None));
    assert_eq!(body.trace.0.len(), result.outcome.trace.0.len());
    let config = engine.config().clone();
    drop(engine);
    let next = Engine::open(config, &dir.path().join("base")).unwrap();
    // It is written concurrently.
    while next.traces().get(&result.id).is_none() {
        tokio::task::yield_now().await;
    }
    let ids: Vec<_> = next.traces().list(None, 9, |_| true).into_iter().map(|h| h.id).collect();
    assert_eq!(ids, [result.id]);
}

#[tokio::test]
async fn an_effort_chooses_a_strategy_unless_one_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path()).await;
    for (effort, strategy) in Effort::ALL.into_iter().zip(["naive", "auto", "kar3", "kar3"]) {
        let effort = Some(effort);
        let without_strategy = AskRequest { effort, strategy: None, ..request() };
        assert_eq!(engine.ask(without_strategy).await.unwrap().strategy, strategy, "{effort:?}");
        assert_eq!(engine.ask(AskRequest { effort, ..request() }).await.unwrap().strategy, "naive");
    }
}

#[tokio::test]
async fn a_question_that_is_dropped_or_cancelled_is_stored_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path()).await;
    let (send, heads) = mpsc::channel::<TraceHead>();
    let on_finish: halma_engine::OnFinish =
        Box::new(move |head, _| send.send(head.clone()).unwrap());
    let asking = AskRequest { key: Some("k1".into()), on_finish: Some(on_finish), ..request() };
    let asking = engine.prepare(asking).unwrap();
    let id = asking.id().to_owned();
    drop(asking);
    let head = stored(&engine, &id).head;
    assert_eq!(head.error.as_deref(), Some("cancelled: the client disconnected"));
    assert_eq!(head.key.as_deref(), Some("k1"));
    assert_eq!(heads.recv().unwrap().id, id);
    let asking = engine.prepare(request()).unwrap();
    let id = asking.id().to_owned();
    asking.cancel("the server was stopped");
    assert_eq!(stored(&engine, &id).head.error.as_deref(), Some("the server was stopped"));
}

#[tokio::test]
async fn what_quotes_a_file_that_is_gone_is_deleted_though_the_build_never_ends() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path()).await;
    let notes = [dir.path().join("notes")];
    std::fs::create_dir(&notes[0]).unwrap();
    let gone = notes[0].join("tower.md");
    std::fs::write(&gone, "# High Tower\n\nHigh Tower was built by Ben Low in 1950.\n").unwrap();
    std::fs::write(notes[0].join("mill.md"), "# Old Mill\n\nOld Mill grinds oats.\n").unwrap();
    let options = IndexOptions { prune: true, ..IndexOptions::default() };
    engine.index(&notes, &options, Arc::new(|_| {})).await.unwrap();
    let question = AskRequest { question: "Who built High Tower?".into(), ..request() };
    let id = engine.ask(question).await.unwrap().id;
    assert!(!stored(&engine, &id).head.documents.is_empty());

    std::fs::remove_file(gone).unwrap();
    let (send, mut removed) = tokio::sync::watch::channel(false);
    let progress = Arc::new(move |step: PhaseProgress| {
        if step.phase == Phase::PRUNE {
            let _ = send.send(true);
        }
    });
    tokio::select! {
        biased;
        _ = removed.wait_for(|removed| *removed) => {}
        _ = engine.index(&notes, &options, progress) => panic!("nothing was removed"),
    }
    assert!(engine.traces().get(&id).is_none());
}

#[tokio::test]
async fn a_request_is_checked_before_it_runs_and_its_budget_applies() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path()).await;
    let refused = |request| engine.prepare(request).err().unwrap().to_string();
    for nothing in [" ", "😀 ?!"] {
        assert!(refused(AskRequest::new(nothing)).contains("it has no word or number"));
    }
    let unknown = AskRequest { strategy: Some("guess".into()), ..request() };
    assert!(refused(unknown).contains("no such strategy"));
    let setting = AskRequest { settings: [("q".to_owned(), "1".into())].into(), ..request() };
    assert!(refused(setting).contains("unknown field"));
    for wrong in ["yesterday", "2024-02-31", "2024-13", "28.02.2024"] {
        let dated = AskRequest { asked_at: Some(wrong.into()), ..request() };
        assert!(refused(dated).contains(&format!("`{wrong}` is not a date")), "{wrong}");
    }
    assert!(engine.traces().list(None, 9, |_| true).is_empty());
    for right in ["2024", "2024-02", "2024-02-29", " "] {
        let dated = AskRequest { asked_at: Some(right.into()), ..request() };
        assert!(engine.prepare(dated).is_ok(), "{right}");
    }
    let budget = Some(Budget { calls: Some(0), ..Budget::default() });
    let spent = engine.ask(AskRequest { budget, ..request() }).await.unwrap();
    assert!(spent.outcome.trace.spent());
    let turn = |role: &str, text: &str| Turn { role: role.into(), text: text.into() };
    let history = vec![turn("user", "Who built Far Light?"), turn("assistant", "Anna")];
    let next = AskRequest { history, strategy: Some("naive".into()), ..AskRequest::new("Where?") };
    assert!(!engine.ask(next).await.unwrap().question.is_empty());
}
