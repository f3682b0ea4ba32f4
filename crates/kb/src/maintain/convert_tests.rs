//! A converted base holds what it held, wherever the conversion was cut.
use std::path::Path;

use tempfile::tempdir;

use super::*;
use crate::store::Damage;
use crate::{BaseOptions, ExportFormat, sample};

/// All nodes and edges of a base that has no problems.
fn exported(dir: &Path) -> Vec<u8> {
    let base = Base::open(dir, BaseOptions::default()).unwrap();
    let verified = base.inspector().verify().unwrap();
    assert!(verified.is_sound(), "{:?}", verified.problems);
    let mut bytes = vec![];
    base.inspector().export(ExportFormat::Jsonl, &mut bytes).unwrap();
    bytes
}

fn downgrade(dir: &Path) {
    Store::open(&store_dir(dir)).unwrap().downgrade();
}

fn convert(dir: &Path) -> Converted {
    Base::convert(dir, &|_| ()).unwrap()
}

#[test]
fn a_base_of_the_format_before_is_refused_and_converted() {
    let dir = tempdir().unwrap();
    drop(sample::base(dir.path(), "mark"));
    let before = exported(dir.path());
    downgrade(dir.path());
    let message = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
    assert!(message.contains("halma kb migrate --kb"), "{message}");
    let converted = convert(dir.path());
    assert_eq!((converted.from, converted.to, converted.damaged), (5, FORMAT, 0));
    assert!(converted.values > 20, "{converted:?}");
    assert_eq!(exported(dir.path()), before);
    let entries = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(entries.into_iter().all(|name| name != NEW && name != OLD));
    assert_eq!(convert(dir.path()).values, 0);
}

#[test]
fn a_conversion_that_was_cut_is_finished() {
    let dir = tempdir().unwrap();
    drop(sample::base(dir.path(), "mark"));
    let before = exported(dir.path());
    let (store, new, old) = (store_dir(dir.path()), dir.path().join(NEW), dir.path().join(OLD));
    // Cut while the new store was being written.
    downgrade(dir.path());
    fs::create_dir(&new).unwrap();
    store::convert(&store, &new, &|_| ()).unwrap();
    convert(dir.path());
    assert_eq!(exported(dir.path()), before);
    // Cut between the two renames.
    downgrade(dir.path());
    fs::create_dir(&new).unwrap();
    store::convert(&store, &new, &|_| ()).unwrap();
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
    let dir = tempdir().unwrap();
    drop(sample::base(dir.path(), "mark"));
    let store = Store::open(&store_dir(dir.path())).unwrap();
    store.clone().downgrade();
    store.damage(Damage::Text(0));
    drop(store);
    assert_eq!(convert(dir.path()).damaged, 1);
    let base = Base::open(dir.path(), BaseOptions::default()).unwrap();
    let problems = base.inspector().verify().unwrap().problems;
    assert!(problems.iter().any(|problem| problem.what == "its text is missing"), "{problems:?}");
}
