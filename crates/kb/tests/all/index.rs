//! Building a base from real files: what is stored, found, replaced and left alone.

use std::sync::Arc;

use halma_core::{Budget, Embedder, Knowledge, Layer, MinScore, Mode, NodeId};
use halma_kb::{Atoms, Base, BaseOptions, BasePart, InputFormat, KbError};

use crate::common::{Bench, Words, ids, query, search};

const JAWS: &str = "---\ndate: 1975-06-20\n---\n# Jaws\n\nJaws is a film by Steven Spielberg. It \
                    was shot at sea.\n\n## Music\n\nJohn Williams wrote the score.\n";

fn filled() -> Bench {
    let bench = Bench::new();
    bench
        .write("film/jaws.md", JAWS)
        .write("alien.txt", "Alien was made by Ridley Scott. Åse liked it. The ship is large.")
        .write("table.csv", "Name;Maker\nZarxio;Sandoz\nAmjevita;Amgen\n")
        .write(
            "records.jsonl",
            "{\"id\": \"r1\", \"title\": \"Duel\", \"text\": \"Duel is about a lorry.\"}\n\
             {\"text\": \"Nobody knows the title of this one about penguins.\"}\n",
        );
    bench
}

#[tokio::test]
async fn every_kind_of_file_is_found_with_its_place() {
    let bench = filled();
    let base = bench.open(Some(Words::new()));
    let report = bench.index(&base).await;
    assert_eq!(report.documents_new, 5, "{report:?}");
    assert_eq!((report.refused.len(), report.failed_units, report.pending_units), (0, 0, 0));

    let hits = search(&base, "who wrote the score", Layer::Chunk, Mode::Hybrid).await;
    let hit = &hits[0];
    assert_eq!((hit.document.as_str(), hit.title.as_str()), ("film/jaws.md", "Jaws"));
    assert_eq!(hit.section.as_deref(), Some("Music"));
    let span: String =
        JAWS.chars().skip(hit.span.start).take(hit.span.end - hit.span.start).collect();
    assert_eq!(span, hit.text);
    assert!(hit.cosine.is_some() && hit.score > 0.0 && hit.score <= 1.0);
    let section = base.get(hit.parent.as_ref().unwrap()).await.unwrap();
    assert_eq!(section.layer, Layer::Section);
    let document = base.get(section.parent.as_ref().unwrap()).await.unwrap();
    assert_eq!(document.text, JAWS);

    let hits = search(&base, "film shot at sea", Layer::Atom, Mode::Bm25).await;
    assert_eq!(hits[0].text, "Jaws was shot at sea.");
    let chunk = base.get(hits[0].parent.as_ref().unwrap()).await.unwrap();
    assert_eq!(chunk.layer, Layer::Chunk);

    let hits = search(&base, "Sandoz", Layer::Chunk, Mode::Bm25).await;
    assert_eq!(hits[0].text, "Name: Zarxio; Maker: Sandoz");
    assert_eq!((hits[0].span.start, hits[0].span.end), (11, 24));
    assert_eq!(hits[0].section.as_deref(), Some("rows"));

    assert_eq!(search(&base, "lorry", Layer::Chunk, Mode::Dense).await[0].document, "r1");
    let penguin = &search(&base, "penguins", Layer::Chunk, Mode::Bm25).await[0];
    assert_eq!(penguin.document, "records.jsonl#2");
    assert_eq!(search(&base, "Ase", Layer::Chunk, Mode::Bm25).await[0].title, "alien");
}

#[tokio::test]
async fn the_same_input_again_does_nothing_and_makes_the_same_ids_elsewhere() {
    let bench = filled();
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    let before = base.inspector().stats().unwrap();
    let again = bench.index(&base).await;
    assert!(again.nothing_new(), "{again:?}");
    assert_eq!((again.documents_unchanged, again.chunks, again.embedded), (5, 0, 0));
    assert_eq!(base.inspector().stats().unwrap().fingerprint, before.fingerprint);
    let other = filled();
    let twin = other.open(None);
    other.index(&twin).await;
    let words = "jaws alien ship Zarxio Amjevita lorry penguins score";
    assert_eq!(ids(&base, words, Layer::Chunk).await, ids(&twin, words, Layer::Chunk).await);
    assert_eq!(ids(&base, words, Layer::Atom).await, ids(&twin, words, Layer::Atom).await);
    assert_eq!(twin.inspector().stats().unwrap().fingerprint, before.fingerprint);
}

