//! The parts, each alone: answers put into texts, queries, overlap, what the graph decides.
use halma_core::{Citation, Hit, Layer, NodeId, Span};

use super::super::answers::{AnswerReply, KnownAnswers, Thing};
use super::super::evidence::{Evidence, Lists};
use super::super::graph::GraphResult;
use super::super::operators::Operation;
use super::*;

fn solved(question: &str, answers: &[&str]) -> Arc<Solved> {
    let answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
    Arc::new(Solved { question: question.into(), answers, ..Solved::default() })
}

fn plan(questions: &[(&str, Step)]) -> Plan {
    let node = |(question, step): &(&str, Step)| Node {
        question: (*question).to_owned(),
        step: step.clone(),
    };
    Plan { nodes: questions.iter().map(node).collect() }
}

fn search(name: &str) -> Step {
    Step::Call(Call::Search { name: name.into(), descriptor: None })
}

#[test]
fn answers_are_put_where_they_are_referred_to() {
    let plan = plan(&[
        ("Which?", Step::Inner(vec![1, 2, 3, 4])),
        ("Who?", Step::Reason(vec![])),
        ("Where is #1?", Step::Reason(vec![])),
        ("What is the reef?", search("the reef")),
        ("How old is #2?", Step::Reason(vec![])),
    ]);
    let answers = [
        None,
        Some(solved("Who?", &["Ann", "Bo", "Carl"])),
        Some(solved("Where?", &[])),
        None,
        None,
    ];
    let answered = KnownAnswers { plan: &plan, solved: &answers, shown: 2 };
    assert_eq!(answered.together("about #1"), "about Ann, Bo and 1 more");
    // Unknown: the question itself, or the name that was searched for.
    assert_eq!(answered.together("near #2"), "near (Where is Ann, Bo and 1 more?)");
    assert_eq!(answered.together("near #3"), "near the reef");
    // No node of the plan, and no reference of this kind.
    assert_eq!(answered.together("#9 and [1] and <1>"), "#9 and [1] and <1>");
    assert!(answered.settles("#1 at #3, #9") && !answered.settles("#1 or #2"));
    assert_eq!(
        answered.each("#1 of #3", 2),
        (vec!["Ann of the reef".into(), "Bo of the reef".into()], 1)
    );
    assert_eq!(answered.each("#1 and #1", 9).0, ["Ann and Ann", "Bo and Bo", "Carl and Carl"]);
    let (things, left_out) = answered.things(" #1 ", 2);
    let names: Vec<&str> = things.iter().map(|thing| thing.name.as_str()).collect();
    assert_eq!((names, left_out), (vec!["Ann", "Bo"], 1));
}

#[test]
fn below_a_part_without_an_answer_its_own_parts_count() {
    let plan = plan(&[
        ("Which?", Step::Inner(vec![1, 2])),
        ("A?", Step::Inner(vec![3])),
        ("B?", Step::Reason(vec![])),
        ("C?", Step::Reason(vec![])),
    ]);
    let answers =
        [None, Some(solved("A?", &[])), Some(solved("B?", &["b"])), Some(solved("C?", &["c"]))];
    let answered = KnownAnswers { plan: &plan, solved: &answers, shown: 9 };
    let below: Vec<&str> = answered.below(0).iter().map(|one| one.question.as_str()).collect();
    assert_eq!(below, ["C?", "A?", "B?"]);
}

fn thing(name: &str) -> Thing {
    Thing { name: name.into(), entities: vec![] }
}

#[test]
fn each_operator_has_its_own_queries() {
    let limits = Atomr { fan_out: 3, entities: 2, ..Atomr::default() };
    let search = Operation::Search { names: vec!["Oslo".into()], descriptor: Some("town ".into()) };
    assert_eq!(search.queries(&limits), ["Oslo town"]);
    let heads = vec![thing("Ann"), thing("Bo")];
    let relate =
        |tails| Operation::Relate { heads: heads.clone(), relation: "child".into(), tails };
    assert_eq!(relate(vec![]).queries(&limits), ["Ann child", "Bo child"]);
    let tails = vec![thing("Carl"), thing("Dora")];
    assert_eq!(
        relate(tails).queries(&limits),
        ["Ann child Carl", "Ann child Dora", "Bo child Carl"]
    );
    let entities = ["Ann", "Bo", "Carl"].map(thing).to_vec();
    let filter = Operation::Filter { entities, condition: "born in Oslo".into() };
    assert_eq!(filter.queries(&limits), ["Ann born in Oslo", "Bo born in Oslo"]);
    assert!(search.enough(&limits).is_none());
    let early = Atomr { stop_early: true, ..limits };
    assert_eq!(search.enough(&early), Some(0.75));
    assert_eq!(relate(vec![]).enough(&early), Some(0.85));
    assert_eq!(filter.enough(&early), None);
}

