//! Keys must be there when the store says so, and permanently gone when they are wiped.
use std::fs::File;

use tempfile::{TempDir, tempdir};

use super::*;
use crate::seal::key_file::{HEAD, RECORD, copy_of};

fn keys() -> (TempDir, PathBuf, Keys) {
    let dir = tempdir().unwrap();
    let path = dir.path().join("keys");
    let keys = Keys::create(&path).unwrap();
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
    let bytes = [std::fs::read(&path).unwrap(), std::fs::read(copy_of(&path)).unwrap()].concat();
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
fn a_file_that_was_cut_is_made_whole_from_its_copy() {
    let (_dir, path, keys) = keys();
    let given = ten(&keys);
    for (cut, other) in [(path.clone(), copy_of(&path)), (copy_of(&path), path.clone())] {
        let file = File::options().write(true).open(&cut).unwrap();
        file.set_len((HEAD.len() + 4 * RECORD + 3) as u64).unwrap();
        for keys in [Keys::open_read_only(&path).unwrap(), Keys::open(&path).unwrap()] {
            assert_eq!(keys.key(7).unwrap(), Some(given[7]));
        }
        let keys = Keys::open(&path).unwrap();
        keys.begin(10).unwrap();
        assert_eq!(std::fs::read(cut).unwrap(), std::fs::read(other).unwrap());
    }
}

#[test]
fn a_key_that_is_damaged_in_both_files_is_an_error_and_no_slot_is_given_twice() {
    let (_dir, path, keys) = keys();
    let given = ten(&keys);
    for file in [path.clone(), copy_of(&path)] {
        let file = File::options().write(true).open(file).unwrap();
        file.set_len((HEAD.len() + 4 * RECORD) as u64).unwrap();
    }
    let keys = Keys::open(&path).unwrap();
    keys.begin(10).unwrap();
    assert_eq!(keys.key(3).unwrap(), Some(given[3]));
    let message = keys.key(4).unwrap_err().to_string();
    assert!(message.contains("key 4 is damaged, and so is its copy"), "{message}");
    let (slot, key) = keys.give().unwrap();
    assert_eq!((slot, keys.save().unwrap()), (10, 11));
    let again = Keys::open(&path).unwrap();
    assert_eq!(again.key(10).unwrap(), Some(key));
    assert!(again.key(9).is_err());
    assert_eq!(again.damaged(11).unwrap(), [4, 5, 6, 7, 8, 9]);
}

#[test]
fn every_changed_bit_of_a_key_is_found_and_the_copy_is_read() {
    let (_dir, path, keys) = keys();
    let given = ten(&keys);
    let sound = std::fs::read(&path).unwrap();
    for bit in HEAD.len() * 8..sound.len() * 8 {
        let mut bytes = sound.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, &bytes).unwrap();
        let keys = Keys::open_read_only(&path).unwrap();
        let slot = (bit / 8 - HEAD.len()) / RECORD;
        assert_eq!(
            keys.key(Slot::try_from(slot).unwrap()).unwrap(),
            Some(given[slot]),
            "bit {bit}"
        );
    }
    let keys = Keys::open(&path).unwrap();
    keys.begin(10).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), sound);
}

#[test]
fn a_missing_file_is_made_from_its_copy_and_is_an_error_without() {
    let (_dir, path, keys) = keys();
    let given = ten(&keys);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(Keys::open_read_only(&path).unwrap().key(5).unwrap(), Some(given[5]));
    let keys = Keys::open(&path).unwrap();
    assert!(keys.were_restored());
    assert_eq!(keys.key(5).unwrap(), Some(given[5]));
    std::fs::remove_file(copy_of(&path)).unwrap();
    assert!(Keys::open(&path).unwrap().were_restored());
    assert!(!Keys::open(&path).unwrap().were_restored());
    for file in [path.clone(), copy_of(&path)] {
        std::fs::remove_file(file).unwrap();
    }
    for opened in [Keys::open(&path), Keys::open_read_only(&path)] {
        let message = opened.err().unwrap().to_string();
        assert!(message.contains("keys.copy") && message.contains("halma restore"), "{message}");
    }
    assert!(!path.exists());
}

#[test]
fn a_file_of_something_else_is_not_written_to() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("keys");
    std::fs::write(&path, "this is a letter to my aunt").unwrap();
    let said = Keys::open(&path).err().unwrap().to_string();
    assert!(said.contains("is a key file"), "{said}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "this is a letter to my aunt");
}

fn ten(keys: &Keys) -> Vec<Key> {
    keys.begin(0).unwrap();
    let given = (0..10).map(|_| keys.give().unwrap().1).collect();
    keys.save().unwrap();
    given
}
