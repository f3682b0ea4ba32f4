//! How fast the ledger and the log are. The figures are in docs/how-fast.md.
#![allow(clippy::print_stdout, reason = "these measure")]

use std::time::Instant;

use futures::TryStreamExt;
use halma_store::pg::{Done, NewCall};

use crate::support::{Test, lease, push};

/// Calls a second, with a reply of 300 bytes for each.
async fn ledger(test: &Test, workers: u32) -> f64 {
    const CALLS: u32 = 40_000;
    let input = |number: u32| number.to_le_bytes().to_vec();
    let id = |number| halma_store::pg::call_id(1, &input(number));
    let new: Vec<NewCall> = (0..CALLS)
        .map(|n| NewCall { id: id(n), kind: 1, input: input(n), about: vec![0] })
        .collect();
    test.home.calls().submit(&new).await.unwrap();
    let began = Instant::now();
    let mut tasks = vec![];
    for number in 0..workers {
        let calls = test.another().await.calls();
        tasks.push(tokio::spawn(async move {
            let mut count = 0;
            loop {
                let taken = calls.take(&format!("worker {number}"), &[1], 32).await.unwrap();
                if taken.is_empty() {
                    return count;
                }
                let done = |call: &halma_store::pg::TakenCall| {
                    let output = vec![7; 300];
                    Done { id: call.id, fence: call.fence, output }
                };
                let done: Vec<Done> = taken.iter().map(done).collect();
                count += calls.complete(&done).await.unwrap();
            }
        }));
    }
    let mut count = 0;
    for task in tasks {
        count += task.await.unwrap();
    }
    let rate = f64::from(CALLS) / began.elapsed().as_secs_f64();
    assert_eq!(count, CALLS as usize);
    let ids: Vec<_> = new.iter().map(|call| call.id).collect();
    test.home.calls().forget(&ids).await.unwrap();
    rate
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a minute; `make soak` runs it"]
async fn the_ledger_is_fast_enough() {
    let Some(test) = Test::new().await else { return };
    for workers in [1, 4, 16] {
        println!("ledger, {workers} workers: {:.0} calls/s", ledger(&test, workers).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a minute; `make soak` runs it"]
async fn the_log_is_fast_enough() {
    let Some(test) = Test::new().await else { return };
    let lease = lease(&test.home).await;
    // Bytes without order, as sealed ones are.
    let mut hasher = blake3::Hasher::new().finalize_xof();
    let mut segments = vec![vec![0; 256 << 10]; 800];
    for segment in &mut segments {
        hasher.fill(segment);
    }
    let megabytes = 200.0;
    let segments: Vec<&[u8]> = segments.iter().map(Vec::as_slice).collect();
    let began = Instant::now();
    lease.push(&push(1, 0, &segments)).await.unwrap();
    println!("push: {:.0} MB/s", megabytes / began.elapsed().as_secs_f64());
    let began = Instant::now();
    let mut bytes = 0;
    let mut reading = Box::pin(test.home.segments(0, 1));
    while let Some(segment) = reading.try_next().await.unwrap() {
        bytes += segment.bytes.len();
    }
    println!("read: {:.0} MB/s", megabytes / began.elapsed().as_secs_f64());
    assert_eq!(bytes, 800 * (256 << 10));
    let began = Instant::now();
    for _ in 0..1_000 {
        test.home.head().await.unwrap();
    }
    println!("head: {:.2} ms", began.elapsed().as_secs_f64());
    println!("versions: {:.3} ms", middle(&test.home, 2_000).await);
    let began = Instant::now();
    for number in 0..100_u8 {
        let small = push(number + 10, u64::from(number) + 1, &[b"a document"]);
        lease.push(&small).await.unwrap();
    }
    println!("small push: {:.1} ms", began.elapsed().as_secs_f64() * 10.0);
}

/// Milliseconds of asking for the versions, the middle of several.
async fn middle(home: &halma_store::pg::Home, times: usize) -> f64 {
    let mut took = vec![];
    for _ in 0..times {
        let began = Instant::now();
        home.versions().await.unwrap();
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    took.sort_by(f64::total_cmp);
    took[times / 2]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it measures; `make soak` runs it"]
async fn asking_how_far_a_base_is_takes_little() {
    let Some(test) = Test::new().await else { return };
    for kind in ["build", "key", "settings", "trace", "workspace builds"] {
        test.home.states().put(kind, "one", 0, b"x").await.unwrap();
    }
    for round in 0..3 {
        let versions = middle(&test.home, 2_000).await;
        println!("round {round}: versions {versions:.3} ms");
    }
}
