//! Full answers: written by a model, streamed while it writes, checked against their sources.
#![expect(clippy::unwrap_used, reason = "tests may stop")]
use std::path::Path;
use std::sync::Arc;

use halma_core::{Answer, AnswerStyle, Budget, Event, Watcher};
use halma_engine::{AskRequest, CheckClaims, Config, EmbedderKind, Engine, IndexOptions};
use halma_testkit::double::{Behaviour, ChatCall, Double};
use parking_lot::Mutex;

const LIBRARY: &[(&str, &str)] = &[
    ("light.md", "# Far Light\n\nFar Light was built by **Anna Roe**. It stands on a reef.\n"),
    ("roe.md", "# Anna Roe\n\nAnna Roe was born in Velby in 1840. She built towers.\n"),
    ("other.md", "# Skell\n\nSkell is a tower of the coast. It is red.\n"),
];

const QUESTION: &str = "Where was the builder of Far Light born?";

/// A reply of the reader: what it found, and how it writes it out.
fn reply(call: &ChatCall, full: &str) -> String {
    match call.prompt.as_str() {
        "answer/full" => full.to_owned(),
        "answer/check" => {
            r#"{"rationale": "r", "verdicts": ["supported", "unsupported"]}"#.to_owned()
        }
        _ => {
            r#"{"rationale": "Anna Roe built Far Light and was born in Velby.", "answer": "Velby"}"#
                .to_owned()
        }
    }
}

/// The words of the user's message in the order of the passages, as the model cites them.
const FULL: &str = r#"{"answer": "The builder of Far Light, Anna Roe, was born in Velby [9][N]. Roe died in Oslo in 1902 [N]."}"#;

async fn engine(dir: &Path, double: &Double, check: CheckClaims) -> Engine {
    let mut config = Config::default();
    config.embedder.kind = EmbedderKind::None;
    config.ask.strategy = "naive".into();
    config.ask.check_claims = check;
    config.kb.atoms = halma_engine::Atoms::Sentences;
    let model = format!("url = \"{}\"\nmodel = \"double\"\nretries = 2", double.url());
    config.models.insert("main".into(), toml::from_str(&model).unwrap());
    let files = dir.join("library");
    std::fs::create_dir_all(&files).unwrap();
    for (name, text) in LIBRARY {
        std::fs::write(files.join(name), text).unwrap();
    }
    let engine = Engine::create_or_open(config, &dir.join("base")).unwrap();
    engine.index(&[files], &IndexOptions::default(), Arc::new(|_| {})).await.unwrap();
    engine
}

/// What a watcher was shown, as a reader of the answer would see it.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<(String, usize)>>, Arc<Mutex<Vec<String>>>);

impl Shown {
    fn watcher(&self) -> Watcher {
        let (shown, roles) = (Arc::clone(&self.0), Arc::clone(&self.1));
        Arc::new(move |event: &Event| {
            if let Event::ModelAsked { role, .. } = event {
                roles.lock().push(role.clone());
            }
            if let Event::AnswerDelta { text, restart } = event {
                let mut shown = shown.lock();
                if *restart {
                    shown.0.clear();
                }
                shown.0.push_str(text);
                shown.1 += 1;
            }
        })
    }
}

fn called(event: &Event) -> Option<String> {
    let Event::ModelCalled { role, .. } = event else { return None };
    Some(role.clone())
}

async fn ask(engine: &Engine, request: AskRequest) -> (Answer, halma_core::Trace) {
    let result = engine.ask(AskRequest { question: QUESTION.into(), ..request }).await.unwrap();
    (result.outcome.answer.unwrap(), result.outcome.trace)
}

