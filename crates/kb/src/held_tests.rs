//! What is held and brought up to date must find what a base that was just opened finds.
use std::path::Path;

use halma_core::{Hit, Knowledge, Llm, MinScore, Mode, Models, Prompts, Query, Setup};
use halma_testkit::Toy;

use super::*;
use crate::{Atoms, Base, BaseOptions, BuildContext, IndexOptions, KbSettings, PROMPTS, index};

/// A text of a few sentences about names that others have as well.
fn text(seed: u64) -> (String, String) {
    let names = ["Mara Quill", "Orla Finch", "Upper Wold", "Low Tide", "Ines Barrow", "Old Mill"];
    let places = ["Saxby", "Dunmore", "Carrow", "Elstead"];
    let pick = |list: &[&str], by: u64| list[usize::try_from(by).unwrap() % list.len()].to_owned();
    let title = pick(&names, seed);
    let mut text = String::new();
    for by in 1..=(seed % 4 + 1) {
        let (name, place) = (pick(&names, seed * by + by), pick(&places, seed / 3 + by));
        text.push_str(&format!("{name} was seen in {place} on day {}. ", seed % 17 + by));
    }
    (title, text.trim().to_owned())
}

async fn indexed(base: &Arc<Base>, file: &Path) {
    let settings = KbSettings { atoms: Atoms::Sentences, ..KbSettings::default() };
    let llm: Arc<dyn Llm> = Arc::new(crate::graph::WhoAsker);
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let setup = Arc::new(Setup::new(Models::new(llm), Toy::empty(), prompts));
    let context = BuildContext::new(base, &settings, &setup);
    index(context, &[file.to_owned()], &IndexOptions::default()).await.unwrap();
}

/// Everything that a few searches find, in every mode, layer and filter.
async fn found(base: &Base) -> Vec<String> {
    let mut all = vec![];
    let filters = [
        Filter::default(),
        Filter { documents: vec!["*2".into(), "*5".into()], ..Filter::default() },
        Filter { since: Some("2020-01-04".into()), ..Filter::default() },
    ];
    for filter in filters {
        for mode in [Mode::Bm25, Mode::Dense, Mode::Hybrid, Mode::Graph] {
            for layer in [Layer::Chunk, Layer::Atom, Layer::Entity, Layer::Document] {
                let query = Query {
                    texts: vec![
                        "Where was Mara Quill seen?".into(),
                        "Who was in Carrow with Ines Barrow?".into(),
                    ],
                    layer,
                    mode,
                    limit: 30,
                    min_score: MinScore::Any,
                    exclude: vec![],
                    filter: filter.clone(),
                };
                let lists = base.search(&query).await.unwrap();
                // Removed texts still count in the statistics of an index in memory.
                let in_memory = matches!(layer, Layer::Entity | Layer::Document);
                let line = |hit: &Hit| {
                    if in_memory {
                        return format!("{mode:?} {}", hit.id.0);
                    }
                    format!(
                        "{mode:?} {} {:.4} {:?} {:?}",
                        hit.id.0, hit.score, hit.cosine, hit.parts
                    )
                };
                let mut lines: Vec<String> = lists.iter().flatten().map(line).collect();
                if in_memory {
                    lines.sort();
                }
                all.extend(lines);
            }
        }
    }
    all
}

#[tokio::test]
async fn what_is_held_finds_what_a_base_that_was_just_opened_finds() {
    let dir = tempfile::tempdir().unwrap();
    let embedder: Option<Arc<dyn halma_core::Embedder>> = Some(Arc::new(crate::graph::Hashed));
    let options = BaseOptions { embedder, ..BaseOptions::default() };
    let base = Base::create_or_open(&dir.path().join("base"), options).unwrap();
    let mut seed = 7_u64;
    let mut named: Vec<u64> = vec![];
    for step in 0..14 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let number = seed >> 60;
        if step > 3 && seed >> 40 & 3 == 0 && !named.is_empty() {
            let gone = named.remove(usize::try_from(seed >> 33).unwrap() % named.len());
            base.delete(&[format!("n{gone}")]).unwrap();
        } else {
            let (title, text) = text(seed >> 35);
            let day = number % 9 + 1;
            let line = serde_json::json!({
                "id": format!("n{number}"), "title": title, "text": text,
                "date": format!("2020-01-0{day}"),
            });
            std::fs::write(dir.path().join("one.jsonl"), format!("{line}\n")).unwrap();
            indexed(&base, &dir.path().join("one.jsonl")).await;
            named.retain(|known| *known != number);
            named.push(number);
        }
        let held = found(&base).await;
        base.held.forget();
        let opened = found(&base).await;
        assert_eq!(held, opened, "after step {step}");
        assert!(!held.is_empty());
    }
}
