//! A change costs what it changes: the base that many small builds make is the one of a single
//! build, and what did not change is not looked at again.
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use halma_core::{Budget, Edge, Layer};

use super::common::{Bench, Words};
use super::dump;
use crate::store::{FileKey, FileStamp};
use crate::{Atoms, Base, InputFormat};

fn page(title: &str, links: &[&str]) -> String {
    let links: Vec<String> = links.iter().map(|to| format!("See [there]({to}).")).collect();
    format!("# {title}\n\nAbout {title}, which Ada Lovelace knew. {}\n", links.join(" "))
}

fn links(base: &Base) -> usize {
    let mut count = 0;
    let each = |link: crate::store::Link| count += usize::from(link.edge == Edge::LinksTo);
    base.store.read(|reader| reader.each_edge(each)).unwrap();
    count
}

async fn fresh(bench: &Bench) -> Arc<Base> {
    let other = Bench { settings: bench.settings.clone(), ..Bench::new() };
    let from = bench.input();
    for entry in walk(&from) {
        let below = entry.strip_prefix(&from).unwrap().to_str().unwrap().to_owned();
        other.write(&below, std::fs::read(&entry).unwrap());
    }
    let base = other.open(Some(Words::new()));
    other.index(&base).await;
    base
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn links_are_followed_once_wherever_documents_come_go_and_change() {
    let mut bench = Bench::new();
    bench.settings.atoms = Atoms::Sentences;
    bench.options.prune = true;
    bench.write("a.md", page("Alpha", &["b.md", "sub/c.md", "nowhere.md"]));
    bench.write("sub/c.md", page("Gamma", &["../a.md", "d.md#part", "/b.md"]));
    let base = bench.open(Some(Words::new()));
    bench.index(&base).await;
    assert_eq!(links(&base), 2);
    // The target comes later, and another one to which nothing leads.
    bench.write("b.md", page("Beta", &["a.md"])).write("e.md", page("Epsilon", &[]));
    bench.index(&base).await;
    assert_eq!(links(&base), 5);
    assert_eq!(dump(&base), dump(&*fresh(&bench).await));
    // A target changes: its links go, those to it stay.
    bench.write("b.md", page("Beta, changed", &["sub/c.md", "a.md"]));
    bench.index(&base).await;
    assert_eq!(links(&base), 6);
    assert_eq!(dump(&base), dump(&*fresh(&bench).await));
    // A document gets the name that others lead to, and its own links lead elsewhere.
    let moved = |from: &str, to: &str| {
        std::fs::rename(bench.input().join(from), bench.input().join(to)).unwrap();
    };
    moved("e.md", "sub/d.md");
    bench.index(&base).await;
    assert_eq!(dump(&base), dump(&*fresh(&bench).await));
    bench.remove("b.md");
    bench.index(&base).await;
    bench.write("b.md", page("Beta, again", &["nowhere.md"]));
    bench.index(&base).await;
    assert_eq!(dump(&base), dump(&*fresh(&bench).await));
    let entities = base.store.read(|reader| {
        let mut alone = 0;
        for row in reader.all_rows(Layer::Entity)? {
            alone += usize::from(!reader.is_led_to((Layer::Entity, row), Edge::Mentions)?);
        }
        Ok((alone, reader.count(Layer::Entity)?))
    });
    let now = fresh(&bench).await;
    let count = now.store.read(|reader| reader.count(Layer::Entity)).unwrap();
    assert_eq!(entities.unwrap(), (0, count), "what nothing names has gone without a sweep");
}

#[tokio::test]
async fn a_file_of_the_same_stamp_is_not_read() {
    let mut bench = Bench::new();
    bench.write("a.md", "# One\n\nThe first text.");
    let base = bench.open(None);
    bench.index(&base).await;
    let path = bench.input().join("a.md").canonicalize().unwrap();
    let key = FileKey::of(path.to_str().unwrap());
    let record = || base.store.read(|reader| reader.file(key)).unwrap().unwrap();
    assert_eq!(record().stamp, None, "written just now: the next write might look the same");

    // As if the other text had been there all along.
    std::fs::write(&path, "# One\n\nThe other text.").unwrap();
    let stamp = stamp_later(&path);
    base.store.write(|writer| writer.stamp_file(key, stamp)).unwrap();
    std::thread::sleep(Duration::from_millis(3_100));
    let report = bench.index(&base).await;
    assert_eq!((report.documents_unchanged, report.documents_replaced), (1, 0), "it was read");
    bench.options.rehash = true;
    let read = bench.index(&base).await;
    assert_eq!((read.documents_unchanged, read.documents_replaced), (0, 1));
    assert_eq!(record().stamp, Some(stamp));
    bench.options.rehash = false;

    // The same length and the same time of writing, which any program can set.
    std::fs::write(&path, "# One\n\nThe third text.").unwrap();
    let written =
        SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(stamp.modified).unwrap());
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
    assert_eq!(bench.index(&base).await.documents_replaced, 1);
    assert_eq!(record().stamp, None);
    std::thread::sleep(Duration::from_millis(3_100));
    assert_eq!(bench.index(&base).await.documents_unchanged, 1);
    assert!(record().stamp.is_some_and(|now| now.modified == stamp.modified && now != stamp));
}

