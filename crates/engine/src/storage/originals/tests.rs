//! Files and their fields, put in place and removed.
use halma_core::FieldValue;

use super::fields::write_metadata;
use super::*;

#[test]
fn a_file_is_found_listed_and_removed_with_its_empty_folder() {
    let dir = tempfile::tempdir().unwrap();
    let originals = Originals::new(dir.path());
    originals.create().unwrap();
    std::fs::create_dir(originals.dir().join("law")).unwrap();
    std::fs::write(originals.dir().join("law/a.md"), "x").unwrap();
    std::fs::write(originals.dir().join("b.md"), "xy").unwrap();
    std::fs::write(dir.path().join("secret"), "s").unwrap();
    let names: Vec<_> = originals.list().into_iter().map(|file| file.name).collect();
    assert_eq!(names, ["b.md", "law/a.md"]);
    assert_eq!(originals.get("b.md").unwrap().bytes, 2);
    assert_eq!(originals.find("../secret"), None);
    originals.remove(&["law/a.md".into(), "nothing".into()]).unwrap();
    assert!(!originals.dir().join("law").exists() && originals.dir().join("b.md").exists());
}

fn team(name: &str) -> Metadata {
    Metadata([("team".to_owned(), FieldValue::parse(name))].into())
}

fn write(text: &str) -> impl FnOnce(&Path) -> std::io::Result<()> {
    move |path| std::fs::write(path, text)
}

#[test]
fn a_file_that_cannot_be_placed_leaves_the_former_one_its_fields() {
    let dir = tempfile::tempdir().unwrap();
    let originals = Originals::new(dir.path());
    originals.create().unwrap();
    let (red, blue) = (team("red"), team("blue"));
    originals.put("a.md", Some(&red), write("x")).unwrap();
    let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
    let seen = |path: &Path| {
        // The new fields are on the disk when the file is placed.
        assert!(std::fs::read_dir(path.parent().unwrap()).unwrap().count() > 2);
        Err(full())
    };
    originals.put("a.md", Some(&blue), seen).unwrap_err();
    assert_eq!(originals.metadata("a.md"), Some(red));
    let unsynced = |path: &Path| {
        std::fs::write(path, "xy")?;
        Err(full())
    };
    originals.put("a.md", Some(&blue), unsynced).unwrap_err();
    assert_eq!(originals.metadata("a.md"), Some(blue));
    originals.put("a.md", Some(&Metadata::default()), write("xyz")).unwrap();
    assert_eq!(originals.metadata("a.md"), Some(Metadata::default()));
    assert_eq!(std::fs::read_dir(originals.dir()).unwrap().count(), 1);
}

#[test]
fn fields_are_in_place_before_the_file_and_stay_where_they_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let originals = Originals::new(dir.path());
    originals.create().unwrap();
    let red = team("red");
    // A crash at the moment when the file is in place leaves what is there then.
    let placed = |path: &Path| {
        std::fs::write(path, "x")?;
        assert_eq!(read_metadata_file(path).unwrap(), Some(team("red")));
        Ok(())
    };
    originals.put("a.md", Some(&red), placed).unwrap();
    originals.put("a.md", Some(&red), placed).unwrap();
    let failed = |_: &Path| Err(std::io::Error::other("no"));
    originals.put("b.md", Some(&red), failed).unwrap_err();
    assert!(!metadata_file(&originals.dir().join("b.md")).exists());
}

#[test]
fn fields_without_a_file_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let originals = Originals::new(dir.path());
    let law = originals.dir().join("law");
    std::fs::create_dir_all(&law).unwrap();
    for name in ["a.md", "b.v2.md"] {
        write_metadata(&law.join(name), &team("red")).unwrap();
    }
    std::fs::write(law.join("a.md"), "x").unwrap();
    assert_eq!(originals.remove_orphaned_fields().unwrap(), 1);
    assert_eq!(originals.metadata("law/a.md"), Some(team("red")));
    assert_eq!(std::fs::read_dir(&law).unwrap().count(), 2);
}

#[test]
fn a_new_file_without_fields_does_not_get_those_of_one_that_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let originals = Originals::new(dir.path());
    originals.create().unwrap();
    originals.put("a.md", Some(&team("red")), write("x")).unwrap();
    originals.put("a.md", None, write("y")).unwrap();
    assert_eq!(originals.metadata("a.md"), Some(team("red")));
    std::fs::remove_file(originals.dir().join("a.md")).unwrap();
    originals.put("a.md", None, write("z")).unwrap();
    assert_eq!(originals.metadata("a.md"), Some(Metadata::default()));
}

#[test]
fn a_file_is_not_removed_while_its_fields_are_put_in_place() {
    let dir = tempfile::tempdir().unwrap();
    let originals = Originals::new(dir.path());
    originals.create().unwrap();
    originals.put("a.md", None, write("x")).unwrap();
    let guard = originals.lock.lock();
    std::thread::scope(|scope| {
        let (sent, began) = std::sync::mpsc::channel();
        let removing = &originals;
        let removed = scope.spawn(move || {
            sent.send(()).unwrap();
            removing.remove(&["a.md".into()])
        });
        began.recv().unwrap();
        // As `set_metadata` does it.
        let path = originals.find("a.md").unwrap();
        write_metadata(&path, &team("red")).unwrap();
        drop(guard);
        removed.join().unwrap().unwrap();
    });
    assert_eq!(std::fs::read_dir(originals.dir()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let originals = Originals::new(dir.path());
    originals.create().unwrap();
    std::fs::write(dir.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink(dir.path().join("secret"), originals.dir().join("a.md")).unwrap();
    assert_eq!(originals.find("a.md"), None);
}
