//! Collections with a toy strategy and a scripted model, and the pairs that are made of them.
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, Budget, ChatReply, ChatRequest, ChosenHop, Cx, DecompositionHop, Limit, Llm, LlmError,
    Meter, Price, Prompt, PromptFile, PromptSet, Prompts, Question, Strategy, Usage,
};
use halma_testkit::Script;

use super::*;
use crate::data::{DataSet, Format, Item};
use crate::jobs::Progress;
use crate::metrics::{Metric, Profile};
use crate::runner::{SystemUnderTest, tests::bench};

const ASK: Prompt<String> = Prompt::text("test/ask");
const DECOMPOSE: PromptSet = PromptSet::Files(&[PromptFile {
    name: "kar3/decompose",
    text: include_str!("../../../strategies/prompts/kar3/decompose.md"),
}]);

/// Replies such as `Who built it?=Thorn;Norway`: a hop with its answer, then the answer of all.
struct Decomposer {
    seed: u64,
}

#[async_trait]
impl Strategy for Decomposer {
    fn name(&self) -> &'static str {
        "decomposer"
    }

    fn settings(&self) -> serde_json::Value {
        serde_json::json!({ "seed": self.seed, "k": 4 })
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> halma_core::Result<Answer> {
        let reply = cx.ask(&ASK, minijinja::context! { question => &question.text }).await?;
        let mut parts: Vec<&str> = reply.split(';').collect();
        let answer = parts.pop().unwrap_or_default().to_owned();
        for (sub_question, answer) in parts.iter().filter_map(|part| part.split_once('=')) {
            let chosen = ChosenHop {
                candidate: 0,
                sub_question: sub_question.to_owned(),
                answer: answer.to_owned(),
                chunk: "c".into(),
            };
            let chosen = Some(chosen);
            let has_others = self.seed > 0 && question.text != LONE.0;
            let sampled = has_others.then(|| "d".into());
            cx.note(DecompositionHop { chosen, sampled, ..DecompositionHop::default() }.note());
        }
        Ok(Answer { text: answer, ..Answer::default() })
    }
}

fn system(label: &str, seed: u64) -> SystemUnderTest {
    SystemUnderTest {
        strategy: Arc::new(Decomposer { seed }),
        label: label.into(),
        fingerprint: format!("{label}{seed}"),
        point: BTreeMap::new(),
    }
}

fn collector(model: Arc<dyn Llm>, rounds: u64) -> Collector {
    let mut systems = vec![system("first", 0)];
    systems.extend((1..rounds).map(|seed| system("sampling", seed)));
    Collector {
        rounds: systems,
        bench: bench(model),
        budget: Arc::new(Meter::unlimited()),
        concurrency: 1,
        least: 1.0,
        settings: BTreeMap::new(),
    }
}

fn data(questions: &[(&str, &str)]) -> DataSet {
    let item = |(at, (text, answer)): (usize, &(&str, &str))| {
        Item::new(format!("q{at}"), *text, [(*answer).to_owned()])
    };
    DataSet {
        name: "toy".into(),
        format: Format::USER,
        metric: Metric::Span(Profile::Squad),
        items: questions.iter().enumerate().map(item).collect(),
        refused: vec![],
    }
}

pub(super) const VARN: (&str, &str) = ("In which country was the builder of Varn born?", "Norway");
/// Nothing else is near it, so that nothing is sampled.
const LONE: (&str, &str) = ("Who keeps the lone light?", "Eva Lind");
pub(super) const HOLM: (&str, &str) = ("Who designed the bridge of Holm?", "Ada Quill");

fn quiet() -> Progress {
    Arc::new(|_| {})
}

fn says<const N: usize>(replies: [&str; N]) -> Arc<Script> {
    Script::new(replies.map(|reply| ("test/ask", reply)))
}

pub(super) async fn collect<const N: usize>(
    out: &Path,
    questions: &[(&str, &str)],
    replies: [&str; N],
) -> CollectionSummary {
    let script = says(replies);
    let collector = collector(Arc::clone(&script) as Arc<dyn Llm>, 3);
    let summary = collector.run(&data(questions), out, &quiet()).await.unwrap();
    assert_eq!(script.left(), 0, "the script was not used up");
    summary
}

const WRONG: &str = "Who owns Varn?=Hask;Denmark";
pub(super) const RIGHT: &str = "Who built Varn?=Thorn;Where was Thorn born?=Norway;Norway";

