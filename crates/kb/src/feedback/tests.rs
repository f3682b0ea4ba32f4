//! Giving, accepting, finding and taking back, on a base with something in every layer.
use std::sync::Arc;

use halma_core::{
    Edge, FieldValue, Filter, Hit, Knowledge as _, Layer, Metadata, MetadataFilter, Mode, NodeId,
    Query,
};

use super::*;
use crate::base::sample_base;
use crate::memory::FeedbackIndex;
use crate::store::{CandidateKind, CandidateState, Row, StoreReader, Verdict};
use crate::{Base, BaseOptions, FeedbackSettings, KbError};

const QUESTION: &str = "Where was the architect of the Varn lighthouse born?";

fn base(dir: &tempfile::TempDir) -> Arc<Base> {
    sample_base::create(dir.path(), "secret")
}

/// The chunks of both documents, those of `one` first.
fn chunks(base: &Base) -> Vec<NodeId> {
    let ids = |reader: &StoreReader<'_>| {
        let rows: Vec<Row> = reader.all_rows(Layer::Chunk)?;
        let ids = rows.into_iter().map(|row| reader.id_of((Layer::Chunk, row)));
        ids.collect::<heed::Result<Vec<_>>>()
    };
    let ids = base.store.read(ids).unwrap().into_iter().flatten();
    ids.map(|id| crate::store::node_id(Layer::Chunk, id)).collect()
}

fn draft(run: &str, verdict: Verdict, sources: &[NodeId]) -> FeedbackDraft {
    FeedbackDraft {
        run: run.into(),
        question: QUESTION.into(),
        answer: "Norway".into(),
        strategy: "kar3".into(),
        verdict,
        correction: String::new(),
        note: "poisonnote".into(),
        by: "ann".into(),
        at_ms: 1_700_000_000_000,
        documents: vec!["one".into()],
        cited: sources.to_vec(),
        candidates: vec![CandidateDraft {
            kind: CandidateKind::Answer,
            question: QUESTION.into(),
            answer: "Norway".into(),
            sources: sources.to_vec(),
        }],
    }
}

async fn accepted(base: &Arc<Base>, sources: &[NodeId]) -> Feedback {
    let given = base.add_feedback(&draft("run1", Verdict::Right, sources)).unwrap();
    let decision = Decision { by: "bo".into(), at: 7, ..Decision::default() };
    base.accept_feedback(&given.id, &decision).await.unwrap()
}

async fn find(base: &Base, layer: Layer, text: &str, feedback: Option<bool>) -> Vec<Hit> {
    let query = Query {
        filter: Filter { feedback, ..Filter::default() },
        ..Query::new(vec![text.into()], layer, Mode::Bm25, 5)
    };
    base.search(&query).await.unwrap().remove(0)
}

fn exported(base: &Base) -> String {
    let mut written = vec![];
    base.inspector().export(&mut written).unwrap();
    String::from_utf8(written).unwrap()
}

#[tokio::test]
async fn what_is_accepted_is_found_and_says_where_it_comes_from() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    let both = [chunks(&base)[0].clone(), chunks(&base)[2].clone()];
    let given = accepted(&base, &both).await;
    let atom = given.candidates[0].atom.clone().unwrap();
    let atoms = find(&base, Layer::Atom, "birthplace of the lighthouse architect", None).await;
    assert_eq!(atoms[0].id, atom);
    assert_eq!(atoms[0].text, format!("{QUESTION} Norway"));
    let shown = base.inspector().show(&atom).unwrap();
    let json = serde_json::to_value(&shown.details).unwrap();
    assert_eq!(json["accepted"]["feedback"], given.id);
    assert_eq!(json["accepted"]["by"], "bo");
    let mut derived: Vec<NodeId> = shown.edges.iter().map(|end| end.node.id.clone()).collect();
    assert!(shown.edges.iter().all(|end| end.edge == Edge::DerivedFrom));
    derived.sort();
    let mut expected = both.to_vec();
    expected.sort();
    assert_eq!(derived, expected);
    // A filter leaves it out, or asks for nothing else.
    assert!(find(&base, Layer::Atom, QUESTION, Some(false)).await.iter().all(|h| h.id != atom));
    let only = find(&base, Layer::Atom, QUESTION, Some(true)).await;
    assert_eq!(only.iter().map(|hit| &hit.id).collect::<Vec<_>>(), [&atom]);
    assert!(find(&base.without_feedback(), Layer::Atom, QUESTION, None).await.is_empty());
    assert_eq!(base.inspector().verify().unwrap().problems, []);
    // It is accepted once.
    let again = base.accept_feedback(&given.id, &Decision::default()).await.unwrap();
    assert_eq!(again.candidates[0].atom, Some(atom));
}

