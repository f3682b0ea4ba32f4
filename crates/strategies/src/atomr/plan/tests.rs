//! Each repair on a plan of our own, every text as a plan, and the recorded plans where they are.
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

/// A plan without a fault, to break.
const WHOLE: &str = r#"{
  "Who of the two was born first, the architect of Varn or the keeper of Olm?": ["1. When was the architect of Varn born?", "2. When was the keeper of Olm born?", "3. Given answers of [1] and [2], who was born first?"],
  "1. When was the architect of Varn born?": ["4. Who is the architect of Varn?", "5. When was [4] born?"],
  "4. Who is the architect of Varn?": "Relate(\"Varn\", \"architect\")",
  "5. When was [4] born?": "Relate([4], \"date of birth\")",
  "2. When was the keeper of Olm born?": ["6. What is Olm?", "7. Who kept [6]?", "8. When was [7] born?"],
  "6. What is Olm?": "Search(\"Olm\", \"lighthouse\")",
  "7. Who kept [6]?": "Filter([6], \"keeper about [4]\")",
  "8. When was [7] born?": "Relate([7], \"date of birth\")",
  "3. Given answers of [1] and [2], who was born first?": "[END]"
}"#;

/// Name, plan.
const FAULTS: &[(&str, &str)] = &[
    ("none", WHOLE),
    ("none: a root that is a leaf", r#"{"Who built Varn?": "Relate(\"Varn\", \"architect\")"}"#),
    (
        "none: two entities and no relation",
        r#"{"Q?": ["1. Who?", "2. Is it?"], "1. Who?": "Search(\"Ilse\")", "2. Is it?": "Relate(\"Varn\", [1])"}"#,
    ),
    (
        "a fence and words around",
        "Here is the plan:\n```json\n{\"Q?\": \"Search(\\\"Varn\\\")\"}\n```\nIt has one step.",
    ),
    ("a string of JSON", r#""{\"Q?\": \"Search('Varn')\"}""#),
    (
        "in another object",
        r#"{"thinking": "two steps", "plan": {"Q?": ["1. A?"], "1. A?": "Search(\"Varn\")"}}"#,
    ),
    ("said twice", r#"{"Q?": "Search(\"Wrong\")"} No, better: {"Q?": "Search(\"Varn\")"}"#),
    (
        "quotes not escaped",
        "{\"Who wrote \"Olm\", the song?\": [\"1. What is \"Olm\", the song?\", \"2. Who wrote [1]?\"],\n\"1. What is \"Olm\", the song?\": \"Search(\"Olm\", \"song (1999)\")\",\n\"2. Who wrote [1]?\": \"Relate([1], \"writer\")\"}",
    ),
    (
        "single quotes, commas missing and too many",
        "{'Q?': ['1. A?', '2. B [1]?',],\n'1. A?': 'Search(\"King\\'s Olm\")'\n'2. B [1]?': 'Relate([1], \"x\")',}",
    ),
    (
        "a list that is not closed",
        r#"{"Q?": ["1. A?", "2. B of [1]?", "1. A?": "Search(\"Varn\")", "2. B of [1]?": "Relate([1], \"x\")"}"#,
    ),
    (
        "calls without quotes",
        "{\"Q?\": [\"1. A?\", \"2. B of [1]?\"],\n\"1. A?\": Search(\"Varn\", \"x\"),\n\"2. B of [1]?\": [END]}",
    ),
    (
        "a bracket too many",
        r#"{"Q?": ["1. A?", "2. B of [1]?"], "1. A?": "Search(\"Varn\")"}, "2. B of [1]?": "[END]"}"#,
    ),
    (
        "cut off",
        r#"{"Q?": ["1. What is Varn?", "2. Who is the architect of [1]?", "3. Is [1] older than [2]?", "4. Where is Olm?"], "1. What is Varn?": "Search(\"Varn\")", "2. Who is the architect of [1]?": "Relate([1], "#,
    ),
    (
        "objects in objects",
        r#"{"Q?": {"1. A?": {"3. C?": "Search(\"C\")", "4. D of [3]?": "Relate([3], \"d\")"}, "2. B of [1]?": "Relate([1], \"b\")"}}"#,
    ),
    (
        "objects in a list",
        r#"{"Q?": [{"1. A?": "Search(\"A\")"}, {"2. B of [1]?": "Relate([1], \"b\")"}]}"#,
    ),
    (
        "a key twice",
        r#"{"Q?": ["1. A?"], "1. A?": "Search(\"Wrong\")", "1. A?": "Search(\"Varn\")"}"#,
    ),
    (
        "the question last",
        r#"{"1. A?": "Search(\"A\")", "2. B of [1]?": "[END]", "Q?": ["1. A?", "2. B of [1]?"]}"#,
    ),
    (
        "reworded, by words and by number",
        r#"{"Q?": ["1. What is varn", "2. Who built [1]?", "3"], "1. What is Varn?": "Search(\"Varn\")", "2. Who was [1] built by, and when?": "Relate([1], \"architect\")", "3. Where?": "Relate([1], \"place\")"}"#,
    ),
    (
        "reworded, the number too",
        r#"{"Q?": ["1. A?", "2. Who built [1]?"], "1. A?": "Search(\"Varn\")", "5. Who built [1]?": "Relate([1], \"architect\")"}"#,
    ),
    (
        "in no list",
        r#"{"Q?": ["1. A?", "3. C of [1] and [2]?"], "1. A?": "Search(\"A\")", "2. B?": "Search(\"B\")", "3. C of [1] and [2]?": "[END]"}"#,
    ),
    (
        "no list at all",
        r#"{"Q?": "[END]", "1. A?": "Search(\"A\")", "2. B of [1]?": "Relate([1], \"b\")"}"#,
    ),
    ("a root with a call of its own", r#"{"Who?": "Search(\"A\")", "1. B?": "Search(\"B\")"}"#),
    (
        "listed twice",
        r#"{"Q?": ["1. A?", "2. B?"], "1. A?": ["3. C?"], "2. B?": ["3. C?", "4. D?"], "3. C?": "Search(\"C\")", "4. D?": "Search(\"D\")"}"#,
    ),
    (
        "listed twice, and nothing else",
        r#"{"Q?": ["1. A?", "2. B?"], "1. A?": ["3. C?"], "2. B?": ["3. C?"], "3. C?": "Search(\"C\")"}"#,
    ),
    (
        "a part that is the question, or itself",
        r#"{"Q?": ["1. A?", "Q?", "[END]"], "1. A?": ["1. A?", "2. B?"], "2. B?": "Search(\"B\")"}"#,
    ),
    (
        "keys beside the plan",
        r#"{"Q?": ["1. A?"], "1. A?": "Search(\"A\")", "note": "one step", "1. a": "Search(\"A\")"}"#,
    ),
    (
        "numbers of several parts, repeated, missing",
        r#"{"Q?": ["1. A?", "2. B?", "C of [2]?"], "1. A?": "Search(\"A\")", "2. B?": ["2.1 D?", "2.2 E of [2.1]?", "1. F of [2.2]?", "4. G of [1]?"], "2.1 D?": "Search(\"D\")", "2.2 E of [2.1]?": "Relate([2.1], \"e\")", "1. F of [2.2]?": "Relate([2.2], \"f\")", "4. G of [1]?": "Relate([1], \"g\")", "C of [2]?": "[END]"}"#,
    ),
    (
        "numbers written otherwise",
        r#"{"Q?": ["[1] A?", "Q2: B of [1]?"], "[1] A?": "Search(\"A\")", "Q2: B of [1]?": "Relate([1], \"b\")"}"#,
    ),
    (
        "calls in a list",
        r#"{"Q?": ["1. A?", "2. B of each?"], "1. A?": ["Search(\"A\")"], "2. B of each?": ["Relate(\"C\", \"b\")", "3. And of D? Relate(\"D\", \"b\")"]}"#,
    ),
    (
        "calls in calls",
        r#"{"Q?": ["1. A?", "2. B of [1]?"], "1. A?": "Filter(Relate(Search(\"X\", \"band\"), \"albums\"), \"before 2000\")", "2. B of [1]?": "Relate([1], \"b\")"}"#,
    ),
    (
        "calls in calls at the root",
        r#"{"Which?": "Filter(Relate(\"X\", \"albums\"), \"before 2000\")"}"#,
    ),
    (
        "several calls, several names",
        r#"{"Q?": ["1. A?", "2. B?"], "1. A?": "Search(\"A\") and Relate(\"B\", \"b\")", "2. B?": "Relate([\"C\", [1]], \"b\")"}"#,
    ),
    (
        "other names",
        r#"{"Q?": ["1. A?", "2. B?"], "1. A?": "search(name=\"A\", descriptor='the \"x\"')", "2. B?": "SELECT([1], \"b\")"}"#,
    ),
    (
        "other functions",
        r#"{"Q?": ["1. A?", "2. B?", "3. C?"], "1. A?": "Search(\"A\")", "2. B?": "Count(Filter([1], \"b\"))", "3. C?": "Intersect([1], [2])"}"#,
    ),
    (
        "quotes and brackets of calls",
        r#"{"Q?": ["1. A?", "2. B?", "3. C?", "4. D?"], "1. A?": "Search(\"Olm \"56\", \"film\")]", "2. B?": "Search(\"about \"Varn, the rock' and more\", \"x", "3. C?": "Search(Varn light, a rock)", "4. D?": "Filter([1, 2], \"old\""}"#,
    ),
    (
        "words around a call",
        r#"{"Q?": ["1. A?", "2. B?"], "1. A?": "Search(\"A\")", "2. B?": "Given answers of [1], Relate([1], \"b\") [END]"}"#,
    ),
    (
        "[END] otherwise",
        r#"{"Q?": ["1. A?", "2. B?", "3. C of [1]?", "4. D of [1] and [2]?", "5. E? [END]"], "1. A?": "Search(\"A\")", "2. B?": "Search(\"B\")", "3. C of [1]?": "[DR]", "4. D of [1] and [2]?": "Given answers of [1] and [2], which is older? [END]"}"#,
    ),
    (
        "steps left out",
        r#"{"Q?": ["1. What is Varn?", "2. Who is the founder of [1]?", "3. Who is [2]?", "4. Is [1] older than [2]?", "5. Based on [2], how old?"], "1. What is Varn?": "", "3. Who is [2]?": null, "2. Who is the founder of [1]?": "Search()"}"#,
    ),
    (
        "nothing to conclude from",
        r#"{"Q?": ["1. What year was last year?", "2. B of [1]?"], "1. What year was last year?": "[END]", "2. B of [1]?": "[END]"}"#,
    ),
    (
        "more arguments",
        r#"{"Q?": ["1. A?", "2. B?", "3. C?", "4. D?"], "1. A?": "Search(\"A\", \"x\", \"y\")", "2. B?": "Relate([1], [3], \"cause\")", "3. C?": "Relate(\"C\", \"time\", [1])", "4. D?": "Filter([1], [3], \"old\", \"red\")"}"#,
    ),
    (
        "fewer arguments",
        r#"{"Q?": ["1. A?", "2. Who is the founder of [1]?", "3. Which of [2] is old?", "4. Which are red?"], "1. A?": "Search(\"A\")", "2. Who is the founder of [1]?": "Relate([1])", "3. Which of [2] is old?": "Filter(\"old\")", "4. Which are red?": "Filter([2])"}"#,
    ),
    (
        "references otherwise",
        r#"{"Q?": ["1. A?", "2. Who is #1?"], "1. A?": "Search(\"A\")", "2. Who is #1?": "Relate(#1, \"b of <1>\")"}"#,
    ),
    (
        "numbers that are no references",
        r#"{"Who won the [7] of [1999]?": ["1. What is [7]?", "2. Who won [1] in [1999]?"], "1. What is [7]?": "Search(\"[7] 1.5 [1.5]\")", "2. Who won [1] in [1999]?": "Relate([1], \"winner of [1999]\")"}"#,
    ),
    (
        "references that lead nowhere, to itself, above",
        r#"{"Q?": ["1. A?", "2. Who is the head of [2]?", "3. B of [1]?"], "1. A?": "Search(\"A\")", "2. Who is the head of [2]?": "Relate([0], \"head\")", "3. B of [1]?": "Relate([9], \"b\")"}"#,
    ),
    (
        "a question that refers to its parts",
        r#"{"Q?": ["1. Which is older, [2] or [3]?"], "1. Which is older, [2] or [3]?": ["2. A?", "3. B?"], "2. A?": "Search(\"A\")", "3. B?": "Search(\"B\")"}"#,
    ),
    ("refused: no object", "TREE_PARSING_ERROR"),
    ("refused: an object without questions", r#"{} and {"x": null}"#),
    ("refused: cut off too early", r#"{"Q?": ["1. A?", "2. B"#),
    ("refused: no step", r#"{"question": "Who built Varn?", "sub_questions": ["Who?"]}"#),
    ("refused: only [END]", r#"{"Q?": "[END]"}"#),
    (
        "refused: nothing tells what is meant",
        r#"{"Q?": ["1. A?", "2. B?", "3. C of [9]?"], "1. A?": "Search(\"A\")", "2. B?": "Search(\"B\")", "3. C of [9]?": "Relate([9], \"c\")"}"#,
    ),
    (
        "refused: a circle",
        r#"{"Q?": ["1. A of [2]?", "2. B of [1]?"], "1. A of [2]?": "Relate([2], \"a\")", "2. B of [1]?": "Relate([1], \"b\")"}"#,
    ),
];

/// What a plan is read as.
fn shown(text: &str) -> String {
    match Plan::parse(text) {
        Ok(plan) => {
            assert_whole(&plan);
            let mut out = plan.draw();
            for Repair { kind, at } in &plan.repairs {
                let _ = write!(out, "\n  {kind:?}: {at}");
            }
            out
        }
        Err(refusal) => format!("refused: {refusal}"),
    }
}

#[test]
fn each_fault_has_its_rule() {
    let mut out = String::new();
    for (name, text) in FAULTS {
        let _ = write!(out, "=== {name}\n{}\n\n", shown(text));
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("atomr_plan_repairs", out));
}

#[test]
fn a_plan_says_what_it_waits_for() {
    let plan = Plan::parse(WHOLE).unwrap();
    assert_eq!((plan.depth(), plan.nodes.len()), (3, 9));
    let numbers = |number: usize| -> Vec<usize> {
        let place = plan.place(number).unwrap();
        plan.waits_for(place).into_iter().map(|place| plan.nodes[place].number).collect()
    };
    assert_eq!((numbers(3), numbers(7), numbers(4)), (vec![1, 2], vec![4, 6], vec![]));
    assert_eq!(Plan::references("[3] about [1], [3]'s #2 <4> [x]"), [3, 1]);
    let unnamed = r#"{"Q?": ["1. A?", "2. B?", "3. Which?"], "1. A?": "Search(\"A\")", "2. B?": "Search(\"B\")", "3. Which?": "[END]"}"#;
    assert_eq!(Plan::parse(unnamed).unwrap().waits_for(3), [1, 2]);
}

#[test]
fn too_much_is_refused_and_not_read() {
    let many: Vec<String> =
        (0..2000).map(|i| format!("\"{i}. Q?\": \"Search(\\\"A\\\")\"")).collect();
    assert_eq!(Plan::parse(&format!("{{{}}}", many.join(","))), Err(Refusal::TooLarge));
    let deep = "{\"a\":".repeat(5000);
    assert!(Plan::parse(&deep).is_err());
    let calls = format!("{{\"Q?\": \"{}\"}}", "Search(".repeat(5000));
    let _ = Plan::parse(&calls);
    let names = format!("{{\"Q?\": \"Search([{}])\"}}", "'A', ".repeat(5000));
    assert_eq!(Plan::parse(&names), Err(Refusal::TooLarge));
}

/// What every plan that was read holds to.
fn assert_whole(plan: &Plan) {
    let count = plan.nodes.len();
    assert!((1..=Refusal::MOST).contains(&count));
    let mut above = vec![None; count];
    let mut next = 1;
    for (place, node) in plan.nodes.iter().enumerate() {
        assert!(!node.question.is_empty(), "{plan:?}");
        assert_eq!(node.number == 0, place == 0, "{plan:?}");
        if let Step::Inner(parts) = &node.step {
            assert!(!parts.is_empty(), "{plan:?}");
            for part in parts {
                // Breadth-first, and each below one question only.
                assert_eq!(*part, next, "{plan:?}");
                above[*part] = Some(place);
                next += 1;
            }
        }
        if let Step::Call(call) = &node.step {
            let may_be_empty = matches!(call, Call::Relate { .. });
            assert!(
                !call.arguments().is_empty() && (may_be_empty || !call.arguments().contains(&""))
            );
        }
    }
    assert_eq!(next, count, "every node is reached: {plan:?}");
    let is_above = |one: usize, other: usize| {
        std::iter::successors(Some(other), |at| above[*at]).any(|at| at == one)
    };
    let mut numbers: Vec<usize> = plan.nodes.iter().map(|node| node.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), count, "{plan:?}");
    for (place, node) in plan.nodes.iter().enumerate() {
        let call = match &node.step {
            Step::Call(call) => call.arguments(),
            _ => vec![],
        };
        for text in call.into_iter().chain([node.question.as_str()]) {
            for number in Plan::references(text) {
                let named = plan.place(number);
                let named = named.unwrap_or_else(|| panic!("no node {number} in {plan:?}"));
                assert!(!is_above(named, place) && !is_above(place, named), "{plan:?}");
            }
        }
    }
    let mut solved = vec![false; count];
    for _ in 0..count {
        let ready = |place: &usize| {
            let parts = match &plan.nodes[*place].step {
                Step::Inner(parts) => parts.clone(),
                _ => vec![],
            };
            plan.waits_for(*place).iter().chain(&parts).all(|need| solved[*need])
        };
        let now: Vec<usize> = (0..count).filter(ready).collect();
        now.into_iter().for_each(|place| solved[place] = true);
    }
    assert!(solved.iter().all(|done| *done), "every node can be answered: {plan:?}");
    assert!((1..=count).contains(&plan.depth()) && plan.draw().lines().count() >= count);
}

fn recorded() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/recorded");
    let Ok(files) = std::fs::read_dir(folder) else { return vec![] };
    let mut plans = vec![];
    for path in files.flatten().map(|file| file.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with("atomr_") || !name.contains("_tree") {
            continue;
        }
        for (at, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let plan = match &line["reasoning_tree"] {
                serde_json::Value::String(text) => text.clone(),
                tree => tree.to_string(),
            };
            plans.push((format!("{name}:{}", at + 1), plan));
        }
    }
    plans
}

/// 1,222 plans by GPT-4o, which the authors published; two of them are the words
/// `TREE_PARSING_ERROR`.
#[test]
fn the_recorded_plans_are_read() {
    let plans = recorded();
    let mut kinds: BTreeMap<RepairKind, usize> = BTreeMap::new();
    let (mut refused, mut mended) = (vec![], 0);
    for (name, text) in &plans {
        match Plan::parse(text) {
            Ok(plan) => {
                assert_whole(&plan);
                mended += usize::from(!plan.repairs.is_empty());
                if std::env::var("SHOW").is_ok() && !plan.repairs.is_empty() {
                    eprintln!("\n=== {name} {:?}\n{}", plan.repairs, plan.draw());
                }
                for repair in plan.repairs {
                    *kinds.entry(repair.kind).or_default() += 1;
                }
            }
            Err(refusal) => refused.push((name, refusal)),
        }
    }
    let named = refused.iter().all(|(_, refusal)| *refusal == Refusal::NoObject);
    assert!(named && refused.len() * 100 <= plans.len(), "{refused:#?}");
    if !plans.is_empty() {
        assert!(kinds[&RepairKind::NestedCall] >= 20, "{kinds:#?}");
    }
    eprintln!("{mended} of {} mended: {kinds:#?}\n{refused:#?}", plans.len());
}

/// A plan with some of its characters replaced, dropped, doubled or cut.
fn broken(plan: &str, faults: &[(usize, u8, char)]) -> String {
    let mut chars: Vec<char> = plan.chars().collect();
    for (at, kind, with) in faults {
        if chars.is_empty() {
            break;
        }
        let at = at % chars.len();
        match kind % 5 {
            0 => chars[at] = *with,
            1 => drop(chars.remove(at)),
            2 => chars.insert(at, *with),
            3 => {
                let end = (at + 40).min(chars.len());
                let piece: Vec<char> = chars[at..end].to_vec();
                chars.splice(at..at, piece);
            }
            _ => chars.truncate(at.max(chars.len() / 2)),
        }
    }
    chars.into_iter().collect()
}

proptest! {
    #[test]
    fn any_text_is_a_whole_plan_or_refused(
        text in any::<String>(),
        json in "(\\{\"Q\": )?[\\[\\]{}\"':, A1-4.()#<>\\\\\nSearchRlatFiEND]{0,120}",
    ) {
        let _ = shown(&text);
        let _ = shown(&json);
    }

    #[test]
    fn a_broken_plan_is_a_whole_plan_or_refused(
        which in 0..FAULTS.len(),
        faults in prop::collection::vec(
            (any::<usize>(), any::<u8>(), prop::sample::select("\"'[]{}(),:123 \\\nS#é".chars().collect::<Vec<_>>())),
            1..12,
        ),
    ) {
        let _ = shown(&broken(FAULTS[which].1, &faults));
    }

    /// Keys, lists and calls in any order, with any numbers.
    #[test]
    fn any_tree_is_a_whole_plan_or_refused(
        entries in prop::collection::vec(
            (0..6_usize, prop::collection::vec(0..7_usize, 0..4), 0..8_usize, 0..8_usize),
            1..9,
        ),
    ) {
        let key = |i: usize, refers: usize| match i {
            0 => "Q?".to_owned(),
            i => format!("{i}. K of [{refers}]?"),
        };
        let written: Vec<String> = entries.iter().map(|(i, list, refers, kind)| {
            let value = match kind {
                0 | 1 => serde_json::json!(list.iter().map(|i| key(*i, i % 3)).collect::<Vec<_>>()),
                2 => serde_json::json!(format!("Filter(Search([{refers}]), \"x [{i}]\")")),
                3 => serde_json::json!("[END]"),
                4 => serde_json::json!(format!("Relate([{refers}, {i}])")),
                5 => serde_json::json!(format!("Search(\"A\") Count([{refers}]")),
                6 => serde_json::json!({ key(*refers, 0): "[DR]" }),
                _ => serde_json::json!(null),
            };
            format!("{}: {value}", serde_json::json!(key(*i, i % 3)))
        }).collect();
        let _ = shown(&format!("{{{}}}", written.join(", ")));
    }
}
