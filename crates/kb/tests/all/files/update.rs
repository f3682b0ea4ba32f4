//! Keeping a base in step with its input: patterns, pruning, strange files.

use std::sync::Arc;

use halma_core::{Budget, Layer, Mode};
use halma_kb::{BuildContext, Forget, InputFormat};

use crate::common::{Bench, Words, search};

async fn finds(base: &halma_kb::Base, word: &str) -> bool {
    !search(base, word, Layer::Chunk, Mode::Bm25).await.is_empty()
}

fn pruning(bench: &mut Bench) {
    bench.options.prune = true;
}

#[tokio::test]
async fn what_is_gone_is_removed_when_that_is_asked_for() {
    let mut bench = Bench::new();
    bench.write("a.txt", "All about otters.").write("x/b.txt", "All about beavers.");
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("c.txt"), "All about badgers.").unwrap();
    bench.index_path(&base, elsewhere.path(), InputFormat::Auto, Budget::default()).await.unwrap();
    std::fs::remove_file(elsewhere.path().join("c.txt")).unwrap();

    bench.remove("x/b.txt");
    let kept = bench.index(&base).await;
    assert!(kept.documents_removed.is_empty() && finds(&base, "beavers").await);
    pruning(&mut bench);
    let report = bench.index(&base).await;
    assert_eq!(report.documents_removed, ["x/b.txt"]);
    assert!(!report.nothing_new() && !finds(&base, "beavers").await);
    assert!(finds(&base, "otters").await && finds(&base, "badgers").await);
    let stats = base.inspector().stats().unwrap();
    assert_eq!((stats.documents, stats.vectors[0].chunks, stats.vectors[0].atoms), (2, 2, 2));
    assert!(bench.index(&base).await.documents_removed.is_empty());
}

#[tokio::test]
async fn a_single_file_or_a_subfolder_prunes_nothing_outside_it() {
    let mut bench = Bench::new();
    bench.write("a.txt", "Otters.").write("x/b.txt", "Beavers.").write("x/c.txt", "Voles.");
    let base = bench.open(None);
    bench.index(&base).await;
    bench.remove("a.txt").remove("x/c.txt");
    pruning(&mut bench);
    let file = bench.input().join("x/b.txt");
    let report = bench.index_path(&base, &file, InputFormat::Auto, Budget::default()).await;
    assert!(report.unwrap().documents_removed.is_empty());
    let folder = bench.input().join("x");
    let report = bench.index_path(&base, &folder, InputFormat::Auto, Budget::default()).await;
    assert_eq!(report.unwrap().documents_removed, ["x/c.txt"]);
    assert!(finds(&base, "otters").await);
}

#[tokio::test]
async fn an_empty_folder_removes_nothing_and_is_reported() {
    let mut bench = Bench::new();
    bench.write("a.txt", "Otters.");
    let base = bench.open(None);
    bench.index(&base).await;
    bench.remove("a.txt");
    pruning(&mut bench);
    let report = bench.index(&base).await;
    assert!(report.documents_removed.is_empty() && finds(&base, "otters").await);
    let [refused] = report.refused.as_slice() else { panic!("{:?}", report.refused) };
    assert_eq!(refused.file, bench.input());
    assert!(refused.reason.contains("no document that came from it is removed"), "{refused:?}");
    assert!(refused.hint.contains("halma kb delete"), "{refused:?}");
}

