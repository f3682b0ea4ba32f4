//! The server dies, and connections are cut.
use std::time::Duration;

use halma_store::pg::NewCall;
use halma_testkit::Postgres;

use crate::support::{Test, lease, push, server, texts};

const CUT: &str = "select count(pg_terminate_backend(pid)) from pg_stat_activity
    where datname = current_database() and application_name = 'halma'";

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_cut_are_replaced() {
    let Some(test) = Test::new().await else { return };
    let server = server().unwrap();
    let lease = lease(&test.home).await;
    for number in 0..10 {
        server.psql(test.database(), CUT);
        assert_eq!(test.home.head().await.unwrap().generation, number);
        server.psql(test.database(), CUT);
        let id = u8::try_from(number).unwrap();
        assert_eq!(lease.push(&push(id, number, &[b"x"])).await.unwrap(), number + 1);
    }
    assert!(!lease.is_lost());
    lease.release().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_under_way_when_connections_are_cut_is_done_once() {
    let Some(test) = Test::new().await else { return };
    let server = server().unwrap();
    let database = test.database().to_owned();
    let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
    let cutter = tokio::spawn(async move {
        while stopped.try_recv().is_err() {
            server.psql(&database, CUT);
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    });
    let lease = lease(&test.home).await;
    let (calls, bytes) = (test.home.calls(), vec![7; 100_000]);
    for number in 0..20_u8 {
        let generation = u64::from(number);
        let pushed = lease.push(&push(number, generation, &[&bytes, b"end"])).await.unwrap();
        assert_eq!(pushed, generation + 1);
        let id = [number; 16];
        calls
            .submit(&[NewCall { id, kind: 1, input: vec![number], about: vec![0] }])
            .await
            .unwrap();
    }
    stop.send(()).unwrap();
    cutter.await.unwrap();
    let upto = test.home.head().await.unwrap().generation;
    let segments = crate::support::read(&test.home, 0, upto).await.unwrap();
    assert_eq!((upto, segments.len()), (20, 40));
    assert_eq!(calls.take("worker", &[1], 100).await.unwrap().len(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_in_mid_push_loses_and_repeats_nothing() {
    let Some(server) = Postgres::find_own() else { return };
    let test = Test::on(&server).await;
    let lease = test.home.lease_for("writer", false, Duration::from_mins(10)).await.unwrap();
    lease.push(&push(1, 0, &[b"before"])).await.unwrap();
    let mut transfer = lease.transfer(push(2, 1, &[]).new).await.unwrap();
    for _ in 0..4 {
        transfer.add(vec![1; 1 << 20]).await.unwrap();
    }
    server.kill();
    assert!(transfer.finish().await.unwrap_err().is_transient());
    // Pushed while the server is away, and done when it is back, however long that takes here.
    let waiting = push(3, 1, &[b"after"]);
    let push = async {
        loop {
            match lease.push(&waiting).await {
                Err(error) if error.is_transient() => {}
                pushed => return pushed.unwrap(),
            }
        }
    };
    let restart = async { tokio::task::block_in_place(|| server.restart()) };
    assert_eq!(tokio::join!(push, restart).0, 2);
    assert!(!lease.is_lost());
    assert_eq!(lease.push(&waiting).await.unwrap(), 2);
    assert_eq!(texts(&test.home, 0).await, [(1, 0, "before".into()), (2, 0, "after".into())]);
    lease.release().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_dropped_halfway_leaves_no_open_transaction() {
    let Some(test) = Test::new().await else { return };
    for micros in (0..2_000).step_by(50) {
        let head = tokio::time::timeout(Duration::from_micros(micros), test.home.head());
        let _ = head.await;
    }
    assert_eq!(test.home.head().await.unwrap().generation, 0);
    lease(&test.home).await.push(&push(1, 0, &[b"one"])).await.unwrap();
    assert_eq!(test.another().await.head().await.unwrap().generation, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_urgent_request_hears_soon_that_the_server_is_away_and_waits_for_another_writer() {
    let Some(server) = Postgres::find_own() else { return };
    let test = Test::on(&server).await;
    let first = lease(&test.home).await;
    let home = test.home.clone();
    let waiting = tokio::spawn(async move { home.lease("waits", true).await });
    while !first.is_wanted().await.unwrap() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // One that waits already outlasts a restart that takes longer than the patience of a new one.
    server.kill();
    let began = std::time::Instant::now();
    let refused = test.home.lease("new", true).await.err().unwrap();
    let elapsed = began.elapsed();
    assert!(refused.is_transient(), "{refused}");
    assert!(elapsed < Duration::from_secs(3), "{elapsed:?}");
    tokio::task::block_in_place(|| server.restart());
    assert!(!waiting.is_finished());
    first.release().await;
    waiting.await.unwrap().unwrap().release().await;
}