#[tokio::test]
async fn a_changed_document_is_replaced_in_every_index() {
    let bench = filled();
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    let before = base.inspector().stats().unwrap();
    bench.write("alien.txt", "Alien was made in Shepperton. Ripley survives it.");
    let report = bench.index(&base).await;
    assert_eq!((report.documents_replaced, report.documents_unchanged), (1, 4));
    for layer in [Layer::Chunk, Layer::Atom] {
        let all = search(&base, "Ridley Scott", layer, Mode::Bm25).await;
        assert!(all.is_empty(), "{all:?}");
        let near = search(&base, "Ridley Scott", layer, Mode::Dense).await;
        assert!(near.iter().all(|hit| !hit.text.contains("Ridley")), "{near:?}");
        assert_eq!(search(&base, "Shepperton", layer, Mode::Hybrid).await[0].title, "alien");
    }
    let after = base.inspector().stats().unwrap();
    assert_eq!((after.documents, after.chunks), (before.documents, before.chunks));
    assert_eq!(after.vectors[0].atoms, after.atoms);
    assert_ne!(after.fingerprint, before.fingerprint);
}

#[tokio::test]
async fn duplicates_are_stored_once_and_survive_the_change_of_one_copy() {
    let bench = Bench::new();
    bench.write("x/same.txt", "A text about otters.").write("y/same.txt", "A text about otters.");
    let base = bench.open(None);
    let report = bench.index(&base).await;
    assert_eq!((report.documents_new, report.duplicates, report.chunks), (1, 1, 1));
    let again = bench.index(&base).await;
    assert_eq!((again.documents_unchanged, again.duplicates), (1, 1));
    bench.write("x/same.txt", "A text about beavers.");
    let report = bench.index(&base).await;
    assert_eq!((report.documents_replaced, report.documents_unchanged), (1, 1), "{report:?}");
    let hits = search(&base, "otters", Layer::Chunk, Mode::Bm25).await;
    assert_eq!(hits[0].document, "y/same.txt");
    assert_eq!(search(&base, "beavers", Layer::Chunk, Mode::Bm25).await[0].document, "x/same.txt");
}

/// The names of all documents, each as it is shown, after a run over one file or folder.
#[expect(clippy::unwrap_used, reason = "a failure fails the test")]
async fn shown_after(bench: &Bench, base: &Arc<Base>, path: &str) -> (Vec<String>, usize) {
    let path = bench.input().join(path);
    let report = bench.index_path(base, &path, InputFormat::Auto, Budget::default()).await.unwrap();
    let mut shown = vec![];
    let mut each = |document: halma_kb::ListedNode| {
        shown.push(document.document);
        true
    };
    base.inspector().visit_documents(None, None, &mut each).unwrap();
    (shown, report.duplicates)
}

#[tokio::test]
async fn a_copy_that_comes_alone_does_not_rename_the_original() {
    let mut bench = Bench::new().rebuilding(&[BasePart::Chunks]);
    bench.write("law/rent.md", "# Rent\n\nA text about otters. It is short.");
    let base = bench.open(None);
    bench.index(&base).await;
    bench.write("a copy.md", "# Rent\n\nA text about otters. It is short.");
    let original = || (vec!["law/rent.md".to_owned()], 1);
    assert_eq!(shown_after(&bench, &base, "a copy.md").await, original());
    assert_eq!(shown_after(&bench, &base, "").await, original(), "its name comes first");
    // Nor when it is chunked in another way.
    bench.settings.chunk_chars = 20;
    assert_eq!(shown_after(&bench, &base, "a copy.md").await.0, original().0);
    assert_eq!(base.inspector().shown_name("a copy.md").unwrap().as_deref(), Some("law/rent.md"));
}

#[tokio::test]
async fn a_file_that_was_moved_or_has_changed_gives_its_document_to_the_copy() {
    let bench = Bench::new();
    bench
        .write("one.md", "# Otters\n\nA text about otters.")
        .write("two.md", "# Beavers\n\nAll about beavers.");
    let base = bench.open(None);
    bench.index(&base).await;
    std::fs::rename(bench.input().join("one.md"), bench.input().join("three.md")).unwrap();
    let moved = vec!["three.md".to_owned(), "two.md".to_owned()];
    assert_eq!(shown_after(&bench, &base, "three.md").await, (moved, 0));
    bench
        .write("two.md", "# Voles\n\nAll about voles.")
        .write("four.md", "# Beavers\n\nAll about beavers.");
    let changed = vec!["four.md".to_owned(), "three.md".to_owned()];
    assert_eq!(shown_after(&bench, &base, "four.md").await, (changed, 0));
}

