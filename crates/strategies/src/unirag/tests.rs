use std::sync::Arc;

use halma_core::{
    AnswerKind, BoxError, Budget, Catalog, Edge, Knowledge, Meter, Models, NodeId, Outcome,
    Prompts, Query, Setup, SqlResult,
};
use halma_testkit::{Script, Timed, Toy};
use parking_lot::Mutex;

use super::*;
use crate::PROMPTS;
use crate::golden::{Run, golden, lighthouse, timed};

const SUB_QUERIES: &str = "unirag/sub_queries";
const BREAK_DOWN: &str = "unirag/break_down";
const GATE: &str = "unirag/gate";
const REWRITE: &str = "unirag/rewrite";

const WHO: &str = r#"{"sub_queries": ["Who was the architect of the Varn lighthouse?"]}"#;
const WHERE: &str = r#"{"sub_queries": ["Where was Ilse Thorn born?", "Who was the architect of the Varn lighthouse?"]}"#;
const BOTH: &str = r#"{"sub_queries": ["Who was the architect of the Varn lighthouse?", "Where was Ilse Thorn born?"]}"#;
const OPEN: &str = r#"{"constraints": [{"constraint": "architect of Varn", "finding": "Ilse Thorn [1]", "holds": true}, {"constraint": "born in a country", "finding": "", "holds": null}], "rationale": "Where Ilse Thorn was born is not told.", "answer": ""}"#;
const SWEDEN: &str = r#"{"constraints": [{"constraint": "born in a country", "holds": null}], "rationale": "A guess.", "answer": "Sweden"}"#;
const NORWAY: &str = r#"{"constraints": [{"constraint": "architect of Varn", "finding": "Ilse Thorn [1]", "holds": true}, {"constraint": "born in a country", "finding": "Norway [2]", "holds": true}], "rationale": "She was born in Norway.", "answer": "Norway"}"#;
const PLAIN: &str = r#"{"rationale": "She was born in Norway.", "answer": "Norway"}"#;
const GOOD: &str = r#"{"reason": "Passage 1 says so.", "statements": 1, "supported": 1, "asked": 1, "given": 1, "useful": [1]}"#;
const POOR: &str = r#"{"reason": "No passage says so.", "statements": 2, "supported": 1, "asked": 1, "given": 1, "useful": [1]}"#;
const NO: &str = r#"{"reason": "It is another one.", "statements": 1, "supported": 0, "asked": 1, "given": 1, "useful": []}"#;
const THORN: &str =
    r#"{"missing": "her country of birth", "question": "In which country was Ilse Thorn born?"}"#;
const SAME: &str = r#"{"missing": "", "question": "in which country was the architect of the Varn lighthouse born"}"#;

/// With a threshold that shares of words can reach, and few sub-queries.
fn unirag() -> Unirag {
    Unirag { theta: 0.5, best: 1, p: 2, ..Unirag::default() }
}

fn of_one() -> Unirag {
    Unirag { p: 1, ..unirag() }
}

#[tokio::test]
async fn an_answer_that_is_borne_out_is_accepted() {
    let model = Script::new([(SUB_QUERIES, BOTH), (BREAK_DOWN, NORWAY), (GATE, GOOD)]);
    let unirag = Unirag { rerank: false, ..unirag() };
    golden("unirag/accepted", &unirag, Run::new(model)).await;
}

#[tokio::test]
async fn what_is_missing_is_asked_for_and_used_sub_queries_are_not_used_again() {
    let model = Script::new([
        (SUB_QUERIES, WHO),
        (BREAK_DOWN, OPEN),
        (REWRITE, THORN),
        (SUB_QUERIES, WHERE),
        (BREAK_DOWN, NORWAY),
        (GATE, GOOD),
    ]);
    golden("unirag/reworded", &of_one(), Run::new(model)).await;
}

#[tokio::test]
async fn the_best_answer_is_given_with_low_confidence_when_none_is_accepted() {
    let model = Script::new([
        (SUB_QUERIES, WHO),
        (BREAK_DOWN, SWEDEN),
        (GATE, NO),
        (REWRITE, THORN),
        (SUB_QUERIES, WHERE),
        (BREAK_DOWN, SWEDEN),
        (GATE, POOR),
    ]);
    let unirag = Unirag { rounds: 2, ..of_one() };
    golden("unirag/low_confidence", &unirag, Run::new(model)).await;
}

