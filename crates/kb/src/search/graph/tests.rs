//! Searches over a small base that is really indexed, with and without vectors.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::text::{NameKind, content_words, names, sentences};
use halma_core::{
    ChatReply, ChatRequest, Edge, EmbedRole, Embedder, Filter, Hit, Knowledge, Layer, Llm,
    LlmError, Mode, Models, Prompts, Query, Setup, Vector,
};
use halma_testkit::Toy;

use crate::{
    Atoms, Base, BaseOptions, BuildContext, GraphSettings, IndexOptions, KbSettings, PROMPTS, index,
};

/// Hashes words into 64 dimensions: texts that share words are near.
pub(crate) struct Hashed;

#[async_trait]
impl Embedder for Hashed {
    fn model(&self) -> &'static str {
        "hashed"
    }

    async fn embed(&self, texts: &[&str], _: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        Ok(texts.iter().map(|text| hashed(text)).collect())
    }
}

fn hashed(text: &str) -> Vector {
    let mut vector = vec![0.001; 64];
    for word in content_words(text) {
        let sum = word.bytes().fold(7_usize, |sum, b| sum.wrapping_mul(31) + usize::from(b));
        vector[sum % 64] += 1.0;
    }
    let length = vector.iter().map(|x: &f32| x * x).sum::<f32>().sqrt();
    vector.into_iter().map(|x| x / length).collect()
}

/// A picture leads to its painter, the painter to her town; the others share words with the
/// question and lead nowhere.
const LIBRARY: &str = r#"
{"id": "tide", "title": "Low Tide", "date": "2021-03-01", "text": "Low Tide is a large picture. It was made by Mara Quill for a bank."}
{"id": "quill", "title": "Mara Quill", "date": "2022-06-30", "text": "Mara Quill grew up in Saxby. She began late."}
{"id": "saxby", "title": "Saxby (town)", "date": "2023-01-31", "text": "Saxby lies on a canal. It has a famous mill."}
{"id": "mill", "title": "Old Mill", "text": "The old mill of the painter has a wheel. The picture shows a tide."}
{"id": "tides", "title": "Tides", "text": "A low tide follows a high tide. Every town by the sea knows the picture."}
{"id": "finch", "title": "Orla Finch", "text": "Orla Finch grew up in Upper Wold. The painter of towns was born there."}
"#;

const LIBRARY_FILE: &str = "library.jsonl";

struct SampleBase {
    base: Arc<Base>,
    dir: tempfile::TempDir,
}

async fn library(vectors: bool, atoms: Atoms, graph: GraphSettings) -> SampleBase {
    let embedder: Option<Arc<dyn Embedder>> = if vectors { Some(Arc::new(Hashed)) } else { None };
    let options = BaseOptions { embedder, graph, ..BaseOptions::default() };
    base_of(LIBRARY, atoms, options).await
}

/// A base of these records.
async fn base_of(records: &str, atoms: Atoms, options: BaseOptions) -> SampleBase {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(LIBRARY_FILE), records.trim()).unwrap();
    let base = Base::create_or_open(&dir.path().join("base"), options).unwrap();
    indexed(&base, dir.path(), LIBRARY_FILE, atoms).await;
    SampleBase { base, dir }
}

/// The names through which names or titles led a search without vectors to its hits.
async fn led_through(records: &str, question: &str) -> Vec<String> {
    let library = base_of(records, Atoms::Sentences, BaseOptions::default()).await;
    let query = query(&[question], Layer::Chunk, Mode::Graph);
    names_through(&library.base.search(&query).await.unwrap().remove(0))
}

/// The names through which names or titles led to these hits, without how each was reached.
fn names_through(hits: &[Hit]) -> Vec<String> {
    let parts = hits.iter().flat_map(|hit| &hit.parts);
    let led = parts.filter(|part| ["titles", "entities"].contains(&part.name.as_str()));
    let names = led.flat_map(|part| part.through.split("; "));
    names.map(|name| name.split(" [").next().unwrap_or(name).to_owned()).collect()
}

