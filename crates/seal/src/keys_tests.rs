//! Keys must be there when the store says so, and permanently gone when they are wiped.
use tempfile::{TempDir, tempdir};

use super::*;

fn keys() -> (TempDir, PathBuf, Keys) {
    let dir = tempdir().unwrap();
    let path = dir.path().join("keys");
    let keys = Keys::open(&path).unwrap();
    (dir, path, keys)
}

#[test]
fn a_key_is_known_at_once_and_to_others_when_it_is_saved() {
    let (_dir, path, keys) = keys();
    let other = Keys::open_read_only(&path).unwrap();
    keys.begin(0).unwrap();
    let (slot, key) = keys.give().unwrap();
    assert_eq!((slot, keys.key(slot).unwrap()), (0, Some(key)));
    assert_eq!(other.key(slot).unwrap(), None);
    assert_eq!(keys.save().unwrap(), 1);
    assert_eq!(other.key(slot).unwrap(), Some(key));
    assert_eq!(Keys::open(&path).unwrap().key(slot).unwrap(), Some(key));
    assert_eq!(keys.key(1).unwrap(), None);
}

#[test]
fn a_wiped_key_is_gone_from_the_file_and_its_slot_is_not_given_again() {
    let (_dir, path, keys) = keys();
    keys.begin(0).unwrap();
    let given: Vec<Key> = (0..5).map(|_| keys.give().unwrap().1).collect();
    keys.save().unwrap();
    keys.wipe(&[3, 1, 2]).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for (slot, key) in (0..).zip(&given) {
        let kept = bytes.windows(16).any(|window| window == key);
        assert_eq!(kept, slot == 0 || slot == 4, "{slot}");
        // A reader of an older view continues.
        assert_eq!(keys.key(slot).unwrap(), Some(*key));
        assert_eq!(Keys::open(&path).unwrap().key(slot).unwrap().is_some(), kept, "{slot}");
    }
    keys.begin(5).unwrap();
    assert_eq!(keys.give().unwrap().0, 5);
}

#[test]
fn what_the_store_never_heard_of_is_wiped_and_skipped() {
    let (_dir, path, keys) = keys();
    keys.begin(0).unwrap();
    keys.give().unwrap();
    keys.save().unwrap();
    // Two writes that end before the store's commit, one of them in the middle of the key.
    keys.begin(1).unwrap();
    let lost = keys.give().unwrap().1;
    keys.save().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend([9; 7]);
    std::fs::write(&path, &bytes).unwrap();
    let keys = Keys::open(&path).unwrap();
    keys.begin(1).unwrap();
    assert!(!std::fs::read(&path).unwrap().windows(16).any(|window| window == lost));
    let (slot, key) = keys.give().unwrap();
    assert_eq!((slot, keys.save().unwrap()), (3, 4));
    let again = Keys::open(&path).unwrap();
    assert_eq!(again.key(3).unwrap(), Some(key));
    assert_eq!((again.key(1).unwrap(), again.key(2).unwrap()), (None, None));
}

#[test]
fn a_write_taken_back_leaves_nothing() {
    let (_dir, path, keys) = keys();
    keys.begin(0).unwrap();
    keys.give().unwrap();
    keys.undo();
    keys.begin(0).unwrap();
    let (slot, key) = keys.give().unwrap();
    keys.save().unwrap();
    assert_eq!((slot, Keys::open(&path).unwrap().key(0).unwrap()), (0, Some(key)));
}

#[test]
fn a_file_that_was_cut_loses_keys_and_gives_none_of_them_again() {
    let (_dir, path, keys) = keys();
    keys.begin(0).unwrap();
    for _ in 0..10 {
        keys.give().unwrap();
    }
    keys.save().unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(place(4)).unwrap();
    let keys = Keys::open(&path).unwrap();
    keys.begin(10).unwrap();
    assert_eq!((keys.key(3).unwrap().is_some(), keys.key(4).unwrap()), (true, None));
    let (slot, key) = keys.give().unwrap();
    assert_eq!((slot, keys.save().unwrap()), (10, 11));
    assert_eq!(Keys::open(&path).unwrap().key(10).unwrap(), Some(key));
}

#[test]
fn a_file_of_something_else_is_not_written_to() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("keys");
    std::fs::write(&path, "this is a letter to my aunt").unwrap();
    let said = Keys::open(&path).err().unwrap().to_string();
    assert!(said.contains("not a key file"), "{said}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "this is a letter to my aunt");
}