#[tokio::test]
async fn the_same_question_has_its_answer_and_a_similar_one_is_compared() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    let sources = [chunks(&base)[0].clone()];
    accepted(&base, &sources).await;
    let answers = base.known_answers("where was the architect of the Varn lighthouse born").await;
    let answers = answers.unwrap();
    assert!(answers[0].is_same && answers[0].answer == "Norway");
    assert_eq!(answers[0].passages[0].id, sources[0]);
    let reworded = "In the Varn lighthouse, where was its architect born?";
    let answers = base.known_answers(reworded).await.unwrap();
    assert!(!answers[0].is_same && answers[0].similarity > 0.9, "{answers:?}");
    for other in [
        "Where was the architect of the Varn lighthouse not born?",
        "Where was the architect of Varn lighthouse 2 born?",
        "What is a lighthouse?",
    ] {
        assert!(base.known_answers(other).await.unwrap().is_empty(), "{other}");
    }
}

#[tokio::test]
async fn accepted_and_wrong_answers_weigh_the_chunks_of_similar_questions() {
    let dir = tempfile::tempdir().unwrap();
    drop(base(&dir));
    let feedback = FeedbackSettings { penalty: 0.5, ..FeedbackSettings::default() };
    let options = BaseOptions { feedback, ..BaseOptions::default() };
    let base = Base::open(dir.path(), options).unwrap();
    let all = chunks(&base);
    accepted(&base, &all[3..4]).await;
    let hits = find(&base, Layer::Chunk, &format!("{QUESTION} first"), None).await;
    let lifted = hits.iter().find(|hit| hit.id == all[3]).unwrap();
    assert_eq!(lifted.parts.last().unwrap().name, "feedback");
    let plain = find(&base, Layer::Chunk, &format!("{QUESTION} first"), Some(false)).await;
    assert!(plain.iter().all(|hit| hit.id != all[3]));
    // What was cited wrongly counts less, for similar questions only.
    let score = |hits: &[Hit]| hits.iter().find(|hit| hit.id == all[0]).unwrap().score;
    let before = score(&hits);
    let mut wrong = draft("run2", Verdict::Wrong, &all[..1]);
    wrong.candidates.clear();
    let wrong = base.add_feedback(&wrong).unwrap();
    let after = find(&base, Layer::Chunk, &format!("{QUESTION} first"), None).await;
    assert!(score(&after) < before * 0.7, "{} {before}", score(&after));
    let other = find(&base, Layer::Chunk, "first", None).await;
    let unweighed = find(&base, Layer::Chunk, "first", Some(false)).await;
    assert!((score(&other) - score(&unweighed)).abs() < 1e-6);
    base.reject_feedback(&wrong.id, &Decision::default()).unwrap();
    let back = find(&base, Layer::Chunk, &format!("{QUESTION} first"), None).await;
    assert!((score(&back) - before).abs() < 1e-6);
}

#[tokio::test]
async fn what_is_undone_leaves_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    let before = exported(&base);
    let sources = [chunks(&base)[0].clone(), chunks(&base)[3].clone()];
    let given = accepted(&base, &sources).await;
    assert_ne!(exported(&base), before);
    let poisoned = FeedbackQuery { about: Some("POISON".into()), ..FeedbackQuery::default() };
    assert_eq!(base.list_feedback(&poisoned).unwrap()[0].id, given.id);
    let undone = base.undo_feedback(&given.id, &Decision::default()).unwrap();
    assert_eq!(undone.candidates[0].state, CandidateState::Undone);
    assert_eq!(exported(&base), before);
    assert!(find(&base, Layer::Atom, "Norway", None).await.is_empty());
    assert!(base.known_answers(QUESTION).await.unwrap().is_empty());
    assert_eq!(base.inspector().verify().unwrap().problems, []);
    base.delete_feedback(&given.id).unwrap();
    assert!(!base.store.holds_text("poisonnote") && !base.store.holds_text("norway"));
    assert!(matches!(base.feedback(&given.id), Err(KbError::NoFeedback { .. })));
    assert!(base.has_no_feedback().unwrap());
}