#[tokio::test]
async fn names_of_han_and_digits_are_found_in_a_question() {
    let records = r#"
{"id": "a", "title": "C919客机", "text": "它在上海制造。它有两台发动机。"}
{"id": "b", "title": "中华人民共和国全国人民代表大会常务委员会议事规则1987年", "text": "规则共有若干条。"}
"#;
    for (question, name) in [
        ("谁制造了C919客机？", "C919客机"),
        (
            "中华人民共和国全国人民代表大会常务委员会议事规则1987年有几条？",
            "中华人民共和国全国人民代表大会常务委员会议事规则1987年",
        ),
    ] {
        let led = led_through(records, question).await;
        assert!(led.contains(&name.to_owned()), "{led:?}");
    }
}

#[tokio::test]
async fn sentences_beyond_the_atoms_of_a_chunk_lead_on() {
    // More sentences than a chunk may have atoms.
    let many = "Filler is plain and dull. ".repeat(30);
    let records = format!(
        r#"{{"id": "long", "title": "Notes", "text": "{many}Mara Quill met Zed Orin."}}
{{"id": "orin", "title": "Zed Orin", "text": "He grew up in Saxby. He began late."}}"#
    );
    let led = led_through(&records, "Whom did Mara Quill meet?").await;
    assert!(led.contains(&"Zed Orin".to_owned()), "{led:?}");
}

async fn indexed(base: &Arc<Base>, dir: &std::path::Path, file: &str, atoms: Atoms) {
    let settings = KbSettings { atoms, ..KbSettings::default() };
    let setup = Arc::new(Setup::new(
        Models::new(Arc::new(WhoAsker) as Arc<dyn Llm>),
        Toy::empty(),
        Arc::new(Prompts::shipped(&[PROMPTS]).unwrap()),
    ));
    let context = BuildContext::new(base, &settings, &setup);
    index(context, &[dir.join(file)], &IndexOptions::default()).await.unwrap();
}

const QUESTION: &str = "In which town did the painter of Low Tide grow up?";

fn query(texts: &[&str], layer: Layer, mode: Mode) -> Query {
    Query::new(texts.iter().map(|text| (*text).to_owned()).collect(), layer, mode, 3)
}

fn titles(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.title.as_str()).collect()
}

#[tokio::test]
async fn names_lead_from_a_question_to_what_it_does_not_name() {
    for (vectors, atoms) in
        [(true, Atoms::Sentences), (false, Atoms::Sentences), (true, Atoms::None)]
    {
        let library = library(vectors, atoms, GraphSettings::default()).await;
        let query = query(&[QUESTION], Layer::Chunk, Mode::Graph);
        let hits = library.base.search(&query).await.unwrap().remove(0);
        assert_eq!(hits[0].title, "Low Tide", "{vectors} {atoms:?}");
        let sum: f32 = hits[0].parts.iter().map(|part| part.score).sum();
        assert!((sum - hits[0].score).abs() < 1e-4, "{:?}", hits[0]);
        let painter = hits.iter().find(|hit| hit.title == "Mara Quill").unwrap();
        let led = painter.parts.iter().find(|part| part.name == "titles").unwrap();
        assert_eq!(led.through, "Mara Quill [sentence]");
        assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    }
}

#[tokio::test]
async fn a_name_that_is_only_like_one_of_the_question_is_marked() {
    let library = library(false, Atoms::Sentences, GraphSettings::default()).await;
    let query = query(&["Where did Sarah Quill grow up?"], Layer::Chunk, Mode::Graph);
    let hits = library.base.search(&query).await.unwrap().remove(0);
    let painter = hits.iter().find(|hit| hit.title == "Mara Quill").unwrap();
    let led = painter.parts.iter().find(|part| part.name == "titles").unwrap();
    assert_eq!(led.through, "Mara Quill [similar name]");
}

#[tokio::test]
async fn a_part_with_weight_0_is_off() {
    let off = GraphSettings { entities: 0.0, titles: 0.0, hops: 0, ..GraphSettings::default() };
    let library = library(true, Atoms::Sentences, off).await;
    let query = query(&[QUESTION], Layer::Chunk, Mode::Graph);
    let hits = library.base.search(&query).await.unwrap().remove(0);
    let parts: Vec<&str> =
        hits.iter().flat_map(|hit| &hit.parts).map(|part| part.name.as_str()).collect();
    assert!(parts.iter().all(|part| ["dense", "bm25"].contains(part)), "{parts:?}");
}

