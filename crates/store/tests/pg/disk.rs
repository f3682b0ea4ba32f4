//! The disk of the database is full.
use halma_store::pg::{NewCall, PgError};
use halma_testkit::Postgres;

use crate::support::{Test, lease, push, texts};

/// Bytes that cannot be packed.
fn noise(length: usize) -> Vec<u8> {
    let mut hash = blake3::Hasher::new().finalize_xof();
    let mut bytes = vec![0; length];
    hash.fill(&mut bytes);
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_a_push_and_leaves_what_was_there() {
    let Some(server) = Postgres::find_own() else { return };
    let Some(disk) = server.small_disk(4) else { return };
    let test = Test::on(&server).await;
    let move_to = format!("alter table halma.segment set tablespace {}", disk.tablespace);
    server.psql(test.database(), &move_to);
    let lease = lease(&test.home).await;
    assert_eq!(lease.push(&push(1, 0, &[b"before"])).await.unwrap(), 1);
    let segment = noise(1 << 20);
    let large = push(2, 1, &[&segment[..]; 8]);
    for _ in 0..2 {
        let refused = lease.push(&large).await.unwrap_err();
        assert!(matches!(refused, PgError::NoSpace { .. }), "{refused}");
        assert!(!refused.is_transient() && refused.to_string().contains("no space"), "{refused}");
    }
    // Nothing of it is visible; what has room is still written.
    assert_eq!(texts(&test.home, 0).await, [(1, 0, "before".into())]);
    test.home.states().put("key", "a", 0, b"x").await.unwrap();
    let calls = test.home.calls();
    calls
        .submit(&[NewCall { id: [1; 16], kind: 1, input: vec![1], about: vec![0] }])
        .await
        .unwrap();
    assert_eq!(calls.take("worker", &[1], 1).await.unwrap().len(), 1);
    // With more room the same push succeeds.
    disk.grow(64);
    assert_eq!(lease.push(&large).await.unwrap(), 2);
    assert_eq!(test.home.head().await.unwrap().generation, 2);
    lease.release().await;
}