/// The number of the passage of Anna Roe in the prompt.
fn numbered(call: &ChatCall) -> String {
    let text = call.last();
    let number = (1..9).find(|n| text.contains(&format!("[{n}] Anna Roe"))).unwrap_or(1);
    FULL.replace('N', &number.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_answer_is_streamed_numbered_and_checked() {
    let dir = tempfile::tempdir().unwrap();
    let double = Double::start(Behaviour::replying(|call| reply(call, &numbered(call))));
    let engine = engine(dir.path(), &double, CheckClaims::Words).await;
    let shown = Shown::default();
    let watcher = Some(shown.watcher());
    let (answer, trace) = ask(&engine, AskRequest { watcher, ..AskRequest::default() }).await;
    assert_eq!(answer.text, "Velby");
    let full = answer.full.as_ref().unwrap();
    assert_eq!(
        full.text,
        "The builder of Far Light, Anna Roe, was born in Velby [1]. Roe died in Oslo in 1902 [1]."
    );
    let supported: Vec<bool> = full.claims.iter().map(|claim| claim.supported).collect();
    assert_eq!(supported, [true, false], "{full:?}");
    assert!(full.with_marks(" [?]").ends_with("1902 [1]. [?]"));
    // The first claim names Far Light, which only the other passage has.
    let titles: Vec<&str> = answer.citations.iter().map(|c| c.title.as_str()).collect();
    assert!(titles.contains(&"Anna Roe") && !titles.contains(&"Skell"), "{titles:?}");
    assert!(answer.citations.iter().all(|c| !c.quote.contains(['#', '*'])));
    assert_eq!(answer.steps.len(), answer.citations.len());
    assert_eq!(answer.steps[0].query, QUESTION);
    let (text, pieces) = shown.0.lock().clone();
    assert_eq!(text, full.text);
    assert!(pieces > 2, "{pieces} pieces");
    assert!(trace.first_word_ms().is_some());
    let called: Vec<String> = trace.0.iter().filter_map(called).collect();
    assert_eq!(*shown.1.lock(), called, "shown before the model replies");
    let live =
        |event: &Event| matches!(event, Event::AnswerDelta { .. } | Event::ModelAsked { .. });
    assert!(!trace.0.iter().any(live), "no trace stores it");
    // The cache answers the second time; the text is shown anyway.
    let again = Shown::default();
    let watcher = Some(again.watcher());
    let (cached, trace) = ask(&engine, AskRequest { watcher, ..AskRequest::default() }).await;
    assert_eq!((cached.full, trace.usage().llm_calls), (answer.full, 0));
    assert_eq!(again.0.lock().0, text);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_short_style_and_an_exhausted_budget_cost_no_further_call() {
    let dir = tempfile::tempdir().unwrap();
    let double = Double::start(Behaviour::replying(|call| reply(call, &numbered(call))));
    let engine = engine(dir.path(), &double, CheckClaims::Words).await;
    let short = AskRequest { answer_style: Some(AnswerStyle::Short), ..AskRequest::default() };
    let (answer, trace) = ask(&engine, short).await;
    assert_eq!((answer.text.as_str(), answer.full.as_ref()), ("Velby", None));
    assert_eq!((trace.usage().llm_calls, answer.steps.len()), (1, answer.citations.len()));
    let budget = Some(Budget { calls: Some(1), ..Budget::default() });
    let options = vec!["Velby".to_owned(), "Oslo".to_owned()];
    let (answer, _) = ask(&engine, AskRequest { options, ..AskRequest::default() }).await;
    assert!(answer.full.is_none(), "one of the choices is the answer");
    let other = format!("{QUESTION} Please.");
    let request = AskRequest { budget, ..AskRequest::new(other) };
    let result = engine.ask(request).await.unwrap();
    let answer = result.outcome.answer.unwrap();
    let full = answer.full.unwrap().text;
    assert!(full.contains("Anna Roe was born in Velby in 1840 ["), "quoted instead: {full}");
}

#[tokio::test(flavor = "multi_thread")]
async fn prose_for_an_answer_is_replaced_by_quotations_and_a_model_judges_claims() {
    let dir = tempfile::tempdir().unwrap();
    let double = Double::start(Behaviour::replying(|call| reply(call, "I would rather not.")));
    let quoting = engine(dir.path(), &double, CheckClaims::Words).await;
    let (answer, trace) = ask(&quoting, AskRequest::default()).await;
    let full = answer.full.unwrap();
    assert!(full.text.contains("Anna Roe was born in Velby in 1840 ["), "{full:?}");
    assert!(full.claims.iter().all(|claim| claim.supported), "{full:?}");
    assert!(halma_testkit::outline(&trace).contains("written from quotations"));
    let dir = tempfile::tempdir().unwrap();
    let double = Double::start(Behaviour::replying(|call| reply(call, &numbered(call))));
    let judging = engine(dir.path(), &double, CheckClaims::Model).await;
    let (answer, trace) = ask(&judging, AskRequest::default()).await;
    let supported: Vec<bool> = answer.full.unwrap().claims.iter().map(|c| c.supported).collect();
    assert_eq!((supported, trace.usage().llm_calls), (vec![true, false], 3));
}

#[tokio::test]
async fn abstaining_is_a_setting_of_every_strategy() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.embedder.kind = EmbedderKind::None;
    let engine = Engine::create_or_open(config, dir.path()).unwrap();
    for entry in halma_engine::strategies() {
        let set = |value: &str| [("abstain".to_owned(), value.to_owned())].into();
        if engine.strategy(entry.name).is_err() {
            continue;
        }
        let never = engine.strategy_with(entry.name, &set("false")).unwrap();
        assert_eq!(never.settings()["abstain"], false, "{}", entry.name);
        assert!(engine.strategy_with(entry.name, &set("perhaps")).is_err(), "{}", entry.name);
    }
    let prompt = |abstain: bool| {
        let question =
            halma_core::Question { abstain, ..halma_core::Question::new("Who built it?") };
        let question = minijinja::value::Serde(question);
        let variables = minijinja::context! { question, context => Vec::<String>::new() };
        engine.prompts().render("naive/answer", &variables).unwrap().messages[0].text.clone()
    };
    assert!(prompt(false).contains("`answer` is never empty"));
    assert!(!prompt(true).contains("`answer` is never empty"));
}

/// Mills by the year of their opening: 2, 2, 3, 3, 4 from 2016 to 2020.
fn mills() -> String {
    let years =
        [2016, 2016, 2017, 2017, 2018, 2018, 2018, 2019, 2019, 2019, 2020, 2020, 2020, 2020];
    let row = |(at, year): (usize, &i32)| format!("Mill {at},Varn,{year}-03-01\n");
    let rows: String = years.iter().enumerate().map(row).collect();
    format!("mill,town,opening date\n{rows}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_computed_answer_rests_on_its_rows_and_needs_no_call_to_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.embedder.kind = EmbedderKind::None;
    let files = dir.path().join("library");
    std::fs::create_dir_all(&files).unwrap();
    std::fs::write(files.join("mills.csv"), mills()).unwrap();
    let engine = Engine::create_or_open(config, &dir.path().join("base")).unwrap();
    engine.index(&[files], &IndexOptions::default(), Arc::new(|_| {})).await.unwrap();
    let ask = |question: &str, strategy: &str, style| {
        let strategy = Some(strategy.to_owned());
        let request =
            AskRequest { strategy, answer_style: Some(style), ..AskRequest::new(question) };
        let engine = &engine;
        async move {
            let result = engine.ask(request).await.unwrap();
            (result.outcome.answer.unwrap(), result.outcome.trace)
        }
    };
    for (strategy, question, calls) in [
        ("pike_l3", "How many mills should we expect to be opened in 2021?", 3),
        ("pike_l2", "How many mills in the table were opened before 2018?", 3),
    ] {
        let (answer, trace) = ask(question, strategy, AnswerStyle::Full).await;
        let outline = halma_testkit::outline(&trace);
        assert!(answer.computation.is_some(), "{strategy}: {outline}");
        assert_eq!(trace.usage().llm_calls, calls, "{strategy}: {outline}");
        let full = answer.full.as_ref().unwrap();
        assert!(full.text.starts_with(&format!("{} [1][2][3].", answer.text)), "{full:?}");
        assert!(full.claims.iter().all(|claim| claim.supported), "{strategy}: {full:?}");
        assert_eq!(full.claims[0].citations, [1, 2, 3]);
        assert!(full.claims.iter().all(|claim| !claim.citations.is_empty()), "{full:?}");
        assert!(answer.citations.len() > 3 && answer.steps.is_empty());
        assert!(answer.citations.iter().all(|cited| cited.document == "mills.csv"));
        assert!(answer.citations.iter().all(|cited| cited.quote.contains("Mill ")));
        let (short, _) = ask(question, strategy, AnswerStyle::Short).await;
        assert_eq!((short.full, short.citations.len()), (None, answer.citations.len()));
    }
    // Without a model there are passages in place of ideas.
    let question = "What could the mills of Varn do?";
    let (answer, _) = ask(question, "pike_l4", AnswerStyle::Full).await;
    let limitation = answer.limitation.unwrap_or_default();
    assert!(answer.abstained && limitation.starts_with("No language model"), "{limitation}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_many_sentences_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let long = format!(r#"{{"rationale": "r", "answer": "{}"}}"#, "It is. ".repeat(4_000));
    let double = Double::start(Behaviour::replying(move |call| match call.prompt.as_str() {
        "answer/full" => reply(call, &long),
        _ => long.clone(),
    }));
    let engine = engine(dir.path(), &double, CheckClaims::Words).await;
    let (answer, trace) = ask(&engine, AskRequest::default()).await;
    assert_eq!(answer.text.chars().count(), 20_001);
    assert!(answer.full.unwrap().text.chars().count() < 40_000);
    assert!(
        halma_testkit::outline(&trace).contains("only the first 20,000 characters"),
        "{}",
        halma_testkit::outline(&trace)
    );
}
