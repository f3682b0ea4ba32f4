//! A town, its river and its builder: in a base, on the web and in a graph.
mod doubles;

use std::sync::Arc;

use halma_core::{Cx, Hit, Layer, Llm, Meter, Models, Prompts, Setup, Tagging};
use halma_testkit::{Capitals, Script, Toy};

use self::doubles::{Graph, Pages, Reader};
use super::*;

const NOTES: &[(&str, &str, &str, &[&str])] = &[
    ("finch", "Orla Finch", "Orla Finch built the first lift of the coast. She was shy.", &[]),
    ("saxby", "Saxby", "Saxby has 14 bridges. Ilse Brandt painted the town hall of Saxby.", &[]),
];

const PAGES: &[(&str, &str)] = &[
    ("https://news.example.org/saxby", "Saxby was flooded by the Lenn in March 1954."),
    ("https://news.example.org/finch", "Mara Quill wrote a life of Orla Finch for schools."),
];

const FACTS: &[(&str, &str, &str)] = &[
    ("Orla Finch", "place of birth", "Saxby"),
    ("Orla Finch", "date of birth", "1906-02-04"),
    ("Lenn", "flows through", "Saxby"),
    ("Tarr", "flows through", "Saxby"),
    ("Tarr", "flows through", "Eddle"),
];

fn passages() -> Vec<Hit> {
    let hit = |(id, title, text, _): &(&str, &str, &str, &[&str])| {
        doubles::hit(&format!("{id}.md"), title, text, Layer::Chunk)
    };
    NOTES.iter().map(hit).collect()
}

struct World {
    model: Arc<dyn Llm>,
    graph: Option<Graph>,
    web: Option<Pages>,
}

impl World {
    fn new(model: Arc<dyn Llm>) -> Self {
        Self { model, graph: Some(Graph::of(FACTS)), web: Some(Pages(PAGES)) }
    }

    fn open(self) -> impl Fn() -> Cx + Send + Sync {
        let prompts = Arc::new(Prompts::shipped(&[BLEND_PROMPTS]).unwrap());
        let mut setup = Setup::new(Models::new(self.model), Toy::new(NOTES), prompts);
        setup.tagger = Some(Tagging::Tagger(Arc::new(Capitals)));
        setup.facts = self.graph.map(|graph| Arc::new(graph) as _);
        setup.sources = self.web.into_iter().map(|pages| Arc::new(pages) as _).collect();
        let setup = Arc::new(setup);
        move || Cx::new(Arc::clone(&setup), Arc::new(Meter::unlimited()), None)
    }
}

fn wishes(kinds: &[Kind]) -> Wishes {
    Wishes { kinds: kinds.to_vec(), each: 5, seed: 1, wording: Wording::Rules, web: "web".into() }
}

/// `question ← bridge → answers` of each.
fn outline(built: &Built) -> Vec<String> {
    let line = |made: &Blended| {
        format!("{} | {} | {}", made.question, made.entity, made.answers.join(" / "))
    };
    let mut lines: Vec<String> = built.questions.iter().map(line).collect();
    lines.sort();
    lines
}

fn reader() -> Arc<dyn Llm> {
    Arc::new(Reader(&[
        ("Who or what built the first lift of the coast?", "Orla Finch"),
        ("Which person built the first lift of the coast?", "Orla Finch"),
        ("Who built the first lift of the coast?", "Orla Finch"),
        ("How many bridges has Saxby?", "14"),
        ("Who or what painted the town hall of Saxby?", "Ilse Brandt"),
        ("When was Saxby flooded by the Lenn?", "March 1954"),
        ("Who or what wrote a life of Orla Finch for schools?", "Mara Quill"),
    ]))
}

#[tokio::test]
async fn rules_join_a_graph_with_notes() {
    let open = World::new(reader()).open();
    let built = build(&open, &passages(), &wishes(&[Kind::KgText])).await.unwrap();
    assert_eq!(
        outline(&built),
        [
            "How many bridges has the town that is the place of birth of Orla Finch? | Saxby | 14",
            "What is the place of birth of the person who built the first lift of the coast? | \
             Orla Finch | Saxby",
        ]
    );
    let finch = built.questions.iter().find(|made| made.entity == "Orla Finch").unwrap();
    assert_eq!(finch.sub_q2, "What is the place of birth of Orla Finch?");
    assert!(matches!(&finch.sub_source1, Place::Text { document, .. } if document == "finch.md"));
    assert_eq!(built.missing[&Kind::KgText], 3);
    // The Tarr flows through two towns and is a clue to neither.
    assert!(built.dropped[&Dropped::NotTheOnlyFact] > 0, "{:?}", built.dropped);
}

#[tokio::test]
async fn the_web_is_joined_with_both() {
    let open = World::new(reader()).open();
    let kinds = [Kind::KgWeb, Kind::TextWeb];
    let built = build(&open, &passages(), &wishes(&kinds)).await.unwrap();
    assert_eq!(
        outline(&built),
        [
            "When was the town that is the place of birth of Orla Finch flooded by the Lenn? | \
             Saxby | March 1954",
            "Who or what wrote a life of the person who built the first lift of the coast for \
             schools? | Orla Finch | Mara Quill",
            "Who or what wrote a life of the person whose place of birth is Saxby for schools? | \
             Orla Finch | Mara Quill",
        ]
    );
    let kinds: Vec<Kind> = built.questions.iter().map(|made| made.kind).collect();
    assert!(kinds.contains(&Kind::KgWeb) && kinds.contains(&Kind::TextWeb));
}