#[tokio::test]
async fn it_goes_with_any_document_that_it_rests_on() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    let sources = [chunks(&base)[0].clone(), chunks(&base)[3].clone()];
    let given = accepted(&base, &sources).await;
    assert!(base.store.holds_text("norway"));
    // The first document is cited by one chunk of two.
    base.delete(&["one".into(), "one again".into()]).unwrap();
    assert!(!base.store.holds_text("norway") && !base.store.holds_text("poisonnote"));
    assert!(base.feedback(&given.id).is_err());
    assert!(find(&base, Layer::Atom, "Norway", None).await.is_empty());
    assert_eq!(base.inspector().verify().unwrap().problems, []);
}

#[test]
fn what_is_said_while_its_document_is_deleted_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    let given = draft("run1", Verdict::Right, &chunks(&base)[..1]);
    // The deletion comes between the reading of the run and the turn to write.
    let names_before = base.store.read(|reader| submit::names_there(reader, &given)).unwrap();
    base.delete(&["one".into(), "one again".into()]).unwrap();
    let uncited = FeedbackDraft { cited: vec![], candidates: vec![], ..given.clone() };
    for refused in [
        base.add_feedback_about(&given, &names_before),
        base.add_feedback_about(&uncited, &names_before),
        base.add_feedback(&given),
    ] {
        assert!(matches!(refused, Err(KbError::NoDocument { .. })), "{refused:?}");
    }
    assert!(base.has_no_feedback().unwrap() && !base.store.holds_text("poisonnote"));
    assert_eq!(base.inspector().verify().unwrap().problems, []);
    // A page of the web was never in the base.
    let documents = vec!["https://example.org/".into(), "two".into()];
    let given = FeedbackDraft { documents, ..uncited };
    assert_eq!(base.add_feedback(&given).unwrap().documents, ["two"]);
}

#[test]
fn feedback_on_what_is_gone_is_removed_when_the_base_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    let sources = chunks(&base);
    base.add_feedback(&draft("run2", Verdict::Right, &sources[3..])).unwrap();
    let record = |reader: &StoreReader<'_>| Ok(reader.all_feedback()?.remove(0));
    let (id, mut record) = base.store.read(record).unwrap();
    // As a former version stored it.
    record.documents.push(9);
    record.cited.push(99);
    base.store.write(|writer| writer.add_feedback(id + 1, &record)).unwrap();
    assert_eq!(base.inspector().verify().unwrap().problems.len(), 2);
    drop(base);
    let base = Base::open(dir.path(), BaseOptions::default()).unwrap();
    assert_eq!(base.inspector().verify().unwrap().problems, []);
    assert_eq!(base.store.read(|reader| reader.feedback_ids()).unwrap(), [id]);
}

#[tokio::test]
async fn two_people_who_disagree_hold_each_other_back() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    let sources = [chunks(&base)[0].clone()];
    let right = base.add_feedback(&draft("run1", Verdict::Right, &sources)).unwrap();
    let other = FeedbackDraft { by: "cy".into(), ..draft("run1", Verdict::Wrong, &sources) };
    let wrong = base.add_feedback(&other).unwrap();
    let contradicts = base.feedback(&right.id).unwrap().contradicts;
    assert_eq!(contradicts, std::slice::from_ref(&wrong.id));
    let refused = base.accept_feedback(&right.id, &Decision::default()).await;
    assert!(matches!(refused, Err(KbError::Contradicted { .. })), "{refused:?}");
    let contradicted = FeedbackQuery { contradicted: Some(true), ..FeedbackQuery::default() };
    assert_eq!(base.list_feedback(&contradicted).unwrap().len(), 2);
    base.reject_feedback(&wrong.id, &Decision::default()).unwrap();
    let accepted = base.accept_feedback(&right.id, &Decision::default()).await.unwrap();
    assert_eq!(accepted.candidates[0].state, CandidateState::Accepted);
    // Another answer to the same question contradicts what is accepted.
    let later =
        FeedbackDraft { answer: "Sweden".into(), ..draft("run9", Verdict::Right, &sources) };
    let later = base.add_feedback(&later).unwrap();
    assert_eq!(later.contradicts, [right.id]);
    let number = Decision { candidates: vec![2], ..Decision::default() };
    let missing = base.accept_feedback(&later.id, &number).await;
    assert!(matches!(missing, Err(KbError::NoCandidate { number: 2, count: 1, .. })));
}

