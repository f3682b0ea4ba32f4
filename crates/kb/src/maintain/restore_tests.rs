//! A restore takes a place that no one else uses meanwhile, and can be repeated after a kill.
use tempfile::{TempDir, tempdir};

use super::super::backup;
use super::*;
use crate::base::{WriterLock, sample_base};
use crate::lock_file;
use crate::store::{FORMAT, Store};

const REPLACE: RestoreOptions = RestoreOptions { replace: true, unverified: false };

/// A base with a workspace, its backup, and the folder that both are in.
fn made() -> (TempDir, PathBuf, PathBuf) {
    let dir = tempdir().unwrap();
    let [base, to] = ["base", "backup"].map(|name| dir.path().join(name));
    drop(sample_base::create(&base, "zqmark"));
    drop(sample_base::create(&base.join("workspaces/team"), "team"));
    backup(&base, &to).unwrap();
    (dir, base, to)
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_base_that_a_server_or_a_build_uses_is_not_replaced() {
    let (dir, base, to) = made();
    for name in ["serve.lock", "index.lock", "workspaces/team/index.lock"] {
        let path = base.join(name);
        let lock =
            lock_file::open(path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap());
        let lock = lock.unwrap();
        lock.lock().unwrap();
        let refused = restore(&to, &base, REPLACE);
        assert!(matches!(refused, Err(BackupError::InUse { .. })), "{name}: {refused:?}");
        drop(lock);
    }
    restore(&to, &base, REPLACE).unwrap();
    assert_eq!(names(dir.path()), ["backup", "base"]);
}

#[test]
fn no_server_and_no_build_begins_while_a_backup_is_restored() {
    let (dir, base, to) = made();
    for place in [base.clone(), dir.path().join("empty")] {
        let locked = LockedPlace::take(&place).unwrap();
        assert!(WriterLock::try_take(&place).unwrap().is_none());
        let server = lock_file::open(&place, "serve.lock").unwrap();
        assert!(server.try_lock().is_err());
        let other = restore(&to, &place, REPLACE);
        assert!(matches!(other, Err(BackupError::InUse { .. })), "{other:?}");
        // A build that waits for its turn must not write into the base that was replaced.
        let waiting = lock_file::open(&place, "index.lock").unwrap();
        let part = dir.path().join("part");
        take(&to, &part).unwrap().unwrap();
        locked.put(&part).unwrap();
        drop(locked);
        waiting.lock().unwrap();
        assert!(lock_file::is_removed(&waiting));
        WriterLock::take(&place).unwrap();
    }
    assert!(WriterLock::try_take(&base.join("workspaces/team")).unwrap().is_some());
}

#[test]
fn a_restore_that_was_killed_before_the_base_had_its_name_is_done_again() {
    let (dir, base, to) = made();
    let [former, part] = ["base.replaced", "base.part"].map(|name| dir.path().join(name));
    fs::rename(&base, &former).unwrap();
    fs::create_dir(&part).unwrap();
    for opened in [
        Base::open(&base, BaseOptions::default()),
        Base::create_or_open(&base, BaseOptions::default()),
    ] {
        let message = opened.err().unwrap().to_string();
        assert!(message.contains("a restore to") && message.contains("interrupted"), "{message}");
    }
    assert!(!base.exists(), "an empty base would hide the former one");
    // One that is refused leaves the former base where it was.
    fs::write(former.join("mark"), "former").unwrap();
    let refused = restore(&to, &base, RestoreOptions::default());
    assert!(matches!(refused, Err(BackupError::Exists { .. })), "{refused:?}");
    assert!(base.join("mark").exists() && !former.exists());
    restore(&to, &base, REPLACE).unwrap();
    assert!(!base.join("mark").exists());
    assert_eq!(names(dir.path()), ["backup", "base"]);
    Base::open(&base, BaseOptions::default()).unwrap();
}

#[test]
fn a_backup_of_a_newer_version_is_not_called_damaged_and_never_restored() {
    let (dir, base, to) = made();
    let newer = dir.path().join("newer");
    restore(&to, &newer, RestoreOptions::default()).unwrap();
    Store::open(&store_dir(&newer)).unwrap().pretend_format(FORMAT + 1);
    let later = dir.path().join("later");
    backup(&newer, &later).unwrap();
    fs::remove_dir_all(&newer).unwrap();
    for (place, replace) in [(&newer, false), (&base, true)] {
        let refused = restore(&later, place, RestoreOptions { replace, unverified: true });
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("newer version") && message.contains("later`"), "{message}");
    }
    assert_eq!(names(dir.path()), ["backup", "base", "later"]);
    Base::open(&base, BaseOptions::default()).unwrap();
}