#[tokio::test]
async fn the_same_seed_gives_the_same_questions() {
    let all = Kind::ALL;
    let mut runs = vec![];
    for _ in 0..2 {
        let open = World::new(reader()).open();
        runs.push(build(&open, &passages(), &wishes(&all)).await.unwrap().lines().unwrap());
    }
    assert_eq!(runs[0], runs[1]);
}

#[tokio::test]
async fn what_is_written_is_a_record_of_blendqa() {
    let open = World::new(reader()).open();
    let built = build(&open, &passages(), &wishes(&Kind::ALL)).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made.jsonl");
    std::fs::write(&file, built.lines().unwrap()).unwrap();
    let format = crate::recognise(&file).unwrap();
    assert_eq!(format.name(), "blendqa");
    let data = crate::load(&file, format, None).unwrap();
    assert_eq!(data.items.len(), built.questions.len());
    assert!(data.refused.is_empty());
    let finch = data.items.iter().find(|item| item.answers == ["14"]).unwrap();
    assert_eq!(finch.kind.as_deref(), Some("kg-text"));
    assert_eq!(finch.gold[0].title, "Saxby");
}

#[tokio::test]
async fn an_answer_that_its_source_does_not_bear_out_is_dropped_and_counted() {
    let open = World::new(Arc::new(Reader(&[]))).open();
    let made = build(&open, &passages(), &wishes(&[Kind::KgText])).await;
    let Err(BlendError::NothingMade(dropped)) = made else { panic!("{made:?}") };
    assert_eq!(dropped[&Dropped::Unverified], 4);
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let said = async |world: World, kinds: &[Kind], passages: &[Hit]| {
        let made = build(&world.open(), passages, &wishes(kinds)).await;
        made.unwrap_err().to_string()
    };
    let world = || World::new(reader());
    let without = World { graph: None, ..world() };
    let error = said(without, &[Kind::KgText], &passages()).await;
    assert!(error.starts_with("`kg-text` questions need a knowledge graph"), "{error}");
    let without = World { web: None, ..world() };
    let error = said(without, &[Kind::TextWeb], &passages()).await;
    assert!(error.starts_with("`text-web` questions need the source `web`"), "{error}");
    let error = said(world(), &[Kind::KgText], &[]).await;
    assert!(error.starts_with("there are no passages"), "{error}");
    let error = said(world(), &[], &passages()).await;
    assert!(error.starts_with("no kind of question"), "{error}");
    let strangers = World { graph: Some(Graph::of(&[("Ada", "mother", "Eva")])), ..world() };
    let error = said(strangers, &[Kind::KgText], &passages()).await;
    assert!(error.contains("no_entity") && error.contains("no entity in common"), "{error}");
    let offline = World { web: Some(Pages(&[])), ..world() };
    let error = said(offline, &[Kind::KgWeb], &passages()).await;
    assert!(error.contains("no_web_result"), "{error}");
}

#[tokio::test]
async fn a_name_that_may_mean_two_things_is_no_bridge() {
    let abbey = ("Saxby Abbey", "founded in", "1102-05-01");
    let graph = Graph::of(&[FACTS, &[abbey]].concat());
    let world = World { graph: Some(graph), ..World::new(reader()) };
    let built = build(&world.open(), &passages(), &wishes(&Kind::ALL)).await.unwrap();
    assert_eq!(built.dropped[&Dropped::SeveralEntities], 1);
    assert!(built.questions.iter().all(|made| made.entity != "Saxby"), "{:?}", outline(&built));
}

#[tokio::test]
async fn a_source_that_fails_costs_its_bridge_only() {
    let world = World { graph: Some(Graph::failing(FACTS, "Orla Finch")), ..World::new(reader()) };
    let built = build(&world.open(), &passages(), &wishes(&[Kind::KgText])).await.unwrap();
    assert_eq!(built.dropped[&Dropped::SourceFailed], 1);
    assert_eq!(built.questions.len(), 1);
    assert_eq!(built.questions[0].entity, "Saxby");
}

#[tokio::test]
async fn a_model_words_the_halves_and_the_whole() {
    let script = Script::new([
        (
            "blend/clue",
            r#"{"question": "Who built the lift?", "phrase": "the builder of the lift"}"#,
        ),
        ("blend/ask", r#"{"question": "What did Orla Finch build?", "answer": "the first lift"}"#),
        ("blend/read", r#"{"rationale": "", "answer": "Orla Finch"}"#),
        // The passage does not say so, as another reading shows.
        ("blend/read", r#"{"rationale": "", "answer": ""}"#),
        // The first merge names the bridge and is asked for again.
        ("blend/merge", r#"{"question": "Where was Orla Finch born?"}"#),
        ("blend/merge", r#"{"question": "Where was the builder of the lift born?"}"#),
    ]);
    let world = World::new(Arc::clone(&script) as Arc<dyn Llm>);
    let wishes = Wishes { each: 1, wording: Wording::Model, ..wishes(&[Kind::KgText]) };
    let built = build(&world.open(), &passages()[..1], &wishes).await.unwrap();
    assert_eq!(script.left(), 0);
    assert_eq!(outline(&built), ["Where was the builder of the lift born? | Orla Finch | Saxby"]);
    assert_eq!(built.dropped[&Dropped::Unverified], 1);
    assert!(built.missing.is_empty());
}
