//! What becomes of written plans, and that nothing of the examples is refused.
use proptest::prelude::*;

use super::*;

fn step(question: &str, operator: Operator, arguments: &[&str]) -> WrittenStep {
    let arguments = arguments.iter().map(|one| (*one).to_owned()).collect();
    WrittenStep { question: question.into(), operator, arguments }
}

fn plan(question: &str, steps: &[WrittenStep]) -> Result<Plan, String> {
    let plan = Plan::new(question, &WrittenPlan { steps: steps.to_vec() })?;
    assert_whole(&plan);
    Ok(plan)
}

/// The invariants of every plan.
fn assert_whole(plan: &Plan) {
    let count = plan.nodes.len();
    for (place, node) in plan.nodes.iter().enumerate() {
        let is_before = |need: &usize| place == 0 || (1..place).contains(need);
        assert!(plan.waits_for(place).iter().all(is_before), "{plan:?}");
        if let Step::Inner(parts) = &node.step {
            assert!(!parts.is_empty() && parts.iter().all(is_before), "{plan:?}");
        }
        if let Step::Call(call) = &node.step {
            assert!(call.arguments().iter().all(|argument| !argument.is_empty()), "{plan:?}");
        }
    }
    assert!((1..=count).contains(&plan.depth()) && plan.draw().lines().count() >= count);
}

use Operator::{Filter, Parts, Reason, Relate, Search};

#[test]
fn steps_become_a_tree() {
    let steps = [
        step("What is the Lave?", Search, &["Lave", "river"]),
        step("Which towns are on [1]?", Relate, &["<1>", "towns"]),
        step("Which towns are on the Lave?", Parts, &["#1", "#2"]),
        step("Which of #3 are large?", Filter, &["#3", " ", "Oslo", "large"]),
        step("How are #3 and #4 related?", Relate, &["#3", "#4"]),
        step("Which is it?", Reason, &[]),
    ];
    let plan = plan("Which town?", &steps).unwrap();
    assert_eq!(
        plan.draw(),
        "Which town?\n\
         ├─ 3. Which towns are on the Lave?\n\
         │  ├─ 1. What is the Lave?  → Search(\"Lave\", \"river\")\n\
         │  └─ 2. Which towns are on #1?  → Relate(#1, \"towns\")\n\
         ├─ 4. Which of #3 are large?  → Filter(#3, \"Oslo\", \"large\")\n\
         ├─ 5. How are #3 and #4 related?  → Relate(#3, #4)\n\
         └─ 6. Which is it?  → Reason(#1, #2, #3, #4, #5)"
    );
    assert_eq!((plan.depth(), plan.parent(2), plan.parent(4)), (3, 3, 0));
    assert_eq!((plan.waits_for(4), plan.waits_for(5)), (vec![3], vec![3, 4]));
}

#[test]
fn a_step_that_is_named_twice_counts_once() {
    let steps = [
        step("A?", Search, &["A"]),
        step("B?", Parts, &["#1", "#1"]),
        step("C?", Reason, &["#2", "#2, #1"]),
    ];
    let plan = plan("Q?", &steps).unwrap();
    assert_eq!(plan.nodes[2].step, Step::Inner(vec![1]));
    assert_eq!(plan.nodes[3].step, Step::Reason(vec![1, 2]));
}

#[test]
fn one_operation_settles_the_question_itself() {
    let one = plan("Who is Ann?", &[step("Who?", Search, &["Ann"])]).unwrap();
    assert_eq!(one.draw(), "Who is Ann?  → Search(\"Ann\")");
    let thought = plan("Why?", &[step("Why?", Reason, &[])]).unwrap();
    assert_eq!(thought.nodes[0].step, Step::Reason(vec![]));
}

#[test]
fn numbers_of_the_question_itself_are_no_references() {
    let steps = [
        step("Who sang the #1 hit of [1999]?", Search, &["#1 hit of 1999"]),
        step("Where is #2?", Search, &["it"]),
    ];
    let reason = plan("Who sang the #1 hit?", &steps).unwrap_err();
    assert_eq!(reason, "step 2: `#2` is not an earlier step");
    let plan = plan("Who sang the #1 hit?", &steps[..1]).unwrap();
    let Step::Call(call) = &plan.nodes[0].step else { panic!("{plan:?}") };
    assert_eq!(call.arguments(), ["no. 1 hit of 1999"]);
}

#[test]
fn what_is_no_plan_is_refused_with_the_reason() {
    let first = step("A?", Search, &["A"]);
    for (wrong, reason) in [
        (step(" ", Search, &["A"]), "step 2: it has no question"),
        (step("B?", Search, &[]), "step 2: `search` takes a name and perhaps a descriptor"),
        (step("B?", Relate, &["#1"]), "step 2: `relate` takes a thing and a relation"),
        (step("B?", Filter, &["old"]), "step 2: `filter` takes things and, last, a condition"),
        (step("B of #2?", Search, &["B"]), "step 2: `#2` is not an earlier step"),
        (step("B?", Relate, &["#7", "x"]), "step 2: `#7` is not an earlier step"),
        (
            step("B?", Parts, &["A"]),
            "step 2: `parts` takes the steps that its question consists of, such as #1",
        ),
    ] {
        assert_eq!(plan("Q?", &[first.clone(), wrong]).unwrap_err(), reason);
    }
    assert_eq!(plan("Q?", &[]).unwrap_err(), "the plan has no steps");
}

#[test]
fn the_worked_examples_are_plans() {
    let file = include_str!("../../../../prompts/atomr/plan.demonstrations.md");
    let examples = file.split("## user\nQuestion: ").skip(1);
    let mut count = 0;
    for example in examples {
        let (question, reply) = example.split_once("\n## assistant\n").unwrap();
        let written: WrittenPlan = serde_json::from_str(reply).unwrap();
        plan(question, &written.steps).unwrap_or_else(|reason| panic!("{question}: {reason}"));
        count += 1;
    }
    assert!(count >= 5);
}

proptest! {
    #[test]
    fn any_steps_are_a_plan_or_refused(
        question in "[A-C#0-9 ?]{0,9}",
        steps in prop::collection::vec(
            ("[a-c#\\[\\]<>0-9 ?]{0,9}", 0..5_usize, prop::collection::vec("[a-c#\\[\\]0-9., ]{0,6}", 0..4)),
            0..8,
        ),
    ) {
        let operators = [Search, Relate, Filter, Parts, Reason];
        let steps: Vec<WrittenStep> = steps
            .into_iter()
            .map(|(question, operator, arguments)| WrittenStep {
                question,
                operator: operators[operator],
                arguments,
            })
            .collect();
        let _ = plan(&question, &steps);
    }
}
