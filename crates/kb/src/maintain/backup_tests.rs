//! A backup holds what the base held at one moment, and a restore brings it back.
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use halma_store::{Entry, Replies};
use tempfile::{TempDir, tempdir};

use super::super::{BackupError, RestoreOptions, restore};
use super::*;
use crate::base::sample_base;
use crate::store::Damage;
use crate::{Base, BaseOptions};

fn exported(base: &Base) -> Vec<u8> {
    let verified = base.inspector().verify().unwrap();
    assert!(verified.is_sound(), "{:?}", verified.problems);
    let mut bytes = vec![];
    base.inspector().export(&mut bytes).unwrap();
    bytes
}

fn open(dir: &Path) -> Arc<Base> {
    Base::open(dir, BaseOptions::default()).unwrap()
}

/// A closed base with an uploaded file, and where its backup and what is restored go.
fn made() -> (TempDir, [PathBuf; 3]) {
    let dir = tempdir().unwrap();
    let [base, to, again] = ["base", "backup", "again"].map(|name| dir.path().join(name));
    drop(sample_base::create(&base, "zqmark"));
    fs::create_dir(base.join("files")).unwrap();
    fs::write(base.join("files/one.md"), "uploaded").unwrap();
    (dir, [base, to, again])
}

#[test]
fn a_backup_is_restored_as_folder_and_as_file() {
    let (dir, [base, to, again]) = made();
    let before = exported(&open(&base));
    for to in [to, dir.path().join("backup.tar")] {
        let report = backup(&base, &to).unwrap();
        assert!(report.environments == 1 && report.values > 20 && report.files > 2, "{report:?}");
        let restored = restore(&to, &again, RestoreOptions::default()).unwrap();
        assert_eq!((restored.bases, restored.documents, restored.complete), (1, 2, true));
        assert_eq!(exported(&open(&again)), before);
        assert_eq!(fs::read_to_string(again.join("files/one.md")).unwrap(), "uploaded");
        let refused = restore(&to, &again, RestoreOptions::default());
        assert!(matches!(refused, Err(BackupError::Exists { .. })));
        fs::write(again.join("files/other.md"), "later").unwrap();
        restore(&to, &again, RestoreOptions { replace: true, unverified: false }).unwrap();
        assert!(!again.join("files/other.md").exists());
        fs::remove_dir_all(&again).unwrap();
    }
}

#[test]
fn replies_are_in_the_backup_and_in_the_copy_of_a_base_that_is_in_use() {
    let (dir, [base, to, again]) = made();
    let cache = base.join("cache");
    let replies = Replies::open(&Replies::file(&cache)).unwrap();
    let entry = Entry { body: Arc::from(*b"a reply"), about: Arc::default() };
    replies.put(&[([1; 32], entry)]).unwrap();
    backup(&base, &to).unwrap();
    assert!(files(&to).contains(&"cache/replies.db".to_owned()), "{:?}", files(&to));
    assert!(files(&to).iter().all(|name| !name.contains("replies.db-")), "{:?}", files(&to));
    restore(&to, &again, RestoreOptions::default()).unwrap();
    let copied = Base::create_or_open(&dir.path().join("copy"), BaseOptions::default()).unwrap();
    assert_eq!(copied.copy_from(&open(&base)).unwrap().replies, 1);
    for base in [open(&again), copied] {
        let replies = Replies::open(&Replies::file(&base.cache_dir())).unwrap();
        assert_eq!(replies.get(&[1; 32]).unwrap().as_deref(), Some(&b"a reply"[..]));
    }
}

