//! Two machines with one shared base, in this process.
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_core::{Edge, Embedder, FieldValue, Knowledge as _, Layer, Metadata, Mode};

use super::common::{Bench, Words, query};
use super::dump;
use crate::base::sample_base::count_bytes;
use crate::store::replica::testing::MemoryUpstream;
use crate::{Base, BaseOptions, KbError, SharedBase, Upstream};

#[cfg(test)]
mod failures;
#[cfg(test)]
mod indexes;
#[cfg(test)]
mod log;
#[cfg(test)]
mod other_machines;
#[cfg(test)]
mod waiting;

/// A shared base, its folder of keys, and an input folder.
struct Shared {
    bench: Bench,
    upstream: Arc<MemoryUpstream>,
}

impl Shared {
    fn new() -> Self {
        let bench = Bench::new();
        bench.write("rivers.md", "# Rivers\n\nThe Zqoder flows to the sea. The Rhine is long.\n");
        bench.write(
            "cities.md",
            "# Cities\n\nBasel lies on the Rhine. Zqcity lies on the Zqoder.\n",
        );
        Self { bench, upstream: Arc::default() }
    }

    fn keys(&self) -> PathBuf {
        self.bench.dir.path().join("shared keys")
    }

    fn replica(&self, name: &str) -> PathBuf {
        self.bench.dir.path().join(name)
    }

    fn try_open(&self, name: &str, may_begin: bool) -> Result<Arc<Base>, KbError> {
        let embedder: Arc<dyn Embedder> = Words::new();
        let options = BaseOptions { embedder: Some(embedder), ..BaseOptions::default() };
        let upstream: Arc<dyn Upstream> = Arc::clone(&self.upstream) as _;
        let (keys, replica) = (self.keys(), self.replica(name));
        let shared = SharedBase { upstream, keys: &keys, replica: &replica, may_begin };
        Base::open_shared(&shared, options)
    }

    fn open(&self, name: &str) -> Arc<Base> {
        self.try_open(name, true).unwrap()
    }
}

fn numbered(number: u32) -> Metadata {
    Metadata([("number".to_owned(), FieldValue::Number(f64::from(number)))].into())
}

/// What a base holds, with the fields of its documents.
fn contents(base: &Base) -> String {
    let names = base.store.read(|reader| reader.document_names()).unwrap();
    let fields = names.iter().map(|(name, _)| (name, base.metadata(name).unwrap()));
    format!("{}\n{:?}", dump(base), fields.collect::<Vec<_>>())
}

/// Waits until a base holds what another one does.
fn await_equal(one: &Base, other: &Base) {
    let until = Instant::now() + Duration::from_secs(10);
    while contents(one) != contents(other) && Instant::now() < until {
        one.pull().unwrap();
        other.pull().unwrap();
    }
    assert_eq!(contents(one), contents(other));
}

async fn hits(base: &Arc<Base>, mode: Mode) -> Vec<(String, String, f32)> {
    let mut hits = vec![];
    for layer in [Layer::Chunk, Layer::Atom] {
        let results = base.search(&query("Which river is Basel on?", layer, mode)).await.unwrap();
        let results = results.into_iter().flatten();
        hits.extend(results.map(|hit| (hit.id.0, hit.text, hit.score)));
    }
    hits
}

