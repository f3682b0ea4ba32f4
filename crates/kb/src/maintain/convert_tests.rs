//! A converted base holds what it held, wherever the conversion was cut.
use std::path::Path;

use halma_core::Layer;
use tempfile::tempdir;

use super::*;
use crate::base::sample_base;
use crate::store::{Damage, Row};
use crate::{BaseOptions, ExportFormat, FeedbackDraft, Verdict};

/// All nodes and edges of a base that has no problems.
fn exported(dir: &Path) -> Vec<u8> {
    let base = Base::open(dir, BaseOptions::default()).unwrap();
    let verified = base.inspector().verify().unwrap();
    assert!(verified.is_sound(), "{:?}", verified.problems);
    let mut bytes = vec![];
    base.inspector().export(ExportFormat::Jsonl, &mut bytes).unwrap();
    bytes
}

fn downgrade(dir: &Path, format: u32) {
    Store::open(&store_dir(dir)).unwrap().downgrade(format);
}

fn convert(dir: &Path) -> Converted {
    Base::convert(dir, false, &|_| ()).unwrap()
}

/// The new store, without anything being replaced by it.
fn convert_to(from: &Path, to: &Path) {
    let options = ConvertOptions { precision: Precision::Int8, progress: &|_| () };
    store::convert(from, to, options).unwrap();
}

/// Every vector with the node that it is of.
fn vectors(dir: &Path) -> Vec<(Layer, Row, Vec<f32>)> {
    let store = Store::open(&store_dir(dir)).unwrap();
    let read = store.read(|reader| {
        let mut all = vec![];
        for layer in Layer::ALL {
            let rows = reader.rows_with_vector(0, layer)?;
            reader.each_vector_of(0, layer, &rows, &mut |row, vector| {
                all.push((layer, row, vector.unwrap().to_vec()));
            })?;
        }
        Ok(all)
    });
    read.unwrap()
}

#[test]
fn a_base_of_a_former_format_is_refused_and_converted() {
    for (format, keep_f32) in [(5, false), (5, true), (6, false), (6, true)] {
        let dir = tempdir().unwrap();
        drop(sample_base::create(dir.path(), "mark"));
        let (before, held) = (exported(dir.path()), vectors(dir.path()));
        assert!(!held.is_empty());
        downgrade(dir.path(), format);
        let message = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
        assert!(message.contains("halma kb migrate --kb"), "{message}");
        let converted = Base::convert(dir.path(), keep_f32, &|_| ()).unwrap();
        assert_eq!((converted.from, converted.to, converted.damaged), (format, FORMAT, 0));
        assert!(converted.values > 20, "{converted:?}");
        assert_eq!(exported(dir.path()), before);
        // What was stored as bytes before is the same bytes again.
        assert_eq!(vectors(dir.path()), held);
        let entries = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(entries.into_iter().all(|name| name != NEW && name != OLD));
        assert_eq!(convert(dir.path()).values, 0);
    }
}

#[test]
fn a_base_of_a_format_that_is_too_old_is_refused() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "mark");
    base.store.pretend_format(4);
    drop(base);
    let converted = Base::convert(dir.path(), false, &|_| ()).unwrap_err().to_string();
    let opened = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
    for message in [converted, opened] {
        assert!(message.contains("has format 4, and only 5 and later ones"), "{message}");
    }
}

#[test]
fn a_conversion_that_was_cut_is_finished() {
    let dir = tempdir().unwrap();
    drop(sample_base::create(dir.path(), "mark"));
    let before = exported(dir.path());
    let (store, new, old) = (store_dir(dir.path()), dir.path().join(NEW), dir.path().join(OLD));
    // Cut while the new store was being written.
    downgrade(dir.path(), 6);
    fs::create_dir(&new).unwrap();
    convert_to(&store, &new);
    convert(dir.path());
    assert_eq!(exported(dir.path()), before);
    // Cut between the two renames.
    downgrade(dir.path(), 6);
    fs::create_dir(&new).unwrap();
    convert_to(&store, &new);
    fs::rename(&store, &old).unwrap();
    for opened in [
        Base::open(dir.path(), BaseOptions::default()),
        Base::create_or_open(dir.path(), BaseOptions::default()),
    ] {
        let message = opened.err().unwrap().to_string();
        assert!(message.contains("interrupted") && message.contains("kb migrate"), "{message}");
    }
    convert(dir.path());
    assert_eq!(exported(dir.path()), before);
    // Cut before the old store was removed.
    fs::create_dir(&old).unwrap();
    convert(dir.path());
    assert!(!old.exists());
    assert_eq!(exported(dir.path()), before);
}

#[test]
fn what_was_damaged_is_counted_and_left_out() {
    for format in [5, 6] {
        let dir = tempdir().unwrap();
        drop(sample_base::create(dir.path(), "mark"));
        let store = Store::open(&store_dir(dir.path())).unwrap();
        store.clone().downgrade(format);
        store.damage(Damage::Text(0));
        drop(store);
        assert_eq!(convert(dir.path()).damaged, 1);
        let base = Base::open(dir.path(), BaseOptions::default()).unwrap();
        let problems = base.inspector().verify().unwrap().problems;
        let is_missing = |problem: &crate::Problem| problem.what == "its text is missing";
        assert!(problems.iter().any(is_missing), "{problems:?}");
    }
}

#[test]
fn a_vector_that_was_damaged_is_made_again_by_the_next_build() {
    let dir = tempdir().unwrap();
    drop(sample_base::create(dir.path(), "mark"));
    let (layer, row, _) = vectors(dir.path()).remove(0);
    let store = Store::open(&store_dir(dir.path())).unwrap();
    store.clone().downgrade(6);
    store.damage(Damage::Vector(layer, row));
    drop(store);
    assert_eq!(convert(dir.path()).damaged, 1);
    let base = Base::open(dir.path(), BaseOptions::default()).unwrap();
    assert_eq!(base.store.write(|writer| writer.renew_lost_vectors()).unwrap(), 1);
    assert_eq!(base.store.write(|writer| writer.renew_lost_vectors()).unwrap(), 0);
}

#[test]
fn feedback_on_answers_is_kept() {
    let dir = tempdir().unwrap();
    let base = sample_base::create(dir.path(), "mark");
    let draft = FeedbackDraft {
        run: "run1".into(),
        question: "Who said so?".into(),
        answer: "One".into(),
        strategy: "kar3".into(),
        verdict: Verdict::Wrong,
        correction: "The other".into(),
        note: String::new(),
        by: "ann".into(),
        at_ms: 1_700_000_000_000,
        documents: vec!["one".into()],
        cited: vec![],
        candidates: vec![],
    };
    base.add_feedback(&draft).unwrap();
    let all = |base: &Base| base.store.read(|reader| reader.all_feedback()).unwrap();
    let before = all(&base);
    assert_eq!(before.len(), 1);
    drop(base);
    downgrade(dir.path(), 6);
    assert_eq!(convert(dir.path()).damaged, 0);
    assert_eq!(all(&Base::open(dir.path(), BaseOptions::default()).unwrap()), before);
}
