//! What searches find for the questions alone, before any strategy.
use std::sync::Arc;

use halma_core::{ConfigError, Layer, Mode};
use halma_engine::Engine;
use halma_eval::{DataSet, recall};
use serde_json::json;

use crate::commands::vectors;
use crate::view;

/// Refuses modes that nothing is measured in without an embedder, before the base is built.
pub(super) fn check(engine: &Engine, modes: &[Mode]) -> Result<(), ConfigError> {
    modes.iter().try_for_each(|mode| vectors::check(engine, *mode, "--retrieval"))
}

/// Measures the searches of each mode.
pub(super) async fn run(
    engine: &Arc<Engine>,
    data: &DataSet,
    (modes, json): (&[Mode], bool),
) -> anyhow::Result<()> {
    if modes.contains(&Mode::Dense) {
        // The build may have left the base without vectors that can be compared.
        engine.check_vectors(Layer::Chunk)?;
    }
    let mut measured = vec![];
    for mode in modes.iter().copied() {
        measured.push((mode, recall(data, &engine.chunk_search(mode)).await));
    }
    if json {
        let measured: Vec<_> = measured
            .iter()
            .map(|(mode, recall)| json!({ "mode": mode, "recall": recall }))
            .collect();
        return view::print_json(&measured);
    }
    let percent = |share: Option<f64>| share.map_or("-".into(), |s| format!("{:.1}", s * 100.0));
    let mut lines = vec![format!(
        "{:<8} {:>5} {:>6} {:>6} {:>6} {:>6} {:>8}",
        "mode", "n", "R@5", "all@5", "R@10", "all@10", "p50 ms"
    )];
    for (mode, recall) in &measured {
        let mode = mode.name();
        let [r5, all5, r10, all10] =
            [recall.r5, recall.all5, recall.r10, recall.all10].map(percent);
        let ms = recall.p50_ms.unwrap_or_default();
        lines.push(format!(
            "{mode:<8} {:>5} {r5:>6} {all5:>6} {r10:>6} {all10:>6} {ms:>8.2}",
            recall.n
        ));
        if recall.failed > 0 {
            lines
                .push(format!("{mode}: {} searches failed and are not in any mean", recall.failed));
        }
    }
    view::print(&lines.join("\n"))?;
    if measured.iter().all(|(_, recall)| recall.n == 0) {
        view::warn(
            "no question names the passages that answer it, so there is nothing to measure; \
             `halma data check FILE` says what a question file holds",
        );
    }
    Ok(())
}
