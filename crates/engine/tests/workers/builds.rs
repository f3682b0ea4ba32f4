//! What comes of a build is the same no matter who does its calls, and each is paid for once.
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use halma_core::Limit;
use halma_engine::{CallWorker, Engine, base_folder};

use crate::support::{Test, lines, until};

#[tokio::test(flavor = "multi_thread")]
async fn four_workers_build_what_one_machine_builds() {
    let Some(test) = Test::new(40, Duration::from_millis(5)) else { return };
    let (expected, alone, calls) = test.alone().await;
    let mut workers = test.workers(4);
    let engine = test.engine(test.config());
    let report = test.index(&engine, false).await.unwrap();
    assert_eq!((report.failed_units, report.pending_units), (0, 0), "{:?}", report.failure);
    assert_eq!(test.model.chat_calls(), calls);
    assert_eq!(report.usage.llm_calls, alone.usage.llm_calls);
    assert_eq!(report.usage.prompt_tokens, alone.usage.prompt_tokens);
    assert!((report.usage.usd - alone.usage.usd).abs() < 1e-9);
    assert_eq!(lines(&engine), expected);
    let mut done = 0;
    for worker in &mut workers {
        done += worker.stop().await.calls;
    }
    assert!(done >= calls as u64);
    assert!(done > calls as u64, "texts are embedded by workers as well");
    assert_eq!(test.psql("select count(*) from halma.call"), "0", "the calls are forgotten");
    assert_eq!(test.psql("select count(*) from halma.worker"), "0", "all have left");
    // What is done is done.
    let again = test.index(&engine, true).await.unwrap();
    assert_eq!((again.usage.llm_calls, test.model.chat_calls()), (0, calls));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_process_that_indexes_is_a_worker_itself() {
    let Some(test) = Test::new(5, Duration::ZERO) else { return };
    let (expected, _, calls) = test.alone().await;
    let engine = test.engine(test.config());
    let report = test.index(&engine, true).await.unwrap();
    assert_eq!((report.failed_units, report.pending_units), (0, 0), "{:?}", report.failure);
    assert_eq!((lines(&engine), test.model.chat_calls()), (expected, calls));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_holds_over_all_workers_and_nothing_is_paid_for_twice() {
    let Some(test) = Test::new(30, Duration::from_millis(5)) else { return };
    let (expected, _, calls) = test.alone().await;
    let _workers = test.workers(3);
    let mut config = test.config();
    config.budget.index.calls = Some(10);
    let engine = test.engine(config);
    let report = test.index(&engine, true).await.unwrap();
    assert_eq!(report.spent, Some(Limit::Calls));
    assert!(test.model.chat_calls() <= 10, "{} calls", test.model.chat_calls());
    drop(engine);
    let engine = test.engine(test.config());
    let report = test.index(&engine, true).await.unwrap();
    assert_eq!((report.failed_units, report.pending_units), (0, 0), "{:?}", report.failure);
    assert_eq!((lines(&engine), test.model.chat_calls()), (expected, calls));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_spends_no_more_than_its_own_limit() {
    let Some(test) = Test::new(3, Duration::ZERO) else { return };
    let mut poor = CallWorker::start(&test.config(), test.address(), Some(0.0)).unwrap();
    let engine = test.engine(test.config());
    let stopped = async {
        poor.ended().await;
        test.workers(1)
    };
    // It gives back what it may not do, and another one does it.
    let (report, _workers) = tokio::join!(test.index(&engine, false), stopped);
    assert_eq!(report.unwrap().pending_units, 0);
    assert!(poor.report().usd.abs() < f64::EPSILON);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_without_the_model_leaves_its_calls_to_others() {
    let Some(test) = Test::new(3, Duration::ZERO) else { return };
    let mut other = test.config();
    other.models.get_mut("own").unwrap().model = "another".into();
    other.embedder.model = "other vectors".into();
    let mut other = CallWorker::start(&other, test.address(), None).unwrap();
    let _workers = test.workers(1);
    let engine = test.engine(test.config());
    let report = test.index(&engine, false).await.unwrap();
    assert_eq!((report.failed_units, report.pending_units), (0, 0), "{:?}", report.failure);
    assert_eq!(other.stop().await.calls, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_are_not_in_the_database_in_the_clear() {
    let Some(test) = Test::new(3, Duration::from_millis(300)) else { return };
    let _workers = test.workers(1);
    let engine = test.engine(test.config());
    let looking = async {
        until(|| test.psql("select count(*) from halma.call") != "0").await;
        let clear = "select count(*) from halma.call where position('Baxter'::bytea in input) > 0
                     or position('Baxter'::bytea in coalesce(output, '')) > 0";
        assert_eq!(test.psql(clear), "0");
    };
    let (report, ()) = tokio::join!(test.index(&engine, false), looking);
    report.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_document_during_a_build_pays_for_no_other_one_again() {
    let Some(test) = Test::new(40, Duration::from_millis(100)) else { return };
    let (_, _, calls) = test.alone().await;
    let _workers = test.workers(3);
    let engine = Arc::new(test.engine(test.config()));
    let deleting = async {
        until(|| test.model.chat_calls() > 8).await;
        let engine = Arc::clone(&engine);
        let delete = move || engine.delete(&["000.md".into()]);
        tokio::task::spawn_blocking(delete).await.unwrap()
    };
    let (report, deleted) = tokio::join!(test.index(&engine, false), deleting);
    let report = report.unwrap();
    assert_eq!(deleted.unwrap().names, ["000.md"]);
    assert_eq!((report.failed_units, report.pending_units), (0, 0), "{:?}", report.failure);
    assert!(!lines(&engine).iter().any(|line| line.contains("number 0 was")));
    // What was in progress then was not asked for again.
    assert!(test.model.chat_calls() <= calls, "{} of {calls}", test.model.chat_calls());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_removes_the_calls_about_a_document_before_the_document() {
    let Some(test) = Test::new(4, Duration::ZERO) else { return };
    let mut config = test.config();
    config.budget.index.calls = Some(2);
    let engine = Arc::new(test.engine(config));
    let report = test.index(&engine, true).await.unwrap();
    assert_eq!(report.spent, Some(Limit::Calls));
    let calls = || test.psql("select count(*) from halma.call");
    assert_ne!(calls(), "0");
    // Another machine writes, so that the deletion comes no farther, as if it was cut off here.
    test.psql(
        "update halma.home set holder = 'other', request = '\\x00', fence = fence + 1,
         lease_until = now() + interval '1 hour'",
    );
    let deleter = Arc::clone(&engine);
    let deleting = tokio::task::spawn_blocking(move || deleter.delete(&["*.md".into()]));
    until(|| calls() == "0").await;
    assert!(!deleting.is_finished());
    test.psql("update halma.home set lease_until = null");
    assert_eq!(deleting.await.unwrap().unwrap().names.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_is_only_read_is_not_made() {
    let Some(test) = Test::new(1, Duration::ZERO) else { return };
    drop(test.engine(test.config()));
    let misspelt = test.address().to_str().unwrap().replace("workspace=test", "workspace=tset");
    let missing = Engine::open(test.config(), Path::new(&misspelt)).err().unwrap().to_string();
    assert!(
        missing.contains("there is no knowledge base") && missing.contains("tset"),
        "{missing}"
    );
    assert_eq!(test.psql("select workspace from halma.home"), "test");
    let _ = base_folder(Path::new(&misspelt)).map(std::fs::remove_dir_all);
}
