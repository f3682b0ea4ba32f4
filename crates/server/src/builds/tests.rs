//! What happens at the same time.
use halma_engine::Phase;

use super::*;

pub(super) fn open(dir: &Path) -> Builds {
    Builds::open(&BaseState::of_folder(dir), "server".into(), None).unwrap()
}

#[test]
fn what_was_decided_meanwhile_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let builds = open(dir.path());
    let build = builds.start(None, vec![], None).unwrap();
    // The worker has looked it up, and then it is cancelled.
    let next = builds.next().unwrap();
    builds.set_state(&build.id, BuildState::Cancelled).unwrap();
    assert_eq!(builds.begin(&next.id).unwrap_err().status, 409);
    let second = builds.start(None, vec![], None).unwrap();
    builds.begin(&second.id).unwrap();
    builds.set_state(&second.id, BuildState::Paused).unwrap();
    // The worker ends the build at the same time.
    let done = |build: &mut Build| build.state = BuildState::Done;
    assert!(builds.change_if(&second.id, BuildState::Running, done).is_err());
    let reopened = open(dir.path());
    let states: Vec<_> = reopened.list().iter().map(|build| build.state).collect();
    assert_eq!(states, [BuildState::Paused, BuildState::Cancelled]);
}

#[test]
fn what_a_build_makes_again_is_stored_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let builds = open(dir.path());
    let parts = vec![BasePart::Atoms, BasePart::Tags];
    let build = builds.start(None, parts.clone(), None).unwrap();
    let learning = builds.learn(vec![], true, None).unwrap();
    // As a killed server leaves it.
    builds.begin(&build.id).unwrap();
    let reopened = open(dir.path());
    let again = reopened.get(&build.id).unwrap();
    assert_eq!((again.state, again.rebuild), (BuildState::Queued, parts));
    assert!(reopened.get(&learning.id).unwrap().replace && !again.replace);
}

#[test]
fn a_full_queue_refuses_builds_until_one_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let builds = open(dir.path());
    let upload = std::cell::Cell::new(0);
    let start = || {
        upload.set(upload.get() + 1);
        builds.start(Some(vec![format!("{}.md", upload.get())]), vec![], None)
    };
    let failed = start().unwrap();
    builds
        .change_if(&failed.id, BuildState::Queued, |build| build.state = BuildState::Failed)
        .unwrap();
    let all: Vec<Build> = (0..MAX_UNFINISHED).map(|_| start().unwrap()).collect();
    assert_eq!(start().unwrap_err().status, 503);
    assert_eq!(builds.learn(vec![], false, None).unwrap_err().status, 503);
    assert_eq!(builds.set_state(&failed.id, BuildState::Queued).unwrap_err().status, 503);
    // One that is paused can be resumed, so it still counts.
    builds.set_state(&all[0].id, BuildState::Paused).unwrap();
    assert_eq!(start().unwrap_err().status, 503);
    builds.set_state(&all[0].id, BuildState::Queued).unwrap();
    builds.set_state(&all[1].id, BuildState::Cancelled).unwrap();
    start().unwrap();
}

#[test]
fn a_build_that_is_requested_twice_is_queued_once_while_it_waits() {
    let dir = tempfile::tempdir().unwrap();
    let builds = open(dir.path());
    let start = |uploads: Option<&str>, rebuild: &[BasePart], key: &str| {
        let uploads = uploads.map(|name| vec![name.to_owned()]);
        builds.start(uploads, rebuild.to_vec(), Some(key.to_owned())).unwrap().id
    };
    let first = start(None, &[], "ada");
    assert_eq!(start(None, &[], "ada"), first);
    let others = [
        start(None, &[], "bob"),
        start(Some("a.md"), &[], "ada"),
        start(None, &[BasePart::Atoms], "ada"),
        builds.learn(vec![], false, Some("ada".to_owned())).unwrap().id,
        builds.learn(vec![], true, Some("ada".to_owned())).unwrap().id,
    ];
    assert_eq!(others.iter().collect::<std::collections::BTreeSet<_>>().len(), 5);
    assert!(!others.contains(&first));
    // One that runs may have passed what was uploaded since.
    builds.begin(&first).unwrap();
    assert_ne!(start(None, &[], "ada"), first);
}

#[test]
fn of_many_changes_at_once_none_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let builds = Arc::new(open(dir.path()));
    for _ in 0..20 {
        let build = builds.start(None, vec![], None).unwrap();
        let (cancelled, begun) = std::thread::scope(|scope| {
            let cancel = scope.spawn(|| builds.set_state(&build.id, BuildState::Cancelled));
            let begin = scope.spawn(|| builds.begin(&build.id));
            (cancel.join().unwrap(), begin.join().unwrap())
        });
        // Either may come first, and a cancelled build never runs.
        assert!(cancelled.is_ok(), "{begun:?}");
        assert_eq!(builds.get(&build.id).unwrap().state, BuildState::Cancelled);
    }
}

#[test]
fn the_stage_that_is_shown_is_not_complete_and_stays_while_the_build_is_paused() {
    let dir = tempfile::tempdir().unwrap();
    let builds = open(dir.path());
    let build = builds.start(None, vec![], None).unwrap();
    builds.begin(&build.id).unwrap();
    // Stages overlap, and one that is complete says so again.
    for (stage, done, total) in [(Phase::READ, 10, 10), (Phase::STORE, 3, 9), (Phase::READ, 12, 12)]
    {
        builds.update(&build.id, PhaseProgress { phase: stage, done, total });
    }
    let shown = |builds: &Builds| {
        let status = builds.get(&build.id).unwrap().status();
        (status.stage, status.done, status.total)
    };
    assert_eq!(shown(&builds), (Phase::STORE.name().to_owned(), 3, 9));
    builds.set_state(&build.id, BuildState::Paused).unwrap();
    for builds in [builds, open(dir.path())] {
        assert_eq!(shown(&builds), ("paused".to_owned(), 3, 9));
    }
}

#[test]
fn an_entry_that_cannot_be_read_is_no_build() {
    let dir = tempfile::tempdir().unwrap();
    let builds = open(dir.path());
    let build = builds.start(None, vec![BasePart::Atoms], None).unwrap();
    let entries = BaseState::of_folder(dir.path()).entries(BUILD_ENTRIES);
    entries.put("half", 0, b"{").unwrap();
    builds.set_state(&build.id, BuildState::Cancelled).unwrap();
    assert!(!any_pending(dir.path()));
    let reopened = open(dir.path());
    assert_eq!(reopened.list().len(), 1);
    assert_eq!(reopened.get(&build.id).unwrap().state, BuildState::Cancelled);
    assert!(Builds::unserved().start(None, vec![], None).is_err());
}

#[test]
fn a_list_names_some_of_many_refused_files_with_their_number() {
    let refuse =
        |number: usize| RefusedFile::new(&format!("{number}.bin"), "unknown", "convert it");
    let refused: Vec<_> = (0..45).map(refuse).collect();
    let mut build = Build::queued("b".into(), None, None);
    build.report = Some(Arc::new(BuildReport::new(refused, serde_json::Map::new())));
    // As a report that was stored without the number.
    let mut stored = serde_json::to_value(&build).unwrap();
    stored["report"].as_object_mut().unwrap().remove("refused_files").unwrap();
    let build: Build = serde_json::from_value(stored).unwrap();
    for (status, named) in [(build.list_status(), 20), (build.status(), 45)] {
        let report = status.report.unwrap();
        assert_eq!((report.refused.len(), report.refused_files), (named, 45));
        assert_eq!(report.refused[0].name, "0.bin");
    }
}
