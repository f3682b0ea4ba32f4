//! The log: what is pushed is read in order, and seen at once or not at all.
use futures::{StreamExt, TryStreamExt};
use halma_store::pg::{Head, LARGEST_SEGMENT, PgError};

use crate::support::{Test, lease, push, read, snapshot, texts};

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_workspace_has_a_head() {
    let Some(test) = Test::new().await else { return };
    let empty = Head { generation: 0, first: 1, push: None, uid: None };
    assert_eq!(test.home.head().await.unwrap(), empty);
    assert!(read(&test.home, 0, 0).await.unwrap().is_empty());
    assert_eq!(test.another().await.head().await.unwrap(), empty);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pushed_is_read_in_order() {
    let Some(test) = Test::new().await else { return };
    let lease = lease(&test.home).await;
    let many: Vec<String> = (0..30).map(|n| format!("two {n}")).collect();
    let many: Vec<&[u8]> = many.iter().map(String::as_bytes).collect();
    assert_eq!(lease.push(&push(1, 0, &[b"one"])).await.unwrap(), 1);
    assert_eq!(lease.push(&push(2, 1, &many)).await.unwrap(), 2);
    assert_eq!(lease.push(&push(3, 2, &[])).await.unwrap(), 3);
    let other = test.another().await;
    let head = other.head().await.unwrap();
    assert_eq!(head, Head { generation: 3, first: 1, push: Some([3; 16]), uid: Some(7) });
    let texts = texts(&other, 0).await;
    assert_eq!(texts.len(), 31);
    assert_eq!(texts[0], (1, 0, "one".into()));
    assert_eq!(texts[30], (2, 29, "two 29".into()));
    assert_eq!(read(&other, 1, 2).await.unwrap().len(), 30);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_takes_the_place_of_everything_before() {
    let Some(test) = Test::new().await else { return };
    let lease = lease(&test.home).await;
    lease.push(&push(1, 0, &[b"a"])).await.unwrap();
    lease.push(&push(2, 1, &[b"b"])).await.unwrap();
    lease.push(&snapshot(3, 2, &[b"ab"])).await.unwrap();
    lease.push(&push(4, 3, &[b"c"])).await.unwrap();
    let head = test.home.head().await.unwrap();
    assert_eq!((head.first, head.generation), (3, 4));
    assert_eq!(texts(&test.home, 2).await, [(3, 0, "ab".into()), (4, 0, "c".into())]);
    assert_eq!(texts(&test.home, 3).await, [(4, 0, "c".into())]);
    let error = read(&test.home, 1, 4).await.unwrap_err();
    assert!(matches!(error, PgError::Compacted { after: 1, first: 3 }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_snapshot_go_the_ids_of_pushes_long_before() {
    let Some(test) = Test::new().await else { return };
    let lease = lease(&test.home).await;
    lease.push(&push(1, 0, &[b"a"])).await.unwrap();
    let server = crate::support::server().unwrap();
    server.psql(
        test.database(),
        "insert into halma.push (home, id, generation, segments, bytes)
         select home, '\\x05', -2000, 1, 1 from halma.home",
    );
    let count = || server.psql(test.database(), "select count(*) from halma.push");
    lease.push(&push(2, 1, &[b"b"])).await.unwrap();
    assert_eq!(count().trim(), "3");
    lease.push(&snapshot(3, 2, &[b"ab"])).await.unwrap();
    assert_eq!(count().trim(), "3", "the old one goes and the new one comes");
    assert_eq!(test.home.generation_of(&[1; 16]).await.unwrap(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_notices_that_the_log_is_compacted_while_it_reads() {
    let Some(test) = Test::new().await else { return };
    let lease = lease(&test.home).await;
    let many = [b"x".as_slice(); 20];
    lease.push(&push(1, 0, &many)).await.unwrap();
    let mut reading = Box::pin(test.home.segments(0, 1));
    assert_eq!(reading.next().await.unwrap().unwrap().seq, 0);
    lease.push(&snapshot(2, 1, &[b"all"])).await.unwrap();
    let rest: Result<Vec<_>, _> = reading.try_collect().await;
    assert!(matches!(rest, Err(PgError::Compacted { first: 2, .. })), "{rest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_push_is_not_done_twice() {
    let Some(test) = Test::new().await else { return };
    let lease = lease(&test.home).await;
    let first = push(1, 0, &[b"one"]);
    assert_eq!(lease.push(&first).await.unwrap(), 1);
    assert_eq!(lease.push(&first).await.unwrap(), 1);
    lease.push(&push(2, 1, &[b"two"])).await.unwrap();
    assert_eq!(lease.push(&first).await.unwrap(), 1);
    assert_eq!(texts(&test.home, 0).await, [(1, 0, "one".into()), (2, 0, "two".into())]);
    assert_eq!(test.home.generation_of(&[2; 16]).await.unwrap(), Some(2));
    assert_eq!(test.home.generation_of(&[9; 16]).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_does_not_fit_writes_nothing() {
    let Some(test) = Test::new().await else { return };
    let lease = lease(&test.home).await;
    lease.push(&push(1, 0, &[b"one"])).await.unwrap();
    let error = lease.push(&snapshot(2, 0, &[b"other"])).await.unwrap_err();
    assert!(matches!(error, PgError::Behind { expected: 0, actual: 1 }), "{error}");
    let large = vec![0; LARGEST_SEGMENT + 1];
    let error = lease.push(&push(3, 1, &[b"x", &large])).await.unwrap_err();
    assert!(matches!(error, PgError::SegmentTooLarge { .. }), "{error}");
    assert_eq!(texts(&test.home, 0).await, [(1, 0, "one".into())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_is_seen_when_it_is_finished() {
    let Some(test) = Test::new().await else { return };
    let lease = lease(&test.home).await;
    let mut dropped = lease.transfer(push(1, 0, &[]).new).await.unwrap();
    dropped.add(b"lost".to_vec()).await.unwrap();
    drop(dropped);
    let mut transfer = lease.transfer(push(2, 0, &[]).new).await.unwrap();
    for _ in 0..3 {
        transfer.add(vec![1; 2 << 20]).await.unwrap();
    }
    assert_eq!(test.home.head().await.unwrap().generation, 0);
    assert_eq!(transfer.finish().await.unwrap(), 1);
    assert_eq!(read(&test.home, 0, 1).await.unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_is_shorter_than_it_was_is_noticed() {
    let Some(test) = Test::new().await else { return };
    lease(&test.home).await.push(&push(1, 0, &[b"one"])).await.unwrap();
    let error = read(&test.home, 1, 5).await.unwrap_err();
    assert!(matches!(error, PgError::Rewound { expected: 5, actual: 1 }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_is_erased_only_by_its_name() {
    let Some(test) = Test::new().await else { return };
    let lease = lease(&test.home).await;
    lease.push(&push(1, 0, &[b"one"])).await.unwrap();
    let error = test.home.erase("defalt").await.unwrap_err();
    assert!(matches!(error, PgError::NotConfirmed { .. }), "{error}");
    test.home.erase("default").await.unwrap();
    let error = lease.push(&push(2, 1, &[b"two"])).await.unwrap_err();
    assert!(matches!(error, PgError::Erased { .. }), "{error}");
    assert!(matches!(test.home.head().await, Err(PgError::Erased { .. })));
    let again = test.another().await;
    assert_eq!(again.head().await.unwrap().generation, 0);
    let fence = again.lease("test", false).await.unwrap().fence();
    assert!(fence > lease.fence(), "an earlier fence may come again");
}

#[tokio::test(flavor = "multi_thread")]
async fn workspaces_do_not_see_each_other() {
    let Some(test) = Test::new().await else { return };
    lease(&test.home).await.push(&push(1, 0, &[b"one"])).await.unwrap();
    let other = crate::support::open(&format!("{}&workspace=law", test.address)).await.unwrap();
    assert_eq!(other.head().await.unwrap().generation, 0);
    // Nor does a statement that forgets to name its workspace.
    let server = crate::support::server().unwrap();
    if server.is_own() {
        let count = "set role tester; select count(*) from halma.segment";
        assert_eq!(server.psql(test.database(), count).trim(), "0");
    }
    other.erase("law").await.unwrap();
    // One that is only looked for is not made.
    let address =
        halma_store::pg::Address::parse(&format!("{}&workspace=law", test.address)).unwrap();
    let database = halma_store::pg::Database::connect(&address).await.unwrap();
    assert!(database.find_home().await.unwrap().is_none());
    assert!(database.find_home().await.unwrap().is_none());
    database.home().await.unwrap();
    assert!(database.find_home().await.unwrap().is_some());
    assert_eq!(texts(&test.home, 0).await, [(1, 0, "one".into())]);
}