/// All files below a folder, by their paths in it, sorted.
fn files(dir: &Path) -> Vec<String> {
    let mut names = vec![];
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                names.push(path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    names.sort();
    names
}

#[test]
fn uploads_and_workspaces_of_any_name_are_in_a_backup() {
    let (_dir, [base, to, again]) = made();
    let names = ["probe", "lock", "store"];
    for name in names {
        drop(sample_base::create(&base.join("workspaces").join(name), name));
    }
    fs::create_dir(base.join("workspaces/.removed-x-1")).unwrap();
    let uploads = base.join("files");
    fs::create_dir(uploads.join("store.new")).unwrap();
    for name in [
        "Cargo.lock",
        "backup.json",
        "backup.lock",
        "data.mdb",
        "notes.tmp",
        "plan",
        "plan.part",
        "probe",
        "store.new/lock.mdb",
    ] {
        fs::write(uploads.join(name), name).unwrap();
    }
    fs::write(uploads.join(".tmpA1b2"), "being written").unwrap();
    backup(&base, &to).unwrap();
    let report = restore(&to, &again, RestoreOptions::default()).unwrap();
    assert_eq!(report.bases, 4);
    fs::remove_file(uploads.join(".tmpA1b2")).unwrap();
    assert_eq!(files(&again.join("files")), files(&uploads));
    assert_eq!(fs::read_to_string(again.join("files/plan.part")).unwrap(), "plan.part");
    assert!(!again.join("workspaces/.removed-x-1").exists());
    // What was removed goes from the backup, whatever its name.
    fs::remove_file(uploads.join("backup.json")).unwrap();
    fs::remove_dir_all(base.join("workspaces/probe")).unwrap();
    backup(&base, &to).unwrap();
    assert_eq!(files(&to.join("files")), files(&uploads));
    assert!(!to.join("workspaces/probe").exists());
}

#[cfg(unix)]
#[test]
fn a_link_in_a_base_is_refused_before_anything_is_written() {
    let (dir, [base, to, _]) = made();
    backup(&base, &to).unwrap();
    let before = files(&to);
    let elsewhere = dir.path().join("elsewhere");
    drop(sample_base::create(&elsewhere, "elsewhere"));
    fs::create_dir(base.join("workspaces")).unwrap();
    let link = base.join("workspaces/team");
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    fs::write(base.join("files/two.md"), "later").unwrap();
    let refused = backup(&base, &to).unwrap_err();
    assert!(matches!(&refused, BackupError::Link { path } if path.ends_with("team")), "{refused}");
    assert_eq!(files(&to), before);
    assert!(about(&to).unwrap().complete);
}

#[test]
fn a_second_backup_writes_what_changed_and_forgets_what_was_deleted() {
    let (_dir, [base, to, again]) = made();
    let first = backup(&base, &to).unwrap();
    let same = backup(&base, &to).unwrap();
    assert_eq!((same.changed_values, same.changed_files), (0, 0));
    assert_eq!((same.values, same.files), (first.values, first.files));
    let opened = open(&base);
    opened.delete(&["one*".into()]).unwrap();
    let after = exported(&opened);
    drop(opened);
    let changed = backup(&base, &to).unwrap();
    assert!(changed.changed_values > 10 && changed.values < first.values, "{changed:?}");
    // What was deleted cannot be read in the backup any more.
    let keys = |dir: &Path| fs::read(dir.join("store/keys")).unwrap();
    assert!(keys(&base) == keys(&to) && keys(&to) == fs::read(to.join("store/keys.copy")).unwrap());
    restore(&to, &again, RestoreOptions::default()).unwrap();
    assert_eq!(exported(&open(&again)), after);
}

#[test]
fn vectors_are_in_a_backup_and_those_that_it_has_lost_are_embedded_again() {
    let (_dir, [base, to, again]) = made();
    let path = |dir: &Path| dir.join("store/vectors/0-3-chunk");
    let vectors = |dir: &Path| fs::read(path(dir)).unwrap();
    backup(&base, &to).unwrap();
    assert!(vectors(&base) == vectors(&to));
    let opened = open(&base);
    opened.delete(&["one*".into()]).unwrap();
    drop(opened);
    backup(&base, &to).unwrap();
    assert!(
        vectors(&base) == vectors(&to),
        "what was deleted is overwritten in the backup as well"
    );
    let replace = RestoreOptions { replace: true, unverified: false };
    assert_eq!(restore(&to, &again, replace).unwrap().lost_vectors, 0);
    assert!(vectors(&again) == vectors(&to));
    let mut damaged = vectors(&to);
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(path(&to), damaged).unwrap();
    let report = restore(&to, &again, replace).unwrap();
    assert_eq!((report.lost_vectors, report.problems.len()), (1, 0));
    assert!(open(&again).inspector().verify().unwrap().is_sound());
}

#[test]
fn an_index_of_another_moment_is_built_again() {
    let (_dir, [base, to, again]) = made();
    let before = exported(&open(&base));
    backup(&base, &to).unwrap();
    let later = open(&base);
    later.delete(&["one*".into()]).unwrap();
    drop(later);
    fs::remove_dir_all(to.join("bm25")).unwrap();
    let [from, target] = [&base, &to].map(|dir| dir.join("bm25"));
    Mirror::new(&mut |_, _| Ok(())).folder(FolderKind::Inner, &from, &target).unwrap();
    let report = restore(&to, &again, RestoreOptions::default()).unwrap();
    assert_eq!(report.rebuilt_indexes, 1);
    assert_eq!(exported(&open(&again)), before);
}

#[test]
fn a_backup_while_documents_come_and_go_is_of_one_moment() {
    let (_dir, [base, to, again]) = made();
    let stop = AtomicBool::new(false);
    let opened = open(&base);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut marks = sample_base::Marks::new("more");
            for number in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                sample_base::add_document(&opened.store, &format!("more {number}"), &mut marks);
                if number > 0 {
                    opened.delete(&[format!("more {}", number - 1)]).unwrap();
                }
            }
        });
        for _ in 0..20 {
            backup_open(&opened, &to);
            let report = restore(&to, &again, RestoreOptions { replace: true, unverified: false });
            assert!(report.unwrap().documents >= 2);
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// In this process the environment is open already, so its own handle is copied from.
fn backup_open(base: &Base, to: &Path) {
    base.store.copy_to(&to.join("store"));
    let vectors = |dir: &Path| dir.join("store/vectors");
    let (from, target) = (vectors(&base.dir), vectors(to));
    Mirror::new(&mut |_, _| Ok(())).folder(FolderKind::Inner, &from, &target).unwrap();
    put(to, &AboutBackup { of: String::new(), time: 0, complete: true }).unwrap();
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_an_archive() {
    use std::os::unix::fs::PermissionsExt as _;
    let (dir, [base, ..]) = made();
    let to = dir.path().join("backup.tar");
    // What a run that was killed has left does not give its permissions.
    fs::write(dir.path().join("backup.tar.part"), "left").unwrap();
    backup(&base, &to).unwrap();
    assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_is_not_a_backup_is_refused_and_damage_is_found() {
    let (dir, [base, to, again]) = made();
    let other = dir.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("letter"), "to my aunt").unwrap();
    assert!(matches!(backup(&base, &other), Err(BackupError::NotABackup { .. })));
    assert!(matches!(backup(&base, &base.join("in")), Err(BackupError::Inside { .. })));
    assert!(matches!(backup(&other, &to), Err(BackupError::NoBase { .. })));
    let none = RestoreOptions::default();
    assert!(matches!(restore(&other, &again, none), Err(BackupError::NoBackup { .. })));
    let store = crate::store::Store::open(&store_dir(&base)).unwrap();
    store.damage(Damage::Text(0));
    drop(store);
    backup(&base, &to).unwrap();
    let message = restore(&to, &again, none).unwrap_err().to_string();
    assert!(message.contains("its bytes are damaged"), "{message}");
    assert!(!again.exists());
    let report = restore(&to, &again, RestoreOptions { unverified: true, replace: false }).unwrap();
    assert!(!report.problems.is_empty());
}

#[test]
fn a_file_that_is_not_a_backup_is_never_overwritten() {
    let (dir, [base, ..]) = made();
    let at = |name: &str| dir.path().join(name);
    let mut other = tar::Builder::new(vec![]);
    let mut header = tar::Header::new_gnu();
    header.set_size(4);
    other.append_data(&mut header, "letter.txt", b"aunt".as_slice()).unwrap();
    let other = other.into_inner().unwrap();
    let files: [(&str, &[u8]); 5] = [
        ("thesis.md", b"three years"),
        ("backup", b"x"),
        ("thesis.tar", b"three years"),
        ("empty.tar", b""),
        ("other.tar", &other),
    ];
    for (name, bytes) in files {
        fs::write(at(name), bytes).unwrap();
        let refused = backup(&base, &at(name)).unwrap_err();
        assert!(matches!(refused, BackupError::NotAnArchive { .. }), "{name}: {refused}");
        let message = refused.to_string();
        assert!(message.contains(name) && message.contains("`.tar`"), "{message}");
        assert_eq!(fs::read(at(name)).unwrap(), bytes, "{name}");
        assert!(!at(&format!("{name}.part.d")).exists());
    }
    fs::create_dir(at("folder.tar")).unwrap();
    let refused = backup(&base, &at("folder.tar"));
    assert!(matches!(refused, Err(BackupError::NotAnArchive { .. })), "{refused:?}");
    // An earlier backup is replaced, if it is of the same base.
    for _ in 0..2 {
        backup(&base, &at("good.tar")).unwrap();
    }
    let moved = at("moved");
    fs::rename(&base, &moved).unwrap();
    let refused = backup(&moved, &at("good.tar"));
    assert!(matches!(refused, Err(BackupError::OfAnother { .. })), "{refused:?}");
}

#[test]
fn a_backup_inside_the_base_is_refused_however_its_path_is_written() {
    let (dir, [base, ..]) = made();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("out")).unwrap();
    let before = files(&base);
    let mut inside =
        vec!["out/../base/in", "new/../base/in", "base/files/../in.tar", "base/x/y/../.."];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&base, at("out/link")).unwrap();
        inside.extend(["out/link/in", "new/../out/link/in"]);
    }
    for to in inside {
        let refused = backup(&base, &at(to));
        assert!(matches!(refused, Err(BackupError::Inside { .. })), "{to}: {refused:?}");
    }
    assert_eq!(files(&base), before);
    assert!(!at("new").exists());
    backup(&base, &at("base/../out/backup")).unwrap();
}