fn hit(id: &str, text: &str) -> Hit {
    Hit {
        id: NodeId(id.into()),
        layer: Layer::Chunk,
        parent: None,
        document: format!("{id}.md"),
        title: id.into(),
        section: None,
        page: None,
        text: text.into(),
        score: 0.5,
        cosine: Some(0.5),
        parts: vec![],
        span: Span { start: 0, end: text.chars().count() },
    }
}

#[test]
fn entities_whose_passages_have_little_in_common_are_dropped() {
    let names = ["ann", "bo", "carl"].map(str::to_owned);
    let queries = names.clone().map(|name| format!("{name} born in oslo"));
    let lists = || {
        let lists = vec![
            vec![hit("1", "ann was born in oslo")],
            vec![hit("2", "bo lives in bergen")],
            vec![hit("3", "carl born far from oslo"), hit("4", "a reef")],
        ];
        vec![Lists { source: "text".into(), lists }]
    };
    let kept = |limits: &Atomr| {
        let of = (&names[..], &queries[..]);
        let (evidence, dropped) = Evidence::filtered(of, lists(), GraphResult::default(), limits);
        let context: Vec<String> = evidence.context.iter().map(|hit| hit.id.0.clone()).collect();
        (evidence.retained, dropped, context)
    };
    // 4/4, 2/4 and 3/4 of the query's words.
    let all = kept(&Atomr::default());
    assert_eq!((all.0.len(), all.1), (3, 0));
    let (kept_more, dropped, context) = kept(&Atomr { overlap: 0.6, ..Atomr::default() });
    assert_eq!((kept_more, dropped), (vec!["ann".to_owned(), "carl".to_owned()], 1));
    assert_eq!(context, ["1", "3", "4"]);
    let best = kept(&Atomr { drop_below_best: true, ..Atomr::default() });
    assert_eq!(best.0, ["ann"]);
}

#[test]
fn what_holds_the_answer_is_cited_or_else_everything() {
    let graph = GraphResult {
        evidence: vec![hit("kg", "Varn – architect – Ilse Thorn")],
        ..GraphResult::default()
    };
    let context = vec![hit("a", "Ilse Thorn built it. It opened in 1911."), hit("b", "A reef.")];
    let evidence =
        Evidence::collect(vec![Lists { source: "text".into(), lists: vec![context] }], graph);
    let cited = |answers: &[&str]| -> Vec<String> {
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        evidence.cited(&answers, "").into_iter().map(|Citation { node, .. }| node.0).collect()
    };
    assert_eq!(cited(&["Ilse Thorn"]), ["a", "kg"]);
    assert_eq!(cited(&["1911", "reef"]), ["a", "b"]);
    assert_eq!(cited(&["no"]), ["a", "b", "kg"]);
}

#[test]
fn a_reply_with_answers_takes_what_models_write() {
    let reply = |text: &str| halma_core::parse_json::<AnswerReply>(text).map(|reply| reply.list());
    assert_eq!(reply(r#"{"answer": "a", "answers": ["x", " x ", "", "y"]}"#).unwrap(), ["x", "y"]);
    assert_eq!(
        reply(r#"{"answer": "a", "answers": [1911, true, 2.5]}"#).unwrap(),
        ["1911", "yes", "2.5"]
    );
    assert_eq!(reply(r#"{"answer": "a", "answers": "x"}"#).unwrap(), ["x"]);
    assert!(reply(r#"{"answer": "a", "answers": []}"#).unwrap().is_empty());
    // A sentence may be missing, the answers may not.
    assert_eq!(reply(r#"{"answers": ["x"]}"#).unwrap(), ["x"]);
    assert!(reply(r#"{"answer": "a", "answers": ["Unknown", "N/A"]}"#).unwrap().is_empty());
    assert!(reply(r#"{"answer": "a"}"#).is_err());
}
