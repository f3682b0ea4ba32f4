//! A base stays as it was made until a run is asked to rebuild a part of it.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use halma_core::{Budget, Embedder, Layer, Mode};
use halma_kb::{
    Atoms, Base, BaseOptions, BasePart, BuildContext, Chunks, Entities, Former, IndexOptions,
    ThresholdSources, Thresholds, estimate,
};

use crate::common::{Bench, Short, Words, search};
use crate::extractor::Works;

fn library(bench: &Bench) {
    for i in 0..30 {
        bench.write(
            &format!("a{i:02}.txt"),
            format!("Animal number{i} lives here. It eats food{i}."),
        );
    }
}

/// Writes one more note, and indexes it alone.
async fn add_a_note(bench: &Bench, base: &Arc<Base>) -> halma_kb::IndexReport {
    let notes = bench.dir.path().join("notes");
    std::fs::create_dir_all(&notes).unwrap();
    std::fs::write(notes.join("one.txt"), "The heron is new. It wades.").unwrap();
    bench.index_path(base, &notes, halma_kb::InputFormat::Auto, Budget::default()).await.unwrap()
}

#[tokio::test]
async fn a_later_run_without_the_flag_asks_nothing_for_the_old_text() {
    let mut bench = Bench::new();
    library(&bench);
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    // The configuration's own default.
    bench.settings.atoms = Atoms::Questions;
    let report = add_a_note(&bench, &base).await;
    assert_eq!(bench.model.calls.load(Ordering::Relaxed), 0);
    assert_eq!((report.documents_new, report.atoms, report.embedded), (1, 2, 3));
    assert_eq!((report.pending_units, report.failed_units), (0, 0));
    let kept = &report.kept[0];
    assert_eq!(kept.part, BasePart::Atoms);
    assert_eq!((kept.made_with.as_str(), kept.configured.as_str()), ("sentences", "questions"));
    let hits = search(&base, "heron", Layer::Atom, Mode::Bm25).await;
    assert_eq!(hits[0].text, "one: The heron is new.");
    // Nor does any other way in, such as a run over everything after the base was opened again.
    drop(base);
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    assert_eq!(bench.model.calls.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn an_estimate_says_what_stays_and_what_changing_it_costs() {
    let mut bench = Bench::new();
    library(&bench);
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    bench.settings.atoms = Atoms::Questions;
    let context = || BuildContext::new(&base, &bench.settings, &bench.setup());
    let inputs = [bench.input()];
    let told = estimate(context(), &inputs, &IndexOptions::default()).await.unwrap();
    assert_eq!(told.calls, 0);
    let (kept, cost) = &told.kept[0];
    let cost = cost.as_ref().unwrap();
    assert_eq!((kept.part, cost.calls), (BasePart::Atoms, 30));
    let options = IndexOptions { rebuild: vec![BasePart::Atoms], ..IndexOptions::default() };
    let told = estimate(context(), &inputs, &options).await.unwrap();
    assert_eq!((told.calls, told.kept.len()), (30, 0));
    assert!(cost.prompt_tokens.abs_diff(told.prompt_tokens) < 30, "{cost:?}");
}

#[tokio::test]
async fn a_rebuild_is_resumed_without_being_asked_for_again() {
    let mut bench = Bench::new();
    library(&bench);
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    bench.settings.atoms = Atoms::Questions;
    bench.options.rebuild = vec![BasePart::Atoms];
    let budget = Budget { calls: Some(11), ..Budget::default() };
    let report = bench.try_index(&base, budget).await.unwrap();
    assert_eq!((report.usage.llm_calls, report.pending_units), (10, 20));
    // Chunks that are not rebuilt yet have the atoms that they had.
    assert_eq!(base.inspector().stats().unwrap().atoms, 60);
    bench.options.rebuild.clear();
    bench.settings.atoms = Atoms::Sentences;
    let report = bench.index(&base).await;
    assert_eq!((report.usage.llm_calls, report.pending_units), (20, 0));
    assert_eq!(report.kept[0].made_with, "questions");
}

#[tokio::test]
async fn a_chunk_whose_rebuilding_fails_keeps_its_atoms() {
    let mut bench = Bench::new();
    library(&bench);
    let base = bench.open(None);
    bench.index(&base).await;
    bench.settings.atoms = Atoms::Questions;
    bench.options.rebuild = vec![BasePart::Atoms];
    *bench.model.fails_on.lock() = Some("number7 ");
    let report = bench.index(&base).await;
    assert_eq!((report.failed_units, report.pending_units), (1, 0));
    assert!(report.failure.is_some());
    let hits = search(&base, "number7", Layer::Atom, Mode::Bm25).await;
    assert_eq!(hits[0].text, "Animal number7 lives here.");
    *bench.model.fails_on.lock() = None;
    bench.options.rebuild.clear();
    assert_eq!(bench.index(&base).await.usage.llm_calls, 1);
}

#[tokio::test]
async fn how_many_atoms_a_chunk_has_stays_until_they_are_rebuilt() {
    let mut bench = Bench::new();
    library(&bench);
    let base = bench.open(None);
    bench.index(&base).await;
    bench.settings.max_atoms = 1;
    let report = add_a_note(&bench, &base).await;
    assert_eq!((report.atoms, report.kept[0].part), (2, BasePart::Atoms));
    assert_eq!(report.kept[0].configured, "sentences, at most 1 of a chunk");
    bench.options.rebuild = vec![BasePart::Atoms];
    let report = bench.index(&base).await;
    assert_eq!((report.kept.len(), base.inspector().stats().unwrap().atoms), (0, 31));
    // What a killed run left is done without the flag, and nothing twice.
    bench.options.rebuild.clear();
    assert_eq!(bench.index(&base).await.atoms, 0);
}

#[tokio::test]
async fn cutting_and_entities_stay_as_well() {
    let mut bench = Bench::new();
    library(&bench);
    let base = bench.open(None);
    let before = bench.index(&base).await;
    bench.settings.chunks = Chunks::Sentences;
    bench.settings.sentences = 1;
    bench.settings.sentence_overlap = 0;
    bench.settings.entities = Entities::Model;
    bench.settings.tags = true;
    let report = bench.index(&base).await;
    assert!(report.nothing_new(), "{report:?}");
    let parts: Vec<BasePart> = report.kept.iter().map(|kept| kept.part).collect();
    assert_eq!(parts, [BasePart::Chunks, BasePart::Entities, BasePart::Tags]);
    bench.options.rebuild = vec![BasePart::Chunks];
    let report = bench.index(&base).await;
    assert_eq!((report.documents_replaced, report.chunks), (30, 2 * before.chunks));
}

#[tokio::test]
async fn vectors_stay_those_of_the_embedder_that_the_base_was_made_with() {
    let bench = Bench::new();
    library(&bench);
    let base = bench.open(Some(Words::named("first")));
    bench.index(&base).await;
    drop(base);
    let (first, second) = (Words::named("first"), Words::named("second"));
    let former: Arc<dyn Embedder> = Arc::clone(&first) as Arc<dyn Embedder>;
    let options = BaseOptions {
        embedder: Some(Arc::clone(&second) as Arc<dyn Embedder>),
        former: Some(Former { embedder: former, thresholds: ThresholdSources::default() }),
        ..BaseOptions::default()
    };
    let base = Base::create_or_open(&bench.base_dir(), options).unwrap();
    let report = add_a_note(&bench, &base).await;
    assert_eq!((report.embedded, second.calls.load(Ordering::Relaxed)), (3, 0));
    assert_eq!(report.kept[0].part, BasePart::Embedder);
    assert_eq!(base.inspector().stats().unwrap().migration, None);
    let hits = search(&base, "heron", Layer::Chunk, Mode::Dense).await;
    assert!(hits[0].cosine.unwrap() > 0.4, "{hits:?}");
    let options = IndexOptions { rebuild: vec![BasePart::Embedder], ..IndexOptions::default() };
    let context = BuildContext::new(&base, &bench.settings, &bench.setup());
    let report = halma_kb::index(context, &[bench.input()], &options).await.unwrap();
    assert_eq!(report.embedded, 31 + 62);
    assert_eq!(base.inspector().stats().unwrap().vectors.len(), 1);
}

#[tokio::test]
async fn another_wording_of_a_prompt_is_for_new_text_until_a_rebuild_is_asked_for() {
    let mut works = Works::new();
    for i in 0..210 {
        works.bench.write(&format!("a{i:03}.txt"), format!("Ada{i} founded Works{i}."));
    }
    let base = works.open();
    works.index(&base).await;
    assert_eq!(works.rules.calls("facts"), 210);
    let shipped = include_str!("../../prompts/kb/facts.md");
    works.reworded = Some(("kb/facts", format!("{shipped}\nBe brief.\n")));
    works.bench.write("new.txt", "Grace founded Yards.");
    let report = works.index(&base).await;
    assert_eq!(works.rules.calls("facts"), 211);
    assert_eq!(report.kept[0].part, BasePart::Entities);
    works.bench.options.rebuild = vec![BasePart::Entities];
    works.index(&base).await;
    assert_eq!(works.rules.calls("facts"), 422);
}

#[tokio::test]
async fn thresholds_of_an_unknown_embedder_are_measured_in_the_base() {
    let bench = Bench::new();
    for i in 0..80 {
        bench.write(&format!("a{i}.txt"), format!("Animal number{i} eats food{i}. It has zoo{i}."));
    }
    let base = bench.open(Some(Words::new()));
    assert_eq!(base.thresholds().unwrap(), None);
    bench.index(&base).await;
    let (model, measured) = base.thresholds().unwrap().unwrap();
    assert_eq!(model, "toy-words");
    let (chunk, atom) = (measured.chunk.unwrap(), measured.atom.unwrap());
    assert!((0.05..0.9).contains(&chunk) && (0.05..0.9).contains(&atom), "{measured:?}");
    // What has nothing to do with the question is held back, what it asks for is not.
    let usual = |text: &str| halma_core::Query {
        min_score: halma_core::MinScore::Usual,
        limit: 80,
        ..crate::common::query(text, Layer::Chunk, Mode::Dense)
    };
    let texts = "Which animal number7 eats food7 and has zoo7?";
    let hits = halma_core::Knowledge::search(&*base, &usual(texts)).await.unwrap().remove(0);
    assert!(hits[0].text.contains("number7 ") && hits.len() < 40, "{}", hits.len());
    drop(base);
    // Those of the configuration hold, then what is usual for the embedder.
    let opened = |thresholds: ThresholdSources| {
        let embedder: Option<Arc<dyn Embedder>> = Some(Words::new());
        let options = BaseOptions { embedder, thresholds, ..BaseOptions::default() };
        let base = Base::create_or_open(&bench.base_dir(), options).unwrap();
        base.thresholds().unwrap().unwrap().1
    };
    let low = Thresholds { chunk: Some(0.01), atom: Some(0.01) };
    let high = Thresholds { chunk: Some(0.98), atom: Some(0.99) };
    assert_eq!(opened(ThresholdSources { configured: low, usual: high }), low);
    let usual = |usual: Thresholds| ThresholdSources { usual, ..ThresholdSources::default() };
    assert_eq!(opened(usual(high)), high);
    assert_eq!(opened(usual(low)), low);
    let chunk = Thresholds { atom: None, ..low };
    let mixed = ThresholdSources { configured: chunk, usual: high };
    assert_eq!(opened(mixed), Thresholds { chunk: low.chunk, atom: high.atom });
}

#[tokio::test]
async fn the_threshold_of_atoms_is_measured_again_when_they_are_of_another_kind() {
    let mut bench = Bench::new();
    for i in 0..80 {
        bench.write(&format!("a{i}.txt"), format!("Animal number{i} eats food{i}. It has zoo{i}."));
    }
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    let measured = || base.thresholds().unwrap().unwrap().1;
    assert_ne!(measured().atom, measured().chunk);
    // Without atoms there is only the threshold of chunks.
    bench.settings.atoms = Atoms::None;
    bench.options.rebuild = vec![BasePart::Atoms];
    bench.index(&base).await;
    assert_eq!(measured().atom, measured().chunk);
}

#[tokio::test]
async fn atoms_are_made_again_by_another_prompt_only_when_asked_for() {
    let mut works = Works::new();
    for i in 0..210 {
        works.bench.write(&format!("a{i:03}.txt"), format!("Ada{i} founded Works{i}."));
    }
    works.bench.settings.atoms = Atoms::Questions;
    works.bench.settings.entities = Entities::Names;
    let base = works.open();
    works.index(&base).await;
    assert_eq!(works.rules.calls("questions"), 210);
    // With the same prompt and model there is nothing to do.
    works.bench.options.rebuild = vec![BasePart::Atoms];
    works.index(&base).await;
    assert_eq!(works.rules.calls("questions"), 210);
    works.bench.options.rebuild.clear();
    let shipped = include_str!("../../prompts/kb/atomize.md");
    works.reworded = Some(("kb/atomize", format!("{shipped}\nBe brief.\n")));
    let report = works.index(&base).await;
    assert_eq!((report.kept[0].part, works.rules.calls("questions")), (BasePart::Atoms, 210));
    works.bench.options.rebuild = vec![BasePart::Atoms];
    let report = works.index(&base).await;
    assert_eq!((report.pending_units, works.rules.calls("questions")), (0, 420));
    works.index(&base).await;
    assert_eq!(works.rules.calls("questions"), 420);
}

#[tokio::test]
async fn a_part_that_is_turned_off_goes_when_a_rebuild_is_asked_for() {
    let mut works = Works::new();
    let chapter = "Ada is a painter. Ada founded Works. Bob is a baker. ".repeat(60);
    works.bench.write("long.txt", format!("Ada is a painter.\n\n{chapter}\n\n{chapter}"));
    let parts = [BasePart::Tags, BasePart::Summaries, BasePart::Communities];
    let set_parts = |works: &mut Works, on: bool| {
        let settings = &mut works.bench.settings;
        (settings.tags, settings.summaries, settings.communities) = (on, on, on);
    };
    set_parts(&mut works, true);
    let base = works.open();
    works.index(&base).await;
    let parts_present = |base: &Base| {
        let layers = base.inspector().stats().unwrap().figures.layers;
        [Layer::Tag, Layer::Summary, Layer::Community].map(|layer| layers.get(&layer) > Some(&0))
    };
    assert_eq!(parts_present(&base), [true; 3]);
    set_parts(&mut works, false);
    assert_eq!(works.index(&base).await.kept.len(), 3);
    assert_eq!(parts_present(&base), [true; 3]);
    works.bench.options.rebuild = parts.to_vec();
    works.index(&base).await;
    assert_eq!(parts_present(&base), [false; 3]);
    assert!(base.inspector().verify().unwrap().is_sound());
    let calls = works.rules.all_calls();
    set_parts(&mut works, true);
    works.index(&base).await;
    assert_eq!(parts_present(&base), [true; 3]);
    assert!(works.rules.all_calls() > calls, "what was taken out is asked for again");
    works.bench.options.rebuild = vec![BasePart::Entities];
    works.bench.settings.entities = Entities::Names;
    let refused = works.bench.try_index(&base, Budget::default()).await.unwrap_err();
    assert!(refused.to_string().contains("cannot be taken out"), "{refused}");
}

#[tokio::test]
async fn tags_get_no_vectors_of_another_space() {
    let mut works = Works::new();
    works.bench.settings.tags = true;
    works.bench.write("ada.txt", "Ada is a painter.");
    let base = works.open_with(Words::new());
    works.index(&base).await;
    drop(base);
    let base = works.open_with(Short::new());
    works.bench.write("bob.txt", "Bob is a baker.");
    let report = works.index(&base).await;
    assert!(report.failure.is_some_and(|failure| failure.contains("32 dimensions")));
    let problems = base.inspector().verify().unwrap().problems;
    let lost = problems.iter().filter(|problem| problem.what.contains("missing or damaged"));
    assert_eq!(lost.count(), 0, "{problems:?}");
}
