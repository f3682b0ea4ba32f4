use super::*;
use crate::store::{ChunkRecord, StoreWriter, TextPlace};

fn unit(seed: u32) -> Vector {
    let seed = f32::from(u16::try_from(seed % 10_000).unwrap());
    let raw: Vec<f32> = (1u16..9).map(|i| (seed * 0.37 * f32::from(i)).sin() + 0.01).collect();
    let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
    raw.into_iter().map(|x| x / length).collect()
}

fn put(writer: &mut StoreWriter<'_>, row: Row) -> heed::Result<()> {
    let place = TextPlace::default();
    let id = u64::from(row);
    let record = ChunkRecord { id, document: 0, section: 0, place, text: None, summary: None };
    writer.put_node(row, &record)?;
    writer.put_vector(0, (Layer::Chunk, row), &unit(row))
}

/// A store with chunks and their vectors.
fn store(dir: &std::path::Path, rows: std::ops::Range<Row>) -> Store {
    let store = Store::open(dir).unwrap();
    let fill = |writer: &mut StoreWriter<'_>| {
        writer.set_build_target("toy")?;
        writer.register_embedder("toy", 8)?;
        rows.into_iter().try_for_each(|row| put(writer, row))
    };
    store.write(fill).unwrap();
    store
}

fn nearest_rows(matrix: &Matrix, query: &Vector, limit: usize, admitted: &Admitted) -> Vec<Row> {
    let request = NearRequest { limit, admitted, ranges: true, is_cancelled: &|| false };
    let near = matrix.near(&[query], &request).remove(0);
    near.rows.into_iter().map(|(row, _)| row).collect()
}

#[test]
fn the_nearest_are_found_and_their_range() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), 0..1500);
    let matrix = Matrix::load(&store, 0, Layer::Chunk).unwrap();
    for target in [0, 3, 700] {
        let query = unit(target);
        let admitted = Admitted { excluded: [0].into(), allowed: None };
        let request =
            NearRequest { limit: 5, admitted: &admitted, ranges: true, is_cancelled: &|| false };
        let near = matrix.near(&[&query], &request).remove(0);
        let exact: Vec<f32> = (0..1500).map(|row| cosine(&query, &unit(row))).collect();
        let mut best = exact[1..].to_vec();
        best.sort_by(|a, b| b.total_cmp(a));
        assert_eq!(near.rows.len(), 5);
        for (row, near) in near.rows {
            assert!(row != 0 && (near - exact[row as usize]).abs() < 0.005);
            assert!(exact[row as usize] > best[4] - 0.05);
        }
        let least = exact.iter().copied().fold(f32::INFINITY, f32::min);
        assert!((near.range.0 - least).abs() < 0.05 && near.range.1 > 0.99, "{:?}", near.range);
    }
}

#[test]
fn what_several_threads_read_is_in_order_and_takes_more() {
    let dir = tempfile::tempdir().unwrap();
    let last = Row::try_from(2 * SEGMENT).unwrap() + 9;
    // A part for each of two threads, and one more.
    let store = store(dir.path(), 0..last);
    store.write(|writer| writer.remove_vectors((Layer::Chunk, 40))).unwrap();
    let mut matrix = Matrix::load(&store, 0, Layer::Chunk).unwrap();
    let rows: Vec<Row> = matrix.segments.iter().flat_map(|s| s.rows.clone()).collect();
    assert_eq!(rows, (0..last).filter(|row| *row != 40).collect::<Vec<_>>());
    assert_eq!((matrix.end, matrix.segments.len()), (last, 3));
    store.write(|writer| put(writer, last)).unwrap();
    assert!(matrix.update(&store).unwrap());
    let query = QueryVector::new(&unit(last));
    let probe = Probe::new(&matrix, &query);
    assert!(probe.cosine(last).unwrap() > 0.99 && probe.cosine(40).is_none());
    assert!(probe.rough(last) >= probe.rough(17));
}

#[test]
fn what_has_changed_is_read_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), 0..100);
    let mut matrix = Matrix::load(&store, 0, Layer::Chunk).unwrap();
    let in_use = Arc::clone(&matrix.segments[0]);
    store
        .write(|writer| {
            writer.remove_node::<ChunkRecord>(5)?;
            put(writer, 200)?;
            // A vector that is replaced.
            writer.put_vector(0, (Layer::Chunk, 7), &unit(300))
        })
        .unwrap();
    assert!(matrix.update(&store).unwrap());
    let opened = Matrix::load(&store, 0, Layer::Chunk).unwrap();
    for query in [5, 7, 200, 300, 42].map(unit) {
        let everything = Admitted::default();
        assert_eq!(
            nearest_rows(&matrix, &query, 20, &everything),
            nearest_rows(&opened, &query, 20, &everything)
        );
    }
    assert_eq!(
        (in_use.rows.len(), in_use.alive),
        (100, 100),
        "a search that runs sees what it had"
    );
    assert_eq!(matrix.segments[0].alive, opened.segments[0].alive);
    let bytes = std::fs::read(dir.path().join("vectors/0-8-chunk")).unwrap();
    let gone = 64 + 5 * 16..64 + 6 * 16;
    assert!(bytes[gone].iter().all(|byte| *byte == 0), "what was removed is overwritten");
}

