use super::*;
use crate::store::FORMAT;

#[test]
fn a_base_of_a_newer_format_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let base = Base::create_or_open(dir.path(), BaseOptions::default()).unwrap();
    base.store.pretend_format(FORMAT + 1);
    drop(base);
    for opened in [
        Base::open(dir.path(), BaseOptions::default()),
        Base::create_or_open(dir.path(), BaseOptions::default()),
    ] {
        let said = opened.err().unwrap().to_string();
        let version = format!("format {}", FORMAT + 1);
        assert!(said.contains(&version) && said.contains("upgrade"), "{said}");
    }
}

#[test]
fn a_folder_without_a_base_is_told_from_a_base() {
    let dir = tempfile::tempdir().unwrap();
    let said = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
    assert!(said.contains("halma index"), "{said}");
    let _open = Base::create_or_open(dir.path(), BaseOptions::default()).unwrap();
    let said = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
    assert!(said.contains("open already"), "{said}");
}

#[test]
fn a_damaged_store_is_an_error_that_says_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(store_dir(dir.path())).unwrap();
    std::fs::write(store_dir(dir.path()).join("data.mdb"), vec![7; 100_000]).unwrap();
    let said = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
    assert!(said.contains("index again"), "{said}");
}
