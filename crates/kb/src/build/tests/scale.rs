//! Time at size: what a build costs must grow with what is new, not with what is there.
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use halma_core::{Budget, Embedder};

use super::common::{Bench, Words};
use crate::{Atoms, InputFormat};

/// A file of passages of four sentences each.
fn passages(count: usize) -> String {
    let mut lines = String::new();
    let mut seed = 42_u64;
    for i in 0..count {
        let _ = write!(lines, "{{\"id\":\"p{i}\",\"title\":\"Title {i}\",\"text\":\"");
        for sentence in 0..4 {
            for _ in 0..15 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let _ = write!(lines, "word{} ", (seed >> 33) % 30_000);
            }
            let _ = write!(lines, "end{sentence}. ");
        }
        lines.push_str("\"}\n");
    }
    lines
}

async fn seconds(bench: &Bench, base: &Arc<crate::Base>, path: &Path) -> f64 {
    let began = Instant::now();
    let report = bench.index_path(base, path, InputFormat::Auto, Budget::default()).await.unwrap();
    assert_eq!((report.failed_units, report.pending_units), (0, 0));
    began.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes; `make soak` runs it"]
#[expect(clippy::print_stdout, reason = "figures are what it is for")]
async fn time_grows_with_the_passages_and_an_addition_is_quick() {
    let mut took = vec![];
    for count in [10_000, 100_000] {
        let mut bench = Bench::new();
        bench.settings.atoms = Atoms::Sentences;
        let words: Arc<dyn Embedder> = Words::new();
        let base = bench.open(Some(words));
        bench.write("all.jsonl", passages(count));
        let input = bench.input();
        took.push(seconds(&bench, &base, &input).await);
        println!("{count} passages: {:.2} s", took[took.len() - 1]);
        bench.write("one.txt", "One more passage. It is a short one.");
        let added = seconds(&bench, &base, &input.join("one.txt")).await;
        println!("one more: {added:.3} s");
        bench.write("one.txt", "One more passage. It is a changed one.");
        let changed = seconds(&bench, &base, &input.join("one.txt")).await;
        println!("the same, changed: {changed:.3} s");
        println!("all of it again, unchanged: {:.2} s", seconds(&bench, &base, &input).await);
        assert!(added <= 1.0 && changed <= 1.0);
    }
    assert!(took[1] <= 12.0 * took[0], "{took:?}");
}
