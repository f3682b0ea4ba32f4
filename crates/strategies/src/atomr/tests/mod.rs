mod bad;
mod graph;
mod parts;

use std::sync::Arc;

use halma_core::{Budget, Facts, Llm, LlmError, Source};
use halma_testkit::{Script, Timed, Toy, ToyFacts, ToySource};

use super::*;
use crate::golden::{Run, golden, timed};

const PLAN: &str = "atomr/plan";
const SOURCES: &str = "atomr/sources";
const SEARCH: &str = "atomr/search";
const RELATE: &str = "atomr/relate";
const FILTER: &str = "atomr/filter";
const CHILDREN: &str = "atomr/children";
const SIBLINGS: &str = "atomr/siblings";
const DIRECT: &str = "atomr/direct";

/// The lighthouse, its architect, where she was born.
const CHAIN: &str = r##"{"steps": [
{"question": "What is the Varn lighthouse?", "operator": "search", "arguments": ["Varn lighthouse"]},
{"question": "Who was the architect of #1?", "operator": "relate", "arguments": ["#1", "architect"]},
{"question": "In which country was #2 born?", "operator": "relate", "arguments": ["#2", "country of birth"]}]}"##;

const VARN: &str =
    r#"{"answer": "The Varn lighthouse stands on a reef.", "answers": ["Varn lighthouse"]}"#;
const THORN: &str = r#"{"answer": "Ilse Thorn was its architect.", "answers": ["Ilse Thorn"]}"#;
const NORWAY: &str = r#"{"answer": "She was born in Norway.", "answers": ["Norway"]}"#;
const NOTHING: &str = r#"{"answer": "Nothing says so.", "answers": []}"#;
const READ: &str = r#"{"rationale": "She was born in Norway.", "answer": "Norway"}"#;
const UNREAD: &str = r#"{"rationale": "It is not told.", "answer": ""}"#;

fn web() -> ToySource {
    ToySource::new(
        "web",
        &[
            ("https://reefs.example/varn", "Varn lighthouse", "The Varn lighthouse is a landmark."),
            ("https://people.example/thorn", "Ilse Thorn", "Ilse Thorn, architect, died in 1931."),
        ],
    )
}

fn kg() -> ToyFacts {
    ToyFacts::new(&[
        ("varn", "Varn lighthouse", "lighthouse on a reef", "building"),
        ("thorn", "Ilse Thorn", "architect", "person"),
        ("no", "Norway", "country in Europe", "country"),
    ])
    .with_facts(&[
        ("varn", "architect", "thorn"),
        ("varn", "opened", "1911"),
        ("thorn", "country of birth", "no"),
    ])
}

fn with(model: Arc<dyn Llm>, sources: Vec<ToySource>, facts: Option<ToyFacts>) -> Run {
    let source = |source: ToySource| source.shared() as Arc<dyn Source>;
    let sources = sources.into_iter().map(source).collect();
    let facts = facts.map(|facts| facts.shared() as Arc<dyn Facts>);
    Run { sources, facts, ..Run::new(model) }
}

fn only(sources: &[&str]) -> Atomr {
    let sources = sources.iter().map(|name| (*name).to_owned()).collect();
    Atomr { sources, ..Atomr::default() }
}

fn budget(calls: u64) -> Budget {
    Budget { calls: Some(calls), ..Budget::default() }
}

#[tokio::test]
async fn three_sources_are_chosen_among_for_every_leaf_in_one_call() {
    let chosen = r#"{"sources": {"1": ["text", "web"], "2": ["kg"], "3": ["text", "kg"]}}"#;
    let model = Script::new([
        (PLAN, CHAIN),
        (SOURCES, chosen),
        (SEARCH, VARN),
        (RELATE, NORWAY),
        (CHILDREN, NORWAY),
    ]);
    golden("atomr/three_sources", &Atomr::default(), with(model, vec![web()], Some(kg()))).await;
}

