//! Deleting leaves nothing: not in the files of the base, regardless of who wrote them and when.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{Budget, EmbedRole, Embedder, Knowledge, Layer, LlmError, Mode, Vector};
use halma_kb::{Base, BaseOptions, InputFormat, KbError, ListQuery};
use parking_lot::Mutex;
use tantivy::Index;
use tantivy::schema::IndexRecordOption;

use crate::common::{Bench, again, search};

/// Every mark begins and ends with this, in which no stemmer finds an ending.
const SIGN: &str = "zq";

/// Marks that differ from run to run.
struct Marks {
    seed: u64,
    given: BTreeSet<String>,
}

impl Marks {
    fn new(seed: u64) -> Self {
        Self { seed, given: BTreeSet::new() }
    }

    fn number(&mut self) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.seed >> 16
    }

    fn next(&mut self) -> String {
        let mark = format!("{SIGN}{:012x}{SIGN}", self.number());
        self.given.insert(mark.clone());
        mark
    }

    /// Files of every kind with marks in name, title, headings, text and cells.
    fn plant(&mut self, bench: &Bench, count: usize) {
        while self.given.len() < count {
            let (name, title) = (self.next(), self.next());
            let mut text = format!("# {title}\n\n");
            for _ in 0..5 {
                let (heading, first, second) = (self.next(), self.next(), self.next());
                let _ = write!(text, "## {heading}\n\nIt is {first}. They saw {second} there.\n\n");
                let _ = write!(text, "| a | b |\n|---|---|\n| {} | 1 |\n\n", self.next());
            }
            bench.write(&format!("secret/{name}.md"), text);
            let (name, column) = (self.next(), self.next());
            let mut table = format!("{column};maker\n");
            for _ in 0..5 {
                let _ = writeln!(table, "{};{}", self.next(), self.next());
            }
            bench.write(&format!("secret/{name}.csv"), table);
        }
    }
}

/// Marks in the files below a folder, as they are or backwards (tantivy keeps terms backwards).
fn marks_in(dir: &Path, marks: &BTreeSet<String>) -> BTreeSet<String> {
    let mut marks_found = BTreeSet::new();
    for path in files(dir) {
        for at in [path.to_string_lossy().as_bytes(), &std::fs::read(&path).unwrap()] {
            for (begin, _) in at.windows(2).enumerate().filter(|(_, two)| *two == SIGN.as_bytes()) {
                let mark = at.get(begin..begin + 16).map(String::from_utf8_lossy);
                marks_found.extend(mark.map(String::from).filter(|mark| marks.contains(mark)));
                let mark = at.get((begin + 2).saturating_sub(16)..begin + 2);
                let mark = mark.map(|mark| mark.iter().rev().copied().collect::<Vec<u8>>());
                let mark = mark.map(|mark| String::from_utf8_lossy(&mark).into_owned());
                marks_found.extend(mark.filter(|mark| marks.contains(mark)));
            }
        }
    }
    marks_found
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut paths = vec![];
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { paths.extend(files(&path)) } else { paths.push(path) }
    }
    paths
}

/// Marks among the terms of the word indexes, read from their files.
fn marks_in_words(dir: &Path, marks: &BTreeSet<String>) -> BTreeSet<String> {
    let mut marks_found = BTreeSet::new();
    for layer in std::fs::read_dir(dir.join("bm25")).unwrap() {
        let index = Index::open_in_dir(layer.unwrap().path()).unwrap();
        let text = index.schema().get_field("text").unwrap();
        for segment in index.reader().unwrap().searcher().segment_readers() {
            let inverted = segment.inverted_index(text).unwrap();
            let mut terms = inverted.terms().stream().unwrap();
            while terms.advance() {
                let term = String::from_utf8_lossy(terms.key());
                assert!(
                    inverted
                        .read_postings_from_terminfo(terms.value(), IndexRecordOption::Basic)
                        .is_ok()
                );
                marks_found.extend(marks.get(term.as_ref()).cloned());
            }
        }
    }
    marks_found
}