/// The confidence of the answer, and of which round it is told by its text.
async fn confidence(unirag: &Unirag, model: Arc<Script>) -> (String, Option<f32>) {
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let setup = Arc::new(Setup::new(Models::new(model), lighthouse(), prompts));
    let cx = Cx::new(setup, Arc::new(Meter::unlimited()), None);
    let question = Question::new("In which country was the architect of the Varn lighthouse born?");
    let answer = Outcome::run(unirag, &question, &cx).await.answer.unwrap();
    (answer.text, answer.confidence)
}

#[tokio::test]
async fn confidence_is_the_mean_of_the_gate_and_low_where_it_rejects() {
    let accepted = Script::new([(SUB_QUERIES, BOTH), (BREAK_DOWN, PLAIN), (GATE, GOOD)]);
    let (text, sure) = confidence(&unirag(), accepted).await;
    assert_eq!((text.as_str(), sure), ("Norway", Some(0.875)));
    let rejected =
        Script::new([(SUB_QUERIES, BOTH), (BREAK_DOWN, PLAIN), (GATE, NO), (REWRITE, SAME)]);
    assert_eq!(confidence(&unirag(), rejected).await.1, Some(0.25));
    let unjudged = Script::new([(SUB_QUERIES, BOTH), (BREAK_DOWN, PLAIN)]);
    let without = Unirag { rewrite: false, ..unirag() };
    assert_eq!(confidence(&without, unjudged).await.1, None);
}

#[tokio::test]
async fn without_reranker_and_tagger_it_says_so_and_goes_on() {
    let model = Script::new([(SUB_QUERIES, BOTH), (BREAK_DOWN, PLAIN), (GATE, GOOD)]);
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let setup = Arc::new(Setup::new(Models::new(model), lighthouse(), prompts));
    let cx = Cx::new(setup, Arc::new(Meter::unlimited()), None);
    let question = Question::new("In which country was the architect of the Varn lighthouse born?");
    let outcome = Outcome::run(&unirag(), &question, &cx).await;
    assert_eq!(outcome.answer.unwrap().text, "Norway");
    let outline = halma_testkit::outline(&outcome.trace);
    assert!(outline.contains("note: there is no reranker"), "{outline}");
    assert!(outline.contains("note: there is no tagger"), "{outline}");
}

#[tokio::test]
async fn nothing_relevant_keeps_the_best() {
    let model = Script::new([(SUB_QUERIES, BOTH), (BREAK_DOWN, NORWAY), (GATE, GOOD)]);
    let unirag = Unirag { theta: 0.9, best: 1, ..unirag() };
    golden("unirag/nothing_relevant", &unirag, Run::new(model)).await;
}

#[tokio::test]
async fn each_part_can_be_left_out() {
    let cot = "unirag/cot";
    let bare = Unirag { decompose: false, rewrite: false, rerank: false, ..unirag() };
    let bare = Unirag { prompt: Prompting::Cot, ..bare };
    golden("unirag/reasoning_only", &bare, Run::new(Script::new([(cot, PLAIN)]))).await;
    let decomposed = Unirag { decompose: true, ..bare };
    let model = Script::new([(SUB_QUERIES, BOTH), (cot, PLAIN)]);
    golden("unirag/with_decomposition", &decomposed, Run::new(model)).await;
}

