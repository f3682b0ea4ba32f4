//! Bad input: what models and sources really send, and what an answer says of it.
use halma_core::{Error, Meter, Models, Outcome, Prompts, Setup, Trace};

use super::*;
use crate::PROMPTS;

/// The answer itself, with what no transcript shows: the reason.
async fn answered(atomr: &Atomr, run: Run) -> (Result<Answer>, Trace) {
    let Run { question, model, knowledge, budget, sources, facts } = run;
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let setup = Setup { sources, facts, ..Setup::new(Models::new(model), knowledge, prompts) };
    let cx = Cx::new(Arc::new(setup), Arc::new(Meter::new(budget)), None);
    let Outcome { answer, trace } = Outcome::run(atomr, &Question::new(question), &cx).await;
    (answer, trace)
}

#[tokio::test]
async fn the_answer_says_which_source_was_missing_for_what() {
    let model = Script::new([
        (PLAN, CHAIN),
        (SEARCH, VARN),
        (RELATE, THORN),
        (RELATE, NORWAY),
        (CHILDREN, NORWAY),
    ]);
    let web = web().failing_at(2, "timed out after 10 s");
    let run = with(model, vec![web], None);
    let (answer, trace) = answered(&Atomr::default(), run).await;
    let answer = answer.unwrap();
    assert_eq!(
        answer.reason,
        "She was born in Norway. Missing: source `web` failed for `Who was the architect of Varn \
         lighthouse?` (timed out after 10 s)."
    );
    assert_eq!(answer.text, "Norway");
    let sources: Vec<(String, usize)> = trace.sources().into_iter().collect();
    assert_eq!(sources, [("text".to_owned(), 3), ("web".to_owned(), 3)]);
}

#[tokio::test]
async fn an_abstention_says_what_is_open_and_what_failed() {
    let web = web().failing_from(1, "the page is HTML");
    let run = with(Script::new([(PLAN, CHAIN)]), vec![web], None);
    let (answer, _) = answered(&only(&["web"]), run).await;
    let Answer { abstained, reason, citations, .. } = answer.unwrap();
    assert!(abstained && citations.is_empty());
    assert!(reason.starts_with("no source has the answer: no result for `What"), "{reason}");
    assert!(reason.contains("source `web` failed for `"), "{reason}");
    assert!(reason.ends_with("more (the page is HTML)"), "{reason}");
}

#[tokio::test]
async fn a_plan_of_one_operator_answers_a_choice_in_its_words() {
    let plan = r#"{"steps": [
{"question": "q?", "operator": "relate", "arguments": ["Varn lighthouse", "architect"]}]}"#;
    let chosen = r#"{"answer": "It was Thorn.", "answers": ["I. Thorn"]}"#;
    let model = Script::new([(PLAN, plan), (CHILDREN, chosen)]);
    let Run { model, facts, .. } = with(model, vec![], Some(kg()));
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let setup = Setup { facts, ..Setup::new(Models::new(model), Toy::empty(), prompts) };
    let cx = Cx::new(Arc::new(setup), Arc::new(Meter::unlimited()), None);
    let options = vec!["I. Thorn".to_owned(), "P. Moe".to_owned()];
    let question = Question { options, ..Question::new("Who built the Varn lighthouse?") };
    let outcome = Outcome::run(&only(&["kg"]), &question, &cx).await;
    let answer = outcome.answer.unwrap();
    assert_eq!(answer.text, "I. Thorn");
    assert_eq!(answer.citations.len(), 1);
}