/// How many of these vectors are in a file, as they are or as whole numbers of one byte.
fn vectors_in(dir: &Path, vectors: &[Vector]) -> usize {
    let mut wanted: HashMap<[u8; 8], Vec<u8>> = HashMap::new();
    for vector in vectors {
        let floats: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
        let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        #[expect(clippy::cast_possible_truncation, reason = "at most 127")]
        let bytes = vector.iter().map(|x| (x / largest * 127.0).round() as i8);
        for bytes in [floats, bytes.map(i8::cast_unsigned).collect()] {
            wanted.insert(*bytes.first_chunk().unwrap(), bytes);
        }
    }
    let mut count = 0;
    for path in files(dir) {
        let content = std::fs::read(path).unwrap();
        for (at, head) in content.windows(8).enumerate() {
            let whole = wanted.get(head).filter(|whole| content[at..].starts_with(whole));
            count += usize::from(whole.is_some());
        }
    }
    count
}

/// Gives every text a vector by chance, and remembers it.
#[derive(Default)]
struct Chance(Mutex<BTreeMap<String, Vector>>);

#[async_trait]
impl Embedder for Chance {
    fn model(&self) -> &'static str {
        "chance"
    }

    async fn embed(&self, texts: &[&str], _: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        let vector = |text: &&str| {
            let mut random =
                Marks::new(text.bytes().fold(7, |sum, b| sum * 31 % 1_000_003 + u64::from(b)));
            let raw: Vec<f32> =
                (0..64).map(|_| f32::from(random.number().to_le_bytes()[0]) - 127.5).collect();
            let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
            let vector: Vector = raw.into_iter().map(|x| x / length).collect();
            self.0.lock().insert((*text).to_owned(), vector.clone());
            vector
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// Indexes with a model that asks about every sentence, and with vectors.
async fn index(bench: &Bench, embedder: &Arc<Chance>) {
    let base = bench.open(Some(Arc::clone(embedder) as Arc<dyn Embedder>));
    let report = bench.index(&base).await;
    assert_eq!((report.failed_units, report.refused.len()), (0, 0), "{report:?}");
}

/// Plants marks, deletes them, and looks for them; `earlier` builds the base in another process.
async fn plant_and_delete(seed: u64, count: usize, earlier: bool) {
    let bench = Bench::asking();
    let mut marks = Marks::new(seed);
    marks.plant(&bench, count);
    bench.write("kept.txt", "Zebras are striped. The stripes are black.");
    let (dir, embedder) = (bench.base_dir(), Arc::<Chance>::default());
    if earlier {
        let status =
            again::run("delete::index_in_another_process", bench.dir.path()).status().unwrap();
        assert!(status.success());
    } else {
        index(&bench, &embedder).await;
    }
    assert_eq!(marks_in(&bench.input(), &marks.given), marks.given, "the scan sees what is there");
    let base = bench.open(Some(Arc::clone(&embedder) as Arc<dyn Embedder>));
    let words = marks_in_words(&dir, &marks.given).len();
    assert!(words * 10 > marks.given.len() * 6, "{words} marks are words of chunks and atoms");
    let deleted = base.delete(&["secret/*".into()]).unwrap();
    assert!(deleted.nodes[&Layer::Atom] > 50, "{deleted:?}");
    assert_eq!(marks_in(&dir, &marks.given), BTreeSet::new());
    assert_eq!(marks_in_words(&dir, &marks.given), BTreeSet::new());
    // The vectors of what is left lie in the clear; of what was deleted none is left.
    let is_left = |text: &str| text.contains("stripes") || text.contains("striped");
    let texts = embedder.0.lock().clone();
    let (left, gone): (Vec<_>, Vec<_>) = texts.into_iter().partition(|(text, _)| is_left(text));
    let of_texts = |texts: Vec<(String, Vector)>| -> Vec<Vector> {
        texts.into_iter().map(|(_, vector)| vector).collect()
    };
    let (left, vectors) = (of_texts(left), of_texts(gone));
    assert_eq!(vectors_in(&dir, &left), left.len());
    assert!(earlier || vectors.len() > 80, "{}", vectors.len());
    assert_eq!(vectors_in(&dir, &vectors), 0);
    let plain: Vec<u8> = vectors.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(bench.input().join("plain"), plain).unwrap();
    assert_eq!(vectors_in(&bench.input(), &vectors), vectors.len(), "the scan sees what is there");
    assert!(base.inspector().verify().unwrap().is_sound());
    let hits = search(&base, "stripes", Layer::Chunk, Mode::Hybrid).await;
    assert_eq!((hits.len(), hits[0].document.as_str()), (1, "kept.txt"));
    drop(base);
    let base = Base::open(&dir, BaseOptions::default()).unwrap();
    assert!(base.inspector().verify().unwrap().is_sound());
    assert_eq!(base.inspector().stats().unwrap().documents, 1);
}

#[tokio::test]
async fn nothing_is_left_of_a_deleted_document() {
    plant_and_delete(1, again::soaked(150, 1000), false).await;
}

#[tokio::test]
async fn nothing_is_left_when_another_process_had_indexed_it() {
    plant_and_delete(2, again::soaked(100, 1000), true).await;
}

#[tokio::test]
async fn index_in_another_process() {
    let Some(dir) = again::folder() else { return };
    let embedder: Arc<dyn Embedder> = Arc::<Chance>::default();
    let options = BaseOptions { embedder: Some(embedder), ..BaseOptions::default() };
    let base = Base::create_or_open(&dir.join("base"), options).unwrap();
    let (bench, input) = (Bench::asking(), dir.join("in"));
    bench.index_path(&base, &input, InputFormat::Auto, Budget::default()).await.unwrap();
}

#[tokio::test]
async fn nothing_is_left_of_what_an_update_replaced() {
    let bench = Bench::asking();
    let mut marks = Marks::new(5);
    marks.plant(&bench, 60);
    let embedder = Arc::<Chance>::default();
    index(&bench, &embedder).await;
    for file in files(&bench.input()) {
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace(SIGN, "new")).unwrap();
    }
    index(&bench, &embedder).await;
    // The files keep their names, and a table is titled by its name.
    let named =
        |mark: &String| files(&bench.input()).iter().any(|f| f.ends_with(mark.clone() + ".csv"));
    marks.given.retain(|mark| !named(mark));
    assert_eq!(marks_in(&bench.base_dir(), &marks.given), BTreeSet::new());
    assert_eq!(marks_in_words(&bench.base_dir(), &marks.given), BTreeSet::new());
    let base = bench.open(None);
    assert!(base.inspector().verify().unwrap().is_sound());
    let wiped = std::fs::read(bench.base_dir().join("store/keys")).unwrap();
    // A head, then a key of 16 bytes and its checksum for each slot.
    let slots = wiped[16..].as_chunks::<20>().0;
    let wiped = slots.iter().filter(|slot| slot[..16] == [0; 16]).count();
    // Those of the documents that were replaced, and of what they alone had named.
    assert!(wiped as u64 >= base.inspector().stats().unwrap().documents, "{wiped}");
}

#[tokio::test]
async fn a_reader_goes_on_while_another_process_deletes() {
    let bench = Bench::new();
    for i in 0..40 {
        bench.write(&format!("a{i:02}.txt"), format!("Animal number{i} eats food{i}."));
    }
    let embedder = Arc::<Chance>::default();
    index(&bench, &embedder).await;
    let base = bench.open(Some(embedder as Arc<dyn Embedder>));
    assert_eq!(search(&base, "animal", Layer::Chunk, Mode::Hybrid).await.len(), 10);
    let mut child =
        again::run("delete::delete_in_another_process", bench.dir.path()).spawn().unwrap();
    // Each answer is whole, whatever it is of.
    loop {
        for mode in [Mode::Bm25, Mode::Dense, Mode::Hybrid] {
            for hit in search(&base, "animal number3", Layer::Chunk, mode).await {
                assert!(hit.text.starts_with("Animal number"), "{hit:?}");
            }
        }
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            break;
        }
    }
    assert_eq!(base.inspector().stats().unwrap().documents, 20);
    let hits = search(&base, "animal", Layer::Chunk, Mode::Bm25).await;
    assert!(hits.iter().all(|hit| hit.document.as_str() >= "a20"), "{hits:?}");
    let gone = base.delete(&["a01.txt".into()]).err().unwrap();
    assert!(matches!(gone, KbError::NoDocument { .. }));
}

#[tokio::test]
async fn delete_in_another_process() {
    let Some(dir) = again::folder() else { return };
    let base = Base::open(&dir.join("base"), BaseOptions::default()).unwrap();
    for i in 0..20 {
        base.delete(&[format!("a{i:02}.txt")]).unwrap();
    }
    let listed = base.inspector().list(&ListQuery {
        layer: Layer::Document,
        document: None,
        after: None,
        limit: 100,
    });
    for node in listed.unwrap() {
        base.get(&node.id).await.unwrap();
    }
}