/// Waits until the indexes are up to date as well.
async fn await_same_hits(one: &Arc<Base>, other: &Arc<Base>) {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let (left, right) = (hits(one, Mode::Hybrid).await, hits(other, Mode::Hybrid).await);
        if left == right || Instant::now() > until {
            assert_eq!(left, right);
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_machine_indexes_the_other_finds_as_in_a_folder() {
    let shared = Shared::new();
    let missing = shared.try_open("two", false).map(drop).unwrap_err();
    assert!(missing.to_string().contains("no knowledge base in `memory`"), "{missing}");
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    let alone = shared.bench.open(Some(Words::new()));
    shared.bench.index(&alone).await;
    assert_eq!(dump(&one), dump(&alone));
    await_equal(&two, &alone);
    // One that comes later takes in the same from the beginning.
    let three = shared.open("three");
    assert_eq!(dump(&three), dump(&alone));
    for mode in [Mode::Bm25, Mode::Dense, Mode::Hybrid, Mode::Graph] {
        let expected = hits(&alone, mode).await;
        assert!(!expected.is_empty());
        for base in [&one, &two, &three] {
            assert_eq!(hits(base, mode).await, expected, "{mode:?}");
        }
    }
    for base in [&one, &two, &three] {
        assert_eq!(base.id().unwrap(), one.id().unwrap());
        let verified = base.inspector().verify().unwrap();
        assert!(verified.problems.is_empty(), "{:?}", verified.problems);
    }
    let folder = shared.replica("two");
    drop(two);
    let as_folder = until_closed(&folder);
    assert!(as_folder.contains("replica of the base in `memory`"), "{as_folder}");
}

/// Why the folder of a replica cannot be opened as a base of its own.
fn until_closed(folder: &Path) -> String {
    loop {
        match Base::open(folder, BaseOptions::default()).map(drop).unwrap_err() {
            KbError::OpenTwice { .. } => std::thread::sleep(Duration::from_millis(20)),
            e => return e.to_string(),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_machine_deletes_is_gone_everywhere() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    await_equal(&one, &two);
    assert_eq!(count_bytes(&shared.keys(), &[0; 16]), 0, "no key is wiped");
    let deleted = two.delete(&["cities.md".into()]).unwrap();
    assert_eq!(deleted.names, ["cities.md"]);
    await_equal(&one, &two);
    assert!(!hits(&one, Mode::Bm25).await.iter().any(|(_, text, _)| text.contains("Zqcity")));
    assert!(count_bytes(&shared.keys(), &[0; 16]) > 0, "its keys are wiped");
    // Neither the log nor a replica holds its words in a form that can be read, nor the indexes.
    let until = Instant::now() + Duration::from_secs(5);
    for folder in ["one", "two"].map(|name| shared.replica(name)) {
        while count_bytes(&folder, b"zqcity") > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(count_bytes(&folder, b"Zqcity") + count_bytes(&folder, b"zqcity"), 0);
    }
    let log = shared.upstream.bytes();
    assert!(!log.windows(6).any(|word| word == b"Zqoder" || word == b"Zqcity"));
    // Its vectors are overwritten on the machine that took the deletion in.
    for base in [&one, &two] {
        assert!(base.inspector().verify().unwrap().problems.is_empty());
    }
    let three = shared.open("three");
    assert_eq!(dump(&three), dump(&one));
}

#[tokio::test(flavor = "multi_thread")]
async fn machines_write_by_turns_and_see_each_other() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    for round in 0..20_u32 {
        let (base, other) = if round % 2 == 0 { (&one, &two) } else { (&two, &one) };
        let fields = numbered(round);
        base.set_metadata("rivers.md", &fields).unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        let seen = || other.metadata("rivers.md").unwrap().as_ref() == Some(&fields);
        while !seen() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(seen(), "{round}");
    }
    // Both at once: none is lost.
    std::thread::scope(|scope| {
        for (base, name) in [(&one, "rivers.md"), (&two, "cities.md")] {
            scope.spawn(move || {
                for round in 0..20_u32 {
                    let fields = numbered(round);
                    base.set_metadata(name, &fields).unwrap();
                }
            });
        }
    });
    await_equal(&one, &two);
    let last = numbered(19);
    for base in [&one, &two] {
        for name in ["rivers.md", "cities.md"] {
            assert_eq!(base.metadata(name).unwrap().as_ref(), Some(&last));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_that_is_made_anew_replaces_the_replica() {
    let shared = Shared::new();
    let one = shared.open("one");
    shared.bench.index(&one).await;
    shared.upstream.erase();
    let two = shared.open("two");
    shared.bench.remove("cities.md");
    shared.bench.index(&two).await;
    await_equal(&one, &two);
    assert_eq!(one.id().unwrap(), two.id().unwrap());
    await_same_hits(&one, &two).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_many_pushes_the_whole_is_sent() {
    let shared = Shared::new();
    let (one, two) = (shared.open("one"), shared.open("two"));
    shared.bench.index(&one).await;
    for round in 0..520_u32 {
        let fields = numbered(round);
        one.set_metadata("rivers.md", &fields).unwrap();
    }
    shared.bench.index(&one).await;
    let head = shared.upstream.head().unwrap();
    assert!(head.first > 520 && head.generation == head.first, "{head:?}");
    await_equal(&one, &two);
    let three = shared.open("three");
    assert_eq!(dump(&three), dump(&one));
    let edges = |base: &Base| {
        let mut edges = 0;
        let count = |reader: &crate::store::StoreReader<'_>| {
            for row in reader.all_rows(Layer::Chunk)? {
                edges += reader.edges_to((Layer::Chunk, row), Some(Edge::Contains))?.len();
            }
            Ok(edges)
        };
        base.store.read(count).unwrap()
    };
    assert_eq!(edges(&three), edges(&one));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_is_copied_into_a_database_and_back() {
    let shared = Shared::new();
    let folder = shared.bench.open(Some(Words::new()));
    shared.bench.index(&folder).await;
    folder.delete(&["cities.md".into()]).unwrap();
    shared.bench.index(&folder).await;
    folder.set_metadata("rivers.md", &numbered(7)).unwrap();
    let one = shared.open("one");
    let copied = one.copy_from(&folder).unwrap();
    assert_eq!((copied.documents, copied.chunks), (2, 2));
    let two = shared.open("two");
    let back = shared.bench.dir.path().join("back");
    let options = BaseOptions { embedder: Some(Words::new() as _), ..BaseOptions::default() };
    let back = Base::create_or_open(&back, options).unwrap();
    back.copy_from(&two).unwrap();
    let expected = (contents(&folder), hits(&folder, Mode::Hybrid).await, folder.id().unwrap());
    for base in [&one, &two, &back] {
        let copied = (contents(base), hits(base, Mode::Hybrid).await, base.id().unwrap());
        assert_eq!(copied, expected);
        assert!(base.inspector().verify().unwrap().problems.is_empty());
    }
    let again = back.copy_from(&folder).unwrap_err();
    assert!(again.to_string().contains("holds 2 documents already"), "{again}");
    // Each goes on by itself.
    shared.bench.write("lakes.md", "# Lakes\n\nThe lake is deep.\n");
    shared.bench.index(&back).await;
    shared.bench.index(&two).await;
    await_equal(&one, &two);
    assert_eq!(contents(&back), contents(&two));
}

/// The base of a machine that was switched off.
async fn open_again(shared: &Shared, name: &str) -> Arc<Base> {
    loop {
        match shared.try_open(name, false) {
            Err(KbError::OpenTwice { .. }) => tokio::time::sleep(Duration::from_millis(20)).await,
            opened => return opened.unwrap(),
        }
    }
}