#[tokio::test]
async fn a_question_is_answered_again_until_it_is_right_and_never_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    let holm = "Who designed it?=Ada Quill;Ada Quill";
    let summary = collect(&out, &[VARN, HOLM, VARN], [WRONG, RIGHT, holm]).await;
    assert_eq!((summary.questions, summary.rounds, summary.hops), (2, 3, 3));
    assert_eq!((summary.solved_without, summary.solved), (1, 2));
    assert_eq!(summary.left_out["questions that come twice"], 1);
    assert!(out.with_extension("jsonl.traces").join("q0.2.json").is_file());
    // A killed run leaves half a line; what was right is not asked again.
    let mut bytes = std::fs::read(&out).unwrap();
    bytes.extend(b"{\"line\":\"round\",\"vers");
    std::fs::write(&out, bytes).unwrap();
    let again = collect(&out, &[VARN, HOLM], []).await;
    assert_eq!((again.rounds, again.solved), (3, 2));
    let fewer = collect(&out, &[VARN], []).await;
    assert_eq!((fewer.questions, fewer.begun, fewer.rounds, fewer.solved), (1, 1, 2, 1));
    assert_eq!(fewer.earlier_rounds, 1);
}

#[tokio::test]
async fn all_rounds_are_made_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    let summary = collect(&out, &[VARN], [WRONG, WRONG, WRONG]).await;
    assert_eq!((summary.rounds, summary.solved), (3, 0));
    assert_eq!(collect(&out, &[VARN], []).await.rounds, 3);
}

#[tokio::test]
async fn a_question_with_nothing_to_sample_is_not_asked_with_every_seed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    let summary = collect(&out, &[LONE], [WRONG, WRONG]).await;
    assert_eq!((summary.rounds, summary.solved), (2, 0));
    assert_eq!(collect(&out, &[LONE], []).await.rounds, 2);
}

#[tokio::test]
async fn other_settings_and_another_base_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    collect(&out, &[VARN], [RIGHT]).await;
    let run = async |collector: Collector| {
        let refused = collector.run(&data(&[VARN]), &out, &quiet()).await.unwrap_err();
        assert!(refused.is_wrong_use());
        refused.to_string()
    };
    let message = run(Collector { least: 0.5, ..collector(says([]), 3) }).await;
    assert!(message.contains("right was 1.0 and is 0.5"), "{message}");
    let message = run(collector(says([]), 2)).await;
    assert!(message.contains("rounds was 3 and is 2"), "{message}");
    let mut other = collector(says([]), 3);
    other.bench.fingerprint = "another".into();
    assert!(run(other).await.contains("the base has changed"));
    std::fs::write(&out, "{\"version\": 1, \"question\": \"who\"}\n").unwrap();
    assert!(run(collector(says([]), 3)).await.contains("not a file of `halma train collect`"));
    // One line without an end, as published question files are.
    std::fs::write(&out, "[{\"question\": \"who\"}]").unwrap();
    assert!(run(collector(says([]), 3)).await.contains("left as it is"));
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "[{\"question\": \"who\"}]");
}

#[tokio::test]
async fn a_server_that_is_gone_ends_the_work_and_costs_no_round() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    let gone = || ("test/ask", Err(LlmError::refused("connection refused")));
    let steps = vec![("test/ask", Ok(RIGHT)), gone(), gone(), gone(), gone(), gone()];
    let script = Script::with_failures(steps);
    let numbered: Vec<String> = (0..9).map(|n| format!("Who built number {n}?")).collect();
    let mut questions = vec![VARN];
    questions.extend(numbered.iter().map(|text| (text.as_str(), "Thorn")));
    let collector = collector(Arc::clone(&script) as Arc<dyn Llm>, 3);
    let summary = collector.run(&data(&questions), &out, &quiet()).await.unwrap();
    assert_eq!((summary.rounds, summary.failed, script.left()), (1, 5, 0));
    assert!(matches!(summary.stopped, Some(Stopped::Failing { rounds: 5, .. })));
    assert!(summary.warnings()[0].contains("connection refused"), "{:?}", summary.warnings());
}

