//! The ledger: no call is with two workers, none is lost, none is paid for twice.
use std::collections::HashMap;
use std::time::Duration;

use halma_store::pg::{CallId, Done, Failure, NewCall, Outcome, Retry, TakenCall, call_id};

use crate::support::{Test, server};

const CHAT: i16 = 1;
const EMBED: i16 = 2;

fn call(number: u32) -> NewCall {
    let input = format!("question {number}").into_bytes();
    NewCall { id: call_id(CHAT, &input), kind: CHAT, input, about: vec![0] }
}

fn done(call: &TakenCall, output: &str) -> Done {
    Done { id: call.id, fence: call.fence, output: output.as_bytes().to_vec() }
}

/// As if the worker had not been heard of for so long.
fn expire(test: &Test) {
    let sql = "update halma.call set lease_until = now() - interval '1 second' where state = 1";
    server().unwrap().psql(test.database(), sql);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_done_once_and_found_done() {
    let Some(test) = Test::new().await else { return };
    let calls = test.home.calls();
    let new = [call(1), call(2), call(1)];
    assert_eq!(calls.submit(&new).await.unwrap(), 2);
    assert_eq!(calls.submit(&new).await.unwrap(), 0);
    assert!(calls.take("worker", &[EMBED], 10).await.unwrap().is_empty());
    let taken = calls.take("worker", &[EMBED, CHAT], 1).await.unwrap();
    assert_eq!((taken.len(), taken[0].attempts, taken[0].kind), (1, 1, CHAT));
    assert_eq!(calls.complete(&[done(&taken[0], "reply")]).await.unwrap(), 1);
    assert_eq!(calls.submit(&new).await.unwrap(), 0, "a call that is done is opened again");
    let ids = [taken[0].id, call(2).id, call(1).id, call(3).id];
    let outcomes = calls.outcomes(&ids).await.unwrap();
    assert_eq!(outcomes[0], Outcome::Done(b"reply".to_vec()));
    assert!(outcomes[1..3].contains(&Outcome::Open), "{outcomes:?}");
    assert_eq!(outcomes[3], Outcome::Unknown);
    calls.forget(&ids).await.unwrap();
    assert_eq!(calls.outcomes(&ids).await.unwrap(), vec![Outcome::Unknown; 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_about_something_are_forgotten_and_the_others_stay() {
    let Some(test) = Test::new().await else { return };
    let calls = test.home.calls();
    let about = |number: u32, about: &[i32]| NewCall { about: about.to_vec(), ..call(number) };
    let new = [about(1, &[1]), about(2, &[2, 65_536]), about(3, &[1, 2]), about(4, &[3])];
    calls.submit(&new).await.unwrap();
    let taken = calls.take("worker", &[CHAT], 10).await.unwrap();
    for call in &taken {
        let submitted = new.iter().find(|new| new.id == call.id).unwrap();
        assert_eq!(call.about, submitted.about);
    }
    let is_former = calls.forget_about(&[1, 65_536]).await.unwrap();
    assert!(!is_former);
    let ids: Vec<CallId> = new.iter().map(|call| call.id).collect();
    let outcomes = calls.outcomes(&ids).await.unwrap();
    assert_eq!(outcomes[..3], vec![Outcome::Unknown; 3]);
    assert_eq!(outcomes[3], Outcome::Taken);
    // What a worker says of one that was forgotten changes nothing.
    let all: Vec<Done> = taken.iter().map(|call| done(call, "reply")).collect();
    assert_eq!(calls.complete(&all).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_workers_take_none_twice_and_lose_none() {
    let Some(test) = Test::new().await else { return };
    let new: Vec<NewCall> = (0..2_000).map(call).collect();
    test.home.calls().submit(&new).await.unwrap();
    let mut workers = vec![];
    for number in 0..16 {
        let calls = test.another().await.calls();
        workers.push(tokio::spawn(async move {
            let name = format!("worker {number}");
            let mut all = vec![];
            loop {
                let taken = calls.take(&name, &[CHAT], 16).await.unwrap();
                if taken.is_empty() {
                    return all;
                }
                let finished: Vec<Done> = taken.iter().map(|call| done(call, &name)).collect();
                assert_eq!(calls.complete(&finished).await.unwrap(), taken.len());
                all.extend(taken.into_iter().map(|call| call.id));
            }
        }));
    }
    let mut times: HashMap<CallId, u32> = HashMap::new();
    for worker in workers {
        for id in worker.await.unwrap() {
            *times.entry(id).or_default() += 1;
        }
    }
    assert!(times.values().all(|times| *times == 1), "a call was taken twice");
    // A worker that finds the rest locked by others ends; what it did not see they have done.
    assert_eq!(times.len(), new.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calls_of_a_dead_worker_go_to_another_and_its_late_word_changes_nothing() {
    let Some(test) = Test::new().await else { return };
    let calls = test.home.calls();
    calls.submit(&[call(1)]).await.unwrap();
    let first = calls.take("dead", &[CHAT], 1).await.unwrap().remove(0);
    assert!(calls.take("other", &[CHAT], 1).await.unwrap().is_empty());
    expire(&test);
    let second = calls.take("other", &[CHAT], 1).await.unwrap().remove(0);
    assert!(second.fence > first.fence);
    assert_eq!(calls.complete(&[done(&first, "late")]).await.unwrap(), 0);
    let leases = [(first.id, first.fence)];
    assert!(calls.heartbeat("dead", &leases).await.unwrap().is_empty());
    let error = "late".to_owned();
    let failure = Failure { id: first.id, fence: first.fence, error, retry: None };
    assert!(!calls.fail(&failure).await.unwrap());
    assert_eq!(calls.complete(&[done(&second, "reply")]).await.unwrap(), 1);
    let outcomes = calls.outcomes(&[first.id]).await.unwrap();
    assert_eq!(outcomes, [Outcome::Done(b"reply".to_vec())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_was_paid_for_is_taken_while_no_other_has_the_call() {
    let Some(test) = Test::new().await else { return };
    let calls = test.home.calls();
    calls.submit(&[call(1), call(2)]).await.unwrap();
    let taken = calls.take("slow", &[CHAT], 2).await.unwrap();
    expire(&test);
    // The other takes one of them; both are put back for that.
    let other = calls.take("other", &[CHAT], 1).await.unwrap().remove(0);
    let mine: Vec<Done> = taken.iter().map(|call| done(call, "slow")).collect();
    assert_eq!(calls.complete(&mine).await.unwrap(), 1);
    assert_eq!(calls.complete(&[done(&other, "other")]).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_fails_is_tried_again_until_it_has_failed_too_often() {
    let Some(test) = Test::new().await else { return };
    let calls = test.home.calls();
    calls.submit(&[call(1)]).await.unwrap();
    let retry = |after| Some(Retry { after, max_attempts: 2 });
    for attempt in 1..=2 {
        let taken = calls.take("worker", &[CHAT], 1).await.unwrap().remove(0);
        assert_eq!(taken.attempts, attempt);
        let (id, fence) = (taken.id, taken.fence);
        let failure = Failure { id, fence, error: "no reply".into(), retry: retry(Duration::ZERO) };
        assert!(calls.fail(&failure).await.unwrap());
    }
    let failed = [Outcome::Failed("no reply".into())];
    assert_eq!(calls.outcomes(&[call(1).id]).await.unwrap(), failed);
    assert!(calls.take("worker", &[CHAT], 1).await.unwrap().is_empty());
    // Asked for again, it is tried again; this time it may wait.
    assert_eq!(calls.submit(&[call(1)]).await.unwrap(), 1);
    let taken = calls.take("worker", &[CHAT], 1).await.unwrap().remove(0);
    let (id, fence) = (taken.id, taken.fence);
    let later = retry(Duration::from_hours(1));
    calls.fail(&Failure { id, fence, error: "later".into(), retry: later }).await.unwrap();
    assert!(calls.take("worker", &[CHAT], 1).await.unwrap().is_empty());
    assert_eq!(calls.outcomes(&[id]).await.unwrap(), [Outcome::Open]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_kills_its_workers_fails_in_the_end() {
    let Some(test) = Test::new().await else { return };
    let calls = test.home.calls();
    calls.submit(&[call(1)]).await.unwrap();
    for _ in 0..10 {
        assert_eq!(calls.take("worker", &[CHAT], 1).await.unwrap().len(), 1);
        expire(&test);
    }
    assert!(calls.take("worker", &[CHAT], 1).await.unwrap().is_empty());
    let outcomes = calls.outcomes(&[call(1).id]).await.unwrap();
    assert!(
        matches!(&outcomes[0], Outcome::Failed(e) if e.contains("10 attempts")),
        "{outcomes:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_were_not_begun_are_put_down() {
    let Some(test) = Test::new().await else { return };
    let calls = test.home.calls();
    calls.submit(&[call(1)]).await.unwrap();
    let taken = calls.take("ending", &[CHAT], 1).await.unwrap().remove(0);
    calls.put_down(&[(taken.id, taken.fence)]).await.unwrap();
    let again = calls.take("other", &[CHAT], 1).await.unwrap().remove(0);
    assert_eq!(again.attempts, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_that_were_killed_long_ago_are_forgotten() {
    let Some(test) = Test::new().await else { return };
    let calls = test.home.calls();
    for name in ["killed", "silent", "leaves"] {
        calls.heartbeat(name, &[]).await.unwrap();
    }
    let server = crate::support::server().unwrap();
    let age = |name: &str, hours: u32| {
        let sql = format!(
            "update halma.worker set seen = now() - interval '{hours} hours' where name = '{name}'"
        );
        server.psql(test.database(), &sql)
    };
    age("killed", 30);
    age("silent", 20);
    calls.leave("leaves").await.unwrap();
    let left = server.psql(test.database(), "select string_agg(name, ' ') from halma.worker");
    assert_eq!(left.trim(), "silent");
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_know_of_each_other_and_of_pauses() {
    let Some(test) = Test::new().await else { return };
    let calls = test.home.calls();
    calls.submit(&[call(1)]).await.unwrap();
    let taken = calls.take("one", &[CHAT], 1).await.unwrap().remove(0);
    let leased = calls.heartbeat("one", &[(taken.id, taken.fence)]).await.unwrap();
    assert_eq!(leased, [taken.id]);
    calls.heartbeat("two", &[]).await.unwrap();
    let workers = test.another().await.calls().workers().await.unwrap();
    let names: Vec<_> = workers.iter().map(|w| (w.name.as_str(), w.calls)).collect();
    assert_eq!(names, [("one", 1), ("two", 0)]);
    let sql = "update halma.worker set seen = now() - interval '2 minutes' where name = 'two'";
    server().unwrap().psql(test.database(), sql);
    assert_eq!(calls.workers().await.unwrap().len(), 1);

    assert_eq!(calls.paused("model").await.unwrap(), None);
    calls.pause("model", Duration::from_mins(10)).await.unwrap();
    calls.pause("model", Duration::from_secs(1)).await.unwrap();
    let left = test.another().await.calls().paused("model").await.unwrap().unwrap();
    assert!(left > Duration::from_mins(5), "a shorter pause has ended a longer one");
    assert_eq!(calls.paused("other").await.unwrap(), None);
}