#[tokio::test]
async fn the_graph_alone_needs_no_model_for_a_leaf() {
    let model = Script::new([(PLAN, CHAIN), (CHILDREN, NORWAY)]);
    golden("atomr/graph_alone", &only(&["kg"]), with(model, vec![], Some(kg()))).await;
}

#[tokio::test]
async fn the_graph_is_asked_first_and_the_others_where_it_is_silent() {
    let facts = ToyFacts::new(&[("varn", "Varn lighthouse", "lighthouse", "building")]);
    let model = Script::new([(PLAN, CHAIN), (RELATE, THORN), (RELATE, NORWAY), (CHILDREN, NORWAY)]);
    let first = Atomr { kg: Kg::First, ..Atomr::default() };
    golden("atomr/graph_first", &first, with(model, vec![web()], Some(facts))).await;
}

#[tokio::test]
async fn the_base_alone_is_enough() {
    let model = Script::new([
        (PLAN, CHAIN),
        (SEARCH, VARN),
        (RELATE, THORN),
        (RELATE, NORWAY),
        (CHILDREN, NORWAY),
    ]);
    golden("atomr/text_alone", &Atomr::default(), Run::new(model)).await;
}

#[tokio::test]
async fn a_leaf_may_choose_for_itself() {
    let one = |number| format!(r#"{{"sources": {{"{number}": ["TEXT", "moon"]}}}}"#);
    let (first, second) = (one(1), one(2));
    let model = Script::new([
        (PLAN, CHAIN),
        (SOURCES, first.as_str()),
        (SEARCH, VARN),
        (SOURCES, second.as_str()),
        (RELATE, THORN),
        (SOURCES, r#"{"sources": {"3": "nowhere"}}"#),
        (RELATE, NORWAY),
        (CHILDREN, NORWAY),
    ]);
    let leaf = Atomr { select: Select::Leaf, ..Atomr::default() };
    golden("atomr/select_leaf", &leaf, with(model, vec![web()], Some(kg()))).await;
}

#[tokio::test]
async fn an_unusable_choice_is_all_of_them() {
    let model = Script::new([
        (PLAN, CHAIN),
        (SOURCES, "the web"),
        (SOURCES, "all"),
        (SOURCES, "{}"),
        (SEARCH, VARN),
        (RELATE, THORN),
        (RELATE, NORWAY),
        (CHILDREN, NORWAY),
    ]);
    golden("atomr/unusable_choice", &Atomr::default(), with(model, vec![web()], Some(kg()))).await;
}

/// Six keepers, of whom some were born in a town.
fn keepers() -> Arc<Toy> {
    let born = ["Ann Lie", "Bo Dahl", "Carl Moe"].map(|name| {
        let text = format!("{name}, keeper of the Varn lighthouse, was born in Bergen.");
        (name.to_owned(), text)
    });
    let rows: Vec<(&str, &str, &str, &[&str])> = born
        .iter()
        .map(|(name, text)| (name.as_str(), name.as_str(), text.as_str(), &[][..]))
        .collect();
    Toy::new(&rows)
}

const KEEPERS: &str = r##"{"steps": [
{"question": "What is the Varn lighthouse?", "operator": "search", "arguments": ["Varn lighthouse"]},
{"question": "Who kept #1?", "operator": "relate", "arguments": ["#1", "keeper"]},
{"question": "Where was #2 born?", "operator": "relate", "arguments": ["#2", "place of birth"]},
{"question": "Which of #2 were born in Bergen?", "operator": "filter", "arguments": ["#2", "born in Bergen"]}]}"##;

const THREE: &str =
    r#"{"answer": "Three people.", "answers": ["Ann Lie", "Bo Dahl", "Carl Moe", "Ann Lie", " "]}"#;