#[tokio::test]
async fn the_budget_ends_the_work_and_a_forecast_says_so_before() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    let mut collector = collector(says([RIGHT, "x=y;Ada Quill"]), 3);
    let forecast = collector.forecast(&data(&[VARN, HOLM]), &out, (1, &quiet())).await.unwrap();
    assert_eq!((forecast.left, forecast.per_question.unwrap().calls), (1, 1.0));
    let one = Budget { calls: Some(0), ..Budget::default() };
    collector.budget = Arc::new(Meter::new(one));
    let summary = collector.run(&data(&[VARN, HOLM]), &out, &quiet()).await.unwrap();
    assert_eq!(summary.stopped, Some(Stopped::Spent { limit: Limit::Calls }));
    assert_eq!((summary.rounds, summary.failed), (1, 0));
}

/// Asks for two replies.
struct Twice;

#[async_trait]
impl Strategy for Twice {
    fn name(&self) -> &'static str {
        "twice"
    }

    fn settings(&self) -> serde_json::Value {
        serde_json::json!({})
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> halma_core::Result<Answer> {
        let variables = minijinja::context! { question => &question.text };
        cx.ask(&ASK, variables.clone()).await?;
        let text = cx.ask(&ASK, variables).await?;
        Ok(Answer { text, ..Answer::default() })
    }
}

/// A model of which each call takes 10 tokens and a cent.
struct Priced;

#[async_trait]
impl Llm for Priced {
    fn model(&self) -> &'static str {
        "priced"
    }

    fn price(&self) -> Price {
        Price { prompt: 1_000.0, completion: 1_000.0, cached: None }
    }

    async fn chat(&self, _: &ChatRequest) -> Result<ChatReply, LlmError> {
        let usage = Usage { prompt_tokens: 8, completion_tokens: 2, ..Usage::default() };
        Ok(ChatReply { text: "Norway".into(), usage, ..ChatReply::default() })
    }
}

#[tokio::test]
async fn a_round_that_the_budget_cuts_off_is_reported_with_its_cost() {
    let folder = tempfile::tempdir().unwrap();
    let mut collector = collector(Arc::new(Priced), 1);
    collector.rounds[0].strategy = Arc::new(Twice);
    // One of the two calls is for a closing answer.
    let two = Budget { calls: Some(2), ..Budget::default() };
    collector.budget = Arc::new(Meter::new(two));
    let out = folder.path().join("runs.jsonl");
    let summary = collector.run(&data(&[VARN]), &out, &quiet()).await.unwrap();
    assert_eq!(summary.stopped, Some(Stopped::Spent { limit: Limit::Calls }));
    assert_eq!((summary.rounds, summary.calls, summary.tokens), (0, 1, 10));
    assert!((summary.usd - 0.01).abs() < 1e-9, "{}", summary.usd);
    let told = summary.lines().join("\n");
    assert!(told.contains("1 calls, 10 tokens, $0.0100"), "{told}");
    assert!(told.contains("of which 1 calls, 10 tokens, $0.0100 for rounds"), "{told}");
}

fn prompts() -> Prompts {
    Prompts::shipped(&[DECOMPOSE]).unwrap()
}

fn options(prompts: &Prompts, kind: PairKind) -> PairOptions<'_> {
    PairOptions {
        kind,
        format: ChatFormat::OpenAi,
        prompts,
        held_out: None,
        entities: OnEntities::Report,
        share: Share(0),
        force: false,
    }
}