#[tokio::test]
async fn an_empty_folder_does_not_stop_the_others_from_being_indexed_and_pruned() {
    let mut bench = Bench::new();
    bench.write("full/a.txt", "Otters.").write("full/b.txt", "Beavers.");
    bench.write("disk/c.txt", "Voles.");
    let inputs = ["disk", "full", "never"].map(|name| bench.input().join(name));
    std::fs::create_dir(&inputs[2]).unwrap();
    let base = bench.open(None);
    bench.index_paths(&base, &inputs).await;
    bench.remove("full/b.txt").remove("disk/c.txt").write("full/d.txt", "Badgers.");
    pruning(&mut bench);
    let report = bench.index_paths(&base, &inputs).await;
    assert_eq!(report.documents_removed, ["b.txt"]);
    assert!(finds(&base, "badgers").await && finds(&base, "voles").await);
    let refused: Vec<_> = report.refused.iter().map(|refused| &refused.file).collect();
    assert_eq!(refused, [&inputs[0]], "nothing came from `never`");
    let report = bench.index_paths(&base, &inputs[..1]).await;
    assert_eq!((report.documents_removed.len(), report.refused.len()), (0, 1));
}

#[tokio::test]
async fn what_cannot_be_looked_at_is_not_gone() {
    let mut bench = Bench::new();
    bench.write("a.txt", "Otters.").write("b.md", "Beavers.").write("c.txt", "Voles.");
    bench.write("records.jsonl", "{\"id\":\"r1\",\"text\":\"Moles.\"}\n{\"text\":\"Shrews.\"}");
    let base = bench.open(None);
    bench.index(&base).await;
    pruning(&mut bench);
    // One has become unreadable, one is left out by the patterns, one half-written.
    bench.write("a.txt", b"Otters\0").remove("b.md");
    bench.write("records.jsonl", "{\"id\":\"r1\",\"text\":\"Moles.\"}\n{\"text\":\"Shr");
    bench.options.exclude = vec!["*.md".into()];
    let report = bench.index(&base).await;
    assert!(report.documents_removed.is_empty(), "{report:?}");
    assert_eq!(report.refused.len(), 2);
    bench.write("records.jsonl", "{\"id\":\"r1\",\"text\":\"Moles.\"}");
    bench.options.exclude.clear();
    let report = bench.index(&base).await;
    assert_eq!(report.documents_removed, ["b.md", "records.jsonl#2"]);
    assert!(finds(&base, "moles").await && finds(&base, "otters").await);
}

#[tokio::test]
async fn one_of_two_copies_that_goes_leaves_the_other() {
    let mut bench = Bench::new();
    bench.write("x/same.txt", "About otters.").write("y/same.txt", "About otters.");
    let base = bench.open(None);
    bench.index(&base).await;
    bench.remove("x/same.txt");
    pruning(&mut bench);
    let report = bench.index(&base).await;
    assert!(report.documents_removed.is_empty());
    assert_eq!(search(&base, "otters", Layer::Chunk, Mode::Bm25).await[0].document, "y/same.txt");
}

#[tokio::test]
async fn a_document_that_goes_with_two_files_is_reported_under_both_names() {
    let mut bench = Bench::new();
    bench.write("x/same.txt", "About otters.").write("y/same.txt", "About otters.");
    let base = bench.write("z.txt", "About voles.").open(None);
    bench.index(&base).await;
    bench.remove("x/same.txt").remove("y/same.txt");
    pruning(&mut bench);
    let mut removed = bench.index(&base).await.documents_removed;
    removed.sort();
    assert_eq!(removed, ["x/same.txt", "y/same.txt"], "hits name the first of them");
    assert!(!finds(&base, "otters").await);
}

#[tokio::test]
async fn a_document_stays_until_what_quotes_it_is_deleted() {
    let mut bench = Bench::new();
    let base = bench.write("a.txt", "About otters.").write("b.txt", "About voles.").open(None);
    bench.index(&base).await;
    bench.remove("b.txt");
    pruning(&mut bench);
    let forget: Forget = Arc::new(|documents| {
        assert_eq!(documents, ["b.txt"]);
        Err("the disk is away".into())
    });
    let setup = bench.setup();
    let context = BuildContext { forget, ..BuildContext::new(&base, &bench.settings, &setup) };
    let failed = halma_kb::index(context, &[bench.input()], &bench.options).await.unwrap_err();
    assert!(failed.to_string().contains("the disk is away"), "{failed}");
    assert!(finds(&base, "voles").await);
    assert_eq!(bench.index(&base).await.documents_removed, ["b.txt"]);
    assert!(!finds(&base, "voles").await);
}