#[tokio::test]
async fn several_answers_fan_out_up_to_a_limit() {
    let bergen = r#"{"answer": "They were born in Bergen.", "answers": ["Bergen"]}"#;
    let two = r#"{"answer": "Ann Lie and Bo Dahl.", "answers": ["Ann Lie", "Bo Dahl"]}"#;
    let model = Script::new([
        (PLAN, KEEPERS),
        (SEARCH, VARN),
        (RELATE, THREE),
        (FILTER, two),
        (RELATE, bergen),
        (CHILDREN, two),
    ]);
    let atomr = Atomr { fan_out: 2, entities: 2, chunks: 1, ..Atomr::default() };
    let question = "Which keepers of the Varn lighthouse were born in Bergen?";
    let run = Run { question, knowledge: keepers(), ..Run::new(model) };
    golden("atomr/fan_out", &atomr, run).await;
}

/// Two comparisons that only thinking settles.
const OLDER: &str = r##"{"steps": [
{"question": "When did the Varn lighthouse open?", "operator": "relate", "arguments": ["Varn lighthouse", "opening"]},
{"question": "When was Ilse Thorn born?", "operator": "relate", "arguments": ["Ilse Thorn", "date of birth"]},
{"question": "Which is earlier, #1 or #2?", "operator": "reason", "arguments": ["#1", "#2"]}]}"##;

