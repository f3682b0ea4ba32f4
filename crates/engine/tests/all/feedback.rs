//! Feedback through an engine: what of a run becomes knowledge, what that saves, and what holds it
//! back. The model is the offline one, so calls are counted and cost nothing.
#![expect(clippy::unwrap_used, reason = "tests may stop")]
use std::path::Path;
use std::sync::Arc;

use halma_core::Mode;
use halma_engine::{
    AskRequest, AskResult, CandidateState, Config, EmbedderKind, Engine, EngineError, Feedback,
    FeedbackRequest, IndexOptions, Verdict,
};

const QUESTION: &str = "Where was the builder of Far Light born?";
const REWORDED: &str = "Far Light's builder was born where?";

const LIGHT: &str = "# Far Light\n\nFar Light was built by Anna Roe in 1901.\n";

/// Two passages, of which the first says where she was born.
fn roe(town: &str, more: &str) -> String {
    let life = "She kept a diary of the weather, which she showed to no one. ".repeat(20);
    let work = "The towers that she drew later were never paid for. ".repeat(24);
    format!("# Anna Roe\n\nAnna Roe was born in {town}. {life}\n\n## Work\n\n{work}\n{more}")
}

async fn index(engine: &Engine, dir: &Path, roe: &str) {
    let folder = dir.join("notes");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("light.md"), LIGHT).unwrap();
    std::fs::write(folder.join("roe.md"), roe).unwrap();
    let options = IndexOptions { rehash: true, ..IndexOptions::default() };
    engine.index(&[folder], &options, Arc::new(|_| {})).await.unwrap();
}

async fn engine(dir: &Path) -> Engine {
    let mut config = Config::default();
    config.embedder.kind = EmbedderKind::None;
    let engine = Engine::create_or_open(config, &dir.join("base")).unwrap();
    index(&engine, dir, &roe("Lund", "")).await;
    engine
}

async fn ask(engine: &Engine, question: &str) -> AskResult {
    engine.ask(AskRequest::new(question)).await.unwrap()
}

fn say(run: &AskResult, verdict: Verdict, correction: &str) -> FeedbackRequest {
    let (correction, note) = (correction.to_owned(), String::new());
    FeedbackRequest { run: run.id.clone(), verdict, correction, note, key: None }
}

fn calls(result: &AskResult) -> u64 {
    result.outcome.trace.usage().llm_calls
}

fn text(result: &AskResult) -> &str {
    &result.outcome.answer.as_ref().unwrap().text
}

async fn accept(engine: &Engine, given: &Feedback) -> Feedback {
    let decision = engine.decision(vec![], None);
    engine.base().accept_feedback(&given.id, &decision).await.unwrap()
}

#[tokio::test]
async fn a_question_that_is_asked_again_is_answered_by_what_was_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path()).await;
    let first = ask(&engine, QUESTION).await;
    assert_eq!(text(&first), "Lund");
    let again = ask(&engine, QUESTION).await;
    assert_eq!(calls(&again), calls(&first), "nothing is accepted yet");
    let given = engine.give_feedback(say(&first, Verdict::Right, "")).unwrap();
    assert_eq!(given.candidates[0].question, QUESTION);
    assert!(given.candidates.len() > 1, "the hops as well: {given:?}");
    accept(&engine, &given).await;
    let repeated = ask(&engine, QUESTION).await;
    let reworded = ask(&engine, REWORDED).await;
    for result in [&repeated, &reworded] {
        assert_eq!(text(result), "Lund");
        let cited = &result.outcome.answer.as_ref().unwrap().citations;
        assert!(cited.iter().any(|citation| citation.document == "roe.md"), "{cited:?}");
    }
    // One call writes the answer out; a reworded question is compared by one more.
    assert_eq!((calls(&first), calls(&repeated), calls(&reworded)), (10, 1, 2));
    // Another question is another question.
    let other = ask(&engine, "Who built Far Light?").await;
    assert_eq!(text(&other), "Anna Roe");
    engine.base().undo_feedback(&given.id, &engine.decision(vec![], None)).unwrap();
    let undone = ask(&engine, QUESTION).await;
    assert_eq!(calls(&undone), calls(&first));
}

