//! Words are stemmed as the language of their document, and queries find them in any.
mod common;

use common::{Bench, search};
use halma_core::{Layer, Mode};

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