#[tokio::test]
async fn pooled_paragraphs_go_with_the_last_file_that_has_them() {
    let mut bench = Bench::new();
    let one = r#"[{"context": [["Jaws", ["A film."]], ["Mercury", ["A planet."]]]}]"#;
    let two = r#"[{"context": [["Jaws", ["A film."]], ["Duel", ["Another film."]]]}]"#;
    bench.write("a.json", one).write("b.json", two);
    let base = bench.open(None);
    bench.index(&base).await;
    pruning(&mut bench);
    bench.remove("a.json");
    assert_eq!(bench.index(&base).await.documents_removed, ["Mercury"]);
    assert!(finds(&base, "film").await && !finds(&base, "planet").await);
}

#[tokio::test]
async fn patterns_choose_what_is_read() {
    let mut bench = Bench::new();
    bench.write("a.md", "Otters.").write("b.txt", "Beavers.").write("old/c.md", "Voles.");
    bench.options.include = vec!["*.md".into()];
    bench.options.exclude = vec!["old".into()];
    let base = bench.open(None);
    assert_eq!(bench.index(&base).await.documents_new, 1);
    assert!(finds(&base, "otters").await && !finds(&base, "voles").await);
    bench.options.include = vec!["[".into()];
    let wrong = bench.try_index(&base, Budget::default()).await.unwrap_err().to_string();
    assert!(wrong.contains("`[`"), "{wrong}");
}

#[cfg(unix)]
#[tokio::test]
async fn names_that_are_no_text_are_told_apart() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    let path = |name: &[u8]| bench.input().join(std::ffi::OsStr::from_bytes(name));
    std::fs::write(path(b"a\xff.txt"), "Otters.").unwrap();
    std::fs::write(path(b"a\xfe.txt"), "Beavers.").unwrap();
    std::fs::write(path(b"a\nb.txt"), "Voles.").unwrap();
    let base = bench.open(None);
    assert_eq!(bench.index(&base).await.documents_new, 3);
    for (word, name) in
        [("otters", r"a\xff.txt"), ("beavers", r"a\xfe.txt"), ("voles", r"a\nb.txt")]
    {
        assert_eq!(search(&base, word, Layer::Chunk, Mode::Bm25).await[0].document, name);
    }
    std::fs::write(path(b"a\xff.txt"), "Badgers.").unwrap();
    let report = bench.index(&base).await;
    assert_eq!((report.documents_replaced, report.documents_unchanged), (1, 2));
}

#[tokio::test]
async fn a_replaced_document_is_whole_in_every_search_while_it_is_replaced() {
    let bench = Bench::asking();
    let text = |word: &str| {
        // Long enough that the sections do not share a chunk.
        let much = " and more".repeat(25);
        format!("# T\n\n## A\n\nfirst {word}{much}.\n\n## B\n\nsecond {word}{much}.\n")
    };
    bench.write("a.md", text("otter"));
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    bench.write("a.md", text("beaver"));
    let mut run = Box::pin(bench.try_index(&base, Budget::default()));
    let mut seen = vec![];
    loop {
        let done = futures::poll!(&mut run).is_ready();
        let old = search(&base, "otter", Layer::Chunk, Mode::Bm25).await.len();
        let new = search(&base, "beaver", Layer::Chunk, Mode::Bm25).await.len();
        seen.push((old, new));
        if done {
            break;
        }
        tokio::task::yield_now().await;
    }
    seen.dedup();
    assert!(seen.iter().all(|now| matches!(now, (2, 0) | (0, 0 | 2))), "{seen:?}");
    assert_eq!(seen.last(), Some(&(0, 2)));
    drop(run);
    let _: Arc<_> = base;
}
