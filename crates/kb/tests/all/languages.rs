//! Words are stemmed as the language of their document, and queries find them in any; an embedder
//! that cannot read a language does not spoil what BM25 finds.

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{EmbedRole, Embedder, Hit, Layer, LlmError, Mode, Vector};
use halma_kb::Base;

use crate::common::{Bench, search};

const GERMAN: &str = "Der Vermieter hat die Verträge mit allen Mietern gekündigt. Die Häuser in \
    dieser Straße sind alt, und der Bürgermeister wohnt nicht mehr dort. Das ist bekannt.";
const FRENCH: &str = "Les locataires ont résilié leurs contrats au printemps. Les chevaux de la \
    ferme sont vendus, et la mairie n'a rien dit à ce sujet pendant des années.";
const ENGLISH: &str = "The players of the old town theatre did die in the last act, and the \
    audience applauded for a long time before it went home through the rain.";

#[tokio::test]
async fn every_word_is_found_by_another_form_of_it() {
    let bench = Bench::new();
    bench.write("de.txt", GERMAN).write("fr.txt", FRENCH).write("en.txt", ENGLISH);
    let base = bench.open(None);
    bench.index(&base).await;
    for mode in [Mode::Bm25, Mode::Graph] {
        for (query, title) in [
            ("Wer kündigt einen Vertrag mit dem Mieter?", "de"),
            ("das alte Haus", "de"),
            ("Qui résilie un contrat de locataire ?", "fr"),
            ("Which player died at the theatres?", "en"),
        ] {
            for layer in [Layer::Chunk, Layer::Document] {
                let hits = search(&base, query, layer, mode).await;
                assert_eq!(hits[0].title, title, "{query} {mode:?} {layer:?}");
            }
        }
    }
    // `die` is a German article and an English word.
    let hits = search(&base, "Wie heißt die Stadt?", Layer::Chunk, Mode::Bm25).await;
    assert!(hits.iter().all(|hit| hit.title != "en"), "{hits:?}");
    // A second run with another language indexes what is there already as before.
    bench.write("es.txt", "Los inquilinos han cancelado los contratos de las casas viejas de la calle, y nadie lo sabía.");
    bench.index(&base).await;
    for (query, title) in
        [("¿Quién cancela el contrato de la casa?", "es"), ("Vertrag der Mieter", "de")]
    {
        let hits = search(&base, query, Layer::Chunk, Mode::Bm25).await;
        assert_eq!(hits[0].title, title, "{query}");
    }
    assert!(base.inspector().verify().unwrap().problems.is_empty());
}

/// An embedder that cannot read its texts: all vectors are near each other, and which are nearest
/// has nothing to do with what the texts say.
struct Noise;

#[async_trait]
impl Embedder for Noise {
    fn model(&self) -> &'static str {
        "noise"
    }

    async fn embed(&self, texts: &[&str], _: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        let vector = |text: &&str| {
            let mut state = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |state, byte| {
                (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
            let noise = std::iter::repeat_with(|| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                f32::from(u16::try_from(state >> 48).unwrap_or_default()) / 65536.0 - 0.5
            });
            let vector: Vector = std::iter::once(4.0).chain(noise.take(63)).collect();
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector.into_iter().map(|x| x / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// Eighty rules, each with the word that only it has.
fn rules(bench: &Bench) {
    for i in 0..80 {
        let text = format!("A rule of the town. It is about thing{i} and about matter{i}.");
        bench.write(&format!("r{i:02}.txt"), text);
    }
}

/// Of the questions about each rule those that find it first.
async fn count_first(base: &Arc<Base>, mode: Mode) -> usize {
    let mut count = 0;
    for i in 0..80 {
        let question = format!("Which rule of the town is about thing{i}?");
        let hits: Vec<Hit> = search(base, &question, Layer::Chunk, mode).await;
        count += usize::from(hits.first().is_some_and(|hit| hit.title == format!("r{i:02}")));
    }
    count
}

#[tokio::test]
async fn an_embedder_that_cannot_read_the_text_does_not_spoil_a_search() {
    let bench = Bench::new();
    rules(&bench);
    let base = bench.open(Some(Arc::new(Noise)));
    assert_eq!(base.dense_trust().unwrap(), None);
    bench.index(&base).await;
    let trust = base.dense_trust().unwrap().unwrap();
    assert!(!trust.are_compared() && trust.bm25 == trust.queries, "{trust:?}");
    let lexical = count_first(&base, Mode::Bm25).await;
    assert_eq!(lexical, 80);
    for mode in [Mode::Hybrid, Mode::Graph, Mode::Dense] {
        assert!(count_first(&base, mode).await >= lexical, "{mode:?}");
    }
    // It is stored with the base.
    drop(base);
    let base = bench.open(Some(Arc::new(Noise)));
    assert_eq!(base.dense_trust().unwrap(), Some(trust));
}

#[tokio::test]
async fn rows_of_a_table_say_nothing_of_an_embedder() {
    let bench = Bench::new();
    let rows =
        (0..120).map(|i| format!("lighthouse number {i} of the coast,{},in use\n", 1800 + i));
    bench.write("towers.csv", format!("tower,year,state\n{}", rows.collect::<String>()));
    let base = bench.open(Some(Arc::new(Noise)));
    assert!(bench.index(&base).await.chunks >= 100, "one for each row");
    assert_eq!(base.dense_trust().unwrap(), None);
    // Texts next to them are judged by themselves.
    rules(&bench);
    bench.index(&base).await;
    assert!(!base.dense_trust().unwrap().unwrap().are_compared());
}

/// An embedder that reads its texts: each word has a dimension, nearly always its own.
struct Reader;

#[async_trait]
impl Embedder for Reader {
    fn model(&self) -> &'static str {
        "reader"
    }

    async fn embed(&self, texts: &[&str], _: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        let vector = |text: &&str| {
            let mut vector = vec![0.001; 1024];
            for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                let sum =
                    word.bytes().fold(7_usize, |sum, b| sum.wrapping_mul(31) + usize::from(b));
                vector[sum % 1024] += 1.0;
            }
            let length = vector.iter().map(|x: &f32| x * x).sum::<f32>().sqrt();
            vector.into_iter().map(|x| x / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

#[tokio::test]
async fn an_embedder_that_reads_the_text_is_trusted_in_full() {
    let bench = Bench::new();
    for i in 0..80 {
        let word =
            |of: usize| format!("{}{}", ["bird", "tree", "hill", "boat"][of % 4], i * 7 + of);
        let sentence = |from: usize| (from..from + 4).map(word).collect::<Vec<_>>().join(" ");
        bench.write(&format!("r{i:02}.txt"), format!("The {}. The {}.", sentence(0), sentence(4)));
    }
    let base = bench.open(Some(Arc::new(Reader)));
    bench.index(&base).await;
    let trust = base.dense_trust().unwrap().unwrap();
    assert!((trust.weight() - 1.0).abs() < f32::EPSILON, "{trust:?}");
    let hits = search(&base, "bird7 tree8 hill9 boat10", Layer::Chunk, Mode::Dense).await;
    assert!(hits[0].cosine.is_some(), "{:?}", hits[0]);
}
