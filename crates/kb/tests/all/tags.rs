//! Tags end to end: synonyms are one tag, words of questions are learned, and searches, filters and
//! estimates use what was learned.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use halma_core::{Budget, Edge, Embedder, Filter, Knowledge, Layer, Meter, Mode, Query};
use halma_kb::{
    Base, BaseOptions, BuildContext, Former, TagLearning, TagSample, ThresholdSources,
    estimate_learning, learn_tags,
};
use serde_json::json;

use crate::common::{Words, query, search};
use crate::extractor::Works;

/// Passages whose terms no question uses.
fn clinic() -> Works {
    let mut works = Works::new();
    works.bench.settings.tags = true;
    works.bench.settings.entities = halma_kb::Entities::Names;
    let notes = [
        ("aspirin", "Myocardial infarction calls for acetylsalicylic acid at once."),
        ("stent", "After myocardial infarction a stent keeps the artery open."),
        ("cast", "A fracture of the radius is set and held in plaster."),
        ("cream", "Dermatitis is eased by hydrocortisone."),
    ];
    for (name, text) in notes {
        works.bench.write(&format!("{name}.md"), text);
    }
    let classes = json!({"classes": [{"name": "disease", "description": "What ails somebody."}]});
    works.rules.script("tag_classes", "", &classes.to_string());
    let tag = |on: &'static str, tag: &str, also: &[&str]| {
        let reply = json!({"tags": [{"class": "disease", "tag": tag, "also_called": also}]});
        works.rules.script("tag", on, &reply.to_string());
    };
    tag("acetylsalicylic", "myocardial infarction", &["cardiac infarction"]);
    tag("stent", "cardiac infarction", &[]);
    tag("plaster", "fracture", &[]);
    tag("Dermatitis", "dermatitis", &[]);
    works
}

fn sample(question: &str, answer: &str) -> TagSample {
    TagSample { question: question.into(), answer: answer.into(), ..TagSample::default() }
}

fn context(works: &Works, base: &Arc<Base>) -> BuildContext {
    BuildContext::new(base, &works.bench.settings, &works.setup())
}

async fn learn(works: &Works, base: &Arc<Base>, samples: &[TagSample]) -> TagLearning {
    learn_tags(context(works, base), samples, false).await.unwrap()
}

const HEART: &str = "What helps at once against a heart attack?";

fn heart() -> TagSample {
    sample(HEART, "acetylsalicylic acid")
}

fn map(works: &Works, on: &'static str, term: &str, tags: &[usize]) {
    let reply = json!({"pairs": [{"term": term, "tags": tags}]});
    works.rules.script("map_tags", on, &reply.to_string());
}

#[tokio::test]
async fn what_is_learned_expands_every_search_and_filter() {
    let works = clinic();
    let base = works.open_with(Words::new());
    assert_eq!(works.index(&base).await.extracted.tags, 3, "two names of one disease are one tag");
    let lay = "Who survives a heart attack?";
    let titles_of = async |mode| {
        let hits = search(&base, lay, Layer::Chunk, mode).await;
        hits.into_iter().take(2).map(|hit| hit.title).collect::<Vec<_>>()
    };
    assert_eq!(titles_of(Mode::Bm25).await, [] as [&str; 0]);
    map(&works, HEART, "heart attack", &[1]);
    let report = learn(&works, &base, &[heart()]).await;
    assert_eq!((report.samples_read, report.terms, report.pairs), (1, 1, 1), "{report:?}");
    for mode in [Mode::Bm25, Mode::Hybrid, Mode::Graph] {
        let mut titles = titles_of(mode).await;
        titles.sort();
        assert_eq!(titles, ["aspirin", "stent"], "{mode:?}");
    }
    let parts = search(&base, lay, Layer::Chunk, Mode::Graph).await.remove(0).parts;
    let part = parts.iter().find(|part| part.name == "tags").unwrap();
    assert_eq!(part.through, "cardiac infarction");
    assert_eq!((part.layer(), part.edge()), (Some(Layer::Tag), Some(Edge::Tagged)));

    let tags = base.tags(lay, 0.9).await.unwrap();
    assert_eq!(
        (tags[0].name.as_str(), tags[0].through.as_str()),
        ("cardiac infarction", "heart attack")
    );
    assert!(tags[0].weight > 0.5 && tags[0].weight < 1.0, "{tags:?}");
    for name in ["heart attacks", "myocardial infarction", "Cardiac Infarction"] {
        let filter = Filter { tags: vec![name.into()], ..Filter::default() };
        let query = Query { filter, ..query("artery hydrocortisone", Layer::Chunk, Mode::Bm25) };
        let hits = base.search(&query).await.unwrap().remove(0);
        assert_eq!(hits.len(), 1, "{name}");
        assert_eq!(hits[0].title, "stent");
    }
}