#[tokio::test]
async fn a_view_of_some_documents_sees_what_rests_on_these_alone() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    for (name, team) in [("one", "red"), ("two", "blue")] {
        let fields = Metadata([("team".into(), FieldValue::parse(team))].into());
        base.set_metadata(name, &fields).unwrap();
    }
    let all = chunks(&base);
    let mixed = accepted(&base, &[all[0].clone(), all[3].clone()]).await;
    let given = draft("run2", Verdict::Right, &all[..1]);
    let given = base.add_feedback(&given).unwrap();
    let decision = Decision { despite: true, ..Decision::default() };
    let given = base.accept_feedback(&given.id, &decision).await.unwrap();
    let mut red = MetadataFilter::default();
    red.add("team=red").unwrap();
    let view = base.restricted(vec![Filter { metadata: red, ..Filter::default() }]);
    let listed = view.list_feedback(&FeedbackQuery::default()).unwrap();
    assert_eq!(listed.iter().map(|given| &given.id).collect::<Vec<_>>(), [&given.id]);
    assert!(view.feedback(&mixed.id).is_err());
    assert!(view.undo_feedback(&mixed.id, &Decision::default()).is_err());
    let hits = find(&view, Layer::Atom, QUESTION, None).await;
    let atom = given.candidates[0].atom.clone().unwrap();
    assert_eq!(hits.iter().map(|hit| &hit.id).collect::<Vec<_>>(), [&atom]);
    assert!(view.inspector().show(&mixed.candidates[0].atom.clone().unwrap()).is_err());
    assert_eq!(view.known_answers(QUESTION).await.unwrap().len(), 1);
    // Who thinks again says it again.
    base.add_feedback(&draft("run9", Verdict::Right, &all[..1])).unwrap();
    let other = base.add_feedback(&draft("run9", Verdict::Wrong, &all[..1])).unwrap();
    let run9 = FeedbackQuery { run: Some("run9".into()), ..FeedbackQuery::default() };
    assert_eq!(base.list_feedback(&run9).unwrap(), std::slice::from_ref(&other));
    base.delete_feedback(&other.id).unwrap();
    // What it gives is about what it sees, and is stored for all.
    let given = view.add_feedback(&draft("run3", Verdict::Incomplete, &all)).unwrap();
    assert_eq!(given.documents, ["one"]);
    assert!(base.feedback(&given.id).is_ok());
}

#[test]
fn a_base_of_an_earlier_version_is_read_and_gets_its_databases() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    assert!(base.list_feedback(&FeedbackQuery::default()).unwrap().is_empty());
    let unknown = base.feedback("0000000000000001");
    assert!(matches!(unknown, Err(KbError::NoFeedback { .. })));
    let no_id = FeedbackQuery { after: Some("x".into()), ..FeedbackQuery::default() };
    assert!(base.list_feedback(&no_id).is_err());
    // A page after another.
    let sources = [chunks(&base)[0].clone()];
    for run in ["a", "b", "c"] {
        base.add_feedback(&draft(run, Verdict::Right, &sources)).unwrap();
    }
    let page = |after| {
        base.list_feedback(&FeedbackQuery { after, limit: 2, ..FeedbackQuery::default() }).unwrap()
    };
    let first = page(None);
    let second = page(Some(first[1].id.clone()));
    assert_eq!((first.len(), second.len()), (2, 1));
    assert!(first[0].id > first[1].id && first[1].id > second[0].id);
}

#[tokio::test]
async fn records_that_have_not_changed_are_not_read_again_for_searches() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    let sources = [chunks(&base)[0].clone()];
    let given = accepted(&base, &sources).await;
    let load = |former: Option<&FeedbackIndex>| {
        base.store.read(|reader| FeedbackIndex::load(reader, former)).unwrap()
    };
    let first = load(None);
    let other = draft("run2", Verdict::Right, &sources);
    let other = base.add_feedback(&FeedbackDraft { question: "When?".into(), ..other }).unwrap();
    let decision = Decision { by: "bo".into(), despite: true, ..Decision::default() };
    base.accept_feedback(&other.id, &decision).await.unwrap();
    let second = load(Some(&first));
    assert_eq!(second.accepted.len(), 2);
    assert!(Arc::ptr_eq(&first.accepted[0], &second.accepted[0]));
    base.undo_feedback(&given.id, &decision).unwrap();
    let third = load(Some(&second));
    assert_eq!(third.accepted.len(), 1);
    assert!(Arc::ptr_eq(&second.accepted[1], &third.accepted[0]));
}