#[tokio::test]
async fn several_texts_are_answered_each_as_if_alone() {
    let library = library(true, Atoms::Sentences, GraphSettings::default()).await;
    for layer in [Layer::Chunk, Layer::Atom] {
        let texts = [QUESTION, " ", "What lies on a canal?", "Orla Finch"];
        let together = library.base.search(&query(&texts, layer, Mode::Graph)).await.unwrap();
        for (text, list) in texts.iter().zip(&together) {
            let alone = library.base.search(&query(&[text], layer, Mode::Graph)).await.unwrap();
            let ids = |hits: &[Hit]| hits.iter().map(|hit| hit.id.clone()).collect::<Vec<_>>();
            assert_eq!(ids(list), ids(&alone[0]), "{text}");
        }
        assert!(together[1].is_empty());
    }
}

#[tokio::test]
async fn graph_search_of_atoms_brings_those_of_the_chunks_it_is_led_to() {
    let library = library(true, Atoms::Sentences, GraphSettings::default()).await;
    let query = Query { limit: 6, ..query(&[QUESTION], Layer::Atom, Mode::Graph) };
    let hits = library.base.search(&query).await.unwrap().remove(0);
    assert!(hits.iter().all(|hit| hit.layer == Layer::Atom));
    assert!(titles(&hits).contains(&"Mara Quill"), "{:?}", titles(&hits));
}

#[tokio::test]
async fn filters_hold_in_every_mode_before_the_limit_is_taken() {
    let library = library(true, Atoms::Sentences, GraphSettings::default()).await;
    let documents = |name: &str| Filter { documents: vec![name.into()], ..Filter::default() };
    let since = |day: &str| Filter { since: Some(day.parse().unwrap()), ..Filter::default() };
    let tags = Filter { tags: vec!["unheard of".into()], ..Filter::default() };
    for mode in [Mode::Bm25, Mode::Dense, Mode::Hybrid, Mode::Graph] {
        for layer in [Layer::Chunk, Layer::Atom] {
            let titles_found = async |filter: Filter| {
                let query = Query { filter, limit: 1, ..query(&[QUESTION], layer, mode) };
                let hits = library.base.search(&query).await.unwrap().remove(0);
                hits.into_iter().map(|hit| hit.title).collect::<Vec<_>>()
            };
            assert_eq!(
                titles_found(documents("*finch*")).await,
                ["Orla Finch"],
                "{mode:?} {layer:?}"
            );
            assert!(titles_found(documents("nothing")).await.is_empty(), "{mode:?}");
            assert!(
                titles_found(since("2022-07")).await.iter().all(|title| title == "Saxby (town)")
            );
            assert!(titles_found(tags.clone()).await.is_empty());
        }
    }
}

#[tokio::test]
async fn sections_and_dates_filter_what_lies_in_them() {
    let library = library(true, Atoms::Sentences, GraphSettings::default()).await;
    let notes = "# Notes\n\nA picture.\n\n## The Mill\n\nThe mill has a picture of a town.\n";
    std::fs::write(library.dir.path().join("notes.md"), notes).unwrap();
    indexed(&library.base, library.dir.path(), "notes.md", Atoms::Sentences).await;
    for (sections, expected) in [("the mill", 1), ("*mill*", 1), ("nowhere", 0)] {
        let filter = Filter { sections: vec![sections.into()], ..Filter::default() };
        for layer in [Layer::Chunk, Layer::Section] {
            let query = Query { filter: filter.clone(), ..query(&["picture"], layer, Mode::Bm25) };
            let hits = library.base.search(&query).await.unwrap().remove(0);
            assert_eq!(hits.len(), expected, "{sections} {layer:?}");
        }
    }
    let until = Filter { until: Some("2021".parse().unwrap()), ..Filter::default() };
    let query = Query { filter: until, ..query(&["Quill"], Layer::Entity, Mode::Bm25) };
    let hits = library.base.search(&query).await.unwrap().remove(0);
    assert_eq!(titles(&hits), ["Mara Quill"]);
    let before = Filter { until: Some("2020".parse().unwrap()), ..Filter::default() };
    let query = Query { filter: before, ..query };
    assert!(library.base.search(&query).await.unwrap().remove(0).is_empty());
}