#[tokio::test]
async fn copies_are_counted_once_whichever_name_comes_first() {
    let bench = Bench::new();
    bench.write("m.md", "# Otters\n\nA text about otters.");
    let base = bench.open(None);
    bench.index(&base).await;
    bench
        .write("a.md", "# Otters\n\nA text about otters.")
        .write("z.md", "# Otters\n\nA text about otters.");
    for _ in 0..2 {
        let report = bench.index(&base).await;
        assert_eq!((report.documents_unchanged, report.duplicates), (1, 2), "{report:?}");
        assert_eq!(report.duplicate_names, ["a.md", "z.md"]);
    }
}

#[tokio::test]
async fn files_of_one_name_in_two_folders_are_two_documents() {
    let bench = Bench::new();
    bench.write("a/readme.txt", "A text about otters.").write("b/readme.txt", "All about beavers.");
    let base = bench.open(None);
    let index = async |folder: &str| {
        let (format, folder) = (InputFormat::Auto, bench.input().join(folder));
        bench.index_path(&base, &folder, format, Budget::default()).await.unwrap()
    };
    for (folder, new) in [("a", 1), ("b", 1), ("a", 0), ("b", 0)] {
        let report = index(folder).await;
        assert_eq!((report.documents_new, report.documents_replaced), (new, 0), "{folder}");
    }
    let of = async |word: &str| {
        search(&base, word, Layer::Chunk, Mode::Bm25).await.first().map(|hit| hit.document.clone())
    };
    assert_eq!(of("otters").await.as_deref(), Some("readme.txt"));
    assert_eq!(of("beavers").await.as_deref(), Some("readme.txt (2)"));
    bench.write("b/readme.txt", "All about badgers.");
    assert_eq!(index("b").await.documents_replaced, 1);
    assert_eq!(of("beavers").await, None);
    // A folder that has moved holds the same documents.
    std::fs::rename(bench.input().join("b"), bench.input().join("c")).unwrap();
    bench.write("c/readme.txt", "All about bears.");
    let report = index("c").await;
    assert_eq!((report.documents_new, report.documents_replaced), (0, 1), "{report:?}");
    assert_eq!(of("otters").await.as_deref(), Some("readme.txt"));
}

#[tokio::test]
async fn a_file_keeps_its_name_when_it_is_indexed_by_itself() {
    let bench = Bench::new();
    bench.write("law/a.txt", "A text about otters.").write("a.txt", "All about beavers.");
    let base = bench.open(None);
    assert_eq!(bench.index(&base).await.documents_new, 2);
    let alone = async || {
        let (format, file) = (InputFormat::Auto, bench.input().join("law/a.txt"));
        bench.index_path(&base, &file, format, Budget::default()).await.unwrap()
    };
    assert!(alone().await.nothing_new());
    bench.write("law/a.txt", "A text about badgers.");
    assert_eq!(alone().await.documents_replaced, 1);
    assert_eq!(base.names_to_delete(&["*".to_owned()]).unwrap(), ["a.txt", "law/a.txt"]);
    assert!(bench.index(&base).await.nothing_new());
}

#[tokio::test]
async fn names_that_meet_are_numbered_and_stay_so() {
    let bench = Bench::new();
    bench
        .write("a.jsonl", "{\"id\": 1, \"text\": \"first\"}\n{\"id\": 1, \"text\": \"second\"}")
        .write("b.jsonl", "{\"id\": 1, \"text\": \"third\"}");
    let base = bench.open(None);
    assert_eq!(bench.index(&base).await.documents_new, 3);
    assert_eq!(bench.index(&base).await.documents_unchanged, 3);
    for (word, name) in [("first", "1"), ("second", "1 (2)"), ("third", "1 (3)")] {
        assert_eq!(search(&base, word, Layer::Chunk, Mode::Bm25).await[0].document, name);
    }
    bench.write("b.jsonl", "{\"id\": 1, \"text\": \"fourth\"}");
    let report = bench.index(&base).await;
    assert_eq!((report.documents_replaced, report.documents_unchanged), (1, 2));
    assert_eq!(search(&base, "fourth", Layer::Chunk, Mode::Bm25).await[0].document, "1 (3)");
}