#[tokio::test]
async fn a_base_that_fails_is_an_error() {
    // The other sources can fail, the base cannot.
    struct Broken;
    #[async_trait]
    impl halma_core::Knowledge for Broken {
        async fn search(
            &self,
            _: &halma_core::Query,
        ) -> std::result::Result<Vec<Vec<halma_core::Hit>>, halma_core::BoxError> {
            Err("the disk is gone".into())
        }
        async fn get(
            &self,
            _: &halma_core::NodeId,
        ) -> std::result::Result<halma_core::Hit, halma_core::BoxError> {
            Err("the disk is gone".into())
        }
        async fn neighbours(
            &self,
            _: &halma_core::NodeId,
            _: Option<halma_core::Edge>,
        ) -> std::result::Result<Vec<(halma_core::Edge, halma_core::Hit)>, halma_core::BoxError>
        {
            Err("the disk is gone".into())
        }
        async fn run_sql(
            &self,
            _: &str,
        ) -> std::result::Result<halma_core::SqlResult, halma_core::BoxError> {
            Err("the disk is gone".into())
        }
        async fn catalog(&self) -> std::result::Result<halma_core::Catalog, halma_core::BoxError> {
            Err("the disk is gone".into())
        }
    }
    let run = Run { knowledge: Arc::new(Broken), ..Run::new(Script::new([(PLAN, CHAIN)])) };
    let (answer, _) = answered(&Atomr::default(), run).await;
    assert!(matches!(answer, Err(Error::Knowledge(_))));
}

#[tokio::test]
async fn things_of_one_name_stay_apart() {
    // Two Oslos: the second alone has an elevation, and what it is found by is the earlier answer.
    let facts = ToyFacts::new(&[
        ("oslo", "Oslo", "capital of Norway", "city"),
        ("oslo-us", "Oslo", "place in Minnesota", "town"),
        ("us", "Minnesota", "state", "state"),
    ])
    .with_facts(&[
        ("oslo-us", "state", "us"),
        ("oslo", "elevation", "23 m"),
        ("oslo-us", "elevation", "253 m"),
    ]);
    let plan = r##"{"steps": [
{"question": "Which Oslo?", "operator": "search", "arguments": ["Oslo", "town"]},
{"question": "How high is #1?", "operator": "relate", "arguments": ["#1", "elevation"]}]}"##;
    let model = Script::new([(PLAN, plan), (CHILDREN, r#"{"answer": "a", "answers": ["253 m"]}"#)]);
    let (answer, _) = answered(&only(&["kg"]), with(model, vec![], Some(facts))).await;
    let cited: Vec<String> = answer.unwrap().citations.into_iter().map(|one| one.node.0).collect();
    assert_eq!(cited, ["oslo-us", "kg:oslo-us/elevation/253 m"]);
}

#[tokio::test]
async fn a_relation_in_no_graph_is_left_to_the_texts() {
    let plan = r#"{"steps": [
{"question": "When was the Varn lighthouse painted?", "operator": "relate", "arguments": ["Varn lighthouse", "painted"]}]}"#;
    let model = Script::new([(PLAN, plan), (RELATE, NOTHING), (DIRECT, UNREAD), (DIRECT, UNREAD)]);
    let (answer, trace) = answered(&only(&["text", "kg"]), with(model, vec![], Some(kg()))).await;
    assert!(answer.unwrap().abstained, "{}", halma_testkit::outline(&trace));
    // In the graph alone there is nothing to read, and no model is asked.
    let model = Script::new([(PLAN, plan)]);
    let (answer, _) = answered(&only(&["kg"]), with(model, vec![], Some(kg()))).await;
    assert!(answer.unwrap().abstained);
}

/// A graph of that many towns, each founded in a year of its own.
fn towns(count: usize) -> ToyFacts {
    let ids: Vec<String> = (0..count).map(|i| format!("town{i}")).collect();
    let years: Vec<String> = (0..count).map(|i| format!("{}", 1000 + i % 1000)).collect();
    let mut rows: Vec<(&str, &str, &str, &str)> =
        ids.iter().map(|id| (id.as_str(), id.as_str(), "", "town")).collect();
    rows.push(("land", "Land", "", "country"));
    let mut triples: Vec<(&str, &str, &str)> = vec![];
    for (id, year) in ids.iter().zip(&years) {
        triples.extend([("land", "town", id.as_str()), (id.as_str(), "founded", year.as_str())]);
    }
    ToyFacts::new(&rows).with_facts(&triples)
}

