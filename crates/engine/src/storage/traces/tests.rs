use chrono::Utc;

use super::*;

fn trace(id: &str, document: &str) -> StoredTrace {
    let head = TraceHead {
        id: id.into(),
        question: "Who?".into(),
        strategy: "naive".into(),
        at: DateTime::UNIX_EPOCH,
        answer: Some("Ann".into()),
        abstained: false,
        error: None,
        usage: UsageTotal::default(),
        hops: 1,
        elapsed_ms: 1.0,
        key: None,
        conversation: None,
        documents: vec![document.into()],
    };
    StoredTrace { head, body: TraceBody { answer: None, trace: Trace::default() } }
}

fn open(dir: &Path, limit: usize) -> TraceStore {
    let retention = Retention { count: limit, age: None };
    TraceStore::new(dir, &BaseState::of_folder(dir), retention).unwrap()
}

fn put(traces: &TraceStore, trace: StoredTrace) -> std::io::Result<()> {
    let trace = Arc::new(trace);
    traces.begin(&trace);
    traces.store(&trace)
}

fn ids(traces: &TraceStore) -> Vec<String> {
    traces.list(None, 9, |_| true).into_iter().map(|head| head.id).collect()
}

#[test]
fn the_newest_are_retained_and_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let traces = open(dir.path(), 2);
    for id in ["a1", "a2", "a3"] {
        put(&traces, trace(id, "x.md")).unwrap();
    }
    assert_eq!(ids(&traces), ["a3", "a2"]);
    let reopened = open(dir.path(), 2);
    assert_eq!(ids(&reopened), ["a3", "a2"]);
    assert_eq!(reopened.list(Some("a3"), 9, |_| true).len(), 1);
    assert_eq!(reopened.get("a2").unwrap().head.question, "Who?");
    assert!(reopened.get("a1").is_none() && reopened.get("../a2").is_none());
}

#[test]
fn traces_beyond_their_age_are_neither_shown_nor_left_on_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (format!("{:021x}", 1), TraceStore::next_id().unwrap());
    let traces = open(dir.path(), 9);
    for id in [&old, &new] {
        put(&traces, trace(id, "x.md")).unwrap();
    }
    assert_eq!(ids(&traces), [new.clone(), old.clone()]);
    let retention = Retention { count: 9, age: Some(TimeDelta::days(30)) };
    let a_month =
        TraceStore::new(dir.path(), &BaseState::of_folder(dir.path()), retention).unwrap();
    assert!(a_month.get(&old).is_none() && a_month.get(&new).is_some());
    assert_eq!(ids(&a_month), [new.as_str()]);
    assert_eq!(ids(&traces), [new], "it is deleted, not only left out");
}

#[test]
fn two_processes_see_and_limit_the_traces_of_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let (server, command) = (open(dir.path(), 2), open(dir.path(), 2));
    put(&server, trace("a1", "x.md")).unwrap();
    assert_eq!(ids(&server), ["a1"]);
    put(&command, trace("a2", "x.md")).unwrap();
    assert_eq!(ids(&server), ["a2", "a1"]);
    put(&command, trace("a3", "y.md")).unwrap();
    put(&server, trace("a4", "y.md")).unwrap();
    assert_eq!(ids(&server), ["a4", "a3"]);
    put(&server, trace("a5", "y.md")).unwrap();
    assert_eq!(ids(&server), ["a5", "a4"]);
    assert_eq!(ids(&command), ["a5", "a4"]);
    server.forget(&["y.md".into()]).unwrap();
    assert!(ids(&command).is_empty() && !command.remove("a4").unwrap());
}

#[test]
fn a_trace_that_quotes_a_document_is_deleted_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let traces = open(dir.path(), 9);
    put(&traces, trace("a1", "x.md")).unwrap();
    put(&traces, trace("a2", "y.md")).unwrap();
    open(dir.path(), 9).forget(&["x.md".into()]).unwrap();
    assert_eq!(ids(&traces), ["a2"]);
    let bytes = std::fs::read(dir.path().join("state.db")).unwrap();
    assert!(!bytes.windows(4).any(|window| window == b"x.md"));
}

#[test]
fn ids_sort_by_time_and_differ() {
    let (a, b) = (TraceStore::next_id().unwrap(), TraceStore::next_id().unwrap());
    assert!(a != b && is_id(&a) && a[..11] <= b[..11]);
}

#[test]
fn a_question_that_began_before_a_deletion_leaves_no_trace_of_the_document() {
    let dir = tempfile::tempdir().unwrap();
    let traces = open(dir.path(), 9);
    let (before, other) = (trace("a1", "x.md"), trace("a2", "y.md"));
    traces.forget(&["x.md".into()]).unwrap();
    let mut after = trace("a3", "x.md");
    after.head.at = Utc::now() + TimeDelta::seconds(1);
    for trace in [before, other, after] {
        put(&traces, trace).unwrap();
    }
    assert_eq!(ids(&traces), ["a3", "a2"], "the document may have come back since");
}

#[test]
fn a_removed_base_does_not_come_back_and_its_name_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().join("base");
    std::fs::create_dir(&base).unwrap();
    let traces = open(&base, 9);
    std::fs::remove_dir(&base).unwrap();
    assert!(put(&traces, trace("a1", "x.md")).is_err() && !base.exists());
    traces.close();
    std::fs::create_dir(&base).unwrap();
    put(&traces, trace("a2", "x.md")).unwrap();
    assert_eq!(std::fs::read_dir(&base).unwrap().count(), 0);
}

#[test]
fn a_trace_is_found_listed_and_deleted_before_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let traces = open(dir.path(), 9);
    put(&traces, trace("a1", "x.md")).unwrap();
    let begun = ["a2", "a3", "a4", "a5"].map(|id| Arc::new(trace(id, &format!("{id}.md"))));
    for trace in &begun {
        traces.begin(trace);
    }
    assert_eq!(ids(&traces), ["a5", "a4", "a3", "a2", "a1"]);
    let page = traces.list(Some("a5"), 2, |head| head.id != "a4");
    assert_eq!(page.into_iter().map(|head| head.id).collect::<Vec<_>>(), ["a3", "a2"]);
    assert_eq!(traces.get("a2").unwrap().head.documents, ["a2.md"]);
    assert!(traces.remove("a2").unwrap());
    traces.forget(&["a3.md".into()]).unwrap();
    assert!(traces.get("a2").is_none() && traces.get("a3").is_none());
    // One whose document was deleted before its end is not found in between either.
    traces.forget(&["x.md".into()]).unwrap();
    traces.begin(&Arc::new(trace("a6", "x.md")));
    assert!(traces.get("a6").is_none());
    for trace in &begun {
        traces.store(trace).unwrap();
    }
    assert_eq!(ids(&traces), ["a5", "a4"]);
    assert_eq!(ids(&open(dir.path(), 9)), ["a5", "a4"]);
    let none = open(dir.path(), 0);
    none.begin(&begun[0]);
    assert!(none.get("a2").is_none());
}