#[tokio::test]
async fn paragraphs_of_many_questions_are_pooled() {
    let bench = Bench::new();
    let one = r#"{"context": [["Jaws", ["A film."]], ["Mercury", ["A planet."]]]}"#;
    let two = r#"{"context": [["Jaws", ["A film."]], ["Mercury", ["A metal."]]]}"#;
    bench.write("hotpot.json", format!("[{one},{two}]"));
    let base = bench.open(None);
    let report = bench.index(&base).await;
    assert_eq!((report.documents_new, report.duplicates), (3, 1));
    let hit = &search(&base, "metal", Layer::Chunk, Mode::Bm25).await[0];
    assert_eq!((hit.document.as_str(), hit.title.as_str()), ("Mercury (2)", "Mercury"));
    assert!(bench.index(&base).await.nothing_new());
    let file = bench.input().join("hotpot.json");
    let format = InputFormat::Hotpotqa;
    let told = bench.index_path(&base, &file, format, Budget::default()).await.unwrap();
    assert_eq!((told.documents_unchanged, told.duplicates), (3, 1));
}

#[tokio::test]
async fn other_settings_cut_and_atomize_again() {
    let mut bench = filled().rebuilding(&[BasePart::Chunks, BasePart::Atoms]);
    let base = bench.open(Some(Words::new()));
    let first = bench.index(&base).await;
    bench.settings.chunk_chars = 30;
    let finer = bench.index(&base).await;
    assert_eq!(finer.documents_replaced, 5);
    assert!(finer.chunks > first.chunks);
    bench.settings.chunk_chars = 1500;
    bench.settings.atoms = Atoms::None;
    bench.index(&base).await;
    let stats = base.inspector().stats().unwrap();
    assert_eq!((stats.atoms, stats.vectors[0].atoms), (0, 0));
    assert_eq!(stats.chunks, stats.vectors[0].chunks);
    assert!(search(&base, "jaws", Layer::Atom, Mode::Hybrid).await.is_empty());
    bench.settings.atoms = Atoms::Questions;
    let report = bench.index(&base).await;
    assert!(report.atoms > 0 && report.chunks == 0, "{report:?}");
}

#[tokio::test]
async fn bad_files_are_named_and_the_others_indexed() {
    let bench = filled();
    bench
        .write("empty.txt", "")
        .write("scan.pdf", "%PDF-1.7 \0")
        .write("cut.json", "[{\"text\": \"a\"")
        .write("lines.jsonl", "{\"text\": \"Good line.\"}\n{\"text\": \"bad");
    let base = bench.open(None);
    let report = bench.index(&base).await;
    let mut refused: Vec<(String, Option<usize>)> = report
        .refused
        .iter()
        .map(|r| (r.file.file_name().unwrap().to_string_lossy().into_owned(), r.line))
        .collect();
    refused.sort();
    let expected =
        [("cut.json", None), ("empty.txt", None), ("lines.jsonl", Some(2)), ("scan.pdf", None)];
    assert_eq!(refused, expected.map(|(name, line)| (name.to_owned(), line)));
    assert_eq!(report.documents_new, 6);
    let nowhere = bench.input().join("no");
    let missing = bench.index_path(&base, &nowhere, InputFormat::Auto, Budget::default()).await;
    assert!(matches!(missing, Err(KbError::NoInput { .. })));
}

#[tokio::test]
async fn a_search_keeps_to_its_limits() {
    let bench = filled();
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    let mut request =
        query("Spielberg shot a film at sea with a large ship", Layer::Atom, Mode::Hybrid);
    let all = base.search(&request).await.unwrap().remove(0);
    let best = all[0].clone();
    assert!(all.windows(2).all(|pair| pair[0].score >= pair[1].score));

    request.min_score = MinScore::At(0.3);
    for mode in [Mode::Bm25, Mode::Dense, Mode::Hybrid] {
        request.mode = mode;
        let near = base.search(&request).await.unwrap().remove(0);
        assert!(!near.is_empty() && near.iter().all(|hit| hit.cosine >= Some(0.3)), "{mode:?}");
    }
    request.min_score = MinScore::Any;
    for excluded in [best.id.clone(), best.parent.clone().unwrap()] {
        request.exclude = vec![excluded.clone(), NodeId::from("c-unknown")];
        for mode in [Mode::Bm25, Mode::Dense, Mode::Hybrid] {
            request.mode = mode;
            let hits = base.search(&request).await.unwrap().remove(0);
            let is_excluded = |hit: &halma_core::Hit| {
                hit.id == excluded || hit.parent.as_ref() == Some(&excluded)
            };
            assert!(!hits.is_empty() && !hits.iter().any(is_excluded), "{mode:?}");
        }
    }
    request.limit = 2;
    assert_eq!(base.search(&request).await.unwrap().remove(0).len(), 2);
    request.limit = 0;
    assert!(base.search(&request).await.unwrap().remove(0).is_empty());
    request.layer = Layer::Section;
    assert!(base.search(&request).await.unwrap().remove(0).is_empty());
    let gone = base.get(&NodeId::from("c-0000000000000000")).await;
    assert!(gone.unwrap_err().to_string().contains("c-0000000000000000"));
}