/// Logic and arithmetic (Section 4.1): sub-queries are steps, and there are rounds as well.
#[tokio::test]
async fn without_retrieval_sub_queries_are_steps_and_rounds_remain() {
    let sure = r#"{"reason": "It follows.", "statements": 1, "supported": 1, "asked": 1, "given": 1, "useful": []}"#;
    let model = Script::new([
        (SUB_QUERIES, BOTH),
        (BREAK_DOWN, SWEDEN),
        (GATE, NO),
        (REWRITE, THORN),
        (SUB_QUERIES, r#"{"sub_queries": ["What is a reef?", "What is a tower?"]}"#),
        (BREAK_DOWN, PLAIN),
        (GATE, sure),
    ]);
    let unirag = Unirag { retrieve: false, ..unirag() };
    let run = Run { knowledge: Toy::empty(), ..Run::new(Arc::clone(&model) as _) };
    golden("unirag/without_retrieval", &unirag, run).await;
    let shown = model.shown(BREAK_DOWN);
    let steps = "Sub-questions:\n1. What is a reef?\n2. What is a tower?\n";
    assert!(shown[1].contains(steps), "{}", shown[1]);
}

#[tokio::test]
async fn a_model_that_writes_too_few_sub_queries_is_asked_once_for_the_others() {
    let more = r#"{"sub_queries": ["What did Ilse Thorn build?"]}"#;
    let model =
        Script::new([(SUB_QUERIES, BOTH), (SUB_QUERIES, more), (BREAK_DOWN, NORWAY), (GATE, GOOD)]);
    let unirag = Unirag { p: 4, ..unirag() };
    golden("unirag/too_few", &unirag, Run::new(Arc::clone(&model) as _)).await;
    assert!(model.shown(SUB_QUERIES)[1].contains("- Where was Ilse Thorn born?"));
}

#[tokio::test]
async fn constraints_that_cannot_be_read_are_left_for_reasoning_step_by_step() {
    let chatter = (BREAK_DOWN, "Let us break it down: first, Varn.");
    let model = Script::new([
        (SUB_QUERIES, BOTH),
        chatter,
        chatter,
        chatter,
        ("unirag/cot", PLAIN),
        (GATE, GOOD),
    ]);
    golden("unirag/not_broken_down", &unirag(), Run::new(model)).await;
}

#[tokio::test]
async fn forty_sub_queries_are_cut_and_a_claim_has_two() {
    let forty: Vec<String> =
        (1..=40).map(|i| format!("\"Where was Ilse Thorn in {i}?\"")).collect();
    let reply = format!("{{\"sub_queries\": [{}]}}", forty.join(", "));
    let run = |kind| {
        let model =
            Script::with_failures(vec![(SUB_QUERIES, Ok(reply.as_str())), (BREAK_DOWN, Ok(PLAIN))]);
        let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
        let setup = Arc::new(Setup::new(Models::new(model), lighthouse(), prompts));
        let cx = Cx::new(setup, Arc::new(Meter::unlimited()), None);
        let question = Question { answer_kind: kind, ..Question::new("Was Ilse Thorn Norwegian?") };
        async move {
            let unirag = Unirag { rewrite: false, p: 8, ..unirag() };
            let outcome = Outcome::run(&unirag, &question, &cx).await;
            (outcome.trace.searches().0, halma_testkit::outline(&outcome.trace))
        }
    };
    let (searches, outline) = run(AnswerKind::YesNo).await;
    assert_eq!(searches, 9);
    assert!(outline.contains("of 40 sub-queries, the first 8 are used"), "{outline}");
    assert_eq!(run(AnswerKind::Verdict).await.0, 3);
}

#[tokio::test]
async fn no_sub_query_and_a_question_that_stays_the_same_end_the_rounds() {
    let model = Script::new([
        (
            SUB_QUERIES,
            r#"{"sub_queries": ["in which country was the architect of the Varn lighthouse born", " "]}"#,
        ),
        (BREAK_DOWN, OPEN),
        (REWRITE, SAME),
    ]);
    golden("unirag/nothing_new_to_ask", &unirag(), Run::new(model)).await;
}

#[tokio::test]
async fn a_model_that_never_has_enough_is_stopped_and_abstains() {
    let wordings: Vec<String> = (1..=2)
        .map(|i| format!(r#"{{"missing": "", "question": "Where was Ilse Thorn in {i}?"}}"#))
        .collect();
    let model = Script::with_failures(vec![
        (SUB_QUERIES, Ok(WHO)),
        (BREAK_DOWN, Ok(OPEN)),
        (REWRITE, Ok(wordings[0].as_str())),
        (SUB_QUERIES, Ok(WHO)),
        (BREAK_DOWN, Ok(OPEN)),
        (REWRITE, Ok(wordings[1].as_str())),
        (SUB_QUERIES, Ok(WHO)),
        (BREAK_DOWN, Ok(OPEN)),
    ]);
    let unirag = Unirag { keep_passages: false, ..of_one() };
    golden("unirag/never_enough", &unirag, Run::new(model)).await;
}

#[tokio::test]
async fn an_empty_base_abstains_without_reading() {
    let model = Script::new([(SUB_QUERIES, BOTH)]);
    golden("unirag/empty_base", &unirag(), Run { knowledge: Toy::empty(), ..Run::new(model) })
        .await;
}

#[tokio::test]
async fn a_spent_budget_answers_from_what_was_found() {
    for (calls, name) in
        [(1, "unirag/last_call"), (2, "unirag/last_two_calls"), (4, "unirag/spent_budget")]
    {
        let budget = Budget { calls: Some(calls), ..Budget::default() };
        let model = match calls {
            1 => Script::new([(BREAK_DOWN, NORWAY)]),
            2 => Script::new([(SUB_QUERIES, BOTH), (BREAK_DOWN, NORWAY)]),
            _ => Script::new([(SUB_QUERIES, BOTH), (BREAK_DOWN, SWEDEN), (GATE, POOR)]),
        };
        golden(name, &unirag(), Run { budget, ..Run::new(model) }).await;
    }
}

#[tokio::test]
async fn counts_that_cannot_be_leave_the_answer_unjudged() {
    let odd = (GATE, r#"{"reason": "", "statements": 1, "supported": 3}"#);
    let model =
        Script::new([(SUB_QUERIES, BOTH), (BREAK_DOWN, NORWAY), odd, odd, odd, (REWRITE, SAME)]);
    golden("unirag/always_malformed", &unirag(), Run::new(model)).await;
}

#[tokio::test]
async fn the_example_of_the_paper() {
    let knowledge = Toy::new(&[
        (
            "modern",
            "Modern Records",
            "Artists who worked with Modern Records include Etta James, Joe Houston and Little Richard.",
            &[],
        ),
        (
            "richard",
            "Little Richard",
            "Little Richard, born on December 5, 1932, was an American musician, singer, actor, comedian and songwriter.",
            &[],
        ),
    ]);
    let queries = r#"{"sub_queries": ["Which artists worked with Modern Records?", "Which American musician was born on December 5, 1932?"]}"#;
    let richard = r#"{"constraints": [{"constraint": "worked with Modern Records", "finding": "Etta James, Joe Houston, Little Richard", "holds": true}, {"constraint": "born on December 5, 1932", "finding": "Little Richard", "holds": true}], "rationale": "Both are met by Little Richard.", "answer": "Little Richard"}"#;
    let model = Script::new([(SUB_QUERIES, queries), (BREAK_DOWN, richard), (GATE, GOOD)]);
    let question = "What is the name of this American musician, singer, actor, comedian, and songwriter, who worked with Modern Records and born in December 5, 1932?";
    golden("unirag/paper", &unirag(), Run { question, knowledge, ..Run::new(model) }).await;
}

#[tokio::test(start_paused = true)]
async fn a_round_costs_three_round_trips() {
    let model = Timed::new(&[(SUB_QUERIES, &[BOTH]), (BREAK_DOWN, &[NORWAY]), (GATE, &[GOOD])]);
    let (transcript, trips) = timed(&unirag(), Run::new(model)).await;
    assert_eq!(trips, 3, "{transcript}");
}

/// Remembers with how many texts it was searched, each time.
struct Counted(Arc<Toy>, Mutex<Vec<usize>>);

#[async_trait]
impl Knowledge for Counted {
    async fn search(&self, query: &Query) -> std::result::Result<Vec<Vec<Hit>>, BoxError> {
        self.1.lock().push(query.texts.len());
        self.0.search(query).await
    }

    async fn get(&self, id: &NodeId) -> std::result::Result<Hit, BoxError> {
        self.0.get(id).await
    }

    async fn neighbours(
        &self,
        id: &NodeId,
        edge: Option<Edge>,
    ) -> std::result::Result<Vec<(Edge, Hit)>, BoxError> {
        self.0.neighbours(id, edge).await
    }

    async fn run_sql(&self, sql: &str) -> std::result::Result<SqlResult, BoxError> {
        self.0.run_sql(sql).await
    }

    async fn catalog(&self) -> std::result::Result<Catalog, BoxError> {
        self.0.catalog().await
    }
}

#[tokio::test]
async fn the_question_and_its_eight_sub_queries_are_one_search() {
    let eight: Vec<String> = (1..=8).map(|i| format!("\"Where was Ilse Thorn in {i}?\"")).collect();
    let reply = format!("{{\"sub_queries\": [{}]}}", eight.join(", "));
    let model = Script::with_failures(vec![
        (SUB_QUERIES, Ok(reply.as_str())),
        (BREAK_DOWN, Ok(NORWAY)),
        (GATE, Ok(GOOD)),
    ]);
    let base = Arc::new(Counted(lighthouse(), Mutex::default()));
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let knowledge = Arc::clone(&base) as Arc<dyn Knowledge>;
    let setup = Arc::new(Setup::new(Models::new(model), knowledge, prompts));
    let cx = Cx::new(setup, Arc::new(Meter::unlimited()), None);
    let question = Question::new("Where was Ilse Thorn born?");
    let unirag = Unirag { p: 8, ..unirag() };
    Outcome::run(&unirag, &question, &cx).await.answer.unwrap();
    assert_eq!(*base.1.lock(), [9]);
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |table: &str| (ENTRY.build)(table.parse().unwrap()).err().unwrap();
    assert!(refused("p = 0").contains("`p`"));
    assert!(refused("theta = 1.5").contains("`theta`"));
    assert!(refused("accept = -0.5").contains("`accept`"));
    assert!(refused("prompt = \"react\"").contains("`cot`"));
}