const TOWNS: &str = r##"{"steps": [
{"question": "Which towns has Land?", "operator": "relate", "arguments": ["Land", "town"]},
{"question": "Which of #1 were founded after 1998?", "operator": "filter", "arguments": ["#1", "CONDITION"]}]}"##;

#[tokio::test]
async fn ten_thousand_entities_are_one_query_of_the_graph() {
    let plan = TOWNS.replace("CONDITION", "founded after 1998");
    let reply = r#"{"answer": "Ten.", "answers": ["10"]}"#;
    let model = Script::new([(PLAN, plan.as_str()), (CHILDREN, reply)]);
    let run = with(model, vec![], Some(towns(10_000)));
    let (answer, trace) = answered(&only(&["kg"]), run).await;
    assert_eq!(answer.unwrap().text, "10", "{}", halma_testkit::outline(&trace));
    let look_ups =
        halma_testkit::outline(&trace).matches("look up kg \"Filter(10000 entities").count();
    assert_eq!(look_ups, 1);
    // The prompt of ten thousand names would be no prompt.
    let longest = trace.0.iter().map(|event| match event {
        halma_core::Event::ModelCalled { messages, .. } => messages[1].text.len(),
        _ => 0,
    });
    assert!(longest.max().unwrap() < 4_000);
}

#[tokio::test]
async fn of_ten_thousand_entities_some_are_looked_up_in_texts() {
    let plan = TOWNS.replace("CONDITION", "the prettiest");
    let reply = r#"{"answer": "One.", "answers": ["town1"]}"#;
    let model = Script::new([(PLAN, plan.as_str()), (FILTER, reply), (CHILDREN, reply)]);
    let pages: Vec<(String, String)> = (0..40)
        .map(|i| (format!("town{i}"), format!("town{i} is one of the prettiest places.")))
        .collect();
    let pages: Vec<(&str, &str, &str)> =
        pages.iter().map(|(name, text)| (name.as_str(), name.as_str(), text.as_str())).collect();
    let pages = ToySource::new("web", &pages);
    let run = with(model, vec![pages], Some(towns(10_000)));
    let first = Atomr { kg: Kg::First, ..only(&["web", "kg"]) };
    let (answer, trace) = answered(&first, run).await;
    assert_eq!(answer.unwrap().text, "town1", "{}", halma_testkit::outline(&trace));
    let outline = halma_testkit::outline(&trace);
    assert!(outline.contains("of 10000 entities, the first 32 are looked up"), "{outline}");
    assert_eq!(outline.matches("look up web \"town").count(), 32);
}

#[tokio::test(start_paused = true)]
async fn plans_that_go_in_circles_end() {
    for plan in [
        r##"{"steps": [{"question": "a?", "operator": "parts", "arguments": ["#1"]}]}"##,
        r##"{"steps": [{"question": "Varn of #1?", "operator": "search", "arguments": ["#1"]}]}"##,
        r#"{"steps": [{"question": "Varn #2?", "operator": "search", "arguments": ["Varn #2"]},
            {"question": "Varn #1?", "operator": "search", "arguments": ["Varn #1"]}]}"#,
        r#"{"steps": [{"question": "q?", "operator": "reason", "arguments": []}]}"#,
        r#"{"steps": []}"#,
    ] {
        let queues: [(&str, &[&str]); 4] = [
            (PLAN, &[plan, plan, plan]),
            (SEARCH, &[VARN; 4]),
            (DIRECT, &[READ; 4]),
            (CHILDREN, &[VARN; 4]),
        ];
        let run = Run::new(Timed::new(&queues));
        let (answer, trace) = answered(&Atomr::default(), run).await;
        // Never a walk without an end.
        assert!(
            matches!(&answer, Ok(_) | Err(Error::BadReply { .. })),
            "{plan}: {answer:?}\n{}",
            halma_testkit::outline(&trace)
        );
    }
}

#[tokio::test]
async fn a_model_that_never_answers_is_an_error() {
    let refused = Err(LlmError::refused("the model is overloaded"));
    let model = Script::with_failures(vec![(PLAN, refused)]);
    golden("atomr/no_model", &Atomr::default(), Run::new(model)).await;
}
