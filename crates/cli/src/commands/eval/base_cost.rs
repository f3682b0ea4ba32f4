//! What the base of an evaluation would cost, for `--estimate`: nothing is built.
use halma_engine::Estimate;
use serde_json::json;

use crate::view;

/// Whether nothing is left to be built.
pub(super) fn is_complete(cost: &Estimate) -> bool {
    let changed = cost.documents_new + cost.documents_replaced;
    changed == 0 && cost.stages.iter().all(|stage| stage.calls == 0)
}

/// Prints it. Questions can be estimated only on the base that they are asked on.
pub(super) fn show(cost: &Estimate, json: bool) -> anyhow::Result<()> {
    if json {
        return view::print_json(&json!({ "base": cost, "questions": null }));
    }
    view::print(&format!(
        "The base of the file's passages, which is not built yet:\n\n{}\n\nWhat the questions cost is \
         unknown until the base is built: it is built by the first evaluation, and --estimate then \
         measures a few questions. --limit does not limit the base.",
        view::estimate::lines(cost)
    ))
}

#[cfg(test)]
mod tests {
    use halma_engine::StageEstimate;

    use super::*;

    fn cost(documents_new: usize, calls: u64) -> Estimate {
        let stages = vec![StageEstimate { calls, ..StageEstimate::default() }];
        Estimate { documents_new, stages, ..Estimate::default() }
    }

    #[test]
    fn a_base_is_complete_without_new_documents_and_calls() {
        assert!(is_complete(&cost(0, 0)));
        assert!(!is_complete(&cost(1, 0)) && !is_complete(&cost(0, 1)));
    }
}