/// What [`crate::read::InputFile::stamp`] says of a file in some seconds.
fn stamp_later(path: &std::path::Path) -> FileStamp {
    use std::os::unix::fs::MetadataExt as _;
    let about = std::fs::metadata(path).unwrap();
    let nanoseconds = |seconds, rest| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    FileStamp {
        bytes: about.len(),
        modified: nanoseconds(about.mtime(), about.mtime_nsec()),
        changed: nanoseconds(about.ctime(), about.ctime_nsec()),
        inode: about.ino(),
        device: about.dev(),
    }
}

#[tokio::test]
async fn removing_many_documents_takes_a_time_for_each() {
    let mut bench = Bench::new();
    bench.settings.atoms = Atoms::None;
    for i in 0..300 {
        bench.write(&format!("{i}.md"), page(&format!("Page {i}"), &["0.md"]));
    }
    let base = bench.open(None);
    bench.index(&base).await;
    for i in 1..300 {
        bench.remove(&format!("{i}.md"));
    }
    bench.options.prune = true;
    let report = bench
        .index_path(&base, &bench.input(), InputFormat::Auto, Budget::default())
        .await
        .unwrap();
    assert_eq!(report.documents_removed.len(), 299);
    assert_eq!(links(&base), 0);
    let problems = base.inspector().verify().unwrap();
    assert!(problems.is_sound(), "{problems:?}");
}

/// What graph search needs of a chunk is made with its links, or of what is stored; by either way it
/// is the same.
#[tokio::test]
async fn what_is_made_with_the_links_is_what_is_made_of_what_is_stored() {
    let mut bench = Bench::new();
    bench.settings.atoms = Atoms::None;
    bench.settings.chunk_chars = 120;
    let long = "# Ada Lovelace (writer), London\n\nShe met Charles Babbage. ADA LOVELACE wrote \
                notes; Mr. Babbage's \u{201c}Difference Engine\u{201d} was never built.\n\n\
                ## The Analytical Engine\n\nIt was planned in 1837. Luigi Menabrea of Turin spoke \
                about it in Turin.\n\n## Notes\n\nThe notes hold a table. 42 pages.\n";
    bench.write("a.md", long).write("b.md", page("Charles Babbage", &["a.md"]));
    bench.write(
        "c.md",
        "Im Jahr 1837 war Charles Babbage in Köln, und das war nicht das letzte Mal.",
    );
    bench.write("d.md", "");
    let base = bench.open(Some(Words::new()));
    let of_base = || {
        let all = |reader: &crate::store::StoreReader<'_>| {
            let rows = reader.all_rows(Layer::Chunk)?.into_iter();
            let made = |row| Ok((row, reader.chunk_names(row)?, reader.chunk_terms(row)?));
            rows.map(made).collect::<heed::Result<Vec<_>>>()
        };
        base.store.read(all).unwrap()
    };
    for round in 0..2 {
        bench.index(&base).await;
        let with_links = of_base();
        assert!(with_links.len() > 4, "{with_links:?}");
        assert!(with_links.iter().all(|(_, names, terms)| names.is_some() && terms.is_some()));
        assert!(with_links.iter().any(|(_, names, _)| {
            names.as_ref().is_some_and(|names| names.units.iter().any(|u| u.entities.len() > 2))
        }));
        base.store.write(|writer| writer.drop_all_names()).unwrap();
        crate::mentions::fill(&base.store, &(Arc::new(|_| ()) as crate::Progress)).unwrap();
        assert_eq!(of_base(), with_links, "round {round}");
        // A document that others name, and one whose text changes.
        bench.write("e.md", page("Luigi Menabrea", &["a.md"]));
        bench.write("a.md", long.replace("42 pages", "Luigi Menabrea has 42 pages"));
    }
}

/// With the build it is made with the links: nothing is left to fill.
#[test]
fn links_leave_nothing_to_fill_where_there_are_no_atoms() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut bench = Bench::new();
    bench.settings.atoms = Atoms::None;
    bench.write("a.md", page("Alpha", &[])).write("b.md", page("Beta", &["a.md"]));
    let base = bench.open(None);
    runtime.block_on(bench.index(&base));
    base.store
        .write(|writer| {
            writer.drop_all_names()?;
            writer.set_linked_to(0, 0)
        })
        .unwrap();
    let quiet = Arc::new(|_| ()) as crate::Progress;
    crate::build::link::link_new(&base.store, &bench.settings, &quiet).unwrap();
    let left = base.store.read(|reader| reader.without_names()).unwrap();
    assert!(left.is_empty(), "{left:?}");
}
