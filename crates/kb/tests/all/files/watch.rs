//! Watching a folder.
#![expect(clippy::unwrap_used, reason = "these are tests")]
use std::fs;
use std::path::Path;

use halma_kb::Watch;

/// Long enough for any machine; only a test that fails waits for it.
const PATIENCE: std::time::Duration = std::time::Duration::from_mins(1);

async fn changed(watch: &mut Watch) -> Vec<String> {
    let changed = tokio::time::timeout(PATIENCE, watch.changed()).await.unwrap();
    assert!(changed.failures.is_empty(), "{changed:?}");
    let name = |path: &std::path::PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    changed.paths.iter().map(name).collect()
}

#[tokio::test]
async fn changes_are_told_together_and_those_of_the_base_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("sub")).unwrap();
    fs::create_dir_all(at(".halma")).unwrap();
    fs::write(at("a.txt"), "one").unwrap();
    let mut watch = Watch::new(&[dir.path().to_owned()], &at(".halma")).unwrap();
    fs::write(at(".halma/data"), "x").unwrap();
    fs::write(at("a.txt"), "two").unwrap();
    fs::write(at("sub/b.txt"), "new").unwrap();
    fs::write(at(".hidden"), "x").unwrap();
    assert_eq!(changed(&mut watch).await, ["a.txt", "b.txt"]);
    fs::rename(at("a.txt"), at("c.txt")).unwrap();
    assert_eq!(changed(&mut watch).await, ["a.txt", "c.txt"]);
    fs::remove_file(at("c.txt")).unwrap();
    assert_eq!(changed(&mut watch).await, ["c.txt"]);
}

#[tokio::test]
async fn a_single_file_is_seen_when_it_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("a.txt"), "one").unwrap();
    let mut watch = Watch::new(&[at("a.txt")], Path::new("nowhere")).unwrap();
    fs::write(at("other.txt"), "x").unwrap();
    fs::write(at("a.tmp"), "two").unwrap();
    fs::rename(at("a.tmp"), at("a.txt")).unwrap();
    assert_eq!(changed(&mut watch).await, ["a.txt"]);
}

#[tokio::test]
async fn changes_of_the_configuration_in_use_are_not_told() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("halma.toml"), "").unwrap();
    let watch = Watch::new(&[dir.path().to_owned()], Path::new("nowhere")).unwrap();
    let mut watch = watch.without_configuration(&at("halma.toml"));
    fs::write(at("halma.toml"), "[kb]").unwrap();
    fs::write(at("a.txt"), "one").unwrap();
    assert_eq!(changed(&mut watch).await, ["a.txt"]);
}

#[test]
fn an_input_that_is_gone_cannot_be_watched() {
    let said = Watch::new(&[Path::new("no such folder").to_owned()], Path::new(".")).err().unwrap();
    assert!(said.to_string().contains("no such folder"), "{said}");
}