#[test]
fn a_backup_of_an_older_format_is_not_called_damaged() {
    let (dir, base, to) = made();
    let (older, earlier) = (dir.path().join("older"), dir.path().join("earlier"));
    restore(&to, &older, RestoreOptions::default()).unwrap();
    Store::open(&store_dir(&older)).unwrap().pretend_format(4);
    backup(&older, &earlier).unwrap();
    let opened = Base::open(&older, BaseOptions::default()).err().unwrap().to_string();
    fs::remove_dir_all(&older).unwrap();
    for (place, replace) in [(&older, false), (&base, true)] {
        for unverified in [false, true] {
            let refused = restore(&earlier, place, RestoreOptions { replace, unverified });
            let message = refused.unwrap_err().to_string();
            let says = |part: &str| message.contains(part);
            assert!(says("older format") && says("format 4") && says("earlier`"), "{message}");
            assert!(!says("damaged") && says("index"), "{message}");
        }
    }
    assert!(opened.contains("format 4") && !opened.contains("damaged"), "{opened}");
    assert_eq!(names(dir.path()), ["backup", "base", "earlier"]);
    Base::open(&base, BaseOptions::default()).unwrap();
}

#[test]
fn a_store_that_cannot_be_copied_is_called_damaged_and_the_rest_is_restored() {
    let (dir, _, to) = made();
    let data = to.join("workspaces/team/store/data.mdb");
    let whole = fs::read(&data).unwrap();
    let mut blank = whole.clone();
    // The first two pages say where the others are.
    blank[2 * 4096..].fill(0);
    let again = dir.path().join("again");
    let unverified = RestoreOptions { replace: true, unverified: true };
    for damaged in [blank.as_slice(), &whole[..2 * 4096], &[]] {
        fs::write(&data, damaged).unwrap();
        let refused = restore(&to, &again, REPLACE).unwrap_err();
        assert!(matches!(refused, BackupError::Damaged { .. }), "{refused}");
        let message = refused.to_string();
        for said in ["backup` is damaged", "`workspaces/team/store/data.mdb`", "--unverified"] {
            assert!(message.contains(said), "`{said}` is not in: {message}");
        }
        assert_eq!(fs::read(&data).unwrap(), damaged, "a backup stays as it is");
        let report = restore(&to, &again, unverified).unwrap();
        assert!(report.problems[0].contains("team/store/data.mdb"), "{:?}", report.problems);
        assert_eq!(report.documents, 2);
        assert!(Base::open(&again, BaseOptions::default()).is_ok());
        fs::remove_dir_all(&again).unwrap();
    }
}

#[test]
fn an_archive_that_ends_early_is_called_damaged_and_another_file_no_backup() {
    let (dir, base, _) = made();
    let [whole, part, text] = ["a.tar", "b.tar", "c.txt"].map(|name| dir.path().join(name));
    backup(&base, &whole).unwrap();
    let bytes = fs::read(&whole).unwrap();
    fs::write(&part, &bytes[..bytes.len() / 2 + 100]).unwrap();
    fs::write(&text, "to my aunt").unwrap();
    let again = dir.path().join("again");
    let refused = |file: &Path| restore(file, &again, RestoreOptions::default()).unwrap_err();
    let message = refused(&part).to_string();
    assert!(message.contains("b.tar` is damaged"), "{message}");
    assert!(matches!(refused(&text), BackupError::NoBackup { .. }));
    assert!(!again.exists());
}

#[test]
fn a_state_that_cannot_be_read_is_damage() {
    let (dir, base, to) = made();
    let again = dir.path().join("again");
    let state = halma_store::State::new(&base);
    state.put("key", "a", 0, b"{}").unwrap();
    backup(&base, &to).unwrap();
    restore(&to, &again, RestoreOptions::default()).unwrap();
    assert_eq!(halma_store::State::new(&again).list("key").unwrap().len(), 1);
    let whole = fs::read(to.join("state.db")).unwrap();
    for damaged in [&whole[..whole.len() / 2], b"no database, but long enough to be one"] {
        fs::write(to.join("state.db"), damaged).unwrap();
        let message = restore(&to, &again, REPLACE).unwrap_err().to_string();
        assert!(message.contains("state.db: it cannot be read"), "{message}");
    }
    let report = restore(&to, &again, RestoreOptions { replace: true, unverified: true }).unwrap();
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
}