#[tokio::test]
async fn what_an_operator_siblings_or_parts_leave_open_is_looked_up() {
    let model = Script::new([
        (PLAN, OLDER),
        (RELATE, NOTHING),
        (RELATE, r#"{"answer": "It opened in 1911.", "answers": [1911]}"#),
        (DIRECT, r#"{"rationale": "She was born in 1870.", "answer": 1870}"#),
        (SIBLINGS, NOTHING),
        (CHILDREN, NOTHING),
        (DIRECT, r#"{"rationale": "1870 is earlier.", "answer": "Ilse Thorn"}"#),
    ]);
    let question = "Which is older, the Varn lighthouse or Ilse Thorn?";
    golden("atomr/fall_backs", &Atomr::default(), Run { question, ..Run::new(model) }).await;
    let model = Script::new([
        (PLAN, OLDER),
        (RELATE, NOTHING),
        (RELATE, NOTHING),
        (DIRECT, UNREAD),
        (DIRECT, UNREAD),
        (DIRECT, UNREAD),
        (DIRECT, UNREAD),
    ]);
    golden("atomr/unread", &Atomr::default(), Run { question, ..Run::new(model) }).await;
}

#[tokio::test]
async fn a_source_that_fails_is_gone_without_and_told() {
    let model = Script::new([
        (PLAN, CHAIN),
        (SEARCH, VARN),
        (RELATE, THORN),
        (RELATE, NORWAY),
        (CHILDREN, NORWAY),
    ]);
    let web = web().failing_from(2, "timed out");
    golden("atomr/failed_source", &only(&["text", "web"]), with(model, vec![web], None)).await;
}

#[tokio::test]
async fn where_every_source_fails_it_abstains_and_says_what_was_missing() {
    let model = Script::new([(PLAN, CHAIN)]);
    let web = web().failing_from(1, "429 Too Many Requests");
    let kg = kg().failing_from(1, "the endpoint sent HTML");
    let run = with(model, vec![web], Some(kg));
    golden("atomr/all_fail", &only(&["web", "kg"]), run).await;
}

#[tokio::test]
async fn a_plan_that_cannot_be_read_is_asked_for_again() {
    let model = Script::new([
        (PLAN, "First I would look up the lighthouse."),
        (PLAN, "[]"),
        (PLAN, CHAIN),
        (SEARCH, VARN),
        (RELATE, THORN),
        (RELATE, NORWAY),
        (CHILDREN, NORWAY),
    ]);
    golden("atomr/plan_asked_again", &Atomr::default(), Run::new(model)).await;
    let model = Script::new([(PLAN, "no"), (PLAN, "no"), (PLAN, "no"), (DIRECT, READ)]);
    golden("atomr/refused_plan", &Atomr::default(), Run::new(model)).await;
    let model = Script::new([(PLAN, CHAIN), (PLAN, CHAIN), (PLAN, CHAIN), (DIRECT, READ)]);
    let short = Atomr { max_nodes: 2, ..Atomr::default() };
    golden("atomr/long_plan", &short, Run::new(model)).await;
}

#[tokio::test]
async fn where_nothing_is_found_it_abstains() {
    let model = Script::new([(PLAN, CHAIN)]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    golden("atomr/nothing_found", &Atomr::default(), run).await;
}

#[tokio::test]
async fn from_memory_only_where_that_is_allowed() {
    let model = Script::new([(PLAN, CHAIN), ("atomr/closed", READ)]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    let closed = Atomr { closed_book: true, ..Atomr::default() };
    golden("atomr/closed_book", &closed, run).await;
}

#[tokio::test]
async fn a_spent_budget_concludes_from_what_was_found() {
    let model = Script::new([(PLAN, CHAIN), (SEARCH, VARN), (RELATE, THORN), (CHILDREN, THORN)]);
    let run = Run { budget: budget(4), ..Run::new(model) };
    golden("atomr/spent_budget", &Atomr::default(), run).await;
}

#[tokio::test]
async fn the_last_call_reads_what_is_near_the_question() {
    let model = Script::new([(DIRECT, READ)]);
    let run = Run { budget: budget(1), ..Run::new(model) };
    golden("atomr/last_call", &Atomr::default(), run).await;
    let model = Script::new([(PLAN, CHAIN), (DIRECT, READ)]);
    let run = Run { budget: budget(2), ..Run::new(model) };
    golden("atomr/last_two_calls", &Atomr::default(), run).await;
}

#[tokio::test]
async fn an_operator_that_fails_costs_its_own_answer_only() {
    let direct = r#"{"rationale": "Passage 1.", "answer": "Varn lighthouse"}"#;
    let rest = [(DIRECT, direct), (RELATE, THORN), (RELATE, NORWAY), (CHILDREN, NORWAY)];
    let refused = Err(LlmError::refused("the model is overloaded"));
    let mut replies = vec![(PLAN, Ok(CHAIN)), (SEARCH, refused)];
    replies.extend(rest.map(|(prompt, reply)| (prompt, Ok(reply))));
    let model = Script::with_failures(replies);
    golden("atomr/refused_model", &Atomr::default(), Run::new(model)).await;
    let bad = [(PLAN, CHAIN), (SEARCH, "Varn"), (SEARCH, "Varn"), (SEARCH, r#"{"a": 1}"#)];
    let replies = bad.into_iter().chain(rest).map(|(prompt, reply)| (prompt, Ok(reply)));
    let model = Script::with_failures(replies.collect());
    golden("atomr/always_malformed", &Atomr::default(), Run::new(model)).await;
}

#[tokio::test]
async fn what_is_not_found_may_be_completed_from_memory() {
    let model = Script::new([
        (PLAN, CHAIN),
        (DIRECT, r#"{"rationale": "I know it.", "answer": "Varn lighthouse"}"#),
        (DIRECT, UNREAD),
        (DIRECT, UNREAD),
        (CHILDREN, NORWAY),
    ]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    let atomr = ENTRY.build_from("own_knowledge = true".parse().unwrap()).unwrap();
    golden("atomr/own_knowledge", atomr.as_ref(), run).await;
}

/// Two subtrees of three leaves in a row, and one that needs neither.
const WIDE: &str = r##"{"steps": [
{"question": "What is A?", "operator": "search", "arguments": ["Varn lighthouse"]},
{"question": "When was #1 opened?", "operator": "relate", "arguments": ["#1", "opening"]},
{"question": "Which year A?", "operator": "parts", "arguments": ["#1", "#2"]},
{"question": "What is B?", "operator": "search", "arguments": ["Ilse Thorn"]},
{"question": "When was #4 opened?", "operator": "relate", "arguments": ["#4", "opening"]},
{"question": "Which year B?", "operator": "parts", "arguments": ["#4", "#5"]},
{"question": "Which of #3 and #6 is earlier?", "operator": "reason", "arguments": ["#3", "#6"]}]}"##;

const YEAR: &str = r#"{"answer": "In 1911.", "answers": ["1911"]}"#;

fn wide(sources: &'static [&'static str]) -> (Arc<Timed>, Atomr) {
    let chosen = r#"{"sources": {"4": ["text"], "5": ["text"], "6": ["web"], "7": ["web"]}}"#;
    let queues: [(&str, &[&str]); 6] = [
        (PLAN, &[WIDE]),
        (SOURCES, &[chosen]),
        (SEARCH, &[VARN, VARN]),
        (RELATE, &[YEAR, YEAR]),
        (CHILDREN, &[YEAR, YEAR, YEAR]),
        (SIBLINGS, &[YEAR]),
    ];
    (Timed::new(&queues), only(sources))
}

#[tokio::test(start_paused = true)]
async fn the_wait_is_as_long_as_the_tree_is_deep() {
    // Plan, search, relate, parts, siblings, root; ten calls in six round trips.
    let (model, atomr) = wide(&["text", "web"]);
    let run = with(Arc::clone(&model) as Arc<dyn Llm>, vec![web()], None);
    let (transcript, round_trips) = timed(&atomr, run).await;
    assert_eq!((round_trips, model.max_at_once()), (6, 2), "{transcript}");
    // One more to choose among three sources, for all leaves together.
    let (model, atomr) = wide(&[]);
    let run = with(Arc::clone(&model) as Arc<dyn Llm>, vec![web()], Some(kg()));
    let (transcript, round_trips) = timed(&atomr, run).await;
    assert_eq!((round_trips, model.left()), (7, 0), "{transcript}");
}

#[tokio::test(start_paused = true)]
async fn what_the_graph_answers_first_does_not_wait_for_a_choice() {
    let plan = r#"{"steps": [
{"question": "Varn lighthouse?", "operator": "search", "arguments": ["Varn lighthouse"]},
{"question": "Reefs?", "operator": "search", "arguments": ["reef"]}]}"#;
    let chosen = r#"{"sources": {"2": ["text"]}}"#;
    let model = Timed::new(&[
        (PLAN, &[plan]),
        (SOURCES, &[chosen]),
        (SEARCH, &[VARN]),
        (CHILDREN, &[VARN]),
    ]);
    let blog = ToySource::new("blog", &[]);
    let run = with(Arc::clone(&model) as Arc<dyn Llm>, vec![web(), blog], Some(kg()));
    let first = Atomr { kg: Kg::First, ..Atomr::default() };
    let (transcript, round_trips) = timed(&first, run).await;
    assert_eq!((round_trips, model.left()), (4, 0), "{transcript}");
}

#[tokio::test]
async fn a_source_that_is_not_there_is_named() {
    let transcript = |sources: &'static [&'static str]| async move {
        let run = with(Script::new([]), vec![web()], None);
        timed(&only(sources), run).await.0
    };
    let reply = transcript(&["text", "kg"]).await;
    assert!(reply.contains("`sources` names `kg`, which is not configured"), "{reply}");
    assert!(reply.contains("choose among `text`, `web`"), "{reply}");
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let build = |table: &str| (ENTRY.build)(table.parse().unwrap()).map(|_| ());
    assert!(build("").is_ok());
    assert!(build("kg = \"first\"\nselect = \"leaf\"\nsources = [\"text\"]").is_ok());
    for table in ["chunks = 0", "fan_out = 0", "entities = 0", "max_nodes = 0", "overlap = 1.5"] {
        let refused = build(table).unwrap_err();
        assert!(refused.contains(table.split(' ').next().unwrap()), "{refused}");
    }
    assert!(build("select = \"guess\"").unwrap_err().contains("select"));
}