#[tokio::test]
async fn excluded_chunks_and_their_atoms_are_not_found() {
    let library = library(true, Atoms::Sentences, GraphSettings::default()).await;
    let first = query(&[QUESTION], Layer::Chunk, Mode::Graph);
    let best = library.base.search(&first).await.unwrap().remove(0).remove(0);
    for layer in [Layer::Chunk, Layer::Atom] {
        let exclude = vec![best.id.clone()];
        let query = Query { exclude, ..query(&[QUESTION], layer, Mode::Graph) };
        let hits = library.base.search(&query).await.unwrap().remove(0);
        assert!(!hits.is_empty() && !titles(&hits).contains(&best.title.as_str()));
    }
}

#[tokio::test]
async fn other_layers_are_searched_by_their_words() {
    let library = library(true, Atoms::Sentences, GraphSettings::default()).await;
    for mode in [Mode::Bm25, Mode::Hybrid, Mode::Graph] {
        let query = query(&["Quill"], Layer::Entity, mode);
        let hits = library.base.search(&query).await.unwrap().remove(0);
        assert_eq!(titles(&hits), ["Mara Quill"], "{mode:?}");
    }
    let query = query(&["canal"], Layer::Document, Mode::Bm25);
    let hits = library.base.search(&query).await.unwrap().remove(0);
    assert_eq!(titles(&hits), ["Saxby (town)"]);
}

#[tokio::test]
async fn entities_come_and_go_with_the_chunks_that_name_them() {
    let library = library(false, Atoms::None, GraphSettings::default()).await;
    let named = async || {
        let query = query(&["Quill"], Layer::Entity, Mode::Bm25);
        library.base.search(&query).await.unwrap().remove(0)
    };
    let before = named().await;
    let chunks = library.base.neighbours(&before[0].id, Some(Edge::Mentions)).await.unwrap();
    assert!(chunks.len() >= 3, "{chunks:?}");
    // A second run changes nothing; without the texts that name her she is gone.
    indexed(&library.base, library.dir.path(), LIBRARY_FILE, Atoms::None).await;
    assert_eq!(named().await.len(), before.len());
    let other = LIBRARY.replace("Mara Quill", "Somebody Else");
    std::fs::write(library.dir.path().join(LIBRARY_FILE), other.trim()).unwrap();
    indexed(&library.base, library.dir.path(), LIBRARY_FILE, Atoms::None).await;
    assert!(named().await.is_empty());
}

/// Turns every sentence into the question for its first name, which it leaves out.
pub(crate) struct WhoAsker;

#[async_trait]
impl Llm for WhoAsker {
    fn model(&self) -> &'static str {
        "who"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let chunk = request.variables.get_attr("chunk").unwrap();
        let text = chunk.get_attr("text").unwrap().to_string();
        let ask = |range: std::ops::Range<usize>| {
            let sentence = &text[range];
            let name = names(sentence).into_iter().find(|name| name.kind == NameKind::Name);
            let question = name.map_or_else(
                || sentence.to_owned(),
                |name| sentence.replacen(&sentence[name.range], "who", 1),
            );
            format!("{}?\n", question.trim_end_matches('.'))
        };
        let text = sentences(&text).into_iter().map(ask).collect();
        Ok(ChatReply { text, ..ChatReply::default() })
    }
}

#[tokio::test]
async fn names_are_reached_through_sentences_whatever_the_atoms_are() {
    let reached = async |vectors: bool, atoms: Atoms| {
        let library = library(vectors, atoms, GraphSettings::default()).await;
        let query = query(&[QUESTION], Layer::Chunk, Mode::Graph);
        let hits = library.base.search(&query).await.unwrap().remove(0);
        let mut led = names_through(&hits);
        led.sort();
        led.dedup();
        led
    };
    for vectors in [true, false] {
        let sentences = reached(vectors, Atoms::Sentences).await;
        assert!(sentences.contains(&"Mara Quill".to_owned()), "{sentences:?}");
        assert_eq!(reached(vectors, Atoms::Questions).await, sentences, "vectors: {vectors}");
    }
}
