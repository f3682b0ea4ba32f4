//! The disk of the database is full.
use std::time::Duration;

use crate::support::{Test, lines};

#[tokio::test(flavor = "multi_thread")]
async fn a_build_on_a_full_disk_says_so_and_is_completed_without_paying_again() {
    let Some(test) = Test::new(20, Duration::ZERO) else { return };
    let Some(disk) = Test::small_disk() else { return };
    let (expected, _, calls) = test.alone().await;
    let engine = test.engine(test.config());
    test.psql(&format!("alter table halma.segment set tablespace {}", disk.tablespace));
    disk.fill();
    let refused = test.index(&engine, true).await.unwrap_err();
    assert!(refused.to_string().contains("no space left"), "{refused}");
    // What there was, nothing, is still what others see.
    assert!(test.psql("select count(*) from halma.push where generation > 1") == "0");
    disk.free();
    let report = test.index(&engine, true).await.unwrap();
    assert_eq!((report.failed_units, report.pending_units), (0, 0), "{:?}", report.failure);
    assert_eq!(lines(&engine), expected);
    assert_eq!(test.model.chat_calls(), calls);
}