#[tokio::test]
async fn strange_questions_find_what_there_is() {
    let bench = filled();
    bench.write("zh.txt", "大白鲨是一部电影。导演是斯皮尔伯格。");
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    let texts = ["", "  \n", "谁是大白鲨的导演？", "\u{0}\u{feff}😀", "?!"];
    let mut request = query("", Layer::Chunk, Mode::Hybrid);
    request.texts = texts.map(str::to_owned).to_vec();
    request.texts.push("shark sea ".repeat(100_000));
    for mode in [Mode::Bm25, Mode::Dense, Mode::Hybrid] {
        request.mode = mode;
        let lists = base.search(&request).await.unwrap();
        assert_eq!(lists.len(), 6);
        assert!(lists[0].is_empty() && lists[1].is_empty(), "an empty text finds nothing");
        assert!(!lists[5].is_empty());
        if mode == Mode::Bm25 {
            assert_eq!(lists[2][0].title, "zh");
        }
    }
}

#[tokio::test]
async fn without_vectors_words_are_searched() {
    let bench = filled();
    let base = bench.open(None);
    bench.index(&base).await;
    drop(base);
    let embedder: Option<Arc<dyn Embedder>> = Some(Words::new());
    for embedder in [None, embedder] {
        let options = BaseOptions { embedder, ..BaseOptions::default() };
        let base = Base::open(&bench.base_dir(), options).unwrap();
        for mode in [Mode::Dense, Mode::Hybrid] {
            let mut request = query("Spielberg", Layer::Chunk, mode);
            request.min_score = MinScore::Usual;
            let hits = base.search(&request).await.unwrap().remove(0);
            assert_eq!((hits.len(), hits[0].cosine), (1, None));
        }
    }
}

#[tokio::test]
async fn texts_that_are_too_long_together_are_embedded_apart() {
    let bench = filled();
    let words = Arc::new(Words { max_texts: 2, ..Arc::into_inner(Words::new()).unwrap() });
    let base = bench.open(Some(words));
    let report = bench.index(&base).await;
    assert_eq!(report.failed_units, 0);
    let stats = base.inspector().stats().unwrap();
    let others: u64 = stats.vectors[0].others.values().sum();
    assert_eq!(report.embedded as u64, stats.chunks + stats.atoms + others);
}

#[tokio::test]
async fn documents_are_tied_to_those_they_link_to_and_name() {
    let bench = Bench::new();
    bench
        .write("lake.md", "# Otter Lake\n\nA lake in the north.")
        .write("notes/trip.md", "# A trip\n\nWe went to [the lake](../lake.md) in May.")
        .write("song.md", "# A song\n\nIt praises Otter Lake and nothing else.");
    let base = bench.open(None);
    bench.index(&base).await;
    let ends = |base: &halma_kb::Base, name: &str, edge| {
        let id = base.inspector().find_document(name).unwrap().unwrap();
        let seen = base.inspector().edges_of(&id, Some(edge)).unwrap();
        seen.into_iter().filter(|s| s.outgoing).map(|s| s.node.document).collect::<Vec<_>>()
    };
    assert_eq!(ends(&base, "notes/trip.md", halma_core::Edge::LinksTo), ["lake.md"]);
    assert_eq!(ends(&base, "song.md", halma_core::Edge::RefersTo), ["lake.md"]);
    // Also when what is named comes, or comes again, later.
    bench.write("lake.md", "# Otter Lake\n\nA lake in the south.");
    bench.index(&base).await;
    assert_eq!(ends(&base, "notes/trip.md", halma_core::Edge::LinksTo), ["lake.md"]);
    assert_eq!(ends(&base, "song.md", halma_core::Edge::RefersTo), ["lake.md"]);
}