fn texts(folder: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(folder.join("train.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn a_right_trajectory_of_t_hops_gives_t_and_one_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    // A sub-question without an answer is shown but not learned; one that comes twice is neither.
    let right = "Who owns Varn?=;Who built Varn?=Thorn;who built varn=Thorn;\
                 Where was Thorn born?=Norway;Where is Varn?=;Norway";
    collect(&out, &[VARN, HOLM], [WRONG, right, WRONG, WRONG, WRONG]).await;
    let (prompts, pairs) = (prompts(), folder.path().join("pairs"));
    let made = make_pairs(&out, &pairs, &options(&prompts, PairKind::Sft)).unwrap();
    assert_eq!((made.train, made.replies["ask"], made.replies["stop"]), (3, 2, 1));
    assert_eq!(made.left_out["questions without a right answer"], 1);
    let lines = texts(&pairs);
    let reply = |at: usize| lines[at]["messages"][2]["content"].as_str().unwrap();
    assert_eq!(
        reply(0),
        "<decompose>True</decompose>\n<sub-question>Who built Varn?</sub-question>"
    );
    assert_eq!(reply(2), "<decompose>False</decompose>");
    let shown = lines[1]["messages"][1]["content"].as_str().unwrap();
    for part in ["1. Who owns Varn? (no answer found)", "2. Who built Varn? Thorn", VARN.0] {
        assert!(shown.contains(part), "{shown}");
    }
    let last = lines[2]["messages"][1]["content"].as_str().unwrap();
    assert!(!last.contains("Where is Varn?"), "{last}");
    // The order in which questions were finished means nothing.
    let text = std::fs::read_to_string(&out).unwrap();
    let mut reversed: Vec<&str> = text.lines().collect();
    reversed[1..].reverse();
    std::fs::write(&out, reversed.join("\r\n") + "\r\n").unwrap();
    let again = folder.path().join("again");
    make_pairs(&out, &again, &options(&prompts, PairKind::Sft)).unwrap();
    let bytes = |folder: &Path| std::fs::read(folder.join("train.jsonl")).unwrap();
    assert_eq!(bytes(&pairs), bytes(&again));
}

#[tokio::test]
async fn what_a_right_trajectory_does_is_preferred_where_a_wrong_one_leaves_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    let later = "Who built Varn?=Thorn;Where did Thorn die?=Rome;Italy";
    collect(&out, &[VARN], [WRONG, later, RIGHT]).await;
    let (prompts, pairs) = (prompts(), folder.path().join("pairs"));
    let made = make_pairs(&out, &pairs, &options(&prompts, PairKind::Dpo)).unwrap();
    assert_eq!(made.train, 2);
    let lines = texts(&pairs);
    let of = |at: usize, side: &str| lines[at][side][0]["content"].as_str().unwrap().to_owned();
    assert!(of(0, "preferred_output").contains("Who built Varn?"));
    assert!(of(0, "non_preferred_output").contains("Who owns Varn?"));
    assert!(of(1, "preferred_output").contains("Where was Thorn born?"));
    assert!(of(1, "non_preferred_output").contains("Where did Thorn die?"));
}

#[tokio::test]
async fn held_out_questions_are_never_trained_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    collect(&out, &[VARN, HOLM], [RIGHT, "Who designed it?=Ada Quill;Ada Quill"]).await;
    let excluded = HeldOut::new(&data(&[
        ("in which country was the builder of Varn born", "Norway"),
        ("When did Ada Quill open the bridge?", "1911"),
    ]));
    let (prompts, pairs) = (prompts(), folder.path().join("pairs"));
    let options = |entities| PairOptions {
        held_out: Some(&excluded),
        entities,
        ..options(&prompts, PairKind::Sft)
    };
    let made = make_pairs(&out, &pairs, &options(OnEntities::Report)).unwrap();
    assert_eq!((made.train, made.leaked_questions.len()), (2, 1));
    assert_eq!(made.shared_names[HOLM.0], "ada quill");
    let none = make_pairs(&out, &pairs, &options(OnEntities::Drop)).unwrap_err();
    assert!(matches!(none, TrainError::HeldOutOnly { dropped: 2, .. }), "{none}");
}

#[tokio::test]
async fn the_question_itself_is_no_sub_question_before_others() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    let varn = format!("{}=Denmark;Who built Varn?=Thorn;Norway", VARN.0);
    let holm = format!("{}=Ada Quill;Ada Quill", HOLM.0);
    collect(&out, &[VARN, HOLM], [&varn, &holm]).await;
    let (prompts, pairs) = (prompts(), folder.path().join("pairs"));
    let made = make_pairs(&out, &pairs, &options(&prompts, PairKind::Sft)).unwrap();
    // Of HOLM, which takes one step, the question is its sub-question.
    assert_eq!((made.replies["ask"], made.replies["stop"]), (2, 2));
}

#[tokio::test]
async fn names_that_both_parts_of_a_set_share_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    let questions: Vec<String> =
        (0..4).map(|n| format!("Who was keeper {n} of the Varn Lighthouse?")).collect();
    let questions: Vec<(&str, &str)> = questions.iter().map(|text| (&text[..], "Thorn")).collect();
    let reply = "Who kept Varn?=Thorn;Thorn";
    collect(&out, &questions, [reply; 4]).await;
    let (prompts, pairs) = (prompts(), folder.path().join("pairs"));
    let options = PairOptions { share: Share(50), ..options(&prompts, PairKind::Sft) };
    let made = make_pairs(&out, &pairs, &options).unwrap();
    assert!(made.train > 0 && made.held_out > 0, "{made:?}");
    assert_eq!(made.shared_between_parts * 2, made.train);
}
