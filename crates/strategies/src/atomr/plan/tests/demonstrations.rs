//! The plans that models are shown.
use super::*;

#[test]
fn the_worked_examples_are_plans_without_a_fault() {
    let file = include_str!("../../../../prompts/atomr/plan.demonstrations.md");
    let plans: Vec<&str> =
        file.split("## assistant\n").skip(1).map(|text| text.lines().next().unwrap()).collect();
    assert!(plans.len() >= 5);
    for text in plans {
        let plan = Plan::parse(text).unwrap_or_else(|refusal| panic!("{refusal}: {text}"));
        assert!(plan.repairs.is_empty(), "{:?}: {text}", plan.repairs);
        assert!(text.starts_with(&format!("{{\"{}\"", plan.nodes[0].question)), "{text}");
    }
}