#[tokio::test]
async fn evaluations_search_what_was_accepted_only_when_asked_to() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path()).await;
    let first = ask(&engine, QUESTION).await;
    let given = engine.give_feedback(say(&first, Verdict::Right, "")).unwrap();
    accept(&engine, &given).await;
    let mut config = engine.config().clone();
    drop(engine);
    for eval in [false, true] {
        config.feedback.eval = eval;
        let engine = Arc::new(Engine::open(config.clone(), &dir.path().join("base")).unwrap());
        let hits = engine.chunk_search(Mode::Hybrid)(QUESTION.to_owned()).await.unwrap();
        let mut parts = hits.iter().flat_map(|hit| &hit.parts);
        assert_eq!(parts.any(|part| part.name == "feedback"), eval);
        let strategy = engine.strategy("naive").unwrap();
        let named = engine.fingerprint(strategy.as_ref()).unwrap().contains(&given.id);
        assert_eq!(named, eval);
    }
}

#[tokio::test]
async fn a_correction_takes_the_place_of_a_wrong_answer() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path()).await;
    let first = ask(&engine, "When was Far Light built?").await;
    let given = engine.give_feedback(say(&first, Verdict::Wrong, " In May 1901 ")).unwrap();
    assert_eq!(given.candidates.len(), 1);
    accept(&engine, &given).await;
    let again = ask(&engine, "When was Far Light built?").await;
    assert_eq!(text(&again), "In May 1901");
    // The iterator that training reads.
    let all: Vec<Feedback> = engine.feedback().map(Result::unwrap).collect();
    assert_eq!((all.len(), all[0].run.as_str()), (1, first.id.as_str()));
}

#[tokio::test]
async fn a_verifier_accepts_what_is_supported_and_holds_the_rest_back() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path()).await;
    let right = ask(&engine, "Who built Far Light?").await;
    let given = engine.give_feedback(say(&right, Verdict::Right, "")).unwrap();
    let verified = engine.verify_feedback(&given.id, None).await.unwrap();
    assert_eq!(verified.accepted, [1], "{verified:?}");
    let candidate = &verified.feedback.candidates[0];
    assert_eq!((candidate.state, candidate.by.as_str()), (CandidateState::Accepted, "verifier"));
    assert!(candidate.check.as_ref().unwrap().score >= 0.9);
    // What no passage says, and what contradicts an accepted answer.
    let result = ask(&engine, "Where was Anna Roe born?").await;
    let given = engine.give_feedback(say(&result, Verdict::Wrong, "Bergen")).unwrap();
    let verified = engine.verify_feedback(&given.id, None).await.unwrap();
    assert!(verified.accepted.is_empty() && verified.deferred.len() == 1, "{verified:?}");
    assert_eq!(verified.feedback.candidates[0].state, CandidateState::Pending);
    let other = engine.give_feedback(say(&right, Verdict::Wrong, "Bo Lind")).unwrap();
    let refused = engine.verify_feedback(&other.id, None).await.unwrap_err().to_string();
    assert!(refused.contains("is contradicted by"), "{refused}");
}

#[tokio::test]
async fn accepted_knowledge_stays_while_its_passages_do() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path()).await;
    let first = ask(&engine, QUESTION).await;
    let given = engine.give_feedback(say(&first, Verdict::Right, "")).unwrap();
    accept(&engine, &given).await;
    let more = "## Death\n\nShe died in the year of the great storm. ".repeat(30);
    index(&engine, dir.path(), &roe("Lund", &more)).await;
    assert_eq!(calls(&ask(&engine, QUESTION).await), 1, "the passages are the same");
    assert!(engine.base().inspector().verify().unwrap().is_sound());
    index(&engine, dir.path(), &roe("Malmö", &more)).await;
    let changed = ask(&engine, QUESTION).await;
    assert_eq!(text(&changed), "Malmö");
    assert!(engine.base().feedback(&given.id).is_err(), "it quoted what is gone");
    assert!(engine.base().inspector().verify().unwrap().is_sound());
}

#[tokio::test]
async fn feedback_on_nothing_and_without_end_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path()).await;
    let first = ask(&engine, QUESTION).await;
    let long = engine.give_feedback(say(&first, Verdict::Wrong, &"x".repeat(4_001)));
    assert!(matches!(long, Err(EngineError::Config(_))));
    engine.traces().remove(&first.id).unwrap();
    let gone = engine.give_feedback(say(&first, Verdict::Right, ""));
    assert!(matches!(gone, Err(EngineError::NoRun { .. })));
    assert_eq!(Verdict::parse("so-so"), None);
    assert!(engine.base().feedback("zz").is_err());
}