#[test]
fn a_damaged_file_loses_what_is_damaged_and_the_next_build_embeds_it() {
    use std::os::unix::fs::FileExt;

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vectors/0-8-chunk");
    let store = store(dir.path(), 0..100);
    store.publish().unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.write_all_at(&[77], 64 + 3 * 16 + 6).unwrap();
    file.set_len(64 + 90 * 16 + 5).unwrap();
    let matrix = Matrix::load(&store, 0, Layer::Chunk).unwrap();
    let all = nearest_rows(&matrix, &unit(3), 1000, &Admitted::default());
    assert_eq!(all.len(), 89);
    assert!(!all.contains(&3) && !all.contains(&90));
    assert_eq!(store.write(|writer| writer.renew_lost_vectors()).unwrap(), 11);
    let waiting = store.read(|reader| reader.awaiting_vector()).unwrap();
    assert!(waiting.contains(&(Layer::Chunk, 3)) && waiting.contains(&(Layer::Chunk, 99)));
    assert_eq!(store.write(|writer| writer.renew_lost_vectors()).unwrap(), 0);
}

#[test]
fn after_a_power_failure_vectors_that_are_not_on_the_disk_are_looked_for() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), 0..10);
    std::fs::write(dir.path().join("vectors/0-8-chunk"), "").unwrap();
    assert_eq!(store.write(|writer| writer.renew_lost_vectors()).unwrap(), 10);
}

#[test]
fn a_vector_that_a_killed_write_left_goes_with_its_node() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), 0..3);
    let written = |bytes: &[u8]| bytes[64 + 16..64 + 32].iter().any(|byte| *byte != 0);
    let bytes = || std::fs::read(dir.path().join("vectors/0-8-chunk")).unwrap();
    store.write(|writer| writer.remove_vectors((Layer::Chunk, 1))).unwrap();
    assert!(!written(&bytes()));
    // The file is written before the commit, which never comes.
    let killed = store.write(|writer| {
        writer.put_vector(0, (Layer::Chunk, 1), &unit(1))?;
        Err::<(), _>(heed::Error::Encoding("killed".into()))
    });
    assert!(killed.is_err() && written(&bytes()));
    let matrix = Matrix::load(&store, 0, Layer::Chunk).unwrap();
    assert!(
        !nearest_rows(&matrix, &unit(1), 10, &Admitted::default()).contains(&1),
        "it is not listed"
    );
    store.write(|writer| writer.remove_node::<ChunkRecord>(1)).unwrap();
    assert!(!written(&bytes()));
}

/// Recall against exact f32 over the vectors in a file of f32, 384 for each:
/// `HALMA_DATA=FILE cargo test -p halma-kb --lib recall_of_codes -- --ignored --nocapture`.
#[test]
#[ignore = "needs HALMA_DATA: a file of vectors"]
#[expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a measurement")]
fn recall_of_codes() {
    let bytes = std::fs::read(std::env::var("HALMA_DATA").unwrap()).unwrap();
    let numbers: Vec<f32> =
        bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
    let all: Vec<Vector> = numbers.chunks_exact(384).map(<[f32]>::to_vec).collect();
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), 0..0);
    let fill = |writer: &mut StoreWriter<'_>| {
        writer.register_embedder("toy", 384)?;
        for (row, vector) in (0..).zip(&all) {
            put(writer, row)?;
            writer.put_vector(0, (Layer::Chunk, row), vector)?;
        }
        Ok(())
    };
    store.write(fill).unwrap();
    let matrix = Matrix::load(&store, 0, Layer::Chunk).unwrap();
    for limit in [10, 50, 200] {
        let (mut near, mut expected) = (0, 0);
        // A vector half way to another one stands for a question.
        for (at, vector) in all.iter().enumerate().step_by(all.len() / 300 + 1) {
            let other = &all[(at * 7919 + 13) % all.len()];
            let query: Vector = vector.iter().zip(other).map(|(a, b)| a + b / 2.0).collect();
            let exact = |vector: &Vector| query.iter().zip(vector).map(|(a, b)| a * b).sum();
            let mut exact: Vec<(Row, f32)> = (0..).zip(all.iter().map(exact)).collect();
            exact.sort_by(by_score);
            let rows = nearest_rows(&matrix, &query, limit, &Admitted::default());
            expected += limit;
            near += exact[..limit].iter().filter(|(row, _)| rows.contains(row)).count();
        }
        println!("of {}: recall@{limit} {:.5}", all.len(), near as f64 / expected as f64);
    }
}
