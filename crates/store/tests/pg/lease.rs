//! The right to write: one has it, all get it in turn, and who has lost it writes nothing.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use halma_store::pg::PgError;

use crate::support::{Test, lease, push, texts};

const SHORT: Duration = Duration::from_millis(600);

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_want_to_write_one_does() {
    let Some(test) = Test::new().await else { return };
    let writers = Arc::new(AtomicU32::new(0));
    let mut tasks = vec![];
    for number in 0..16_u8 {
        let (home, writers) = (test.another().await, Arc::clone(&writers));
        tasks.push(tokio::spawn(async move {
            let lease = home.lease(&format!("task {number}"), number % 4 == 0).await.unwrap();
            assert_eq!(writers.fetch_add(1, Ordering::SeqCst), 0, "two write at once");
            let expected = home.head().await.unwrap().generation;
            lease.push(&push(number, expected, &[b"x"])).await.unwrap();
            writers.fetch_sub(1, Ordering::SeqCst);
            let fence = lease.fence();
            lease.release().await;
            fence
        }));
    }
    let mut fences = vec![];
    for task in tasks {
        fences.push(task.await.unwrap());
    }
    fences.sort_unstable();
    fences.dedup();
    assert_eq!(fences.len(), 16);
    assert_eq!(test.home.head().await.unwrap().generation, 16);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_renewed_while_it_is_held() {
    let Some(test) = Test::new().await else { return };
    let lease = test.home.lease_for("writer", false, SHORT).await.unwrap();
    let other = test.another().await;
    assert_eq!(other.holder().await.unwrap().as_deref(), Some("writer"));
    let waiting = tokio::time::timeout(SHORT * 4, other.lease("other", false)).await;
    assert!(waiting.is_err(), "a lease that is held was given away");
    assert!(!lease.is_lost());
    lease.push(&push(1, 0, &[b"one"])).await.unwrap();
    lease.release().await;
    assert_eq!(other.holder().await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_is_dropped_is_given_back() {
    let Some(test) = Test::new().await else { return };
    drop(test.home.lease("writer", false).await.unwrap());
    let began = Instant::now();
    test.another().await.lease("other", false).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(20), "it was waited for until its end");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lease_of_a_dead_holder_ends() {
    let Some(test) = Test::new().await else { return };
    let address = test.address.clone();
    // A program that dies: its runtime ends without giving anything back.
    let (fence, dead) = std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let lease = runtime.block_on(async {
            let home = crate::support::open(&address).await.unwrap();
            home.lease_for("dead", false, SHORT).await.unwrap()
        });
        runtime.shutdown_background();
        (lease.fence(), lease)
    })
    .join()
    .unwrap();
    let next = lease(&test.home).await;
    assert!(next.fence() > fence);
    assert!(dead.is_lost(), "a holder that is not renewed believes in its lease");
    next.push(&push(1, 0, &[b"one"])).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_was_restored_gives_no_fence_again() {
    let Some(test) = Test::new().await else { return };
    let lease = lease(&test.home).await;
    let fence = lease.fence();
    lease.release().await;
    let server = crate::support::server().unwrap();
    server.psql(test.database(), "update halma.home set fence = fence - 1000");
    let next = test.another().await.lease("next", false).await.unwrap();
    assert!(next.fence() > fence, "the folder of keys would refuse it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_push_with_an_old_fence_writes_nothing() {
    let Some(test) = Test::new().await else { return };
    let late = lease(&test.home).await;
    let mut transfer = late.transfer(push(1, 0, &[]).new).await.unwrap();
    transfer.add(b"late".to_vec()).await.unwrap();
    // As if the first had not been heard of for so long.
    let server = crate::support::server().unwrap();
    server.psql(test.database(), "update halma.home set lease_until = now() - interval '1 second'");
    let expired = late.push(&push(9, 0, &[b"expired"])).await.unwrap_err();
    assert!(matches!(expired, PgError::LeaseLost { .. }), "{expired}");
    let next = test.another().await.lease("next", false).await.unwrap();
    next.push(&push(2, 0, &[b"next"])).await.unwrap();
    let error = transfer.finish().await.unwrap_err();
    assert!(matches!(error, PgError::LeaseLost { .. }), "{error}");
    let error = late.push(&push(3, 1, &[b"late"])).await.unwrap_err();
    assert!(matches!(error, PgError::LeaseLost { .. }), "{error}");
    // What the late one does at its end leaves the lease of the next one alone.
    late.release().await;
    assert_eq!(test.home.holder().await.unwrap().as_deref(), Some("next"));
    assert_eq!(texts(&test.home, 0).await, [(1, 0, "next".into())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn urgent_requests_are_announced_and_overtake() {
    let Some(test) = Test::new().await else { return };
    let build = lease(&test.home).await;
    assert!(!build.is_wanted().await.unwrap());
    let order = Arc::new(parking_lot::Mutex::new(vec![]));
    let mut tasks = vec![];
    for (name, urgent) in [("patient", false), ("urgent", true)] {
        let (home, order) = (test.another().await, Arc::clone(&order));
        tasks.push(tokio::spawn(async move {
            let lease = home.lease(name, urgent).await.unwrap();
            order.lock().push(name);
            lease.release().await;
        }));
        let waits = format!("select count(*) from halma.waiter where holder = '{name}'");
        let server = crate::support::server().unwrap();
        while server.psql(test.database(), &waits).trim() != "1" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(build.is_wanted().await.unwrap(), urgent);
    }
    // The build makes room and continues after them: it waits in turn.
    build.release().await;
    let build = test.home.lease("build", false).await.unwrap();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*order.lock(), ["urgent", "patient"]);
    build.release().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_becomes_urgent_while_it_waits_is_announced_and_overtakes() {
    let Some(test) = Test::new().await else { return };
    let build = lease(&test.home).await;
    let order = Arc::new(parking_lot::Mutex::new(vec![]));
    let urgent = Arc::new(AtomicBool::new(false));
    let server = crate::support::server().unwrap();
    let mut tasks = vec![];
    for name in ["patient", "later urgent"] {
        let (home, order, urgent) = (test.another().await, Arc::clone(&order), Arc::clone(&urgent));
        tasks.push(tokio::spawn(async move {
            let is_urgent = || name == "later urgent" && urgent.load(Ordering::SeqCst);
            let lease = home.lease_while(name, &is_urgent).await.unwrap();
            order.lock().push(name);
            lease.release().await;
        }));
        let waits = format!("select count(*) from halma.waiter where holder = '{name}'");
        while server.psql(test.database(), &waits).trim() != "1" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(!build.is_wanted().await.unwrap());
    urgent.store(true, Ordering::SeqCst);
    let wanted = async {
        while !build.is_wanted().await.unwrap() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wanted).await.expect("it is not announced");
    build.release().await;
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*order.lock(), ["later urgent", "patient"]);
}