#[tokio::test]
async fn a_sample_is_asked_about_once_and_what_does_not_fit_is_skipped() {
    let works = clinic();
    let base = works.open();
    works.index(&base).await;
    let unanswered = sample("What helps against gout?", "colchicine");
    let samples = [heart(), heart(), unanswered, sample("", "plaster"), sample("Why?", "")];
    let estimate = estimate_learning(context(&works, &base), &samples).await.unwrap();
    assert_eq!((estimate.calls, estimate.stages[0].task.as_str()), (1, "map_tags"));
    assert_eq!(works.rules.calls("map_tags"), 0);
    // A number that is no tag, and a term of another question, are asked for again once.
    map(&works, HEART, "heart attack", &[7]);
    let reply =
        json!({"pairs": [{"term": "heart attack", "tags": [1, 9]}, {"term": "gout", "tags": [1]}]});
    works.rules.script("map_tags", HEART, &reply.to_string());
    let report = learn(&works, &base, &samples).await;
    assert_eq!((report.samples_read, report.skipped.len(), report.pairs), (1, 3, 1), "{report:?}");
    assert!(report.skipped[0].reason.contains("no passage"), "{report:?}");
    assert_eq!(works.rules.calls("map_tags"), 2);
    let report = learn(&works, &base, &samples).await;
    assert_eq!((report.samples_read, report.unchanged, report.pairs), (0, 1, 1));
    assert_eq!(works.rules.calls("map_tags"), 2);
    // Another run of `index` keeps it; samples that are not there any more can be forgotten.
    works.index(&base).await;
    assert_eq!(base.tags("A heart attack", 0.9).await.unwrap().len(), 1);
    let other = sample("What holds a broken arm?", "plaster");
    map(&works, "broken arm", "broken arm", &[1]);
    let report = learn_tags(context(&works, &base), &[other], true).await.unwrap();
    assert_eq!((report.terms, report.pairs), (1, 1));
    assert!(base.tags("A heart attack", 0.9).await.unwrap().is_empty());
}

#[tokio::test]
async fn learning_stops_at_the_budget_and_resumes() {
    let works = clinic();
    let base = works.open();
    works.index(&base).await;
    let broken = sample("What holds a broken arm?", "plaster");
    map(&works, HEART, "heart attack", &[1]);
    map(&works, "broken arm", "broken arm", &[1]);
    let samples = [heart(), broken];
    let meter = Arc::new(Meter::new(Budget { calls: Some(2), ..Budget::default() }));
    let limited = BuildContext { meter, ..context(&works, &base) };
    let report = learn_tags(limited, &samples, false).await.unwrap();
    assert_eq!(
        (report.samples_read, report.pending, report.spent.is_some()),
        (1, 1, true),
        "{report:?}"
    );
    let report = learn(&works, &base, &samples).await;
    assert_eq!((report.samples_read, report.unchanged, report.terms), (1, 1, 2), "{report:?}");
}

#[tokio::test]
async fn what_was_learned_goes_with_the_last_passage_that_has_the_tag() {
    let works = clinic();
    let base = works.open();
    works.index(&base).await;
    map(&works, HEART, "heart attack", &[1]);
    learn(&works, &base, &[heart()]).await;
    base.delete(&["aspirin.md".to_owned()]).unwrap();
    assert_eq!(base.tags("A heart attack", 0.9).await.unwrap().len(), 1);
    base.delete(&["stent.md".to_owned()]).unwrap();
    assert!(base.tags("A heart attack", 0.9).await.unwrap().is_empty());
    works.bench.remove("aspirin.md").remove("stent.md");
    works.index(&base).await;
    assert_eq!(base.inspector().verify().unwrap().problems, []);
}

#[tokio::test]
async fn learning_goes_by_what_the_base_was_made_with() {
    let works = clinic();
    let first = Words::named("first");
    let base = works.open_with(Arc::clone(&first) as Arc<dyn Embedder>);
    works.index(&base).await;
    drop(base);
    let second = Words::named("second");
    let options = BaseOptions {
        embedder: Some(Arc::clone(&second) as Arc<dyn Embedder>),
        former: Some(Former { embedder: first, thresholds: ThresholdSources::default() }),
        ..BaseOptions::default()
    };
    let base = Base::create_or_open(&works.bench.base_dir(), options).unwrap();
    map(&works, HEART, "heart attack", &[1]);
    assert_eq!(learn(&works, &base, &[heart()]).await.pairs, 1);
    assert_eq!(second.calls.load(Ordering::Relaxed), 0);
    assert_eq!(base.inspector().stats().unwrap().vectors.len(), 1);
}

/// One passage with its tag and another name of it.
fn tagged(text: &'static str, tag: &str, also: &[&str]) -> Works {
    let mut works = Works::new();
    works.bench.settings.tags = true;
    works.bench.settings.entities = halma_kb::Entities::Names;
    works.bench.write("one.md", text);
    let reply = json!({"tags": [{"class": "trade", "tag": tag, "also_called": also}]});
    works.rules.script("tag", "", &reply.to_string());
    works
}

#[tokio::test]
async fn tags_in_another_language_expand_searches_by_its_stems() {
    let works = tagged(
        "Das Vertragsende tritt ein, wenn der Mieter die Wohnung verlassen hat und der Vermieter \
         die Schlüssel bekommen hat.",
        "Kündigungen",
        &["Vertragsende"],
    );
    let base = works.open();
    works.index(&base).await;
    let hits = search(&base, "Was gilt nach einer Kündigung?", Layer::Chunk, Mode::Bm25).await;
    assert_eq!(hits.len(), 1);
}

#[tokio::test]
async fn a_tag_without_spaces_is_named_by_its_characters_in_their_order() {
    let works = tagged("他讲了一个长长的故事，大家都听了很久。", "故事", &[]);
    let base = works.open();
    works.index(&base).await;
    assert!(base.tags("交通事故很多吗？", 0.9).await.unwrap().is_empty());
    assert_eq!(base.tags("谁讲了故事？", 0.9).await.unwrap().len(), 1);
}
